// SPDX-License-Identifier: GPL-2.0-or-later
// Overrides of operators: drains and weights, and the list of all that is not as configured.
import {useEffect, useState} from 'preact/hooks'
import {request, type Path} from '../lib/api.ts'
import {clock, instant, NO_SPAN, parseSpan, plural, readable, span, when} from '../lib/format.ts'
import {now} from '../lib/live.ts'
import {href} from '../lib/router.ts'
import {leftOf} from '../lib/servers.ts'
import {whyNot} from '../lib/session.ts'
import type {Override, Plan} from '../lib/types.ts'
import {Act, Mark} from './bits.tsx'
import {ActionDialog, eachOf, showDialog} from './dialog.tsx'
import {Text} from './fields.tsx'
import {PlanView} from './plan.tsx'

export interface Place { path: Path; params: Record<string, string>; what: string }

export const serverPlace = (group: string, server: string): Place =>
	({path: '/api/v1/server-groups/{server_group}/servers/{server}/drain', params: {server_group: group, server}, what: `${group}/${server}`})
export const listenerPlace = (lb: string, listener: string): Place =>
	({path: '/api/v1/load-balancers/{load_balancer}/listeners/{listener}/drain', params: {load_balancer: lb, listener}, what: `${lb}/${listener}`})
export const groupZonePlace = (group: string, zone: string): Place =>
	({path: '/api/v1/server-groups/{server_group}/zones/{zone}/drain', params: {server_group: group, zone}, what: `${zone} of ${group}`})
export const balancerPlace = (lb: string): Place =>
	({path: '/api/v1/load-balancers/{load_balancer}/drain', params: {load_balancer: lb}, what: lb})

function DrainDialog({places}: {places: Place[]}) {
	const [comment, setComment] = useState('')
	const [timeout, setTimeout] = useState('')
	const [plan, setPlan] = useState<Plan | undefined>()
	const [fault, setFault] = useState('')
	const one = places.length === 1 ? places[0] : undefined
	const wait = timeout.trim() === '' ? undefined : timeout.trim() === '0' ? 0 : parseSpan(timeout)
	const body = (text: string) => ({comment: text, ...(wait === undefined || wait === null ? {} : {timeout_ms: wait === 0 ? 0 : Number.parseInt(wait, 10) * 1000})})
	useEffect(() => {
		if (!one) return
		const abort = new AbortController()
		request<Plan>('PUT', one.path, {params: one.params, query: {dry_run: true}, body: {comment: 'what would happen'}, signal: abort.signal})
			.then(a => setPlan(a.data)).catch(e => { if (!abort.signal.aborted) setFault((e as Error).message) })
		return () => abort.abort()
	}, [])
	const run = (told: (progress: string) => void) => eachOf(places, p => p.what, p => request('PUT', p.path, {params: p.params, body: body(comment.trim())}), told)
	const title = one ? `Drain ${one.what}` : `Drain ${plural(places.length, 'server')}`
	return (
		<ActionDialog title={title} action="Drain" run={run} ready={comment.trim() !== '' && wait !== null} why={wait === null ? 'How long is not a time' : 'Say why: the comment is shown to everybody'} done={`${one?.what ?? plural(places.length, 'server')} gets no new connections`}>
			<p class="soft">No new connections at once; established ones may finish. It stays out until it is undrained.</p>
			<Text label="Why" required value={comment} onInput={setComment} autofocus placeholder="such as new disk" />
			<Text label="Let connections finish for at most" value={timeout} onInput={setTimeout} placeholder="as the group says" help="30m, 1h30m; 0 = now. Then UDP is cut, and TCP where the group terminates" fault={wait === null ? NO_SPAN : undefined} />
			{fault && <p class="t-bad">{fault}</p>}
			{plan && <details open><summary>What it will do</summary><PlanView plan={{...plan, diff: undefined}} /></details>}
		</ActionDialog>
	)
}

export function openDrain(places: Place[]): void { showDialog(() => <DrainDialog places={places} />) }

export function openUndrain(places: Place[]): void {
	const what = places.length === 1 ? places[0]!.what : plural(places.length, 'server')
	showDialog(() => <ActionDialog title={`Undrain ${what}`} action="Undrain" done={`${what} gets new connections again`} run={told => eachOf(places, p => p.what, p => request('DELETE', p.path, {params: p.params}), told)}><p>The weight is given back at once.</p></ActionDialog>)
}

function WeightDialog({group, servers, weight}: {group: string; servers: string[]; weight: number}) {
	const [value, setValue] = useState(String(weight))
	const [duration, setDuration] = useState('2h')
	const [comment, setComment] = useState('')
	const number = /^\d+$/.test(value) && Number(value) <= 65535
	const expires = duration.trim() ? parseSpan(duration) : undefined
	const path = '/api/v1/server-groups/{server_group}/servers/{server}/weight-override'
	const run = (told: (progress: string) => void) => eachOf(servers, s => s, server => request('PUT', path, {params: {server_group: group, server}, body: {weight: Number(value), comment: comment.trim(), ...(expires ? {expires_in: expires} : {})}}), told)
	const what = servers.length === 1 ? servers[0]! : plural(servers.length, 'server')
	return (
		<ActionDialog title={`Another weight for ${what}`} action="Set the weight" run={run} ready={number && expires !== null && comment.trim() !== ''}
			why={!number ? 'A weight is 0 to 65535' : expires === null ? 'How long is not a time' : 'Say why: the comment is shown to everybody'} done={`${what} has weight ${value}`}>
			<p class="soft">Beside the configuration, which stays as it is.</p>
			<div class="fields">
				<Text label="Weight" required value={value} onInput={setValue} type="number" min={0} max={65535} fault={number ? undefined : '0 to 65535'} autofocus />
				<Text label="For how long" value={duration} onInput={setDuration} help="30m, 1h30m, 3d; empty = until it is ended" fault={expires === null ? NO_SPAN : undefined} />
				<Text wide label="Why" required value={comment} onInput={setComment} placeholder="such as slow disk" />
			</div>
		</ActionDialog>
	)
}

export function openWeight(group: string, servers: string[], weight: number): void {
	showDialog(() => <WeightDialog group={group} servers={servers} weight={weight} />)
}

export async function endWeight(group: string, server: string): Promise<void> {
	await request('DELETE', '/api/v1/server-groups/{server_group}/servers/{server}/weight-override', {params: {server_group: group, server}})
}

/** Where a drain of the list was put, to end it there. */
function placeOf(o: Override): Place | undefined {
	if (o.server_group && o.server) return serverPlace(o.server_group, o.server)
	if (o.server_group && o.zone) return groupZonePlace(o.server_group, o.zone)
	if (o.load_balancer && o.listener) return listenerPlace(o.load_balancer, o.listener)
	return o.load_balancer ? balancerPlace(o.load_balancer) : undefined
}

const linkOf = (o: Override): string => {
	if (o.server_group && o.server) return href('server-groups', o.server_group, 'servers', o.server)
	if (o.server_group) return href('server-groups', o.server_group)
	return o.load_balancer && o.load_balancer !== '*' ? href('load-balancers', o.load_balancer) : '#/zones'
}

function words(o: Override): string {
	if (o.kind === 'zone_shift') return `${o.zone} shifted away from ${o.load_balancer === '*' ? 'all load balancers' : o.load_balancer}`
	const what = placeOf(o)?.what ?? o.object
	if (o.kind === 'drain') return o.state === 'finished' ? `${what} is drained` : `${what} drains: ${leftOf(o)}`
	if (o.kind === 'weight_override') return `${what} has weight ${o.weight} instead of ${o.weight_configured}`
	if (o.kind === 'removal') return `${what} was removed: ${leftOf(o)}`
	return o.detail ? readable(o.detail) : `${o.kind}: ${o.object}`
}

function End({o}: {o: Override}) {
	const why = whyNot('operator')
	if (o.kind === 'drain') { const p = placeOf(o); return p ? <Act class="small" why={why} onClick={() => openUndrain([p])} label={`Undrain ${p.what}`}>Undrain</Act> : null }
	if (o.kind === 'weight_override' && o.server_group && o.server) {
		const {server_group: g, server: s} = o
		return <Act class="small" why={why} label={`Reset the weight of ${g}/${s}`} onClick={() => showDialog(() => <ActionDialog title={`Reset the weight of ${s}`} action="Reset" done="The configured weight holds again" run={() => endWeight(g, s)} />)}>Reset</Act>
	}
	return null
}

/** The strip of all that is not as configured, without the shifts (they have banners of their own). */
export function Overrides({list}: {list: Override[]}) {
	if (!list.length) return null
	return (
		<section class="panel live" aria-label="Overrides">
			<h2>Not as configured</h2>
			<ul class="list">
				{list.map(o => {
					const end = o.expires_at ?? (o.state === 'finished' ? null : o.deadline_at)
					return (
						<li key={o.kind + (o.id ?? o.object + o.endpoint)}>
							<span class="state t-warn"><Mark shape="half" /></span>
							<span class="grow"><a href={linkOf(o)}>{words(o)}</a>{o.comment && <span class="soft"> “{o.comment}”</span>}</span>
							<span class="soft small">{o.who ? `${o.who}, ` : ''}{when(o.created_at)}{end ? ` · ${clock(Date.parse(end) - now.value)} left` : o.kind === 'weight_override' || o.state === 'finished' ? ` · for ${span(now.value - instant(o.created_at))}` : ''}</span>
							<End o={o} />
						</li>
					)
				})}
			</ul>
		</section>
	)
}
