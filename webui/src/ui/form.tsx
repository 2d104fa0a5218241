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
		get<{components: {schemas: Record<string, Schema>}}>('/openapi.json').then(d => { schemas.value = d.components.schemas })
			.catch(e => { asked = false; schemaFault.value = (e as Error).message })
	}
	return {all: schemas.value, fault: schemaFault.value}
}

const title = (name: string): string => { const text = name.replace(/_ms$/, ' (ms)').replace(/_s$/, ' (s)').replace(/[_.]/g, ' '); return text.charAt(0).toUpperCase() + text.slice(1) }

function helpOf(f: FieldSpec): string {
	const bounds = f.min !== undefined && f.max !== undefined ? `${f.min} to ${f.max}` : ''
	const initial = f.initial !== undefined && f.initial !== '' && !(Array.isArray(f.initial) && !f.initial.length) ? `default ${Array.isArray(f.initial) ? f.initial.join(', ') : String(f.initial)}` : ''
	return [f.help.replace(/;? ?only with .*$/, ''), bounds, initial].filter(Boolean).join('; ')
}

export interface FormProps {
	fields: FieldSpec[]; values: Values; onChange: (pointer: string, value: string | boolean) => void; faults: Fault[]
	/** Where the object stands in what is sent: pointers of faults begin with it. */
	at?: string
	/** Names that may be chosen, by the name of the member: groups, zones. */
	choices?: Record<string, string[]>
}

function FormField({f, p}: {f: FieldSpec; p: FormProps}) {
	const value = p.values[f.pointer]
	const where = (p.at ?? '') + f.pointer
	const fault = p.faults.filter(x => x.pointer === where || (f.kind === 'list' && x.pointer.startsWith(`${where}/`))).map(x => x.detail).join('; ') || undefined
	const common = {label: title(f.name) + (f.required ? ' *' : ''), help: helpOf(f), fault}
	const set = (v: string | boolean) => p.onChange(f.pointer, v)
	const names = p.choices?.[f.name]
	if (f.kind === 'flag') return <Check {...common} checked={value === true} onInput={set} />
	if (names) return <Select {...common} value={String(value ?? '')} onInput={set} options={[['', f.required ? 'choose …' : 'none'], ...names.map(n => [n, n] as [string, string])]} />
	if (f.kind === 'choice') return <Select {...common} value={String(value ?? '')} onInput={set} options={f.required && value ? f.options : [['', 'default'], ...f.options.map(o => [o, o] as [string, string])]} />
	return <Text {...common} value={String(value ?? '')} onInput={set} />
}

export function ObjectForm(p: FormProps) {
	const shown = p.fields.filter(f => visible(f, p.values))
	const groups = [...new Set(shown.map(f => f.group))]
	return (
		<div class="fields">
			{groups.map(g => {
				const own = shown.filter(f => f.group === g).map(f => <FormField key={f.pointer} f={f} p={p} />)
				return g === '' ? own : <fieldset key={g}><legend>{title(g)}</legend><div class="fields">{own}</div></fieldset>
			})}
		</div>
	)
}

/** Faults that no shown field has. */
export function OtherFaults({faults, fields, values, at = ''}: {faults: Fault[]; fields: FieldSpec[]; values: Values; at?: string}) {
	const known = new Set(fields.filter(f => visible(f, values)).map(f => at + f.pointer))
	const rest = faults.filter(f => !known.has(f.pointer) && !fields.some(x => x.kind === 'list' && f.pointer.startsWith(`${at}${x.pointer}/`)))
	if (!rest.length) return null
	return <div class="banner bad" role="alert"><ul class="list">{rest.map(f => <li key={f.pointer + f.detail}>{f.pointer && <code>{f.pointer}</code>}<span>{f.detail}</span></li>)}</ul></div>
}
