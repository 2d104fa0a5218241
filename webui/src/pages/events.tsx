// SPDX-License-Identifier: GPL-2.0-or-later
// What happened, and who did what.
import {useState} from 'preact/hooks'
import {get} from '../lib/api.ts'
import {readable, when} from '../lib/format.ts'
import {streaming, useResource} from '../lib/live.ts'
import {whyNot} from '../lib/session.ts'
import type {EventItem} from '../lib/types.ts'
import {Empty, Mark, PageHead, Waiting, Words} from '../ui/bits.tsx'
import {Select, Text} from '../ui/fields.tsx'
import {Table} from '../ui/table.tsx'
import {Tabs} from '../ui/tabs.tsx'

const BAD = /failed|unavailable/
const GOOD = /^(kernel\.available|drift\.repaired|config\.applied|daemon\.started)$/

function tone(e: EventItem) {
	if (e.severity === 'error' || e.data.to === 'unhealthy' || BAD.test(e.type)) return {tone: 'bad', shape: 'cross'} as const
	if (e.severity === 'warning') return {tone: 'warn', shape: 'triangle'} as const
	if (GOOD.test(e.type) || e.data.to === 'healthy') return {tone: 'ok', shape: 'disc'} as const
	return {tone: 'info', shape: 'ring'} as const
}

const linkOf = (object: unknown): string => {
	const parts = typeof object === 'string' ? object.split('/').filter(Boolean).map(p => p.replace(/_/g, '-')) : []
	if (parts[0] === 'access-lists') return '#/' + parts.slice(0, 2).join('/')
	if (parts[0] === 'server-groups') return '#/' + parts.slice(0, 4).join('/')
	return parts[0] === 'load-balancers' && parts[1] && parts[1] !== '*' ? '#/' + parts.slice(0, 2).join('/') : ''
}

/** "web/web-1" of "server_groups/web/servers/web-1". */
export function nameOf(object: string): string {
	const parts = object.split('/').filter(Boolean)
	return [parts[1], parts[3]].filter(Boolean).join('/')
}

export function EventLine({event}: {event: EventItem}) {
	const t = tone(event)
	const link = linkOf(event.object)
	const name = nameOf(event.object)
	return (
		<li>
			<span class={`state t-${t.tone}`}><Mark shape={t.shape} /></span>
			<time class="soft small nowrap" dateTime={event.at}>{when(event.at)}</time>
			<span class="grow">{name && <>{link ? <a href={link}>{name}</a> : name}: </>}{readable(event.detail).replace(/ -> /g, ' → ').replace(/\binitial(?= → )/, 'being checked')} <span class="soft small">{event.type}</span></span>
		</li>
	)
}

function Events() {
	const [type, setType] = useState('')
	const events = useResource(`events-${type}`, () => get('/api/v1/events', undefined, {limit: 200, type: type || undefined}), streaming.value ? 30000 : 3000)
	const families = ['', 'server.*', 'zone.*', 'shift.*', 'drain.*', 'override.*', 'config.*', 'drift.*', 'kernel.*', 'auth.*', 'daemon.*']
	return (
		<section class="panel stack" aria-label="Events">
			<div class="row filters"><div class="filter"><Select label="Kind" value={type} onInput={setType} options={families.map(f => [f, f || 'all events'] as [string, string])} /></div>
				<span class="soft small" role="status">{streaming.value ? 'Live: events come as they happen' : 'Asked every 3 seconds'}</span></div>
			{!events.data.value ? <Waiting what="the events" error={events.error.value} />
				: events.data.value.items.length ? <ul class="list events live">{events.data.value.items.map(e => <EventLine key={e.id} event={e} />)}</ul>
					: <Empty title="No such event" text="Nothing of this kind has happened since the events are kept." cli="zonegate events --follow" />}
		</section>
	)
}

function Audit() {
	const [actor, setActor] = useState('')
	const [result, setResult] = useState('')
	const why = whyNot('admin')
	const audit = useResource(`audit-${actor}-${result}-${why}`, async () => why ? {items: [], next_cursor: null}
		: get('/api/v1/audit', undefined, {limit: 200, actor: actor || undefined, result: result || undefined}), 10000)
	if (why) return <Empty title="Not for this role" text={`The audit ${why}.`} />
	return (
		<section class="panel stack live" aria-label="Audit">
			<div class="row filters">
				<div class="filter"><Text label="Who" value={actor} onInput={setActor} placeholder="anybody" /></div>
				<div class="filter"><Select label="Result" value={result} onInput={setResult} options={[['', 'all'], 'ok', 'forbidden', 'invalid', 'precondition-failed']} /></div>
			</div>
			{!audit.data.value ? <Waiting what="the audit" error={audit.error.value} /> : (
				<Table caption="Audit" empty="No such entry." head={['When', 'Who', 'From', 'What', 'Result', 'Revision']} num={[5]}
					rows={audit.data.value.items.map(a => [
						<span class="nowrap">{when(a.at)}</span>, a.actor, a.source ?? a.via, <span class="mono"><Words text={`${a.method} ${a.path.replace('/api/v1', '')}${a.dry_run ? ' (dry run)' : ''}`} /></span>,
						<span class={a.status < 400 ? 't-ok' : 't-bad'}>{a.result}{a.count && a.count > 1 ? ` × ${a.count}` : ''}</span>, a.revision_after ?? '',
					])} />
			)}
		</section>
	)
}

export function EventsPage({tab}: {tab: string}) {
	return (
		<>
			<PageHead title="Events and audit" />
			<Tabs here={tab} list={[['events', 'Events'], ['audit', 'Audit']]} base="events" />
			{tab === 'audit' ? <Audit /> : <Events />}
		</>
	)
}
