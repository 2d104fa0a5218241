// SPDX-License-Identifier: GPL-2.0-or-later
// What the pages show is the configuration: where the kernel lacks some of it, they say so.
import {useEffect, useState} from 'preact/hooks'
import {missingOf} from '../lib/health.ts'
import {useSystem} from '../lib/load.ts'
import {now} from '../lib/live.ts'

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
