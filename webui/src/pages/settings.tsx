// SPDX-License-Identifier: GPL-2.0-or-later
// The timeouts of IPVS, and where events are sent.
import {useEffect, useState} from 'preact/hooks'
import {ApiError, get, request, type Fault} from '../lib/api.ts'
import {refreshAll, useResource} from '../lib/live.ts'
import {fieldsOf, makePatch, readValues, type FieldSpec, type Values} from '../lib/schema.ts'
import {whyNot} from '../lib/session.ts'
import type {NotifyTest, Settings} from '../lib/types.ts'
import {Act, Empty, say, Waiting} from '../ui/bits.tsx'
import {focusFault, ObjectForm, OtherFaults, useSchemas} from '../ui/form.tsx'
import {Table} from '../ui/table.tsx'

function Form({fields, original, etag, reload}: {fields: FieldSpec[]; original: Settings; etag: string | null; reload: () => void}) {
	const [values, setValues] = useState<Values>(() => readValues(fields, original))
	const [faults, setFaults] = useState<Fault[]>([])
	const why = whyNot('editor')
	const save = async (event: Event) => {
		event.preventDefault()
		if (why) { say(why); return }
		try {
			await request('PATCH', '/api/v1/settings', {body: makePatch(fields, original, values), headers: etag ? {'If-Match': etag} : {}})
			say('The settings were saved')
			refreshAll()
			reload()
		} catch (e) {
			const fault = e as ApiError
			setFaults(fault.faults?.length ? fault.faults : [{pointer: '', code: fault.type, detail: fault.message}])
			focusFault()
		}
	}
	const force = original.status?.timeouts_in_force
	return (
		<form class="stack" noValidate onSubmit={save}>
			<OtherFaults faults={faults} fields={fields} values={values} />
			<ObjectForm fields={fields} values={values} faults={faults} first={() => true} onChange={(p, v) => setValues(old => ({...old, [p]: v}))} />
			{force && <p class="soft small">In force now: TCP {force.tcp_s} s, closing TCP {force.tcp_fin_s} s, UDP {force.udp_s} s.</p>}
			<div class="row"><button type="submit" class="main-action" aria-disabled={why ? 'true' : undefined}>Save</button>{why && <span class="why">{why}</span>}</div>
		</form>
	)
}

export function Timeouts() {
	const {all, fault} = useSchemas()
	const [object, setObject] = useState<{data: Settings; etag: string | null} | undefined>()
	const [error, setError] = useState<ApiError | undefined>()
	const load = () => { request<Settings>('GET', '/api/v1/settings').then(setObject).catch(e => setError(e as ApiError)) }
	useEffect(load, [])
	return (
		<section class="panel stack" aria-label="Timeouts">
			<h2>IPVS</h2>
			{!all || !object ? <Waiting what="the settings" error={error ?? (fault ? new ApiError(0, 'unknown', fault) : undefined)} />
				: <Form key={object.etag} fields={fieldsOf(all.Settings!, all)} original={object.data} etag={object.etag} reload={load} />}
		</section>
	)
}

export function Webhooks() {
	const notify = useResource('notify', () => get('/api/v1/notify'), 5000)
	const n = notify.data.value
	const test = async () => { try { const {data} = await request<NotifyTest>('POST', '/api/v1/notify/test'); say(data.results.map(r => `${r.url}: ${r.ok ? 'taken' : r.detail}`).join('; ')) } catch (e) { say((e as Error).message) } }
	return (
		<section class="panel stack" aria-label="Webhooks">
			<div class="spread"><h2>Webhooks</h2><Act why={whyNot('admin') || (n && n.urls.length ? '' : 'no URL is set')} onClick={test}>Send a test</Act></div>
			{!n ? <Waiting what="the webhooks" error={notify.error.value} />
				: n.urls.length === 0 ? <Empty title="Nobody is told" text="[notify] in the settings of this node names URLs that get the events, signed." cli="zonegate notify status" />
					: <Table caption="Webhooks" head={['URL', 'Waiting', 'Failures', 'Fault']} rows={n.urls.map(u => [<span class="mono">{u.url}</span>, u.pending, u.failures, u.error ?? ''])} />}
		</section>
	)
}
