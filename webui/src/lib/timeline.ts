// SPDX-License-Identifier: GPL-2.0-or-later
// The states of a server over time, from its transitions. While the daemon did not run nothing is known: a gap. Pure.
// A daemon that ended without a stop leaves no word of when: until its next start all is unknown since the last entry.
import {instant} from './format.ts'
import type {HistoryItem} from './types.ts'

/** `state` null: the daemon did not look; with `unsaid`: from when on it did not is not known, only that it was so at `to`. */
export interface Piece { from: number; to: number; state: string | null; reason?: string; unsaid?: boolean }

/** What is laid over a health that goes on beneath: no transition tells of it. */
const LAID_OVER = new Set(['draining', 'disabled'])
/** So far apart a transition and the state that it begins are one moment: the one is of a clock that may be set. */
const APART_MS = 2000

/** `items` newest first, as the API gives them; `state` is that of now, and was `since` then on. */
export function pieces(items: HistoryItem[], state: string, since: number, from: number, now: number): Piece[] {
	if (!LAID_OVER.has(state)) return healthOf(items, state, since, from, now)
	const before = items.find(i => i.event === 'transition')?.to ?? null
	return layOver(healthOf(items, before ?? state, before ? NaN : since, from, now), state, Number.isFinite(since) ? since : now)
}

function healthOf(items: HistoryItem[], state: string | null, since: number, from: number, now: number): Piece[] {
	const list: Piece[] = []
	let to = now
	let current = state
	let began = since // of `current`; NaN: with the entry before
	let unsaid: true | undefined
	const put = (begin: number, reason?: string) => {
		if (to > from && begin < to) list.push({from: Math.max(begin, from), to, state: current, reason, unsaid})
		to = Math.min(to, begin)
		unsaid = undefined
	}
	/* No state is longer than it is known to have lasted: what lies between is a gap. */
	const end = (at: number, reason?: string) => {
		if (current && began > at + APART_MS) { put(began, reason); current = null; put(at) } else put(at, reason)
	}
	for (const item of items) {
		const at = instant(item.at)
		if (to <= from) break
		if (item.event === 'transition') {
			end(at, item.detail)
			current = item.from ?? null
			began = item.lasted_ms ? at - item.lasted_ms : NaN
		} else if (item.event === 'daemon.started') {
			end(at)
			current = null
			unsaid = item.unclean || undefined
		} else if (item.event === 'daemon.stopped') {
			put(at)
			current = stateBefore(items, at) ?? null
			began = NaN
		}
	}
	if (unsaid) put(from)
	if (to > from && current && Number.isFinite(began)) put(Math.max(began, from))
	return list.reverse()
}

/** From `since` on what was looked at is `state`; neighbours that became alike are one. */
function layOver(list: Piece[], state: string, since: number): Piece[] {
	const made: Piece[] = []
	for (const p of list.flatMap(x => x.state && x.from < since && since < x.to ? [{...x, to: since}, {...x, from: since}] : [x])) {
		const piece = p.state && p.from >= since ? {...p, state, reason: undefined} : p, last = made[made.length - 1]
		if (last && last.state === state && piece.state === state && last.to === piece.from) last.to = piece.to
		else made.push({...piece})
	}
	return made
}

function stateBefore(items: HistoryItem[], at: number): string | undefined {
	return items.find(i => i.event === 'transition' && instant(i.at) <= at)?.to
}
