// SPDX-License-Identifier: GPL-2.0-or-later
// Creating and editing of every object by form: what it will do first, then save.
import {useEffect, useState} from 'preact/hooks'
import {ApiError, fillPath, request, type Fault, type Path} from '../lib/api.ts'
import {useAccessLists, useGroups, useZones} from '../lib/load.ts'
import {refreshAll} from '../lib/live.ts'
import {href} from '../lib/router.ts'
import {ENTRIES_EXAMPLE, ENTRIES_HELP, parseEntries} from '../lib/entries.ts'
import {fieldsOf, makeBody, makePatch, readValues, type FieldSpec, type Values} from '../lib/schema.ts'
import {parseServers} from '../lib/serverlist.ts'
import {whyNot} from '../lib/session.ts'
import type {Plan} from '../lib/types.ts'
import {NotApplied} from '../ui/applied.tsx'
import {Act, PageHead, say, Waiting, type Crumb} from '../ui/bits.tsx'
import {closeDialog, DialogTitle, showDialog} from '../ui/dialog.tsx'
import {Area, Required, Select, Text} from '../ui/fields.tsx'
import {focusFault, ObjectForm, OtherFaults, useSchemas} from '../ui/form.tsx'
import {PlanView} from '../ui/plan.tsx'
import {AccessQuestion} from '../ui/question.tsx'
import {ActionDialog} from '../ui/dialog.tsx'

type Kind = 'zone' | 'access_list' | 'server_group' | 'server' | 'load_balancer' | 'lb_zone' | 'listener'

interface KindOf { schema: string; noun: string; path: Path; parent?: string; own: string; example: string; back: (parent: string, name: string) => string }

const KINDS: Record<Kind, KindOf> = {
	zone: {schema: 'Zone', noun: 'zone', path: '/api/v1/zones/{zone}', own: 'zone', example: 'zone-a', back: () => '#/zones'},
	access_list: {schema: 'AccessList', noun: 'access list', path: '/api/v1/access-lists/{access_list}', own: 'access_list', example: 'office', back: (_p, n) => href('access-lists', n)},
	server_group: {schema: 'ServerGroup', noun: 'server group', path: '/api/v1/server-groups/{server_group}', own: 'server_group', example: 'web', back: (_p, n) => href('server-groups', n)},
	server: {schema: 'Server', noun: 'server', path: '/api/v1/server-groups/{server_group}/servers/{server}', parent: 'server_group', own: 'server', example: 'web-1', back: (p, n) => href('server-groups', p, 'servers', n)},
	load_balancer: {schema: 'LoadBalancer', noun: 'load balancer', path: '/api/v1/load-balancers/{load_balancer}', own: 'load_balancer', example: 'shop', back: (_p, n) => href('load-balancers', n)},
	lb_zone: {schema: 'LoadBalancerZone', noun: 'zone of a load balancer', path: '/api/v1/load-balancers/{load_balancer}/zones/{zone}', parent: 'load_balancer', own: 'zone', example: 'zone-a', back: p => href('load-balancers', p)},
	listener: {schema: 'Listener', noun: 'listener', path: '/api/v1/load-balancers/{load_balancer}/listeners/{listener}', parent: 'load_balancer', own: 'listener', example: 'http', back: p => href('load-balancers', p)},
}

/** The list that an object is in, or the one that holds it is in. */
const LISTS: Record<Kind, Crumb> = (() => {
	const groups = {text: 'Server groups', href: '#/server-groups'}, balancers = {text: 'Load balancers', href: '#/load-balancers'}
	return {zone: {text: 'Zones', href: '#/zones'}, access_list: {text: 'Access lists', href: '#/access-lists'}, server_group: groups, server: groups, load_balancer: balancers, lb_zone: balancers, listener: balancers}
})()

/** From the list down to the page that the form belongs to. */
function crumbsOf(id: Kind, parent: string, name?: string): Crumb[] {
	const list = LISTS[id]
	const holder = parent ? [{text: parent, href: `${list.href}/${encodeURIComponent(parent)}`}] : []
	const hasPage = name && ['server', 'server_group', 'load_balancer', 'access_list'].includes(id)
	return [list, ...holder, ...(hasPage ? [{text: name, href: KINDS[id].back(parent, name)}] : [])]
}

/** A further object inside the one that is made: the first zone and the first listener of a load balancer. */
interface Inner { member: string; title: string; label: string; help: string; example?: string; fields: FieldSpec[]; names?: string[] }

function InnerForm({inner, name, setName, values, setValues, faults, choices}: {
	inner: Inner; name: string; setName: (n: string) => void; values: Values; setValues: (v: Values) => void; faults: Fault[]; choices: Record<string, string[]>
}) {
	return (
		<fieldset>
			<legend>{inner.title}</legend>
			<div class="stack">
				{inner.names ? <Select label={inner.label} value={name} onInput={setName} help={inner.help} options={[['', 'none yet'], ...inner.names.map(n => [n, n] as [string, string])]} />
					: <Text label={inner.label} value={name} onInput={setName} help={inner.help} placeholder={inner.example && `such as ${inner.example}`} />}
				<ObjectForm fields={inner.fields} values={values} faults={faults} at={`/${inner.member}/${name}`} choices={choices} onChange={(p, v) => setValues({...values, [p]: v})} />
			</div>
		</fieldset>
	)
}

function PlanDialog({plan, verb, save}: {plan: Plan; verb: string; save: () => void}) {
	return (
		<div>
			<DialogTitle>What it will do</DialogTitle>
			<PlanView plan={plan} />
			<div class="end"><button type="button" onClick={closeDialog}>Back to the form</button><button type="button" class="main-action" onClick={() => { closeDialog(); save() }}>{verb}</button></div>
		</div>
	)
}

function useOriginal(kind: KindOf, params: Record<string, string> | undefined) {
	const [state, setState] = useState<{key?: string; object?: Record<string, unknown>; etag?: string | null; error?: ApiError}>({})
	const key = params ? fillPath(kind.path, params) : ''
	useEffect(() => {
		if (!params) return
		request<Record<string, unknown>>('GET', kind.path, {params}).then(a => setState({key, object: a.data, etag: a.etag}))
			.catch(e => setState({key, error: e instanceof ApiError ? e : new ApiError(0, 'unknown', String(e))}))
	}, [key])
	// From one form straight to another: what was read for the first is nothing of the second.
	return state.key === key ? state : {}
}

export function ObjectEditor({kind: id, parent = '', name}: {kind: Kind; parent?: string; name?: string}) {
	const kind = KINDS[id]
	const {all, fault: schemaFault} = useSchemas()
	const params = (n: string): Record<string, string> => ({...(kind.parent ? {[kind.parent]: parent} : {}), [kind.own]: n})
	const original = useOriginal(kind, name === undefined ? undefined : params(name))
	const groups = useGroups(), zones = useZones(), lists = useAccessLists()
	const what = name ? `Edit ${name}` : `New ${kind.noun}`
	const back = name ? kind.back(parent, name) : parent ? kind.back(parent, '').replace(/\/servers\/$/, '') : LISTS[id].href
	const crumbs = crumbsOf(id, parent, name)
	if (!all || !zones.data.value || !groups.data.value || !lists.data.value || (name !== undefined && !original.object)) {
		return <><PageHead title={what} crumbs={crumbs} /><Waiting what={`the form${name ? ` of ${name}` : ''}`} error={original.error ?? zones.error.value ?? groups.error.value ?? lists.error.value ?? (schemaFault ? new ApiError(0, 'unknown', schemaFault) : undefined)} /></>
	}
	const choices = {
		zone: (zones.data.value?.items ?? []).map(z => z.name), server_group: (groups.data.value?.items ?? []).map(g => g.name), backup_group: (groups.data.value?.items ?? []).map(g => g.name),
		access_list: lists.data.value.items.map(a => a.name),
	}
	return <Editor key={`${id}/${parent}/${name ?? ''}`} id={id} kind={kind} parent={parent} name={name} fields={fieldsOf(all[kind.schema]!, all)} original={original.object} etag={original.etag}
		inner={name ? [] : innersOf(id, all, choices.zone)} choices={choices} crumbs={crumbs} back={back} what={what} params={params} />
}

function innersOf(id: Kind, all: NonNullable<ReturnType<typeof useSchemas>['all']>, zones: string[]): Inner[] {
	if (id !== 'load_balancer') return []
	return [
		{member: 'zones', title: 'First zone', label: 'Zone', help: 'one of the zones; more can be added later', fields: fieldsOf(all.LoadBalancerZone!, all), names: zones},
		{member: 'listeners', title: 'First listener', label: 'Name of the listener', help: 'empty: no listener yet', example: 'http', fields: fieldsOf(all.Listener!, all)},
	]
}

interface EditorProps {
	id: Kind; kind: KindOf; parent: string; name?: string; fields: FieldSpec[]; original?: Record<string, unknown>; etag?: string | null; inner: Inner[]
	choices: Record<string, string[]>; crumbs: Crumb[]; back: string; what: string; params: (name: string) => Record<string, string>
}

function Editor(p: EditorProps) {
	const [name, setName] = useState(p.name ?? '')
	const [values, setValues] = useState<Values>(() => readValues(p.fields, p.original))
	const [inner, setInner] = useState(() => p.inner.map((i, n) => ({name: n === 0 ? i.names?.[0] ?? '' : '', values: readValues(i.fields, undefined)})))
	const [servers, setServers] = useState('')
	const [entries, setEntries] = useState('')
	const [faults, setFaults] = useState<Fault[]>([])
	const [trouble, setTrouble] = useState('')
	const [busy, setBusy] = useState(false)
	const why = whyNot('editor')
	const parsed = parseServers(servers)
	const read = parseEntries(entries, 'allow')

	const body = (): Record<string, unknown> => {
		if (p.original) return makePatch(p.fields, p.original, values)
		const made = makeBody(p.fields, values)
		p.inner.forEach((i, n) => { const mine = inner[n]!; if (mine.name.trim()) made[i.member] = {[mine.name.trim()]: makeBody(i.fields, mine.values)} })
		if (p.id === 'server_group' && servers.trim()) made.servers = parsed.servers
		if (p.id === 'access_list' && entries.trim()) made.entries = read.entries
		return made
	}
	const send = async <T,>(dry: boolean): Promise<T | undefined> => {
		setBusy(true)
		setFaults([])
		setTrouble('')
		try {
			const headers: Record<string, string> = p.original ? (p.etag ? {'If-Match': p.etag} : {}) : {'If-None-Match': '*'}
			return (await request<T>(p.original ? 'PATCH' : 'PUT', p.kind.path, {params: p.params(name.trim()), query: dry ? {dry_run: true} : {}, body: body(), headers})).data
		} catch (e) {
			const fault = e as ApiError
			if (fault.faults?.length && fault.status !== 412) { setFaults(fault.faults); setTrouble('Some of it is not valid; nothing was changed.') } else {
				setTrouble(fault.status === 412 ? (p.original ? `Somebody changed it meanwhile${fault.changed ? ` (${fault.changed.who})` : ''}: load the page again.` : `There is a ${p.kind.noun} of that name already.`) : fault.message)
			}
			focusFault()
			return undefined
		} finally { setBusy(false) }
	}
	const named = () => {
		const torn = (servers.trim() && parsed.fault) || (entries.trim() && read.fault)
		if (torn) { setTrouble(`Nothing was sent: ${torn}`); return false }
		if (name.trim()) return true
		setFaults([{pointer: '/name', code: 'missing', detail: 'is required'}])
		return false
	}
	const save = async () => {
		if (!named()) return
		const done = await send<{warnings?: {detail: string}[]}>(false)
		if (!done) return
		say(done.warnings?.length ? `Saved, but: ${done.warnings[0]!.detail}` : `${name} was saved`)
		refreshAll()
		location.hash = p.kind.back(p.parent, name.trim())
	}
	const preview = async () => {
		if (!named()) return
		const plan = await send<Plan>(true)
		if (plan) showDialog(() => <PlanDialog plan={plan} verb="Save" save={save} />)
	}
	const remove = () => showDialog(() => (
		<ActionDialog title={`Remove ${name}`} action="Remove" danger done={`${name} was removed`} run={async () => { await request('DELETE', p.kind.path, {params: p.params(name)}); location.hash = p.back.replace(/\/servers\/[^/]+$/, '') }}>
			<p>What is in use is not removed.</p>
		</ActionDialog>
	))
	const allFields = [...p.fields, {pointer: '/name', kind: 'text'} as FieldSpec]
	// What was given as lines of text has its faults there.
	const ofLines = p.name ? [] : faults.filter(f => /^\/(servers|entries)\/./.test(f.pointer))
	const told = ofLines.map(f => { const [, member, one] = f.pointer.split('/'); return `${member === 'entries' ? `line ${read.lines[Number(one)]}` : one}: ${f.detail}` }).join('; ')
	const outer = faults.filter(f => !ofLines.includes(f) && !p.inner.some((i, n) => f.pointer.startsWith(`/${i.member}/${inner[n]!.name}/`)))
	return (
		<>
			<PageHead title={p.what} crumbs={p.crumbs} sub={p.parent && `${p.id === 'lb_zone' ? 'zone' : p.kind.noun} of ${p.parent}`}>{p.name && <Act class="danger" why={why} onClick={remove}>Remove</Act>}</PageHead>
			<form class="panel stack" noValidate onSubmit={e => { e.preventDefault(); if (why) say(why); else if (!busy) void save() }}>
				{trouble && <div class="banner bad" role="alert" id="form-trouble" tabIndex={-1}>{trouble}</div>}
				{(!p.name || p.fields.some(f => f.required)) && <Required />}
				<OtherFaults faults={outer} fields={allFields} values={values} />
				{!p.name && p.id !== 'lb_zone' && <Text label="Name" required placeholder={`such as ${p.kind.example}`} value={name} onInput={setName} help="a-z, 0-9 and inner -; it cannot be changed later" fault={faults.find(f => f.pointer === '/name')?.detail} />}
				{!p.name && p.id === 'lb_zone' && <Select label="Zone" required value={name} onInput={setName} options={[['', 'choose …'], ...(p.choices.zone ?? []).map(z => [z, z] as [string, string])]} fault={faults.find(f => f.pointer === '/name')?.detail} />}
				<ObjectForm fields={p.fields} values={values} faults={faults} choices={p.choices} onChange={(pointer, v) => setValues(old => ({...old, [pointer]: v}))} />
				{p.inner.map((i, n) => <InnerForm key={i.member} inner={i} name={inner[n]!.name} values={inner[n]!.values} faults={faults} choices={p.choices}
					setName={v => setInner(old => old.map((o, x) => x === n ? {...o, name: v} : o))} setValues={v => setInner(old => old.map((o, x) => x === n ? {...o, values: v} : o))} />)}
				{p.id === 'server_group' && !p.name && <Area label="First servers" value={servers} onInput={setServers} rows={4} placeholder={'web-1 10.0.1.11:8080 zone-a\nweb-2 10.0.1.12:8080 zone-b'} help="one a line: name address:port zone – the zone may be left out" fault={parsed.fault || told || undefined} />}
				{p.id === 'access_list' && !p.name && <Area label="First entries" value={entries} onInput={setEntries} rows={4} placeholder={ENTRIES_EXAMPLE} help={ENTRIES_HELP} fault={read.fault || told || undefined} />}
				<div class="row"><button type="submit" class="main-action" aria-disabled={why || busy ? 'true' : undefined}>{busy ? 'Saving …' : 'Save'}</button>
					<button type="button" onClick={() => { if (!busy) void preview() }}>What it will do</button><a class="button" href={p.back}>Cancel</a>{why && <span class="why">{why}</span>}</div>
			</form>
			{p.id === 'listener' && p.name && <><NotApplied /><AccessQuestion listeners={[[p.parent, p.name]]} /></>}
		</>
	)
}
