// SPDX-License-Identifier: GPL-2.0-or-later
// Who else tells when something moved: the stream of events. Without it polling goes on alone.
import {request} from './api.ts'
import {closeStream, openStream} from './live.ts'

/** Of controller/engine/events.def; build.mjs puts them here. */
declare const EVENT_NAMES: string[]

/** Opens the stream if one may hear it. */
export async function followEvents(): Promise<void> {
	try {
		await request('GET', '/api/v1/events', {query: {limit: 1}})
		openStream(EVENT_NAMES)
	} catch { closeStream() }
}
