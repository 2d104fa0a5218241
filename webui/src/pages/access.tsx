// SPDX-License-Identifier: GPL-2.0-or-later
// Access lists: which clients may come in to the listeners that name them.
import {useMemo, useState} from 'preact/hooks'
import {get, request, type ApiError} from '../lib/api.ts'
import {compareEntries, ENTRIES_EXAMPLE, ENTRIES_HELP, packetsOf, parseEntries} from '../lib/entries.ts'
import {count, plural} from '../lib/format.ts'
import {useAccessLists, useBalancers} from '../lib/load.ts'
import {useResource} from '../lib/live.ts'
import {go, href} from '../lib/router.ts'
import {compareNames} from '../lib/servers.ts'
import {whyNot} from '../lib/session.ts'
import type {AccessEntry, AccessHits, AccessList, LoadBalancer} from '../lib/types.ts'
import {NotApplied} from '../ui/applied.tsx'
import {Act, Empty, Fault, Numbers, PageHead, StateMark, Waiting} from '../ui/bits.tsx'
import {ActionDialog, showDialog} from '../ui/dialog.tsx'
import {Area, Select, Text} from '../ui/fields.tsx'
import {Cards} from '../ui/paged.tsx'
import {ACTIONS, AccessQuestion} from '../ui/question.tsx'
import {sortRows, usePicks, VirtualTable, type Column, type Order} from '../ui/table.tsx'

const PATH = '/api/v1/access-lists/{access_list}'
const wordOf = (action: AccessEntry['action']) => ACTIONS[action].word.toLowerCase()

/** [load balancer, listener] of all that name it. */
export function usersOf(name: string, balancers: LoadBalancer[]): [string, string][] {
	return balancers.flatMap(lb => Object.entries(lb.listeners).filter(([, l]) => l.access_list === name).map(([l]) => [lb.name, l] as [string, string]))
}

function Users({list}: {list: [string, string][]}) {
	if (!list.length) return <>in no listener: it keeps nobody out</>
	return <>{list.slice(0, 12).map(([lb, l], i) => <span key={`${lb}/${l}`}>{i > 0 && ', '}<a href={href('load-balancers', lb, 'listeners', l)}>{lb}/{l}</a></span>)}{list.length > 12 && ` and ${list.length - 12} more`}</>
}

const totalOf = (a: Pick<AccessList, 'status'>): number => (a.status?.entries_v4 ?? 0) + (a.status?.entries_v6 ?? 0)

export function AccessLists() {
	const lists = useAccessLists(), balancers = useBalancers()
	const all = lists.data.value?.items
	return (
		<>
			<PageHead title="Access lists" sub={all && plural(all.length, 'access list')}><Act class="main-action" why={whyNot('editor')} onClick={() => go('access-lists', ':new')}>New access list</Act></PageHead>
			<NotApplied />
			{!all ? <Waiting what="the access lists" error={lists.error.value} />
				: <Cards items={[...all].sort((a, b) => compareNames(a.name, b.name))} one="access list" keyOf={a => a.name} words={a => `${a.name} ${a.description ?? ''}`}
					none={<Empty title="No access list yet" text="An access list says which clients may come in: networks that are allowed or denied, and what happens to all others. A listener names one; without one it takes everybody." cli="zonegate access set office default_action=deny" />}
					card={a => (
						<article class="panel card stack live">
							<div class="spread"><h2><a href={href('access-lists', a.name)}>{a.name}</a></h2><span class="chip">others {wordOf(a.default_action ?? 'deny')}</span></div>
							{a.description && <p>{a.description}</p>}
							<p class="small">{plural(totalOf(a), 'entry', 'entries')}</p>
							<p class="small">Used by: <Users list={usersOf(a.name, balancers.data.value?.items ?? [])} /></p>
						</article>
					)} />}
		</>
	)
}

function AddDialog({name, change, entry}: {name: string; change: Change; entry?: AccessEntry}) {
	const [text, setText] = useState(entry ? `${entry.cidr} ${entry.action}${entry.comment ? ` # ${entry.comment}` : ''}` : '')
	const [action, setAction] = useState<AccessEntry['action']>('allow')
	const read = parseEntries(text, action)
	const {told, forget, send} = useLineFaults(read.lines)
	const many = plural(read.entries.length, 'entry', 'entries')
	return (
		<ActionDialog title={entry ? `Change ${entry.cidr}` : `Add entries to ${name}`} action={entry ? 'Save' : 'Add'} done={entry ? `${entry.cidr} was changed` : `${many} added`} ready={read.fault === '' && read.entries.length > 0}
			why={read.fault || 'Give a network'} run={() => send(change(read.entries, entry && !read.entries.some(e => e.cidr === entry.cidr) ? [entry.cidr] : []))}>
			<p class="soft">The longest matching entry decides. An entry replaces the one of the same network.</p>
			<Area label="Entries" value={text} onInput={t => { setText(t); forget() }} rows={entry ? 2 : 8} placeholder={ENTRIES_EXAMPLE} help={ENTRIES_HELP} required fault={(text.trim() !== '' && read.fault) || told || undefined} />
			{!entry && <Select label="A line without a word is" value={action} onInput={v => setAction(v === 'deny' ? 'deny' : 'allow')} options={[['allow', 'allowed'], ['deny', 'denied']]} />}
		</ActionDialog>
	)
}

/** What is wrong with an entry is told at the field, with the line that it was given in; until something else is written there. */
function useLineFaults(lines: number[]) {
	const [told, setTold] = useState('')
	const send = (done: Promise<void>): Promise<void> => done.catch((e: ApiError) => {
		if (!e.faults?.length) throw e
		setTold(e.faults.map(f => { const line = lines[Number(/^\/(?:add|remove)\/(\d+)/.exec(f.pointer)?.[1])]; return line ? `line ${line}: ${f.detail}` : f.detail }).join('; '))
		throw new Error('Some of it is not valid; nothing was changed.')
	})
	return {told, forget: () => setTold(''), send}
}

type Change = (add: AccessEntry[], remove: string[]) => Promise<void>

function packetsColumn(packets: (e: AccessEntry) => number | undefined): Column<AccessEntry> {
	const of = (e: AccessEntry) => packets(e) ?? 0
	return {id: 'packets', head: 'Packets', width: '96px', num: true, wideOnly: true, sort: (a, b) => of(a) - of(b) || compareEntries(a, b), cell: e => { const n = packets(e); return n === undefined ? '–' : <span title={n.toLocaleString('en')}>{count(n)}</span> }}
}

function columnsOf(change: (e: AccessEntry) => void, why: string, packets: ReturnType<typeof packetsOf>): Column<AccessEntry>[] {
	return [
		{id: 'cidr', head: 'Network', width: '34%', rowHeader: true, sort: compareEntries, cell: e => <><span class="mono" title={e.cidr}>{e.cidr}</span><span class="under narrow-only">{[e.comment, packets && packets(e) !== undefined && `${count(packets(e)!)} ${packets(e) === 1 ? 'packet' : 'packets'}`].filter(Boolean).join(' · ')}</span></>},
		{id: 'action', head: 'Clients', width: '138px', sort: (a, b) => a.action.localeCompare(b.action) || compareEntries(a, b), cell: e => <StateMark as={ACTIONS[e.action]} />},
		...(packets ? [packetsColumn(packets)] : []),
		{id: 'comment', head: 'Comment', wideOnly: true, twoLines: true, sort: (a, b) => (a.comment ?? '').localeCompare(b.comment ?? ''), cell: e => <span title={e.comment}>{e.comment}</span>},
		{id: 'change', head: <span class="hide">Actions</span>, width: '92px', num: true, wideOnly: true, cell: e => <Act class="small" why={why} label={`Change ${e.cidr}`} onClick={() => change(e)}>Change</Act>},
	]
}

/** Text that an entry is found by: its network, its comment, or what it does. */
const matches = (e: AccessEntry, text: string): boolean => e.cidr.includes(text) || (e.comment ?? '').toLowerCase().includes(text) || e.action === text

/** Of more entries than stand in the document: they are put and removed by their networks. */
function Many({name, change}: {name: string; change: Change}) {
	const why = whyNot('editor')
	return (
		<section class="panel stack" aria-label="Entries">
			<div class="spread"><h2>Entries</h2><div class="actions"><Act class="main-action" why={why} onClick={() => showDialog(() => <AddDialog name={name} change={change} />)}>Add entries</Act>
				<Act why={why} onClick={() => showDialog(() => <RemoveDialog name={name} change={change} />)}>Remove entries</Act></div></div>
			<Empty title="Too many for a page" text="The command line has them all, a line an entry." cli={`zonegate access export ${name}`} />
		</section>
	)
}

function RemoveDialog({name, change}: {name: string; change: Change}) {
	const [text, setText] = useState('')
	const read = parseEntries(text, 'deny')
	const {told, forget, send} = useLineFaults(read.lines)
	return (
		<ActionDialog title={`Remove entries of ${name}`} action="Remove" danger done={`${plural(read.entries.length, 'entry', 'entries')} removed`} ready={read.fault === '' && read.entries.length > 0} why={read.fault || 'Give a network'}
			run={() => send(change([], read.entries.map(e => e.cidr)))}>
			<Area label="Networks" value={text} onInput={t => { setText(t); forget() }} rows={8} help="one a line" placeholder={'198.51.100.0/24\n203.0.113.7'} required fault={(text.trim() !== '' && read.fault) || told || undefined} />
		</ActionDialog>
	)
}

function Entries({name, list, change, hits}: {name: string; list: AccessEntry[]; change: Change; hits?: AccessHits}) {
	const [find, setFind] = useState('')
	const [order, setOrder] = useState<Order>({id: 'cidr', down: false})
	const picks = usePicks(), picked = picks.picked
	const why = whyNot('editor')
	const columns = useMemo(() => columnsOf(entry => showDialog(() => <AddDialog name={name} change={change} entry={entry} />), why, packetsOf(hits)), [why, change, hits])
	const text = find.trim().toLowerCase()
	const shown = useMemo(() => sortRows(text ? list.filter(e => matches(e, text)) : list, columns, order), [list, text, order])
	const chosen = list.filter(e => picked.has(e.cidr))
	const remove = () => showDialog(() => (
		<ActionDialog title={chosen.length === 1 ? `Remove ${chosen[0]!.cidr}` : `Remove ${chosen.length} entries`} action="Remove" danger done={`${plural(chosen.length, 'entry', 'entries')} removed`}
			run={async () => { await change([], chosen.map(e => e.cidr)); picks.clear() }}>
			<p>Then the next longer network around an address counts, or what the list does with all others.</p>
		</ActionDialog>
	))
	return (
		<section class="panel stack" aria-label="Entries">
			<div class="spread"><h2>Entries</h2><Act class="main-action" why={why} onClick={() => showDialog(() => <AddDialog name={name} change={change} />)}>Add entries</Act></div>
			{list.length === 0 ? <Empty title="No entry yet" text="Without one all clients are treated alike." cli={`zonegate access allow ${name} 198.51.100.0/24`} /> : <>
				<div class="row filters"><div class="filter"><Text label="Find" value={find} onInput={setFind} placeholder="network or comment" /></div>
					<Act class="small" why={why || (chosen.length ? '' : 'pick entries first')} onClick={remove}>Remove</Act>
					<Act class="small" why={why || (chosen.length === 1 ? '' : 'pick one entry')} onClick={() => showDialog(() => <AddDialog name={name} change={change} entry={chosen[0]!} />)}>Change</Act>
					<span class="small" role="status">{chosen.length ? `${plural(chosen.length, 'entry', 'entries')} picked` : ''}</span></div>
				{shown.length === 0 ? <p class="soft">None matches. <button type="button" class="quiet" onClick={() => setFind('')}>Show all</button></p>
					: <VirtualTable rows={shown} columns={columns} keyOf={e => e.cidr} order={order} onOrder={setOrder} caption={`Entries of ${name}: ${shown.length} of ${list.length}`} picks={picks} />}
			</>}
		</section>
	)
}

const NO_ENTRIES: AccessEntry[] = []

export function AccessPage({name}: {name: string}) {
	const read = useResource(`access-${name}`, () => get(PATH, {access_list: name}), 5000)
	const counted = useResource(`hits-${name}`, () => get(`${PATH}/hits`, {access_list: name}), 5000)
	const balancers = useBalancers()
	const a = read.data.value, hits = counted.data.value
	const list = a?.entries ?? NO_ENTRIES
	const change: Change = useMemo(() => async (add, remove) => {
		await request('PATCH', `${PATH}/entries`, {params: {access_list: name}, body: {add, remove}})
	}, [name])
	const crumbs = [{text: 'Access lists', href: '#/access-lists'}]
	if (!a) return <><PageHead title={name} crumbs={crumbs} /><Waiting what={`access list ${name}`} error={read.error.value} /></>
	const users = usersOf(name, balancers.data.value?.items ?? [])
	const allowed = list.filter(e => e.action === 'allow').length
	const split = a.entries ? [{value: allowed.toLocaleString('en'), text: 'allowed'}, {value: (list.length - allowed).toLocaleString('en'), text: 'denied'}] : []
	const remove = () => showDialog(() => <ActionDialog title={`Remove ${name}`} action="Remove" danger done={`${name} was removed`} run={async () => { await request('DELETE', PATH, {params: {access_list: name}}); go('access-lists') }}><p>A list that a listener names is not removed.</p></ActionDialog>)
	return (
		<>
			<PageHead title={name} crumbs={crumbs} sub={a.description}>
				<Act why={whyNot('editor')} onClick={() => go('access-lists', name, 'edit')}>Edit</Act>
				<Act why={whyNot('editor')} class="danger" onClick={remove}>Remove</Act>
			</PageHead>
			{read.error.value?.status ? <Fault error={read.error.value} what="Not renewed" /> : null}
			<NotApplied />
			<section class="panel stack live" aria-label="In numbers">
				<Numbers items={[{value: totalOf(a).toLocaleString('en'), text: totalOf(a) === 1 ? 'entry' : 'entries'}, ...split]} />
				<dl class="facts">
					<dt>All others</dt><dd><StateMark as={ACTIONS[a.default_action ?? 'deny']} />{hits?.available && <>, {plural(hits.default.packets, 'packet')}</>}</dd>
					<dt>Used by</dt><dd><Users list={users} /></dd>
				</dl>
			</section>
			{users.length > 0 && <AccessQuestion listeners={users} />}
			{a.entries ? <Entries name={name} list={list} change={change} hits={hits} /> : <Many name={name} change={change} />}
		</>
	)
}
