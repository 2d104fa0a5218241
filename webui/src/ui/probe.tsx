// SPDX-License-Identifier: GPL-2.0-or-later
// One probe now: it changes no state, and tells what was sent and what came back.
import {useEffect, useState} from 'preact/hooks'
import {request} from '../lib/api.ts'
import {ms} from '../lib/format.ts'
import type {Probe, ProbeEvidence} from '../lib/types.ts'
import {closeDialog, DialogTitle, showDialog} from './dialog.tsx'
import {StateMark} from './bits.tsx'

/** `sent`: what was sent, too, where it does not stand beside it. */
export function Evidence({p, sent}: {p: Omit<ProbeEvidence, 'started'>; sent?: boolean}) {
	const times: [string, number | undefined][] = [['Connected after', p.connect_ms], ['TLS after', p.tls_ms], ['First byte after', p.first_byte_ms], ['Ended after', p.duration_ms]]
	return (
		<dl class="facts">
			{p.http_status !== undefined && <><dt>HTTP status</dt><dd>{p.http_status}</dd></>}
			{p.error && <><dt>System's word</dt><dd>{p.error}</dd></>}
			{times.filter(([, v]) => v !== undefined).map(([t, v]) => <><dt>{t}</dt><dd>{ms(v!)}</dd></>)}
			{sent && p.sent && <><dt>Sent</dt><dd>{p.sent}</dd></>}
			<dt>Came back</dt><dd>{p.received ? <code class="evidence" tabIndex={0}>{p.received}</code> : 'nothing'}</dd>
		</dl>
	)
}

function ProbeDialog({group, server}: {group: string; server: string}) {
	const [probe, setProbe] = useState<Probe | undefined>()
	const [fault, setFault] = useState('')
	const run = () => {
		setProbe(undefined)
		setFault('')
		request<Probe>('POST', '/api/v1/server-groups/{server_group}/servers/{server}/probe', {params: {server_group: group, server}})
			.then(a => setProbe(a.data)).catch(e => setFault((e as Error).message))
	}
	useEffect(run, [])
	return (
		<div>
			<DialogTitle>Probe {server} now</DialogTitle>
			<div aria-live="polite" class="stack">
				{fault ? <div class="banner bad">{fault}</div> : !probe ? <p class="soft">Probing …</p> : <>
					<StateMark as={probe.result === 'pass' ? {word: 'Passed', tone: 'ok', shape: 'disc'} : {word: 'Failed', tone: 'bad', shape: 'cross'}} />
					<p>{probe.detail}</p>
					<p class="soft small">{probe.type} probe of <span class="mono">{probe.endpoint}</span>. It counts for nothing.</p>
					<Evidence p={probe} sent />
				</>}
			</div>
			<div class="end"><button type="button" onClick={run}>Again</button><button type="button" class="main-action" onClick={closeDialog}>Close</button></div>
		</div>
	)
}

export function openProbe(group: string, server: string): void { showDialog(() => <ProbeDialog group={group} server={server} />) }
