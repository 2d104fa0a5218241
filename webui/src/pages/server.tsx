// SPDX-License-Identifier: GPL-2.0-or-later
// One server: since when it is what it is, why, and what to try.
import {useEffect, useMemo, useState} from 'preact/hooks'
import {get, getAll} from '../lib/api.ts'
import {age, instant, ms, rateOf, readable, span, when} from '../lib/format.ts'
import {look} from '../lib/health.ts'
import {join, ofHistory, ofNow, type Point} from '../lib/latency.ts'
import {useOverrides} from '../lib/load.ts'
import {now, useResource, type Resource} from '../lib/live.ts'
import {go, href} from '../lib/router.ts'
import {whyNot} from '../lib/session.ts'
import {weightOf} from '../lib/servers.ts'
import {pieces} from '../lib/timeline.ts'
import type {HealthCheck, HistoryItem, ProbeEvidence, ServerHealth} from '../lib/types.ts'
import {NotInForce} from '../ui/applied.tsx'
import {Act, Fault, PageHead, StateMark, Waiting, Words} from '../ui/bits.tsx'
import {Chart} from '../ui/chart.tsx'
import {openDrain, openUndrain, openWeight, Overrides, serverPlace} from '../ui/drain.tsx'
import {Evidence, openProbe} from '../ui/probe.tsx'
import {Table} from '../ui/table.tsx'
import {Timeline} from '../ui/timeline.tsx'

const DAY = 86400000
const NO_ITEMS: HistoryItem[] = []

function sentOf(h: ServerHealth, sent: string | undefined, check: HealthCheck | undefined): string {
	if (!h.check) return h.state === 'unused' ? 'nothing: no listener uses its group' : 'nothing: the health check is off'
	const expects = check?.expected_status && /^http/.test(h.check.type) ? `, expecting ${check.expected_status}` : ''
	return `${sent ?? `a ${h.check.type} probe`} to ${h.check.endpoint}${expects}, at most ${ms(h.check.timeout_ms)}`
}

/** What the address has to bear of probes, of all groups together. */
function loadOf(h: ServerHealth): string {
	const {per_second: rate, different} = h.probe_load
	const text = rateOf(rate)
	return `each gateway sends ${text} ${text === '1' ? 'probe' : 'probes'} a second to ${h.address}${different > 1 ? `, of ${different} different probes` : ''}`
}

function Why({h, check, node}: {h: ServerHealth; check?: HealthCheck; node: string | null | undefined}) {
	const bad: ProbeEvidence | null = h.state === 'unhealthy' || h.state === 'initial' ? h.last_failure ?? h.last_probe : h.last_probe
	return (
		<section class="panel stack live" aria-label={h.state === 'unhealthy' ? 'Why unhealthy' : 'Why'}>
			<h2>{h.state === 'healthy' ? 'What the probes say' : `Why ${look(h.state).word.toLowerCase()}?`}</h2>
			<p>{readable(h.detail)}</p>
			<dl class="facts">
				<dt>Sent</dt><dd>{sentOf(h, (bad ?? h.last_probe)?.sent, check)}</dd>
				<dt>From</dt><dd>{node ?? 'this gateway'}{check?.source_address && <>, source <span class="mono">{check.source_address}</span></>}</dd>
				{bad && <><dt>At</dt><dd>{when(bad.started)} ({age(bad.started, now.value)} ago)</dd></>}
				{h.check && <><dt>In a row</dt><dd>{h.failures ? `${h.failures} failed` : `${h.passes} passed`}</dd></>}
				{h.probe_load.different > 0 && <><dt>Probe load</dt><dd>{loadOf(h)}</dd></>}
				{h.next_change && <><dt>Next</dt><dd>{h.next_change}</dd></>}
			</dl>
			{bad && <Evidence p={bad} />}
			{h.advice && <div class="banner info"><span><strong>What to try: </strong>{h.advice}</span></div>}
			{h.rests_on_silence && <p class="soft small">This verdict rests on silence: nothing came back that says the server works.</p>}
		</section>
	)
}

const KEPT = 300
const SPANS: [string, number, string][] = [['now', 0, 'Now'], ['24h', DAY, '24 h'], ['7d', 7 * DAY, '7 d']]

function Latency({h, items}: {h: ServerHealth; items: HistoryItem[]}) {
	const [seen, setSeen] = useState<Point[]>([])
	const [back, setBack] = useState('now')
	const interval = h.check?.interval_ms ?? 3000
	useEffect(() => setSeen(old => join([ofNow(h), old], interval).slice(-KEPT)), [h.last_probe?.started])
	const rows = useMemo(() => {
		const ago = SPANS.find(s => s[0] === back)![1]
		return ago ? join([seen, ofHistory(items, interval, Date.now() - ago)], interval) : seen
	}, [seen, items, back])
	const times = useMemo(() => rows.map(r => r.t / 1000), [rows])
	const lines = useMemo(() => [{name: 'time to an answer', values: rows.map(r => r.pass), points: true}, ...(rows.some(r => r.fail !== null) ? [{name: 'failed after', values: rows.map(r => r.fail), dash: [4, 4], points: true, colour: '--bad'}] : [])], [rows])
	return (
		<section class="panel stack live" aria-label="Probe latency">
			<div class="spread"><h2>Probe latency</h2>
				<div class="row" role="group" aria-label="How far back">{SPANS.map(([id,, text]) => <button key={id} type="button" class="small" aria-pressed={back === id} onClick={() => setBack(id)}>{back === id ? `✓ ${text}` : text}</button>)}</div></div>
			{!h.check ? <p class="soft">It is not probed.</p> : times.length < 2 ? <p class="soft" role="status">Waiting for probes …</p> : <Chart title="Probe latency" times={times} lines={lines} format={ms} />}
			{h.check && <p class="soft small">{back === 'now' ? 'The last probes, and each since this page was opened.' : 'The last probes, and those before each change of state; between them none is kept.'} A probe fails after {ms(h.check.timeout_ms)}.</p>}
		</section>
	)
}

function History({history, state, since}: {history: Resource<{items: HistoryItem[]}>; state: string; since: number}) {
	const [wanted, setDays] = useState(0)
	const items = history.data.value?.items
	// What began a moment ago would be a line at the edge of a day.
	const days = wanted || (items?.some(i => instant(i.at) < Date.now() - DAY / 24) || !items?.length ? 1 : 1 / 24)
	const to = now.value, from = to - days * DAY
	const list = items ? pieces(items, state, since, from, to) : []
	return (
		<section class="panel stack live" aria-label="Health over time">
			<div class="spread"><h2>Health over time</h2>
				<div class="row" role="group" aria-label="How far back">{[[1 / 24, '1 h'], [1, '24 h'], [7, '7 d']].map(([d, t]) => <button key={t} type="button" class="small" aria-pressed={days === d} onClick={() => setDays(d as number)}>{days === d ? `✓ ${t}` : t}</button>)}</div></div>
			{!items ? <Waiting what="the history" error={history.error.value} /> : <>
				<Timeline pieces={list} from={from} to={to} />
				<p class="soft small">Where nothing is drawn nobody looked.{list.some(p => p.unsaid) && ' Hatched: the daemon ended without a stop, and from when on it did not look is not known.'}</p>
				<details open={items.length <= 8}>
					<summary>As a table</summary>
					<Table caption="Changes of state" empty="It has not changed its state." head={['When', 'What', 'After', 'Why']}
						rows={items.slice(0, 100).map((i: HistoryItem) => i.event === 'transition'
							? [<span class="nowrap">{when(i.at)}</span>, <span class="nowrap">{look(i.from ?? '').word} → <StateMark state={i.to} /></span>, i.lasted_ms === undefined ? '' : <span class="nowrap">{span(i.lasted_ms)}</span>, i.detail]
							: [<span class="nowrap">{when(i.at)}</span>, <span class="nowrap">{i.event === 'daemon.started' ? 'The daemon started' : 'The daemon stopped'}</span>, '', i.unclean ? `Unknown until ${when(i.at)}: it had ended without a stop, and from when on nobody looked is not known.` : ''])} />
				</details>
			</>}
		</section>
	)
}

export function ServerPage({group, server}: {group: string; server: string}) {
	const params = {server_group: group, server}
	const history = useResource(`history-${group}/${server}`, signal => getAll('/api/v1/server-groups/{server_group}/servers/{server}/health/history', params, 200, 2000, signal), 10000)
	const health = useResource(`server-${group}/${server}`, () => get('/api/v1/server-groups/{server_group}/servers/{server}/health', params), 1000)
	const config = useResource(`check-${group}`, () => get('/api/v1/server-groups/{server_group}', {server_group: group}), 60000)
	const system = useResource('system', () => get('/api/v1/system'), 60000)
	const overrides = useOverrides()
	const h = health.data.value
	const crumbs = [{text: 'Server groups', href: '#/server-groups'}, {text: group, href: href('server-groups', group)}]
	if (!h) return <><PageHead title={server} crumbs={crumbs} /><Waiting what={`server ${server}`} error={health.error.value} /></>
	const mine = (overrides.data.value?.items ?? []).filter(o => o.server_group === group && o.server === server)
	const drained = mine.some(o => o.kind === 'drain')
	const why = whyNot('operator')
	const place = serverPlace(group, server)
	const told = h.services.some(s => s.fault || s.left_out)
	const nothing = h.in_service && h.weight === 0 && h.weight_configured > 0 && !drained ? h.services.find(s => s.left_out)?.left_out : undefined
	return (
		<>
			<PageHead title={server} crumbs={crumbs} sub={<span class="mono">{h.address}{h.port ? ` port ${h.port}` : ''}</span>}>
				<Act why={why} onClick={() => openProbe(group, server)}>Probe now</Act>
				{drained ? <Act why={why} onClick={() => openUndrain([place])}>Undrain</Act> : <Act why={why} onClick={() => openDrain([place])}>Drain</Act>}
				<Act why={why} onClick={() => openWeight(group, [server], h.weight_configured)}>Weight</Act>
				<Act why={whyNot('editor')} onClick={() => go('server-groups', group, 'servers', server, 'edit')}>Edit</Act>
			</PageHead>
			{health.error.value?.status ? <Fault error={health.error.value} what="Not renewed" /> : null}
			<section class="panel stack live" aria-label="State" aria-live="polite">
				<div class="row"><StateMark state={h.state} /><span>for {age(h.since, now.value)}</span><span class="soft">{h.in_service ? 'in service' : 'not in service'}, weight {weightOf(h.weight, h.weight_factor)}{weightOf(h.weight, h.weight_factor) !== h.weight_configured && ` of ${h.weight_configured}`}{h.zone && <>, zone {h.zone}</>}</span></div>
				{nothing && <p>It gets nothing: {nothing}</p>}
			</section>
			<NotInForce list={h.services} />
			<Overrides list={mine} />
			<div class="halves"><Why h={h} check={config.data.value?.health_check} node={system.data.value?.node} /><Latency h={h} items={history.data.value?.items ?? NO_ITEMS} /></div>
			<History history={history} state={h.state} since={instant(h.since)} />
			<section class="panel live" aria-label="Its services">
				<h2>Its services</h2>
				<Table caption="Virtual services" empty="None." head={['Load balancer', 'Zone', 'Listener', 'Service', 'Weight', ...(told ? ['Why'] : [])]} num={[4]}
					rows={h.services.map(s => [<a href={href('load-balancers', s.load_balancer)}>{s.load_balancer}</a>, <Words text={s.zone} />, <Words text={s.listener} />, <span class="mono nowrap">{s.service ?? '–'}</span>, typeof s.weight === 'number' ? weightOf(s.weight, h.weight_factor) : '–',
						...(told ? [s.fault ? <span class="t-bad">{s.fault}</span> : s.left_out ?? ''] : [])])} />
			</section>
		</>
	)
}
