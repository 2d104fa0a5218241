// SPDX-License-Identifier: GPL-2.0-or-later
// The health check of a group beside what it means in time, and what speaks against it, while one types.
import {useEffect, useState} from 'preact/hooks'
import {ApiError, request, type Fault} from '../lib/api.ts'
import {ms} from '../lib/format.ts'
import {refreshAll} from '../lib/live.ts'
import {go, href} from '../lib/router.ts'
import {fieldsOf, makeBody, makePatch, readValues, type FieldSpec, type Values} from '../lib/schema.ts'
import {whyNot} from '../lib/session.ts'
import type {DetectionTime, Range} from '../lib/types.ts'
import {Mark, PageHead, say, Waiting} from '../ui/bits.tsx'
import {focusFault, ObjectForm, OtherFaults, useSchemas} from '../ui/form.tsx'

const TYPING_MS = 250

function Span({name, r, text}: {name: string; r: Range | null; text: string}) {
	return <div><h3>{name}</h3><p>{!r ? 'never' : <><strong class="nowrap">{ms(r.best_ms)}</strong> to <strong class="nowrap">{ms(r.worst_ms)}</strong></>}</p><p class="soft small">{text}</p></div>
}

function useEstimate(protocol: string, check: Record<string, unknown>) {
	const [estimate, setEstimate] = useState<DetectionTime | undefined>()
	const [faults, setFaults] = useState<Fault[]>([])
	const key = JSON.stringify(check)
	useEffect(() => {
		const abort = new AbortController()
		const timer = setTimeout(() => {
			request<DetectionTime>('POST', '/api/v1/tools/detection-time', {body: {protocol, health_check: check}, signal: abort.signal})
				.then(a => { setEstimate(a.data); setFaults([]) })
				.catch(e => { if (!abort.signal.aborted && e instanceof ApiError) setFaults(e.faults.length ? e.faults : [{pointer: '', code: e.type, detail: e.message}]) })
		}, TYPING_MS)
		return () => { clearTimeout(timer); abort.abort() }
	}, [protocol, key])
	return {estimate, faults}
}

interface GroupObject { protocol: string; health_check: Record<string, unknown> }

function Editor({group, fields, original, etag}: {group: string; fields: FieldSpec[]; original: GroupObject; etag: string | null}) {
	const [values, setValues] = useState<Values>(() => readValues(fields, original))
	const [faults, setFaults] = useState<Fault[]>([])
	const [trouble, setTrouble] = useState('')
	const [busy, setBusy] = useState(false)
	const why = whyNot('editor')
	const check = (makeBody(fields.map(f => ({...f, initial: undefined})), values).health_check ?? {}) as Record<string, unknown>
	const {estimate, faults: live} = useEstimate(original.protocol, check)
	const save = async (event: Event) => {
		event.preventDefault()
		if (why || busy) { if (why) say(why); return }
		setBusy(true)
		setTrouble('')
		try {
			await request('PATCH', '/api/v1/server-groups/{server_group}', {params: {server_group: group}, body: makePatch(fields, original, values), headers: etag ? {'If-Match': etag} : {}})
			say('The health check was saved')
			refreshAll()
			go('server-groups', group)
		} catch (e) {
			const fault = e as ApiError
			setFaults(fault.faults ?? [])
			setTrouble(fault.status === 412 ? 'Somebody changed the group meanwhile: load the page again.' : fault.message)
			focusFault()
		} finally { setBusy(false) }
	}
	return (
		<div class="beside">
			<form class="panel stack" noValidate onSubmit={save}>
				{trouble && <div class="banner bad" role="alert">{trouble}</div>}
				<OtherFaults faults={faults} fields={fields} values={values} />
				<ObjectForm fields={fields} values={values} faults={[...faults, ...live]} onChange={(p, v) => { setFaults([]); setValues(old => ({...old, [p]: v})) }} />
				<div class="row"><button type="submit" class="main-action" aria-disabled={why || busy ? 'true' : undefined}>{busy ? 'Saving …' : 'Save'}</button><a class="button" href={href('server-groups', group)}>Cancel</a>{why && <span class="why">{why}</span>}</div>
			</form>
			<aside class="panel stack" aria-label="What it means" aria-live="polite">
				<h2>What it means</h2>
				{live.filter(f => !fields.some(x => x.pointer === f.pointer)).map(f => <div class="banner bad" key={f.detail}>{f.detail}</div>)}
				{!estimate ? <p class="soft">Computing …</p> : <>
					<Span name="A silent failure is noticed within" r={estimate.windows.detection_silent} text={estimate.windows.silence ?? 'a host that is gone, packets that are dropped'} />
					<Span name="A refused one within" r={estimate.windows.detection_active} text="nothing listens, or it answers with an error" />
					<Span name="It is back within" r={estimate.windows.recovery} text="after it works again" />
					<h2>Advice</h2>
					{estimate.advice.length === 0 ? <p class="state t-ok"><Mark shape="disc" />Nothing speaks against it.</p> : <ul class="list">{estimate.advice.map(a => <li key={a.detail}><span class="state t-warn"><Mark shape="triangle" /></span><span class="grow">{a.detail}</span></li>)}</ul>}
				</>}
			</aside>
		</div>
	)
}

export function CheckEditor({group}: {group: string}) {
	const {all, fault} = useSchemas()
	const [object, setObject] = useState<{data: GroupObject; etag: string | null} | undefined>()
	const [error, setError] = useState<ApiError | undefined>()
	useEffect(() => {
		request<GroupObject>('GET', '/api/v1/server-groups/{server_group}', {params: {server_group: group}}).then(setObject).catch(e => setError(e as ApiError))
	}, [group])
	const crumbs = [{text: 'Server groups', href: '#/server-groups'}, {text: group, href: href('server-groups', group)}]
	const schema = all?.ServerGroup?.properties?.health_check
	return (
		<>
			<PageHead title="Health check" crumbs={crumbs} sub={`of ${group}`} />
			{!all || !schema || !object ? <Waiting what="the health check" error={error ?? (fault ? new ApiError(0, 'unknown', fault) : undefined)} />
				: <Editor group={group} fields={fieldsOf(schema.$ref ? all[schema.$ref.split('/').pop()!]! : schema, all, '/health_check')} original={object.data} etag={object.etag} />}
		</>
	)
}
