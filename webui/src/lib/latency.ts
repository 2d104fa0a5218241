// SPDX-License-Identifier: GPL-2.0-or-later
// How long probes took: what the daemon remembers of now, what the history has of each change of state, and what was seen since
// the page was opened. Pure.
import {instant} from './format.ts'
import type {HistoryItem, RecentResult, ServerHealth} from './types.ts'

export interface Point { t: number; pass: number | null; fail: number | null }

const point = (t: number, r: {result: string; duration_ms: number}): Point =>
	({t, pass: r.result === 'pass' ? r.duration_ms : null, fail: r.result === 'fail' ? r.duration_ms : null})

/** Results newest first, of which only the newest has a time: the others are taken as one interval apart. */
const before = (end: number, interval: number, results: RecentResult[]): Point[] => results.map((r, i) => point(end - i * interval, r))

export function ofNow(h: ServerHealth): Point[] {
	const end = instant(h.last_probe?.started)
	return Number.isFinite(end) ? before(end, h.check?.interval_ms ?? 3000, h.recent) : []
}

/** The results before each change of state since `from`. */
export function ofHistory(items: HistoryItem[], interval: number, from: number): Point[] {
	return items.filter(i => i.event === 'transition' && i.recent && instant(i.at) >= from).flatMap(i => before(instant(i.at), interval, i.recent!))
}

/** One line: in the order of time, each moment once (what comes first in `lists` holds), a gap where nobody looked. */
export function join(lists: Point[][], interval: number): Point[] {
	const known: Point[] = []
	for (const list of lists) {
		const times = known.map(p => p.t)
		for (const p of list) if (!times.some(t => Math.abs(t - p.t) < interval / 2)) known.push(p)
	}
	known.sort((a, b) => a.t - b.t)
	return known.flatMap((p, i) => i > 0 && p.t - known[i - 1]!.t > 4 * interval ? [{t: known[i - 1]!.t + interval, pass: null, fail: null}, p] : [p])
}
