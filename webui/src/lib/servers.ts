// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of a server group: filtered, counted, asked for. Pure but for the keys of names.
import {plural} from './format.ts'
import {rank} from './health.ts'
import type {KernelTable, ServerRow} from './types.ts'

export interface Filter { text: string; state: string; zone: string }

export function filterRows(rows: ServerRow[], f: Filter): ServerRow[] {
	const text = f.text.trim().toLowerCase()
	return rows.filter(r => (!f.state || r.state === f.state) && (!f.zone || (r.zone ?? '') === f.zone) &&
		(!text || r.server.toLowerCase().includes(text) || r.address.includes(text) || (r.left_out ?? r.detail).toLowerCase().includes(text)))
}

/** The reason without "unhealthy for 12.5 s:", which stands in columns of its own. */
export function reasonOf(detail: string): string {
	return detail.replace(/^[a-z ]+ for [\d.]+ \w+[:;] /, '').replace(/^last probe: /, '')
}

/** The same without the address that was probed, where that stands in a column of its own. */
export const reasonAlone = (detail: string): string => reasonOf(detail).replace(/^\S+:\d+ /, '')

/** A weight of the kernel as it reads beside the configured one: slow start multiplies all of a group. */
export const weightOf = (weight: number, factor = 1): number => Math.round(weight / factor * 10) / 10

/** "10.0.1.11:8080", "[2001:db8::1]:80"; without a port where the listener's is taken. */
export function endpointOf(r: {address: string; port: number}): string {
	if (!r.port) return r.address
	return r.address.includes(':') ? `[${r.address}]:${r.port}` : `${r.address}:${r.port}`
}

/** "3 open connections left, and 9 closing, UDP or remembered": what a drain waits for, and what only stays until its timeout. */
export function leftOf({connections = 0, active}: {connections?: number; active?: number}): string {
	if (active === undefined) return `${plural(connections, 'connection')} left`
	const rest = connections - active
	return `${plural(active, 'open connection')} left${rest > 0 ? `, and ${rest.toLocaleString('en')} closing, UDP or remembered` : ''}`
}

const KEYS_KEPT = 100000
const keys = new Map<string, string>()
/** A text by which web-2 comes before web-10. Remembered: ten thousand names are compared a hundred thousand times at each renewal. */
function keyOf(name: string): string {
	let key = keys.get(name)
	if (key === undefined) {
		if (keys.size >= KEYS_KEPT) keys.clear()
		key = name.replace(/\d+/g, digits => digits.padStart(20, '0'))
		keys.set(name, key)
	}
	return key
}

export function compareNames(a: string, b: string): number {
	const x = keyOf(a), y = keyOf(b)
	return x < y ? -1 : x > y ? 1 : 0
}

export const byName = (a: {server: string}, b: {server: string}): number => compareNames(a.server, b.server)
export const byState = (a: ServerRow, b: ServerRow): number => rank(a.state) - rank(b.state) || byName(a, b)

export interface Flows { active: number; inactive: number }

/** Connections at an address, of all services together. A server without a port has that of each listener. */
export function flowsOf(table: KernelTable | undefined): Map<string, Flows> {
	const flows = new Map<string, Flows>()
	const add = (key: string, active: number, inactive: number) => {
		const known = flows.get(key) ?? {active: 0, inactive: 0}
		flows.set(key, {active: known.active + active, inactive: known.inactive + inactive})
	}
	for (const service of table?.services ?? []) {
		for (const d of service.destinations) {
			add(`${d.address} ${d.port}`, d.active ?? 0, d.inactive ?? 0)
			add(`${d.address} 0`, d.active ?? 0, d.inactive ?? 0)
		}
	}
	return flows
}

export const flowsAt = (flows: Map<string, Flows>, r: {address: string; port: number}): Flows | undefined => flows.get(`${r.address} ${r.port}`)

const ASKED_MAX = 50, ASKED_BYTES = 1500
/** As many of these names as one question takes, "web-1,web-2": so many servers the daemon answers with their last results. */
export function askFor(names: string[]): string {
	let text = ''
	for (const name of names.slice(0, ASKED_MAX)) {
		const more = text ? `${text},${name}` : name
		if (encodeURIComponent(more).length > ASKED_BYTES) break
		text = more
	}
	return text
}
