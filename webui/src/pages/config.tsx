// SPDX-License-Identifier: GPL-2.0-or-later
// The whole document: edit, see what it would do, apply; its history, and going back.
import {useEffect, useState} from 'preact/hooks'
import {ApiError, get, request, type Fault} from '../lib/api.ts'
import {plural, when} from '../lib/format.ts'
import {lineOf} from '../lib/json.ts'
import {refreshAll, useResource} from '../lib/live.ts'
import {go} from '../lib/router.ts'
import {whyNot} from '../lib/session.ts'
import type {Plan} from '../lib/types.ts'
import {Act, Empty, PageHead, say, Waiting} from '../ui/bits.tsx'
import {ActionDialog, showDialog} from '../ui/dialog.tsx'
import {Area, Check, Select, Text} from '../ui/fields.tsx'
import {Changes, PlanView} from '../ui/plan.tsx'
import {Table} from '../ui/table.tsx'
import {Tabs} from '../ui/tabs.tsx'

const CONFIRM_S = 120

interface Doc { text: string; etag: string }

async function readDocument(): Promise<Doc> {
	const a = await request<unknown>('GET', '/api/v1/config', {query: {view: 'config'}})
	return {text: JSON.stringify(a.data, null, 2), etag: a.etag ?? '*'}
}

function Edit() {
	const [doc, setDoc] = useState<Doc | undefined>()
	const [text, setText] = useState('')
	const [plan, setPlan] = useState<Plan | undefined>()
	const [faults, setFaults] = useState<Fault[]>([])
	const [error, setError] = useState<ApiError | undefined>()
	const [comment, setComment] = useState('')
	const [careful, setCareful] = useState(false)
	const [busy, setBusy] = useState(false)
	const load = () => { readDocument().then(d => { setDoc(d); setText(d.text); setPlan(undefined); setFaults([]) }).catch(e => setError(e as ApiError)) }
	useEffect(load, [])
	if (!doc) return <Waiting what="the document" error={error} />
	const why = whyNot('editor')
	const parsed = (): unknown => {
		try { return JSON.parse(text) } catch (e) { setFaults([{pointer: '', code: 'syntax', detail: `not JSON: ${(e as Error).message}`}]); return undefined }
	}
	const fail = (e: unknown) => {
		const fault = e as ApiError
		setFaults(fault.status === 412 ? [{pointer: '', code: 'changed', detail: `the document has changed since it was loaded${fault.changed ? `, by ${fault.changed.who}` : ''}: copy what you wrote, and load it again`}]
			: fault.faults?.length ? fault.faults : [{pointer: '', code: '', detail: fault.message}])
	}
	const see = async () => {
		const body = parsed()
		if (body === undefined) return
		setBusy(true)
		setFaults([])
		try { setPlan((await request<Plan>('POST', '/api/v1/config/plan', {body})).data) } catch (e) { setPlan(undefined); fail(e) } finally { setBusy(false) }
	}
	const apply = async () => {
		const body = parsed()
		if (body === undefined) return
		setBusy(true)
		try {
			const done = await request<{warnings?: {detail: string}[]}>('PUT', '/api/v1/config', {body, headers: {'If-Match': doc.etag}, query: {comment, confirm_within_s: careful ? CONFIRM_S : undefined}})
			say(done.data?.warnings?.length ? `Applied, but: ${done.data.warnings[0]!.detail}` : careful ? 'The document waits to be confirmed' : 'The document is applied')
			refreshAll()
			setComment('')
			load()
		} catch (e) { fail(e) } finally { setBusy(false) }
	}
	const changed = text !== doc.text
	return (
		<div class="halves">
			<section class="panel stack" aria-label="Document">
				<Area code label="The document" value={text} onInput={v => { setText(v); setPlan(undefined) }} help="JSON; zones, access_lists, server_groups, load_balancers, settings" fault={faults.length ? `${plural(faults.length, 'fault')}: nothing was changed` : undefined} />
				{faults.length > 0 && <ul class="list" role="alert">{faults.map(f => <li key={f.pointer + f.detail}>{f.pointer && <code>{f.pointer}{lineOf(text, f.pointer) ? ` (line ${lineOf(text, f.pointer)})` : ''}</code>}<span class="grow t-bad">{f.detail}</span></li>)}</ul>}
				<div class="row"><button type="button" class={plan ? '' : 'main-action'} aria-disabled={busy || !changed ? 'true' : undefined} onClick={() => { if (!busy && changed) void see() }}>What it will do</button><button type="button" onClick={load}>Load again</button>{!changed && <span class="why">as it stands</span>}</div>
			</section>
			<section class="panel stack" aria-label="Plan" aria-live="polite">
				<h2>Plan</h2>
				{!plan ? <Empty title="Edit, look, apply" text="Change the document and ask what it will do: every change, every operation in the kernel, every answer of DNS." cli="zonegate config diff -f shop.json" /> : <>
					<PlanView plan={plan} />
					<Text label="Comment" value={comment} onInput={setComment} help="kept with the revision" />
					<Check label={`Undo it by itself unless I confirm within ${CONFIRM_S / 60} minutes`} checked={careful} onInput={setCareful} />
					<div class="row"><Act class="main-action" why={why || ((plan.diff_total ?? 0) === 0 ? 'nothing changes' : '')} busy={busy} onClick={apply}>Apply</Act></div>
				</>}
			</section>
		</div>
	)
}

function BackDialog({revision, etag}: {revision: number; etag: string}) {
	const [comment, setComment] = useState('')
	const [careful, setCareful] = useState(true)
	const [plan, setPlan] = useState<Plan | undefined>()
	const [fault, setFault] = useState('')
	const path = '/api/v1/config/revisions/{revision}/rollback'
	useEffect(() => {
		request<Plan>('POST', path, {params: {revision}, query: {dry_run: true}, body: {comment: 'what would happen'}, headers: {'If-Match': etag}}).then(a => setPlan(a.data)).catch(e => setFault((e as Error).message))
	}, [])
	return (
		<ActionDialog title={`Go back to revision ${revision}`} action="Go back" ready={comment.trim() !== ''} why="Say why: it is kept with the new revision" done={`The document of revision ${revision} ${careful ? 'waits to be confirmed' : 'is in force'}`}
			run={async () => { await request('POST', path, {params: {revision}, body: {comment: comment.trim(), ...(careful ? {confirm_within_s: CONFIRM_S} : {})}, headers: {'If-Match': etag}}) }}>
			<p class="soft">A new revision with the old document; nothing of the history is lost.</p>
			{fault && <p class="t-bad">{fault}</p>}
			{plan && <details open><summary>What it will do</summary><PlanView plan={plan} /></details>}
			<Text label="Why" required value={comment} onInput={setComment} />
			<Check label={`Undo it by itself unless I confirm within ${CONFIRM_S / 60} minutes`} checked={careful} onInput={setCareful} />
		</ActionDialog>
	)
}

async function goBack(revision: number): Promise<void> {
	try { const {etag} = await readDocument(); showDialog(() => <BackDialog revision={revision} etag={etag} />) } catch (e) { say((e as Error).message) }
}

function History() {
	const list = useResource('revisions', () => get('/api/v1/config/revisions', undefined, {limit: 200}), 5000)
	const items = list.data.value?.items
	const why = whyNot('editor')
	if (!items) return <Waiting what="the history" error={list.error.value} />
	if (!items.length) return <Empty title="No revision yet" text="Each change of the configuration makes one." cli="zonegate config history" />
	return (
		<section class="panel live" aria-label="History">
			<Table caption="Revisions" head={['Revision', 'When', 'Who', 'Comment', 'Changes', '']}
				rows={items.map((r, i) => [
					<a href={`#/config/history/${r.revision}`}>{r.revision}</a>, <span class="nowrap">{when(r.at)}</span>, r.who, r.comment ?? '',
					<span class="nowrap">{[r.changes?.created && `${r.changes.created} new`, r.changes?.updated && `${r.changes.updated} changed`, r.changes?.deleted && `${r.changes.deleted} removed`].filter(Boolean).join(', ') || 'none'}</span>,
					i === 0 ? <span class="soft">in force</span> : <Act class="small" why={why} label={`Go back to ${r.revision}`} onClick={() => void goBack(r.revision)}>Go back</Act>,
				])} />
		</section>
	)
}

function One({revision}: {revision: string}) {
	const [to, setTo] = useState('')
	const one = useResource(`revision-${revision}`, () => get('/api/v1/config/revisions/{revision}', {revision}), 60000)
	const list = useResource('revisions', () => get('/api/v1/config/revisions', undefined, {limit: 200}), 60000)
	const diff = useResource(`diff-${revision}-${to}`, async () => to ? get('/api/v1/config/revisions/{revision}/diff', {revision}, {to: Number(to)}) : undefined, 60000)
	const r = one.data.value
	if (!r) return <Waiting what={`revision ${revision}`} error={one.error.value} />
	return (
		<section class="panel stack" aria-label={`Revision ${revision}`}>
			<div class="spread"><h2>Revision {r.revision}</h2><Act why={whyNot('editor')} onClick={() => void goBack(r.revision)}>Go back to it</Act></div>
			<p class="soft">{when(r.at)}, {r.who}{r.comment && <>: “{r.comment}”</>}</p>
			<div class="filter"><Select label="Compare" value={to} onInput={setTo} options={[['', 'what it changed'], ...(list.data.value?.items ?? []).filter(x => x.revision !== r.revision).map(x => [String(x.revision), `with revision ${x.revision}`] as [string, string])]} /></div>
			{to ? (diff.data.value ? <Changes list={diff.data.value.diff} total={diff.data.value.diff_total} /> : <Waiting what="the difference" error={diff.error.value} />) : <Changes list={r.changes} total={r.changes_total} />}
			<div><button type="button" onClick={() => go('config', 'history')}>All revisions</button></div>
		</section>
	)
}

export function ConfigPage({tab, revision}: {tab: string; revision?: string}) {
	return (
		<>
			<PageHead title="Configuration" />
			<Tabs here={tab} list={[['edit', 'Edit'], ['history', 'History']]} base="config" />
			{tab === 'history' ? (revision ? <One key={revision} revision={revision} /> : <History />) : <Edit />}
		</>
	)
}
