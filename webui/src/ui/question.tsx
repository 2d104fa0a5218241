// SPDX-License-Identifier: GPL-2.0-or-later
// May this client come in to this listener? As the rules of the kernel would have it, and by which entry.
import {useState} from 'preact/hooks'
import {get} from '../lib/api.ts'
import {href} from '../lib/router.ts'
import type {AccessVerdict} from '../lib/types.ts'
import {StateMark} from './bits.tsx'
import {Select, Text} from './fields.tsx'

export const ACTIONS = {allow: {word: 'Allowed', tone: 'ok', shape: 'disc'}, deny: {word: 'Denied', tone: 'bad', shape: 'cross'}} as const

function Verdict({v}: {v: AccessVerdict}) {
	const list = v.access_list && <a href={href('access-lists', v.access_list)}>{v.access_list}</a>
	return (
		<p><StateMark as={ACTIONS[v.allowed ? 'allow' : 'deny']} /> <span class="mono">{v.client}</span>{' '}
			{v.by === 'no_list' ? 'comes in as everybody does: the listener names no access list.'
				: v.by === 'peer' ? <>comes in as another gateway that probes there ([node] peers): {list} is not asked.</>
				: v.by === 'default' ? <>{v.allowed ? 'comes in' : 'is kept out'} as no entry of {list} is around it.</>
					: <>{v.allowed ? 'comes in' : 'is kept out'} by the entry <span class="mono nowrap">{v.entry?.cidr}</span> of {list}{v.entry?.comment && <span class="soft"> “{v.entry.comment}”</span>}.</>}
		</p>
	)
}

/** `listeners`: [load balancer, listener] that may be asked about; the first one is. */
export function AccessQuestion({listeners}: {listeners: [string, string][]}) {
	const [which, setWhich] = useState(0)
	const [client, setClient] = useState('')
	const [verdict, setVerdict] = useState<AccessVerdict | undefined>()
	const [fault, setFault] = useState('')
	const [lb, listener] = listeners[which] ?? listeners[0]!
	const ask = async (event: Event) => {
		event.preventDefault()
		setVerdict(undefined)
		setFault('')
		if (!client.trim()) { setFault('give an address'); return }
		try { setVerdict(await get('/api/v1/load-balancers/{load_balancer}/listeners/{listener}/access', {load_balancer: lb, listener}, {client: client.trim()})) } catch (e) { setFault((e as Error).message.replace(/^query parameter client: /, '')) }
	}
	const changed = () => { setVerdict(undefined); setFault('') }
	return (
		<section class="panel" aria-label="May a client come in">
			<form class="stack" noValidate onSubmit={ask}>
				<h2>May a client come in?</h2>
				<div class="fields">
					<Text label="Client's address" value={client} onInput={v => { setClient(v); changed() }} placeholder="203.0.113.7" fault={fault || undefined} />
					{listeners.length > 1 && <Select label="To the listener" value={String(which)} onInput={v => { setWhich(Number(v)); changed() }} options={listeners.map(([l, n], i) => [String(i), `${l}/${n}`] as [string, string])} />}
				</div>
				<div class="row"><button type="submit">Ask</button><div aria-live="polite" class="grow">{verdict && <Verdict v={verdict} />}</div></div>
			</form>
		</section>
	)
}
