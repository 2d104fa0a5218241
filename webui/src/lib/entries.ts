// SPDX-License-Identifier: GPL-2.0-or-later
// Entries of access lists as lines of text: "203.0.113.0/24 deny # scanners". Pure; whether a network is one the daemon says.
import type {AccessEntry, AccessHits} from './types.ts'

export const ENTRIES_HELP = 'one a line: network, allow or deny, and a comment behind #'
export const ENTRIES_EXAMPLE = '198.51.100.0/24 allow # the house\n203.0.113.7 deny # a scanner'

/** `lines`: of each entry the number of its line. */
export interface Read { entries: AccessEntry[]; lines: number[]; fault: string }

/** A line without an action has `otherwise`; an address alone is a network of itself. */
export function parseEntries(text: string, otherwise: AccessEntry['action']): Read {
	const entries: AccessEntry[] = [], lines: number[] = []
	for (const [i, line] of text.split('\n').entries()) {
		const [head = '', ...rest] = line.split('#')
		const comment = rest.join('#').trim()
		const [network, action, more] = head.trim().split(/\s+/)
		if (!network) continue
		if (more !== undefined || (action !== undefined && action !== 'allow' && action !== 'deny')) return {entries, lines, fault: `line ${i + 1}: "network", "network allow" or "network deny" is expected, and a comment behind #`}
		lines.push(i + 1)
		entries.push({cidr: withLength(network), action: action ?? otherwise, ...(comment ? {comment} : {})})
	}
	return {entries, lines, fault: ''}
}

const withLength = (network: string): string => network.includes('/') ? network : `${network}/${network.includes(':') ? 128 : 32}`

/** How many packets an entry decided; undefined where nothing is counted, or not known of this one (the daemon tells of the busiest). */
export function packetsOf(hits: AccessHits | undefined): ((e: AccessEntry) => number | undefined) | undefined {
	if (!hits?.available) return undefined
	const byNetwork = new Map(hits.entries.map(h => [h.cidr, h.packets]))
	const rest = hits.entries_total > hits.entries.length ? undefined : 0
	return e => byNetwork.get(e.cidr) ?? rest
}

/** IPv4 before IPv6, by number and not by letter. */
export function compareEntries(a: AccessEntry, b: AccessEntry): number {
	return keyOf(a.cidr) < keyOf(b.cidr) ? -1 : keyOf(a.cidr) > keyOf(b.cidr) ? 1 : 0
}

function keyOf(cidr: string): string {
	const [address = '', length = ''] = cidr.split('/')
	if (!address.includes(':')) return `4${address.split('.').map(n => n.padStart(3, '0')).join('')}${length.padStart(3, '0')}`
	const [front = '', back] = address.split('::')
	const words = (text: string | undefined) => text ? text.split(':') : []
	const gap = back === undefined ? [] : Array<string>(8 - words(front).length - words(back).length).fill('0')
	return `6${[...words(front), ...gap, ...words(back)].map(w => w.padStart(4, '0')).join('')}${length.padStart(3, '0')}`
}
