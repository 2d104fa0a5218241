// SPDX-License-Identifier: GPL-2.0-or-later
// The states of a server over time, from its transitions. While the daemon did not run nothing is known: a gap. Pure.
// A daemon that ended without a stop leaves no word of when: until its next start all is unknown since the last entry.
import {instant} from './format.ts'
import type {HistoryItem} from './types.ts'

/** `state` null: the daemon did not look; with `unsaid`: from when on it did not is not known, only that it was so at `to`. */
export interface Piece { from: number; to: number; state: string | null; reason?: string; unsaid?: boolean }

/** `items` newest first, as the API gives them; `state` is that of now. */
export function pieces(items: HistoryItem[], state: string, from: number, now: number): Piece[] {
	const list: Piece[] = []
	let to = now
	let current: string | null = state
	let lasted = 0
	let unsaid: true | undefined
	const put = (begin: number, reason?: string) => {
		if (to > from && begin < to) list.push({from: Math.max(begin, from), to, state: current, reason, unsaid})
		to = Math.min(to, begin)
		unsaid = undefined
	}
	for (const item of items) {
		const at = instant(item.at)
		if (to <= from) break
		if (item.event === 'transition') {
			put(at, item.detail)
			current = item.from ?? null
			lasted = item.lasted_ms ?? 0
		} else if (item.event === 'daemon.started') {
			put(at)
			current = null
			unsaid = item.unclean || undefined
		} else if (item.event === 'daemon.stopped') {
			put(at)
			current = stateBefore(items, at) ?? null
		}
	}
	if (unsaid) put(from)
	if (to > from && current) {
		// The oldest transition tells how long the state before it had lasted: no more than that is known.
		const begin = lasted ? to - lasted : to
		put(Math.max(begin, from))
	}
	return list.reverse()
}

function stateBefore(items: HistoryItem[], at: number): string | undefined {
	return items.find(i => i.event === 'transition' && instant(i.at) <= at)?.to
}
