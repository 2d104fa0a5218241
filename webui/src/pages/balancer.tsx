// SPDX-License-Identifier: GPL-2.0-or-later
// Load balancers, and one of them: the map of its zones, its listeners, its name.
import {useState} from 'preact/hooks'
import {get, request} from '../lib/api.ts'
import {count, ms, percent, plural, portsOf} from '../lib/format.ts'
import {healthyOf, openFamily, publicationLook, serviceLook, summaryOf, type Look} from '../lib/health.ts'
import {dropsOf} from '../lib/limits.ts'
import {useBalancers, useGroups, useOverrides} from '../lib/load.ts'
import {useResource} from '../lib/live.ts'
import {go, href, route, setQuery} from '../lib/router.ts'
import {compareNames} from '../lib/servers.ts'
import {whyNot} from '../lib/session.ts'
import type {FailoverTime, LbStatus, LoadBalancer, Override, Publication, ZoneStatus} from '../lib/types.ts'
import {NotApplied} from '../ui/applied.tsx'
import {Act, Advices, Bar, CopyButton, Empty, Fault, GroupBar, PageHead, StateMark, Waiting, Words} from '../ui/bits.tsx'
import {ActionDialog, showDialog} from '../ui/dialog.tsx'
import {balancerPlace, listenerPlace, openDrain, Overrides} from '../ui/drain.tsx'
import {Table} from '../ui/table.tsx'
import {Throughput} from '../ui/throughput.tsx'
import {BalancerCards} from './overview.tsx'
import {openShift, ShiftBanner} from './shift.tsx'

export function Balancers() {
	const balancers = useBalancers(), groups = useGroups(), overrides = useOverrides()
	const why = whyNot('editor')
	const open = route.value.query.get('state') === 'fail_open'
	const lbs = balancers.data.value?.items
	const shown = lbs?.filter(lb => !open || lb.status.fail_open).sort((a, b) => compareNames(a.name, b.name))
	const byName = new Map((groups.data.value?.items ?? []).map(g => [g.name, g]))
	return (
		<>
			<PageHead title="Load balancers" sub={lbs && plural(lbs.length, 'load balancer')}><Act class="main-action" why={why} onClick={() => go('load-balancers', ':new')}>New load balancer</Act></PageHead>
			{open && <p class="soft">Only those that fail open. <button type="button" class="quiet" onClick={() => setQuery('state', '')}>Show all</button></p>}
			{!shown ? <Waiting what="the load balancers" error={balancers.error.value} />
				: <BalancerCards list={shown} groups={byName} overrides={overrides.data.value?.items ?? []}
					none={<Empty title={open ? 'None fails open' : 'No load balancer yet'} text="A load balancer has an address in each of its zones, and listeners that send connections to server groups." cli="zonegate lb set shop dns_name=shop.lb.example.net" />} />}
		</>
	)
}

const OUT_OF_DNS: Look = {word: 'Not in DNS', tone: 'idle', shape: 'dash'}

/** "VIP healthy (probed): it answered", or its detail alone where that begins with the same words. */
function vipWords({state, source, detail}: Publication['vip_health']): string {
	const words = state?.replace(/_/g, ' ').replace('initial', 'being checked') ?? 'not known'
	return detail.startsWith(words) ? `VIP ${detail}` : `VIP ${words}${source === 'self' ? '' : ' (probed)'}: ${detail}`
}

function Vip({p, inDns}: {p: Publication; inDns: boolean}) {
	return (
		<div class="vip small">
			<div class="spread"><span class="mono">{p.vip}</span><StateMark as={inDns ? publicationLook(p) : OUT_OF_DNS} /></div>
			{p.address !== p.vip && <span class="soft">published as <span class="mono">{p.address}</span></span>}
			{inDns && <span>{p.detail}</span>}
			<span class="soft">{vipWords(p.vip_health)}</span>
		</div>
	)
}

/** The share of answers with this zone; only of what is published now. */
function shareOf(zone: ZoneStatus, zones: ZoneStatus[]): string {
	const out = zones.filter(z => z.publication.some(p => p.published))
	if (!zone.publication.some(p => p.published)) return '0 %'
	return `${Math.round(100 / out.length)} %`
}

/** New connections a second by zone, as the kernel counts them at the VIPs; none while nothing is counted. */
function useTraffic(name: string): Map<string, number> {
	const stats = useResource(`traffic-${name}`, () => get('/api/v1/stats', undefined, {lb: name, window: '5m'}), 5000)
	const rates = new Map<string, number>()
	for (const s of stats.data.value?.series ?? []) if (s.zone && s.listener) rates.set(s.zone, (rates.get(s.zone) ?? 0) + s.now.connections_per_s)
	return rates
}

/** A gateway has the services of the zones that it holds ([node] zones), and counts only theirs. */
const isHere = (zone: ZoneStatus): boolean => zone.services.length > 0

function trafficOf(zone: ZoneStatus, all: ZoneStatus[], traffic: Map<string, number>, whole: number): string {
	if (!isHere(zone)) return 'counted by its own gateway'
	const rate = traffic.get(zone.zone) ?? 0, text = `${count(rate)} new connections/s`
	return all.every(isHere) ? `${percent(rate, whole)} (${text})` : text
}

/** Servers of a zone that are drained: none of them is eligible. Across zones each has all; else the groups do not say whose they are. */
function drainingOf(lb: LbStatus): number {
	if (!lb.cross_zone) return 0
	const byGroup = new Map(lb.server_groups.map(g => [g.server_group, summaryOf(g.summary).draining]))
	return lb.listeners.reduce((sum, l) => sum + (byGroup.get(l.server_group) ?? 0), 0)
}

function ZoneColumn({lb, zone, all, shift, traffic}: {lb: LbStatus; zone: ZoneStatus; all: ZoneStatus[]; shift?: Override; traffic: Map<string, number>}) {
	const whole = [...traffic.values()].reduce((a, n) => a + n, 0)
	const why = whyNot('operator') || (shift ? `it is shifted away already, by ${shift.who}` : '') || (zone.enabled ? '' : 'the zone is disabled by the configuration')
	const inService = Math.max(0, ...zone.publication.map(p => p.servers_in_service)), eligible = Math.max(0, ...zone.publication.map(p => p.servers_eligible))
	const draining = zone.enabled ? drainingOf(lb) : 0
	const looks = lb.dns_name ? zone.publication.map(publicationLook) : [serviceLook(inService, eligible)]
	const worst: Look = !zone.enabled ? {word: 'Disabled', tone: 'idle', shape: 'bar'} : (['bad', 'warn', 'info', 'ok', 'idle'] as const).map(t => looks.find(l => l.tone === t)).find(l => l) ?? OUT_OF_DNS
	return (
		<article class={`zone t-${worst.tone}`}>
			<div class="spread"><h3><a href={href('load-balancers', lb.load_balancer, 'zones', zone.zone)}>{zone.zone}</a></h3></div>
			<StateMark as={worst} />
			<dl class="facts small">
				<dt>Servers in service</dt><dd><strong>{inService}</strong> of {eligible + draining}{draining > 0 && <>, <span class="t-warn nowrap">{draining} draining</span></>}</dd>
				{lb.dns_name && <><dt>Share of answers</dt><dd>{shareOf(zone, all)}</dd></>}
				{whole > 0 && <><dt>Share of traffic</dt><dd>{trafficOf(zone, all, traffic, whole)}</dd></>}
				{lb.listeners.length > 0 && zone.enabled && <><dt>Held by</dt><dd>{isHere(zone) ? 'this gateway' : 'another gateway; its address is probed from here'}</dd></>}
			</dl>
			<Bar parts={[{n: inService, tone: 'ok', text: 'in service'}, {n: draining, tone: 'warn', text: 'draining'}, {n: eligible - inService, tone: 'bad', text: 'not in service'}]} />
			{zone.publication.map(p => <Vip key={p.family} p={p} inDns={lb.dns_name !== null} />)}
			<div class="actions"><Act why={why} onClick={() => openShift(zone.zone, lb.load_balancer)} label={`Shift away ${zone.zone}`}>Shift away</Act>{why && <span class="why">{why}</span>}</div>
		</article>
	)
}

function Listeners({s, lb}: {s: LbStatus; lb?: LoadBalancer}) {
	const why = whyNot('operator')
	const listOf = (listener: string) => lb?.listeners[listener]?.access_list
	return (
		<section class="panel live" aria-label="Listeners">
			<div class="spread"><h2>Listeners</h2><Act class="small" why={whyNot('editor')} onClick={() => go('load-balancers', s.load_balancer, 'listeners', ':new')}>New listener</Act></div>
			{s.listeners.length === 0 ? <Empty title="No listener yet" text="A listener takes the connections to a port and sends them to a server group; without one none is taken." cli={`zonegate listener set ${s.load_balancer}/http protocol=tcp port=80 server_group=web`} /> : <Table caption="Listeners" head={['Name', 'Port', 'Server group', 'Clients', 'In the kernel', '']}
				rows={s.listeners.map(l => {
					const fault = l.services.find(x => x.fault)?.fault
					const there = l.services.filter(x => x.programmed).length
					return [
						<a href={href('load-balancers', s.load_balancer, 'listeners', l.listener)}>{l.listener}</a>, <span class="mono nowrap">{l.protocol} {portsOf(l)}</span>,
						<a href={href('server-groups', l.server_group)}>{l.server_group}</a>, listOf(l.listener) ? <a href={href('access-lists', listOf(l.listener)!)}>{listOf(l.listener)}</a> : 'all',
						<>{fault ? <span class="t-bad">{fault}</span> : there ? `${there} of ${plural(l.services.length, 'service')}` : l.services.some(x => x.planned) ? 'planned (IPVS is off)' : 'none here'}
							{dropsOf(l).map(d => <div key={d.text} class={`small ${d.recent ? 't-warn' : 'soft'}`}>{d.text}</div>)}</>,
						<Act class="small" why={why} label={`Drain ${l.listener}`} onClick={() => openDrain([listenerPlace(s.load_balancer, l.listener)])}>Drain</Act>,
					]
				})} />}
		</section>
	)
}

function Answers({name}: {name: string}) {
	const [type, setType] = useState<'A' | 'AAAA'>('A')
	const preview = useResource(`preview-${name}-${type}`, () => get('/api/v1/dns/preview', undefined, {name, type}), 3000)
	const p = preview.data.value
	return (
		<section class="panel stack live" aria-label="DNS">
			<div class="spread"><h2>DNS</h2><a href={`#/dns?name=${encodeURIComponent(name)}`}>With a client's address</a></div>
			<div class="row"><span class="mono grow"><Words text={name} /></span><CopyButton text={name} what="the DNS name" />
				<div class="row" role="group" aria-label="Type">{(['A', 'AAAA'] as const).map(t => <button key={t} type="button" class="small" aria-pressed={t === type} onClick={() => setType(t)}>{t === type ? `✓ ${t}` : t}</button>)}</div></div>
			{!p ? <Waiting what="the answer" error={preview.error.value} /> : (
				<>
					<p class="soft small">{p.rcode}, TTL {p.ttl_s} s, serial {p.serial}</p>
					<ul class="list answers">
						{p.addresses.map(a => <li key={a.address}><StateMark as={publicationLook({published: a.published, reason_code: a.reason_code ?? ''})} /><span class="mono">{a.address}</span><span class="grow soft small">{a.zone}: {a.detail}</span></li>)}
						{p.addresses.length === 0 && <li class="soft">No {type} address.</li>}
					</ul>
				</>
			)}
		</section>
	)
}

function Failover({name}: {name: string}) {
	const time = useResource(`failover-${name}`, () => get('/api/v1/load-balancers/{load_balancer}/failover-time', {load_balancer: name}), 20000)
	const t: FailoverTime | undefined = time.data.value
	if (!t) return null
	const warning = t.warning && <div class="banner warn"><span>{t.warning}</span></div>
	if (t.total_ms === null) return <section class="panel stack live" aria-label="Time of a failover"><h2>When a zone fails</h2>{warning}<p class="soft">{t.advice}</p></section>
	return (
		<section class="panel stack live" aria-label="Time of a failover">
			<h2>When a zone fails</h2>
			<p>Clients that connect by name are elsewhere after at most <strong>{ms(t.total_ms)}</strong>.</p>
			{warning}
			<Table caption="Parts of the time" head={['Part', 'At worst', 'Why']} num={[1]} rows={t.parts.filter(p => p.counted).map(p => [p.part.replace(/_/g, ' ').replace('dns ttl', 'TTL of DNS'), <span class="nowrap">{ms(p.worst_ms)}</span>, p.detail])} />
			{t.advice && <p class="soft small">{t.advice}</p>}
		</section>
	)
}

function Remove({name}: {name: string}) {
	const remove = () => showDialog(() => (
		<ActionDialog title={`Remove ${name}`} action="Remove" danger done={`${name} was removed`} run={async () => { await request('DELETE', '/api/v1/load-balancers/{load_balancer}', {params: {load_balancer: name}}); go('load-balancers') }}>
			<p>Its services leave the kernel, and its name is no longer answered.</p>
		</ActionDialog>
	))
	return <Act class="danger" why={whyNot('editor')} onClick={remove}>Remove</Act>
}

export function BalancerPage({name}: {name: string}) {
	const status = useResource(`lb-${name}`, () => get('/api/v1/load-balancers/{load_balancer}/status', {load_balancer: name}), 2000)
	const overrides = useOverrides(), balancers = useBalancers(), traffic = useTraffic(name)
	const s = status.data.value, os = overrides.data.value?.items ?? []
	const crumbs = [{text: 'Load balancers', href: '#/load-balancers'}]
	if (!s) return <><PageHead title={name} crumbs={crumbs} /><Waiting what={`load balancer ${name}`} error={status.error.value} /></>
	const shifts = os.filter(o => o.kind === 'zone_shift' && (o.load_balancer === name || o.load_balancer === '*') && s.zones.some(z => z.zone === o.zone))
	const mine = os.filter(o => o.kind !== 'zone_shift' && (o.load_balancer === name || s.server_groups.some(g => g.server_group === o.server_group)))
	return (
		<>
			<PageHead title={name} crumbs={crumbs} sub={`${s.enabled ? '' : 'disabled · '}cross-zone ${s.cross_zone ? 'on' : 'off'} · revision ${s.revision}`}>
				<Act why={whyNot('editor')} onClick={() => go('load-balancers', name, 'edit')}>Edit</Act>
				<Act why={whyNot('operator')} onClick={() => openDrain([balancerPlace(name)])}>Drain</Act>
				<Remove name={name} />
			</PageHead>
			{status.error.value?.status ? <Fault error={status.error.value} what="Not renewed" /> : null}
			<NotApplied />
			{s.fail_open && s.drained && <div class="banner warn"><span><strong>All its servers are drained by hand. </strong>{s.backup_serves ? 'Backup servers serve' : 'It serves nobody'}, and DNS hands out all zones.</span></div>}
			{s.fail_open && !s.drained && <div class="banner bad"><span><strong>Fail-open{openFamily(s)}: no zone is healthy, so all are handed out. </strong>Clients are sent to zones that are known to be unhealthy, as none is better.</span></div>}
			{s.no_address && <div class="banner bad"><span><strong>DNS hands out none of its addresses. </strong>All its zones are shifted away or disabled: clients that ask for its name have nowhere to go.</span></div>}
			{shifts.map(o => <ShiftBanner key={o.id} shift={o} />)}
			<Overrides list={mine} />
			<section aria-label="Zone map" class="stack live">
				<div class="spread"><h2>Zones</h2><Act class="small" why={whyNot('editor')} onClick={() => go('load-balancers', name, 'zones', ':new')}>Add a zone</Act></div>
				<div class="zones">{s.zones.map(z => <ZoneColumn key={z.zone} lb={s} zone={z} all={s.zones} shift={shifts.find(o => o.zone === z.zone)} traffic={traffic} />)}</div>
			</section>
			<Listeners s={s} lb={balancers.data.value?.items.find(lb => lb.name === name)} />
			<section class="panel live" aria-label="Server groups">
				<h2>Server groups</h2>
				{s.server_groups.length === 0 && <p class="soft">None: its listeners name them.</p>}
				<ul class="list">{s.server_groups.map(g => (
					<li key={g.server_group}><a href={href('server-groups', g.server_group)}>{g.server_group}</a><span class="grow"><GroupBar s={summaryOf(g.summary)} /></span><span class="small">{healthyOf(summaryOf(g.summary))}</span></li>
				))}</ul>
			</section>
			<div class="halves">
				{s.dns_name ? <Answers name={s.dns_name} /> : <section class="panel"><h2>DNS</h2><p class="soft">No dns_name is set: it is reached by its addresses only, and nothing takes its clients to another zone.</p></section>}
				<Throughput title="Throughput" of={{lb: name}} />
			</div>
			<Failover name={name} />
			<Advices list={s.advice} />
		</>
	)
}
