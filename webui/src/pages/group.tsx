// SPDX-License-Identifier: GPL-2.0-or-later
// Server groups, and the table of one: ten thousand servers are as quick as ten.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks'
import {get, getAll, request} from '../lib/api.ts'
import {age, clock, ms, plural} from '../lib/format.ts'
import {healthyOf, look, summaryOf, type Tone} from '../lib/health.ts'
import {useGroups, useOverrides} from '../lib/load.ts'
import {now, useResource} from '../lib/live.ts'
import {go, href, route, setQuery} from '../lib/router.ts'
import {byName, byState, compareNames, endpointOf, filterRows, leftOf, reasonAlone, flowsAt, flowsOf, askFor, weightOf} from '../lib/servers.ts'
import {whyNot} from '../lib/session.ts'
import type {Override, RecentResult, ServerRow} from '../lib/types.ts'
import {NotInForce} from '../ui/applied.tsx'
import {Act, Advices, Empty, Fault, GroupBar, Numbers, PageHead, StateMark, Waiting} from '../ui/bits.tsx'
import {Spark, SparkTable} from '../ui/chart.tsx'
import {ActionDialog, showDialog} from '../ui/dialog.tsx'
import {groupZonePlace, openDrain, openUndrain, openWeight, Overrides, serverPlace} from '../ui/drain.tsx'
import {Select, Text} from '../ui/fields.tsx'
import {Cards} from '../ui/paged.tsx'
import {openProbe} from '../ui/probe.tsx'
import {sortRows, usePicks, VirtualTable, type Column, type Order} from '../ui/table.tsx'

const byGroupName = (a: {name: string}, b: {name: string}) => compareNames(a.name, b.name)
const STATES = ['unhealthy', 'initial', 'draining', 'healthy', 'disabled', 'unavailable', 'unused']

export function Groups() {
	const groups = useGroups()
	const state = route.value.query.get('state') ?? ''
	const all = groups.data.value?.items
	const count = (g: {status: object}) => (g.status as Record<string, number>)[state] ?? 0
	const shown = all?.filter(g => !state || count(g) > 0).sort(byGroupName)
	return (
		<>
			<PageHead title="Server groups" sub={all && plural(all.length, 'group')}><Act class="main-action" why={whyNot('editor')} onClick={() => go('server-groups', ':new')}>New server group</Act></PageHead>
			{(state || (all?.length ?? 0) > 0) && <div class="row">
				<div class="filter"><Select label="With servers that are" value={state} onInput={v => setQuery('state', v)} options={[['', 'anything'], ...['unhealthy', 'initial', 'draining', 'disabled'].map(s => [s, look(s).word] as [string, string])]} /></div>
			</div>}
			{!shown ? <Waiting what="the server groups" error={groups.error.value} />
				: <Cards items={shown} one="server group" keyOf={g => g.name} words={g => g.name}
					none={<Empty title={all?.length ? 'None matches' : 'No server group yet'} text="A server group holds the servers behind a listener, and how they are checked." cli="zonegate group set web protocol=tcp" />}
					card={g => (
						<article class="panel card stack live">
							<div class="spread"><h2><a href={href('server-groups', g.name) + (state ? `?state=${state}` : '')}>{g.name}</a></h2><span class="chip">{g.protocol}</span></div>
							{g.status.used && <GroupBar s={g.status} />}
							<div class="small">{g.status.used ? healthyOf(g.status) : `${plural(g.status.servers, 'server')}, in no listener`}
								{g.status.unhealthy > 0 && <>, <span class="t-bad nowrap">{g.status.unhealthy} unhealthy</span></>}{g.status.draining > 0 && <>, <span class="t-warn nowrap">{g.status.draining} draining</span></>}</div>
						</article>
					)} />}
		</>
	)
}

function drainOf(overrides: Override[], group: string): Map<string, Override> {
	return new Map(overrides.filter(o => o.kind === 'drain' && o.server_group === group && o.server).map(o => [o.server!, o]))
}

const HEALTH = '/api/v1/server-groups/{server_group}/health'
const useServers = (name: string, total: number) =>
	useResource(`group-${name}`, signal => getAll(HEALTH, {server_group: name}, 200, 50000, signal), total > 1000 ? 5000 : 2000)

const SCROLLING_MS = 150
/** The last results of the servers in sight, as the daemon keeps them: of ten thousand only theirs are asked for. */
function useRecent(name: string, inSight: string[]): Map<string, RecentResult[]> {
	const wanted = useRef('')
	wanted.current = askFor(inSight)
	const recent = useResource(`recent-${name}`, async () => new Map(wanted.current ? (await get(HEALTH, {server_group: name}, {server: wanted.current, recent: true})).items.map(r => [r.server, r.recent ?? []]) : []), 3000)
	useEffect(() => {
		const timer = setTimeout(() => void recent.refresh(), SCROLLING_MS)
		return () => clearTimeout(timer)
	}, [wanted.current])
	return recent.data.value ?? NO_RESULTS
}
const NO_RESULTS = new Map<string, RecentResult[]>()

interface Row extends ServerRow { drain?: Override; flows?: number; active?: number }

function timeLeft(drain: Override) {
	return clock(Date.parse(drain.deadline_at ?? '') - now.value)
}

/** Why, and of what is well where and for how long: where there are no columns for it. */
function inShort(r: Row) {
	if (r.left_out) return `gets nothing: ${r.left_out}`
	if (r.drain) return r.drain.state === 'finished' ? 'drained' : `${r.drain.active === undefined ? r.drain.connections ?? 0 : `${r.drain.active} open`} left · ${timeLeft(r.drain)} at most`
	return r.state === 'healthy' ? `${endpointOf(r)} · for ${age(r.since, now.value)}` : reasonAlone(r.detail)
}

function columnsFor(group: string, recent: Map<string, RecentResult[]>): Column<Row>[] {
	const top = Math.max(1, ...[...recent.values()].flatMap(list => list.map(r => r.duration_ms)))
	return [
		{id: 'name', head: 'Server', width: '14%', rowHeader: true, sort: byName, cell: r => <><a href={href('server-groups', group, 'servers', r.server)} title={r.server}>{r.server}</a><span class="under wide-only">{endpointOf(r)}</span><span class="under narrow-only">{inShort(r)}</span></>},
		{id: 'state', head: 'State', width: '132px', sort: byState, cell: r => <StateMark state={r.state} />},
		{id: 'detail', head: 'Why', wideOnly: true, twoLines: true, cell: r => <span title={r.left_out ?? r.detail} class="small">{r.left_out ? `gets nothing: ${r.left_out}` : r.drain ? `drains: ${leftOf(r.drain)}${r.drain.state === 'finished' ? ', done' : `; ${timeLeft(r.drain)} at most`}` : reasonAlone(r.detail)}</span>},
		{id: 'since', head: 'For', width: '94px', num: true, wideOnly: true, sort: (a, b) => (b.since ?? '').localeCompare(a.since ?? ''), cell: r => age(r.since, now.value)},
		{id: 'zone', head: 'Zone', width: '80px', wideOnly: true, sort: (a, b) => (a.zone ?? '').localeCompare(b.zone ?? ''), cell: r => r.zone ?? '–'},
		{id: 'weight', head: 'Weight', width: '94px', num: true, wideOnly: true, sort: (a, b) => a.weight - b.weight, cell: r => weightOf(r.weight, r.weight_factor) === r.weight_configured ? r.weight_configured : <span title={`configured: ${r.weight_configured}`}>{weightOf(r.weight, r.weight_factor)} <span class="soft">of {r.weight_configured}</span></span>},
		{id: 'flows', head: 'Conn.', width: '74px', num: true, wideOnly: true, sort: (a, b) => (a.flows ?? -1) - (b.flows ?? -1), cell: r => r.flows === undefined ? '–' : <span title={`${r.active} active, ${r.flows - (r.active ?? 0)} inactive`}>{r.flows}</span>},
		{id: 'spark', head: 'Probes', width: '102px', wideOnly: true, cell: r => { const list = recent.get(r.server); return list?.length ? <Spark results={list} top={top} /> : null }},
	]
}

/** `rows`: those that are picked. */
function Bulk({group, rows, clear}: {group: string; rows: Row[]; clear: () => void}) {
	const picked = rows.map(r => r.server)
	const why = whyNot('operator') || (picked.length ? '' : 'pick servers first')
	const places = picked.map(s => serverPlace(group, s))
	const drained = rows.filter(r => r.drain).map(r => serverPlace(group, r.server))
	return (
		<div class="row bulk" role="group" aria-label="With the picked servers">
			<span class="small" role="status">{picked.length ? `${plural(picked.length, 'server')} picked` : 'Pick servers to act on them'}</span>
			<Act class="small" why={why} onClick={() => openDrain(places)}>Drain</Act>
			<Act class="small" why={why || (drained.length ? '' : 'none of the picked is drained by hand')} onClick={() => openUndrain(drained)}>Undrain</Act>
			<Act class="small" why={why} onClick={() => openWeight(group, picked, rows[0]?.weight_configured ?? 100)}>Weight</Act>
			<Act class="small" why={why || (picked.length === 1 ? '' : 'pick one server')} onClick={() => openProbe(group, picked[0]!)}>Probe now</Act>
			{picked.length > 0 && <button type="button" class="small quiet" onClick={clear}>Pick none</button>}
		</div>
	)
}

export function GroupPage({name}: {name: string}) {
	const [total, setTotal] = useState(0)
	const health = useServers(name, total)
	const [inSight, setInSight] = useState<string[]>([])
	const recent = useRecent(name, inSight)
	const overrides = useOverrides()
	const small = total <= 2000
	const kernel = useResource(`flows-${small}`, async () => small ? get('/api/v1/kernel', undefined, {owner: 'zonegate', services_only: true}) : undefined, 3000)
	const [text, setText] = useState('')
	const [zone, setZone] = useState('')
	const [order, setOrder] = useState<Order>({id: 'state', down: false})
	const picks = usePicks()
	const state = route.value.query.get('state') ?? ''
	const h = health.data.value
	const os = overrides.data.value?.items ?? []
	const rows: Row[] = useMemo(() => {
		const drains = drainOf(os, name), flows = flowsOf(kernel.data.value)
		return (h?.items ?? []).map(r => {
			const f = flowsAt(flows, r)
			return {...r, drain: drains.get(r.server), flows: f && f.active + f.inactive, active: f?.active}
		})
	}, [h, overrides.data.value, kernel.data.value])
	if (rows.length !== total && h) setTotal(rows.length)
	const columns = useMemo(() => columnsFor(name, recent), [name, recent])
	const shown = useMemo(() => sortRows(filterRows(rows, {text, state, zone}), columns as Column<ServerRow>[], order) as Row[], [rows, text, state, zone, order])
	// Who acts means what is listed: a pick that a filter hides, or whose server is gone, is none.
	const picked = useMemo(() => shown.filter(r => picks.picked.has(r.server)), [shown, picks])
	useEffect(() => {
		if (!h || picks.picked.size === 0) return
		const there = new Set(rows.map(r => r.server)), gone = [...picks.picked].filter(s => !there.has(s))
		if (gone.length) picks.all(gone, false)
	}, [rows])
	const probed = inSight.flatMap(s => recent.get(s)?.length ? [[s, recent.get(s)!] as [string, RecentResult[]]] : [])
	const crumbs = [{text: 'Server groups', href: '#/server-groups'}]
	if (!h) return <><PageHead title={name} crumbs={crumbs} /><Waiting what={`server group ${name}`} error={health.error.value} /></>
	const zones = [...new Set(rows.map(r => r.zone ?? ''))].sort()
	const w = h.windows, sum = summaryOf(h.summary)
	const unchecked = h.advice.some(a => a.code === 'health_check_disabled')
	const counted = [
		...(unchecked ? [{n: sum.unchecked, text: 'not checked', state: 'unavailable', tone: 'idle' as Tone}]
			: [{n: sum.healthy, text: 'healthy', state: 'healthy', tone: 'ok' as Tone}, {n: sum.unhealthy, text: 'unhealthy', state: 'unhealthy', tone: 'bad' as Tone}]),
		{n: sum.draining, text: 'draining', state: 'draining', tone: 'warn' as Tone},
		...(unchecked ? [] : [{n: sum.initial, text: 'being checked', state: 'initial', tone: 'info' as Tone}]),
	]
	const remove = () => showDialog(() => <ActionDialog title={`Remove ${name}`} action="Remove" danger done={`${name} was removed`} run={async () => { await request('DELETE', '/api/v1/server-groups/{server_group}', {params: {server_group: name}}); go('server-groups') }}><p>A group that a listener uses is not removed.</p></ActionDialog>)
	return (
		<>
			<PageHead title={name} crumbs={crumbs} sub={sum.used ? undefined : 'in no listener: not probed'}>
				<Act why={whyNot('editor')} class="main-action" onClick={() => go('server-groups', name, 'servers', ':new')}>Add a server</Act>
				<a class="button" href={href('server-groups', name, 'check')}>Health check</a>
				<Act why={whyNot('editor')} onClick={() => go('server-groups', name, 'edit')}>Edit</Act>
				<Act why={whyNot('editor')} class="danger" onClick={remove}>Remove</Act>
			</PageHead>
			{health.error.value?.status ? <Fault error={health.error.value} what="Not renewed" /> : null}
			<section class="panel stack live" aria-label="In numbers">
				<Numbers items={[
					{value: sum.servers.toLocaleString('en'), text: sum.servers === 1 ? 'server' : 'servers', href: href('server-groups', name)},
					...(sum.used ? counted.map(c => ({value: c.n.toLocaleString('en'), text: c.text, href: `${href('server-groups', name)}?state=${c.state}`, tone: c.n ? c.tone : undefined})) : []),
				]} />
				{sum.used && <GroupBar s={sum} />}
				<p class="soft small">{unchecked ? 'Nothing is probed: a dead server keeps its share of connections.' : <>{sum.used ? 'A' : 'Once a listener uses it, a'} dead server is noticed {w.detection_silent ? <>within {ms(w.detection_silent.worst_ms)} (silent) or</> : <>never (silence passes) or within</>} {ms(w.detection_active.worst_ms)} (refused), and is back within {ms(w.recovery.worst_ms)}.</>}</p>
			</section>
			<NotInForce list={h.not_in_force} />
			<Overrides list={os.filter(o => o.server_group === name && (o.kind !== 'drain' || !o.server))} />
			<section class="panel stack" aria-label="Servers">
				{rows.length > 0 && <>
					<div class="row">
						<div class="filter"><Text label="Find" value={text} onInput={setText} placeholder="name, address, reason" /></div>
						<div class="filter"><Select label="State" value={state} onInput={v => setQuery('state', v)} options={[['', 'all states'], ...STATES.map(s => [s, look(s).word] as [string, string])]} /></div>
						{zones.length > 1 && <div class="filter"><Select label="Zone" value={zone} onInput={setZone} options={zones.map(z => [z, z || 'all zones'] as [string, string]).concat(zones.includes('') ? [] : [['', 'all zones']])} /></div>}
					</div>
					{zone && <div class="row"><Act class="small" why={whyNot('operator')} onClick={() => openDrain([groupZonePlace(name, zone)])}>Drain all of {zone}</Act><span class="soft small">its servers here, later ones too</span></div>}
					<Bulk group={name} rows={picked} clear={picks.clear} />
				</>}
				{rows.length === 0 ? <Empty title="No server yet" text="A server has an address, a port and a zone. It gets connections once it has passed its checks." cli={`zonegate server set ${name}/web-1 address=10.0.1.11 port=8080`} />
					: shown.length === 0 ? <p class="soft">No server matches. <button type="button" class="quiet" onClick={() => { setText(''); setZone(''); setQuery('state', '') }}>Show all</button></p>
						: <VirtualTable rows={shown} columns={columns} keyOf={r => r.server} order={order} onOrder={setOrder} onSight={setInSight} caption={`Servers of ${name}: ${shown.length} of ${rows.length}`} picks={picks} under={2} />}
				{probed.length > 0 && <SparkTable rows={probed} />}
			</section>
			<Advices list={h.advice} />
		</>
	)
}
