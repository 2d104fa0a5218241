// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses of pages live behind the "#": the daemon serves one document.
import {signal} from '@preact/signals'

export interface Route { parts: string[]; query: URLSearchParams }

export function parseHash(hash: string): Route {
	const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
	const parts = path.split('/').filter(Boolean).map(part => {
		try { return decodeURIComponent(part) } catch { return part }
	})
	return {parts, query: new URLSearchParams(query)}
}

/** href('server-groups', 'web') = "#/server-groups/web" */
export function href(...parts: string[]): string {
	return '#/' + parts.map(encodeURIComponent).join('/')
}

export const route = signal<Route>({parts: [], query: new URLSearchParams()})

export function go(...parts: string[]): void {
	location.hash = href(...parts)
}

export function startRouter(): void {
	const read = () => { route.value = parseHash(location.hash) }
	addEventListener('hashchange', read)
	read()
}

/** Another page in the place of this one: the way back does not lead here again. */
export function replace(hash: string): void {
	history.replaceState(null, '', hash)
	route.value = parseHash(hash)
}

/** Changes one parameter of the address and leaves no trace in the history. */
export function setQuery(name: string, value: string): void {
	const {parts, query} = route.value
	const next = new URLSearchParams(query)
	if (value) next.set(name, value); else next.delete(name)
	const text = next.toString()
	replace(href(...parts) + (text ? `?${text}` : ''))
}
