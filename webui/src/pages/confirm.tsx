// SPDX-License-Identifier: GPL-2.0-or-later
// A change that waits to be confirmed, on every page: it undoes itself when nobody does.
import {get, request} from '../lib/api.ts'
import {clock} from '../lib/format.ts'
import {now, refreshAll, useResource} from '../lib/live.ts'
import {whyNot} from '../lib/session.ts'
import {Act, say} from '../ui/bits.tsx'

export function ConfirmBanner() {
	const waits = useResource('confirm', () => get('/api/v1/config/confirm'), 5000)
	const p = waits.data.value?.pending
	if (!p) return null
	const confirm = async () => {
		try { await request('POST', '/api/v1/config/confirm'); say(`Revision ${p.revision} stays`); refreshAll() } catch (e) { say((e as Error).message) }
	}
	return (
		<div class="banner warn" role="alert">
			<span class="grow"><strong>Revision {p.revision} by {p.who} waits to be confirmed.</strong> It undoes itself in <span class="count" role="timer">{clock(Date.parse(p.undone_at ?? '') - now.value)}</span>.{p.comment && ` “${p.comment}”`}</span>
			<Act class="main-action" why={whyNot('editor')} onClick={confirm}>Keep the change</Act>
		</div>
	)
}
