// SPDX-License-Identifier: GPL-2.0-or-later
// What the pages show is the configuration: where the kernel lacks some of it, they say so.
import {useEffect, useState} from 'preact/hooks'
import {missingOf} from '../lib/health.ts'
import {useSystem} from '../lib/load.ts'
import {now} from '../lib/live.ts'
import {href} from '../lib/router.ts'

/** A change is on its way to the kernel for a moment: longer than between two reads is too long. */
const SETTLES_MS = 6000

/** What the kernel lacks, and for too long. */
export function useMissing(): string | undefined {
	const s = useSystem().data.value
	const [since, setSince] = useState(0)
	const missing = s && missingOf(s)
	const behind = missing?.passing ?? false
	useEffect(() => setSince(behind ? Date.now() : 0), [behind, s?.applied_revision])
	return !missing || (behind && !(since && now.value - since >= SETTLES_MS)) ? undefined : missing.text
}

/** The same where who asks knows it already. */
export const Missing = ({tone, text}: {tone: 'bad' | 'warn'; text: string}) =>
	<div class={`banner ${tone}`}><span><strong>Not all of the configuration is in the kernel: </strong>{text}</span><a href="#/system">System</a></div>

export function NotApplied({tone = 'warn'}: {tone?: 'bad' | 'warn'}) {
	const text = useMissing()
	return text ? <Missing tone={tone} text={text} /> : null
}

interface Refused { load_balancer: string; zone: string; listener: string; fault: string | null }
/** Services that the kernel refused: each fault of a listener once, however many zones have it. */
export function NotInForce({list}: {list: Refused[]}) {
	const zones = new Map<string, Refused & {zones: string[]}>()
	for (const s of list) {
		if (!s.fault) continue
		const key = `${s.load_balancer}/${s.listener} ${s.fault}`
		zones.set(key, {...s, zones: [...new Set([...zones.get(key)?.zones ?? [], s.zone])]})
	}
	return <>{[...zones].map(([key, s]) => (
		<div class="banner bad" key={key}><span><strong>Listener <a href={href('load-balancers', s.load_balancer)}>{s.load_balancer}/{s.listener}</a> is not in force</strong> in {s.zones.join(', ')}<strong>: </strong>{s.fault}</span></div>
	))}</>
}
