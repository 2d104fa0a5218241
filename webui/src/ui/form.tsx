// SPDX-License-Identifier: GPL-2.0-or-later
// The fields of an object; what the API finds wrong stands at the field it belongs to.
import type {Fault} from '../lib/api.ts'
import {get} from '../lib/api.ts'
import {signal} from '@preact/signals'
import {visible, type FieldSpec, type Schema, type Values} from '../lib/schema.ts'
import {Check, Select, Text} from './fields.tsx'

const schemas = signal<Record<string, Schema> | undefined>(undefined)
const schemaFault = signal('')
let asked = false

/** The schemas of openapi.json, read once when the first form is opened. */
export function useSchemas(): {all?: Record<string, Schema>; fault: string} {
	if (!asked) {
		asked = true
		get('/openapi.json').then(d => { schemas.value = (d as unknown as {components: {schemas: Record<string, Schema>}}).components.schemas })
			.catch(e => { asked = false; schemaFault.value = (e as Error).message })
	}
	return {all: schemas.value, fault: schemaFault.value}
}

const WORDS: Record<string, string> = {
	dns: 'DNS', vip: 'VIP', ttl: 'TTL', sni: 'SNI', snat: 'SNAT', ca: 'CA', vip4: 'VIP (IPv4)', vip6: 'VIP (IPv6)', publish4: 'published instead (IPv4)', publish6: 'published instead (IPv6)', tcp: 'TCP', udp: 'UDP', fin: 'FIN', http: 'HTTP', tls: 'TLS', qtype: 'query type', rcodes: 'response codes', fwmark: 'firewall mark',
}
const title = (name: string): string => {
	const text = name.replace(/_ms$/, ' (ms)').replace(/_s$/, ' (s)').split(/[_.\s]/).map(w => WORDS[w] ?? w).join(' ')
	return text.charAt(0).toUpperCase() + text.slice(1)
}

/** What most people set; the rest is behind a fold. */
const FIRST = new Set(['description', 'client_subnets', 'protocol', 'forward_method', 'type', 'interval_ms', 'timeout_ms', 'healthy_threshold', 'unhealthy_threshold', 'path', 'expected_status', 'method',
	'address', 'port', 'weight', 'zone', 'enabled', 'dns_name', 'dns_ttl_s', 'cross_zone', 'vip4', 'vip6', 'server_group', 'scheduler', 'name', 'service', 'request', 'expect', 'preset', 'access_list', 'default_action', 'port_range'])
/** Of a group that may be left out as a whole nothing has to be given. */
const isRequired = (f: FieldSpec): boolean => f.required && !f.group.includes('window') && f.group !== 'tunnel'
const isFirst = (f: FieldSpec): boolean => isRequired(f) ? true : FIRST.has(f.name) && (f.group === '' || f.group === 'health_check')

function helpOf(f: FieldSpec): string {
	const bounds = f.min !== undefined && f.max !== undefined ? `${f.min} to ${f.max}` : ''
	const initial = f.kind !== 'flag' && f.initial !== undefined && f.initial !== '' && !(Array.isArray(f.initial) && !f.initial.length) ? `default ${Array.isArray(f.initial) ? f.initial.join(', ') : String(f.initial)}` : ''
	const help = (f.kind === 'range' ? f.help.replace('[from, to]', 'from-to').replace('[1, 65535]', '1-65535') : f.help).replace(/ \(null takes that away\)/, '').replace(/\bport_range\b/g, 'port range').replace(/; only without \w+/, '').replace(/;? ?only with .*$/, '')
	return [f.kind === 'flag' ? help.replace(/\bfalse:/g, 'off:').replace(/\btrue:/g, 'on:') : help, bounds, initial].filter(Boolean).join('; ')
}

/** Who saved stands at the first fault, once it is drawn. */
export const focusFault = (): void => { requestAnimationFrame(() => (document.querySelector<HTMLElement>('main [aria-invalid=true]') ?? document.getElementById('form-trouble'))?.focus()) }

export interface FormProps {
	fields: FieldSpec[]; values: Values; onChange: (pointer: string, value: string | boolean) => void; faults: Fault[]
	/** Where the object stands in what is sent: pointers of faults begin with it. */
	at?: string
	/** What is shown before the fold; left out: what most people set. */
	first?: (f: FieldSpec) => boolean
	/** Names that may be chosen, by the name of the member: groups, zones. */
	choices?: Record<string, string[]>
}

/** Where nobody knows at once what is meant. */
const EXAMPLES: Record<string, string> = {
	dns_name: 'shop.lb.example.net', vip4: '192.0.2.10', vip6: '2001:db8::10', publish4: '203.0.113.10', publish6: '2001:db8:1::10', address: '10.0.1.11', port: '80', port_range: '8000-8100',
	client_subnets: '10.1.0.0/16, 2001:db8:1::/48', source_address: '10.0.1.1', sni: 'shop.example.net', host: 'shop.example.net', expected_body: 'ok',
}

/** What may be chosen where others are taken, too. */
const LISTS: Record<string, string[]> = {scheduler: ['rr', 'wrr', 'lc', 'wlc', 'sed', 'nq', 'sh', 'dh', 'mh', 'lblc', 'lblcr', 'fo', 'ovf', 'twos']}

function FormField({f, p}: {f: FieldSpec; p: FormProps}) {
	const value = p.values[f.pointer]
	const where = (p.at ?? '') + f.pointer
	const fault = p.faults.filter(x => x.pointer === where || ((f.kind === 'list' || f.kind === 'range') && x.pointer.startsWith(`${where}/`))).map(x => x.detail).join('; ') || undefined
	const common = {label: title(f.name), help: helpOf(f), fault, required: isRequired(f)}
	const set = (v: string | boolean) => p.onChange(f.pointer, v)
	const names = p.choices?.[f.name]
	if (f.kind === 'flag') return <Check {...common} checked={value === true} onInput={set} />
	if (names) return <Select {...common} value={String(value ?? '')} onInput={set} options={[['', f.required ? 'choose …' : 'none'], ...names.map(n => [n, n] as [string, string])]} />
	if (f.kind === 'choice') return <Select {...common} value={String(value ?? '')} onInput={set} options={f.required && value ? f.options : [['', 'default'], ...f.options.map(o => [o, o] as [string, string])]} />
	return <Text {...common} value={String(value ?? '')} onInput={set} list={LISTS[f.name]} placeholder={EXAMPLES[f.name] && `such as ${EXAMPLES[f.name]}`} />
}

function Groups({fields, p}: {fields: FieldSpec[]; p: FormProps}) {
	const groups = [...new Set(fields.map(f => f.group))]
	return <>{groups.map(g => {
		const mine = fields.filter(f => f.group === g), one = (f: FieldSpec) => <FormField key={f.pointer} f={f} p={p} />
		const flags = mine.filter(f => f.kind === 'flag')
		// What is ticked stands below what is filled in.
		const own = <>{mine.filter(f => f.kind !== 'flag').map(one)}{flags.length > 0 && <div class="fields flags">{flags.map(one)}</div>}</>
		return g === '' ? own : <fieldset key={g}><legend>{title(g)}</legend><div class="fields">{own}</div></fieldset>
	})}</>
}

export function ObjectForm(p: FormProps) {
	const shown = p.fields.filter(f => visible(f, p.values))
	const before = p.first ?? isFirst
	const first = shown.filter(before), rest = shown.filter(f => !before(f))
	const wrong = rest.some(f => p.faults.some(x => x.pointer.startsWith((p.at ?? '') + f.pointer)))
	return (
		<div class="fields">
			<Groups fields={first} p={p} />
			{rest.length > 0 && <details open={wrong || undefined}><summary>More settings ({rest.length})</summary><div class="fields"><Groups fields={rest} p={p} /></div></details>}
		</div>
	)
}

/** Faults that no shown field has. */
export function OtherFaults({faults, fields, values, at = ''}: {faults: Fault[]; fields: FieldSpec[]; values: Values; at?: string}) {
	const known = new Set(fields.filter(f => visible(f, values)).map(f => at + f.pointer))
	const rest = faults.filter(f => !known.has(f.pointer) && !fields.some(x => (x.kind === 'list' || x.kind === 'range') && f.pointer.startsWith(`${at}${x.pointer}/`)))
	if (!rest.length) return null
	return <div class="banner bad" role="alert"><ul class="list">{rest.map(f => <li key={f.pointer + f.detail}>{f.pointer && <code>{f.pointer}</code>}<span>{f.detail}</span></li>)}</ul></div>
}
