// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers, times and durations as people read them. Pure.

const UNITS: [number, string][] = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']]

/** "38 min", "2 h 5 min", "3 d 4 h": two units at most, the smaller one only where it says something. */
export function span(ms: number): string {
	if (!Number.isFinite(ms)) return '–'
	const seconds = Math.max(0, Math.round(ms / 1000))
	if (seconds < 1) return '0 s'
	const at = UNITS.findIndex(([size]) => seconds >= size)
	const [size, unit] = UNITS[at]!
	const whole = Math.floor(seconds / size)
	const next = UNITS[at + 1]
	const rest = next && whole < 10 ? Math.floor((seconds % size) / next[0]) : 0
	return rest && next ? `${whole} ${unit} ${rest} ${next[1]}` : `${whole} ${unit}`
}

/** "1:59:05" for a countdown; never below zero. */
export function clock(ms: number): string {
	const s = Math.max(0, Math.ceil(ms / 1000))
	const two = (n: number) => String(n).padStart(2, '0')
	return `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`
}

/** "0.1 ms", "12 ms", "2.5 s": of a probe or a window. */
export function ms(value: number): string {
	if (value >= 10000) return `${trim(value / 1000, 1)} s`
	if (value >= 1000) return `${trim(value / 1000, 2)} s`
	return `${trim(value, value < 1 ? 2 : value < 10 ? 1 : 0)} ms`
}

function trim(value: number, digits: number): string {
	return String(Number(value.toFixed(digits)))
}

/** "1.2 k", "34 M" with a thin space. */
export function count(value: number): string {
	if (!Number.isFinite(value)) return '–'
	for (const [size, unit] of [[1e9, 'G'], [1e6, 'M'], [1e4, 'k']] as [number, string][]) {
		if (Math.abs(value) >= size) {
			const scaled = value / (unit === 'k' ? 1000 : size)
			return `${trim(scaled, scaled < 10 ? 1 : 0)} ${unit}`
		}
	}
	return trim(value, Math.abs(value) < 10 ? 1 : 0)
}

/** "0.333", "12.5": how often a second. */
export const rateOf = (perSecond: number): string => trim(perSecond, perSecond < 1 ? 3 : 1)

export function plural(n: number, one: string, many = `${one}s`): string {
	return `${n.toLocaleString('en')} ${n === 1 ? one : many}`
}

/** A moment of the API as milliseconds; NaN for none. */
export const instant = (iso: string | null | undefined): number => Date.parse(iso ?? '')

/** "14:03:22" today, else "30 Nov, 14:03". The browser's time zone. */
export function when(iso: string | null | undefined, now = Date.now()): string {
	if (!iso) return '–'
	const at = new Date(iso)
	const day = (d: Date) => `${d.getFullYear()}-${d.getMonth()}-${d.getDate()}`
	const time = at.toLocaleTimeString('en-GB')
	if (day(at) === day(new Date(now))) return time
	return `${at.toLocaleDateString('en-GB', {day: 'numeric', month: 'short'})}, ${time.slice(0, 5)}`
}

/** Moments in a sentence of the daemon's, as people read them: "until 2026-11-30T11:25:43.760Z" is "until 12:25:43". */
export function readable(text: string, now = Date.now()): string {
	return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, iso => when(iso, now))
}

/** Time since, as "12 s"; "–" for what never was. */
export function age(iso: string | null | undefined, now: number): string {
	return iso ? span(now - Date.parse(iso)) : '–'
}

/** What is said where none was given. */
export const NO_SPAN = 'a number and a unit: 90s, 30m, 1h30m, 3d'
/** "2h", "90s", "1h30m" as the API takes it ("5400s"); null where it is none. */
export function parseSpan(text: string): string | null {
	const parts = [...text.trim().toLowerCase().matchAll(/(\d+)\s*(d|h|min|m|s)\s*/gy)]
	if (!parts.length || parts.map(p => p[0]).join('').length !== text.trim().length) return null
	const size: Record<string, number> = {d: 86400, h: 3600, min: 60, m: 60, s: 1}
	const total = parts.reduce((sum, p) => sum + Number(p[1]) * size[p[2]!]!, 0)
	return total > 0 ? `${total}s` : null
}

/** A percentage that never claims 0 or 100 when it is not. */
export function percent(part: number, whole: number): string {
	if (!whole) return '–'
	const value = (100 * part) / whole
	if (value > 0 && value < 1) return '<1 %'
	if (value > 99 && value < 100) return '>99 %'
	return `${Math.round(value)} %`
}

/** "80", "8000–8100", "all ports": what a listener takes. */
export function portsOf(l: {port?: number; port_range?: number[] | null}): string {
	const [from, to] = l.port_range ?? []
	if (from === undefined || to === undefined) return String(l.port ?? '–')
	return from === 1 && to === 65535 ? 'all ports' : `${from}–${to}`
}

/** So many characters are not broken. */
export const SHORT = 20
/** A word in the parts that it may be broken between; none but a whole one where it is short. */
export function partsOf(word: string): string[] {
	if (word.length <= SHORT) return [word]
	return word.split(/(?<=[./])/).flatMap(part => part.length <= SHORT ? [part] : part.split(/(?<=[-_:=])/))
}
