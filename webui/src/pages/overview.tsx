// SPDX-License-Identifier: GPL-2.0-or-later
// One true sentence, what is not as configured, a card for each load balancer, what flows, what happened last.
import type {ComponentChildren} from 'preact'
import {useEffect} from 'preact/hooks'
import {get} from '../lib/api.ts'
import {count, plural, portsOf, when} from '../lib/format.ts'
import {downOf, faultsOf, healthyOf, isDrained, isIdle, isShifted, isUnanswered, sentence, serversOf, type Part, type Sentence} from '../lib/health.ts'
import {bites} from '../lib/limits.ts'
import {useBalancers, useGroups, useOverrides, useSystem, useZones} from '../lib/load.ts'
import {now, useResource} from '../lib/live.ts'
import {href, route, setQuery} from '../lib/router.ts'
import {compareNames} from '../lib/servers.ts'
import {whyNot} from '../lib/session.ts'
import type {Group, LoadBalancer, Override} from '../lib/types.ts'
import {Missing, useMissing} from '../ui/applied.tsx'
import {Act, Empty, Fault, GroupBar, Mark, Numbers, PageHead, StateMark, Waiting, Words} from '../ui/bits.tsx'
import {Overrides} from '../ui/drain.tsx'
import {Cards} from '../ui/paged.tsx'
import {Throughput} from '../ui/throughput.tsx'
import {EventLine} from './events.tsx'
import {ShiftBanner} from './shift.tsx'

const SHAPES = {ok: 'disc', bad: 'cross', warn: 'half', info: 'ring', idle: 'dash'} as const

/** A sentence begins with a capital; names stay as they are written. */
const wordsOf = (p: Part, i: number): string => i > 0 || p.named ? p.text : p.text.charAt(0).toUpperCase() + p.text.slice(1)

function Truth({s}: {s: Sentence}) {
	return (
		<div class="panel live" aria-live="polite">
			<p class="sentence"><span class={`t-${s.tone}`}><Mark shape={SHAPES[s.tone]} /></span>
				<span>{s.parts.map((p, i) => <span key={p.text}>{i > 0 && ', '}{p.href ? <a href={p.href}>{wordsOf(p, i)}</a> : wordsOf(p, i)}</span>)}.</span>
			</p>
		</div>
	)
}

const groupsOf = (lb: LoadBalancer, groups: Map<string, Group>): Group[] =>
	[...new Set(Object.values(lb.listeners).map(l => l.server_group))].map(n => groups.get(n)).filter(g => g !== undefined)

function balancerLook(lb: LoadBalancer, overrides: Override[], groups: Map<string, Group>) {
	if (!lb.enabled) return {word: 'Disabled', tone: 'idle', shape: 'bar'} as const
	if (isDrained(lb)) return {word: 'Drained', tone: 'warn', shape: 'half'} as const
	if (lb.status.fail_open) return {word: lb.status.fail_open_family ? `IPv${lb.status.fail_open_family} fails open` : 'Fails open', tone: 'bad', shape: 'triangle'} as const
	if (lb.status.fault) return {word: 'Kernel refused', tone: 'bad', shape: 'cross'} as const
	if (lb.status.checking) return {word: 'Being checked', tone: 'info', shape: 'ring'} as const
	if (lb.status.min_healthy_breached) return {word: 'Too few servers', tone: 'bad', shape: 'cross'} as const
	if (isUnanswered(lb)) return {word: 'Not in DNS', tone: 'bad', shape: 'cross'} as const
	if (lb.status.addresses_withdrawn) return {word: 'Zone withdrawn', tone: 'bad', shape: 'cross'} as const
	if (isShifted(lb, overrides)) return {word: 'Zone shifted', tone: 'warn', shape: 'half'} as const
	if (lb.status.addresses_undecided) return {word: 'Being checked', tone: 'info', shape: 'ring'} as const
	const mine = groupsOf(lb, groups)
	if (mine.length && mine.every(g => isIdle(g.status))) return {word: 'Serves nobody', tone: 'warn', shape: 'half'} as const
	if (mine.length && mine.every(g => g.status.unchecked && !g.status.healthy)) return {word: 'Not checked', tone: 'idle', shape: 'dash'} as const
	return {word: 'In service', tone: 'ok', shape: 'disc'} as const
}

function BalancerCard({lb, groups, overrides}: {lb: LoadBalancer; groups: Map<string, Group>; overrides: Override[]}) {
	const mine = groupsOf(lb, groups)
	const all = lb.status.addresses_published + lb.status.addresses_left_out
	return (
		<article class="panel card stack live">
			<div class="spread"><h2><a href={href('load-balancers', lb.name)}>{lb.name}</a></h2><StateMark as={balancerLook(lb, overrides, groups)} /></div>
			<div class="soft small">{lb.dns_name ? <Words text={lb.dns_name} /> : 'not in DNS'} · <a href={href('load-balancers', lb.name)}>{plural(Object.keys(lb.zones).length, 'zone')}</a> · {Object.values(lb.listeners).map(l => `${l.protocol} ${portsOf(l)}`).slice(0, 4).join(', ') || 'no listener'}</div>
			{lb.dns_name && all > 0 && <div class="small"><a href={href('load-balancers', lb.name)}>{lb.status.addresses_published} of {plural(all, 'address', 'addresses')}</a> published</div>}
			{bites(lb.status) && <div class="small"><a class="t-warn" href={href('load-balancers', lb.name)}>{bites(lb.status)}</a></div>}
			{mine.slice(0, 4).map(g => (
				<div class="stack small" key={g.name} style={{gap: '4px'}}>
					<div class="spread"><a href={href('server-groups', g.name)}>{g.name}</a><a href={href('server-groups', g.name)} aria-label={`${g.name}: ${healthyOf(g.status)}`}>{healthyOf(g.status)}</a></div>
					<GroupBar s={g.status} />
				</div>
			))}
			{mine.length > 4 && <a class="small" href={href('load-balancers', lb.name)}>and {plural(mine.length - 4, 'more group', 'more groups')}</a>}
		</article>
	)
}

const TONES = ['bad', 'warn', 'info', 'ok', 'idle']
/** What asks for a look stands on the first page. */
function worstFirst(lbs: LoadBalancer[], overrides: Override[], groups: Map<string, Group>): LoadBalancer[] {
	const rank = new Map(lbs.map(lb => [lb, TONES.indexOf(balancerLook(lb, overrides, groups).tone)]))
	return [...lbs].sort((a, b) => rank.get(a)! - rank.get(b)! || compareNames(a.name, b.name))
}

export function BalancerCards({list, groups, overrides, none}: {list: LoadBalancer[]; groups: Map<string, Group>; overrides: Override[]; none?: ComponentChildren}) {
	return <Cards items={list} one="load balancer" keyOf={lb => lb.name} words={lb => `${lb.name} ${lb.dns_name ?? ''}`} none={none} card={lb => <BalancerCard lb={lb} groups={groups} overrides={overrides} />} />
}

/** What is missing first is what to begin with. */
function Teach({why, groups}: {why: string; groups: number}) {
	const zones = useZones().data.value?.items.length ?? 0
	const next = groups === 0 ? 1 : zones === 0 ? 2 : 3
	const look = (step: number) => step === next ? 'main-action' : ''
	return (
		<Empty title="No load balancer yet" text="A server group says which servers there are and how they are checked; a zone is a place with an address; a load balancer joins them."
			cli="zonegate config apply -f shop.json">
			<span class="row">
				<Act why={why} class={look(1)} onClick={() => { location.hash = '#/server-groups/:new' }}>1. New server group</Act>
				<Act why={why} class={look(2)} onClick={() => { location.hash = '#/zones/:new' }}>2. New zone</Act>
				<Act why={why} class={look(3)} onClick={() => { location.hash = '#/load-balancers/:new' }}>3. New load balancer</Act>
			</span>
		</Empty>
	)
}

function LastEvents() {
	const events = useResource('last-events', () => get('/api/v1/events', undefined, {limit: 8}), 5000)
	return (
		<section class="panel" aria-label="Last events">
			<div class="spread"><h2>Last events</h2><a href="#/events">All events</a></div>
			{events.data.value ? (events.data.value.items.length ? <ul class="list events live">{events.data.value.items.map(e => <EventLine key={e.id} event={e} />)}</ul> : <p class="soft">Nothing has happened yet.</p>)
				: <Waiting what="the events" error={events.error.value} />}
		</section>
	)
}

/** `?show=overrides` leads to the strip of them, once it is there. */
function useShown(there: boolean): void {
	const show = route.value.query.get('show')
	useEffect(() => {
		const place = show && there ? document.getElementById(show) : null
		if (!place) return
		place.scrollIntoView({block: 'center'})
		place.focus({preventScroll: true})
		setQuery('show', '') // so that the next press leads there again
	}, [show, there])
}

export function Overview() {
	const balancers = useBalancers(), groups = useGroups(), overrides = useOverrides()
	const system = useSystem(), missing = useMissing()
	const lbs = balancers.data.value?.items, gs = groups.data.value?.items, os = overrides.data.value?.items ?? [], sys = system.data.value
	const error = balancers.error.value ?? groups.error.value
	useShown(lbs !== undefined && gs !== undefined)
	if (!lbs || !gs) return <><PageHead title="Overview" /><Waiting what="the overview" error={error} /></>
	const byName = new Map(gs.map(g => [g.name, g]))
	const shifts = os.filter(o => o.kind === 'zone_shift'), others = os.filter(o => o.kind !== 'zone_shift' && o.kind !== 'unconfirmed_change') // those have banners
	const down = downOf(gs)
	return (
		<>
			<PageHead title="Overview" sub={sys && <>{sys.node} · revision <a href="#/config/history">{sys.revision}</a>{sys.kernel.ipvs === 'off' && ' · IPVS is off on this node'}</>} />
			{error?.status ? <Fault error={error} what="Not renewed" /> : null}
			<Truth s={sentence({groups: gs, balancers: lbs, overrides: os, faults: faultsOf(sys, missing !== undefined), now: now.value})} />
			{sys && sys.kernel.ipvs !== 'off' && !sys.kernel.available && <div class="banner bad"><span><strong>The kernel has no IPVS. </strong>{sys.kernel.detail}</span><a href="#/system">System</a></div>}
			{missing && <Missing tone="bad" text={missing} />}
			{sys && !sys.store.ok && <div class="banner bad"><span><strong>The store takes no changes. </strong>{sys.store.detail}</span></div>}
			<div id="overrides" class="stack" tabIndex={-1} aria-label="Overrides" role="group" hidden={!shifts.length && !others.length}>
				{shifts.map(s => <ShiftBanner key={s.id} shift={s} />)}
				<Overrides list={others} />
			</div>
			{lbs.length > 0 && (
				<section class="panel live" aria-label="In numbers">
					<Numbers items={[
						{value: count(lbs.length), text: lbs.length === 1 ? 'load balancer' : 'load balancers', href: '#/load-balancers'},
						{value: count(serversOf(gs)), text: serversOf(gs) === 1 ? 'server in use' : 'servers in use', href: '#/server-groups'},
						{value: count(down), text: down === 1 ? 'server down' : 'servers down', href: '#/server-groups?state=unhealthy', tone: down ? 'bad' : undefined},
						{value: count(os.length), text: os.length === 1 ? 'override' : 'overrides', href: '#/?show=overrides', tone: os.length ? 'warn' : undefined},
						{value: count(sys?.drift.repaired_since_start ?? 0), text: sys?.drift.repaired_since_start === 1 ? 'drift repaired' : 'drifts repaired', href: '#/system/kernel'},
					]} />
				</section>
			)}
			{lbs.length === 0 ? <Teach why={whyNot('editor')} groups={gs.length} /> : <section class="stack" aria-label="Load balancers"><BalancerCards list={worstFirst(lbs, os, byName)} groups={byName} overrides={os} /></section>}
			<div class="halves"><Throughput title="Throughput" /><LastEvents /></div>
			<p class="soft small">Read {when(new Date(balancers.at.value).toISOString())}</p>
		</>
	)
}
