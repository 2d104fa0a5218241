// SPDX-License-Identifier: GPL-2.0-or-later
// Taking a zone out of DNS by hand: what it will do first, then one confirmation. And the banner of one that is in force.
import {useEffect, useState} from 'preact/hooks'
import {ApiError, request} from '../lib/api.ts'
import {clock, NO_SPAN, parseSpan, percent, plural} from '../lib/format.ts'
import {now} from '../lib/live.ts'
import {href} from '../lib/router.ts'
import {whyNot} from '../lib/session.ts'
import type {Override, ShiftEffect, ShiftEffects} from '../lib/types.ts'
import {Act, Words} from '../ui/bits.tsx'
import {ActionDialog, showDialog} from '../ui/dialog.tsx'
import {Check, Text} from '../ui/fields.tsx'

const COMMENT_OF_DRY_RUN = 'what would happen'

function useImpact(zone: string, lb: string, expires: string | null, evacuate: boolean) {
	const [impact, setImpact] = useState<ShiftEffects | undefined>()
	const [fault, setFault] = useState('')
	useEffect(() => {
		const abort = new AbortController()
		const body = {zone, load_balancer: lb, expires_in: expires ?? '1h', comment: COMMENT_OF_DRY_RUN, evacuate_servers: evacuate}
		request<ShiftEffects>('POST', '/api/v1/zone-shifts', {query: {dry_run: true}, body, signal: abort.signal})
			.then(a => { setImpact(a.data); setFault('') })
			.catch(e => { if (!abort.signal.aborted) setFault(e instanceof ApiError ? e.message : String(e)) })
		return () => abort.abort()
	}, [zone, lb, expires, evacuate])
	return {impact, fault}
}

function Effect({e}: {e: ShiftEffect}) {
	const gone = e.answers_before.filter(a => !e.answers_after.includes(a))
	return (
		<div class="stack">
			<h3>{e.load_balancer}{e.dns_name && <span class="soft"> · <Words text={e.dns_name} /></span>}</h3>
			<dl class="facts">
				<dt>Zones left</dt><dd>{e.zones_left === 0 ? <strong class="t-bad">none</strong> : e.zones_left}</dd>
				<dt>Answers now</dt><dd class="mono">{e.answers_before.join(', ') || 'none'}</dd>
				<dt>Answers then</dt><dd class="mono">{e.answers_after.join(', ') || 'none'}{gone.length > 0 && <span class="soft"> (without {gone.join(', ')})</span>}</dd>
				<dt>Load that moves</dt><dd>{gone.length ? `${percent(gone.length, e.answers_before.length)} of the answers` : 'no answer'}{e.servers_moved > 0 && `, and ${plural(e.servers_moved, 'server')} with ${e.share_percent} % of the weight`}</dd>
			</dl>
		</div>
	)
}

function ShiftDialog({zone, lb, choices}: {zone: string; lb: string; choices: string[]}) {
	const [target, setTarget] = useState(lb)
	const [duration, setDuration] = useState('2h')
	const [comment, setComment] = useState('')
	const [evacuate, setEvacuate] = useState(false)
	const [typed, setTyped] = useState('')
	const expires = parseSpan(duration)
	const {impact, fault} = useImpact(zone, target, expires, evacuate)
	const risky = (impact?.refusals.length ?? 0) > 0
	const ready = expires !== null && comment.trim() !== '' && impact !== undefined && (!risky || typed === zone)
	const why = !expires ? 'Say for how long' : !comment.trim() ? 'Say why: the comment is shown to everybody' : risky && typed !== zone ? `Type ${zone} to confirm` : 'Its effect is being computed'
	const run = async () => {
		await request('POST', '/api/v1/zone-shifts', {body: {zone, load_balancer: target, expires_in: expires, comment: comment.trim(), evacuate_servers: evacuate, force: risky}})
	}
	return (
		<ActionDialog title={`Shift ${zone} away`} action="Shift away" run={run} danger={risky} ready={ready} why={why} done={`${zone} is shifted away`}>
			<p class="soft">New clients are no longer sent to this zone. Established connections go on, and the shift ends by itself.</p>
			<section aria-live="polite" aria-label="What it will do" class="panel stack">
				<h3>What it will do</h3>
				{fault ? <p class="t-bad">{fault}</p> : !impact ? <p class="soft">Computing …</p> : impact.effects.slice(0, 5).map(e => <Effect key={e.load_balancer} e={e} />)}
				{impact && impact.effects.length > 5 && <p class="soft">and {impact.effects.length - 5} more load balancers</p>}
				{impact?.refusals.map(r => <div class="banner bad" key={r.detail}>{r.detail.replace(/; set force .*$/, '')}</div>)}
			</section>
			<div class="fields">
				<Text label="For how long" required value={duration} onInput={setDuration} list={['30m', '1h', '2h', '4h', '1d', '3d']} help="30m, 1h30m, 3d; 72 hours at most" fault={expires ? undefined : NO_SPAN} />
				<div class="field">
					<span class="label">From</span>
					<label class="check"><input type="radio" name="target" checked={target === lb} onChange={() => setTarget(lb)} />{lb === '*' ? 'all load balancers' : lb}</label>
					{lb !== '*' && choices.includes('*') && <label class="check"><input type="radio" name="target" checked={target === '*'} onChange={() => setTarget('*')} />all load balancers, later ones too</label>}
				</div>
				<Text wide label="Why" required placeholder="such as new switch" value={comment} onInput={setComment} help="Shown to everybody, and kept in the audit" />
			</div>
			<Check label="Also send no new connections to this zone's servers from the other zones" checked={evacuate} onInput={setEvacuate} />
			{risky && <Text label={`This is risky. Type ${zone} to confirm`} required value={typed} onInput={setTyped} />}
		</ActionDialog>
	)
}

export function openShift(zone: string, lb: string): void {
	showDialog(() => <ShiftDialog zone={zone} lb={lb} choices={[lb, '*']} />)
}

function ExtendDialog({shift}: {shift: Override}) {
	const [duration, setDuration] = useState('2h')
	const expires = parseSpan(duration)
	return (
		<ActionDialog title={`Extend the shift of ${shift.zone}`} action="Extend" ready={expires !== null} why="Say for how long" done={`The shift of ${shift.zone} was extended`}
			run={async () => { await request('PATCH', '/api/v1/zone-shifts/{shift}', {params: {shift: shift.id ?? ''}, body: {expires_in: expires}}) }}>
			<Text label="From now on, for" required value={duration} onInput={setDuration} list={['30m', '1h', '2h', '4h', '1d']} help="30m, 1h30m, 3d, counted from now; 72 hours at most" fault={expires ? undefined : NO_SPAN} />
		</ActionDialog>
	)
}

export function ShiftBanner({shift}: {shift: Override}) {
	const left = Date.parse(shift.expires_at ?? '') - now.value
	const why = whyNot('operator')
	const back = () => showDialog(() => (
		<ActionDialog title={`Return ${shift.zone} now`} action="Return now" done={`${shift.zone} is on its way back`}
			run={async () => { await request('DELETE', '/api/v1/zone-shifts/{shift}', {params: {shift: shift.id ?? ''}}) }}>
			<p>The zone is handed out again as soon as its address has passed its checks.</p>
		</ActionDialog>
	))
	return (
		<div class="banner warn">
			<span class="grow"><strong>{shift.zone} is shifted away</strong>{shift.load_balancer === '*' ? <> from <a href="#/zones">all load balancers</a></> : <> from <a href={href('load-balancers', shift.load_balancer ?? '')}>{shift.load_balancer}</a></>}
				{shift.evacuate_servers && ', its servers emptied'}. {shift.comment && <>“{shift.comment}” </>}<span class="soft">{shift.who}</span></span>
			<span class="row">
				<span><span class="count" role="timer" aria-label={`ends in ${clock(left)}`}>{clock(left)}</span> left</span>
				<Act why={why} onClick={() => showDialog(() => <ExtendDialog shift={shift} />)}>Extend</Act>
				<Act why={why} onClick={back}>Return now</Act>
			</span>
		</div>
	)
}
