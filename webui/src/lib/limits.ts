// SPDX-License-Identifier: GPL-2.0-or-later
// What the limits of listeners drop, in words. Pure.
import type {LbStatus} from './types.ts'
import {plural, span} from './format.ts'

export interface Drop { text: string; recent: boolean }

/** A line for each limit that has dropped something; `recent`: it does so now. */
export function dropsOf(l: Partial<LbStatus['listeners'][number]>): Drop[] {
	const line = (limit: string, dropped?: number | null, recent?: number | null): Drop[] => !dropped ? []
		: [{text: `${limit} has dropped ${plural(dropped, 'new connection')}, ${recent ? recent.toLocaleString('en') : 'none'} of them lately`, recent: !!recent}]
	return [...line('Rate limit', l.rate_limit_dropped, l.rate_limit_dropped_recent), ...line('Max connections', l.max_connections_dropped, l.max_connections_dropped_recent)]
}

/** Of a whole load balancer, while its limits bite; else ''. */
export function bites(s: {dropped_recent?: number | null; dropped_recent_s?: number | null}): string {
	return s.dropped_recent ? `Limits dropped ${plural(s.dropped_recent, 'new connection')} within ${span((s.dropped_recent_s ?? 0) * 1000)}` : ''
}
