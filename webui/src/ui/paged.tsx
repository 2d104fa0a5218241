// SPDX-License-Identifier: GPL-2.0-or-later
// Cards of many things: found by a few letters, a page at a time, so that five hundred are as quick as five.
import type {ComponentChildren} from 'preact'
import {useState} from 'preact/hooks'
import {plural} from '../lib/format.ts'
import {Text} from './fields.tsx'

export const PAGE = 24
const FEW = 6

/** Which page shows what; a page that is no more (the list became shorter) is the last one. Pure. */
export function pageOf(total: number, wanted: number, size = PAGE): {page: number; first: number; end: number; pages: number} {
	const pages = Math.max(1, Math.ceil(total / size)), page = Math.min(Math.max(0, wanted), pages - 1)
	return {page, first: page * size, end: Math.min(total, (page + 1) * size), pages}
}

/** `words` of an item are what it is found by. */
export function Cards<T>({items, words, keyOf, card, one, none}: {
	items: T[]; words: (item: T) => string; keyOf: (item: T) => string; card: (item: T) => ComponentChildren; one: string; none: ComponentChildren
}) {
	const [find, setFind] = useState('')
	const [wanted, setWanted] = useState(0)
	const text = find.trim().toLowerCase()
	const found = text ? items.filter(i => words(i).toLowerCase().includes(text)) : items
	const {page, first, end, pages} = pageOf(found.length, wanted)
	const turn = (to: number) => { setWanted(to); document.querySelector<HTMLElement>('.cards-head')?.scrollIntoView({block: 'nearest'}) }
	return (
		<>
			{(items.length > FEW || text) && (
				<div class="row spread cards-head">
					<div class="filter"><Text label="Find" value={find} onInput={v => { setFind(v); setWanted(0) }} placeholder="a part of the name" /></div>
					<span class="soft small" role="status">{pages > 1 ? `${first + 1} to ${end} of ${plural(found.length, one)}` : text ? `${found.length} of ${plural(items.length, one)}` : ''}</span>
				</div>
			)}
			{found.length === 0 ? (items.length ? <p class="soft">None matches. <button type="button" class="quiet" onClick={() => setFind('')}>Show all</button></p> : none)
				: <div class="grid">{found.slice(first, end).map(i => <div class="cell" key={keyOf(i)}>{card(i)}</div>)}</div>}
			{pages > 1 && (
				<nav class="row pages" aria-label="Pages of the list">
					<button type="button" class="small" aria-disabled={page === 0 ? 'true' : undefined} onClick={() => { if (page > 0) turn(page - 1) }}>← Previous</button>
					<span class="small">Page {page + 1} of {pages}</span>
					<button type="button" class="small" aria-disabled={page === pages - 1 ? 'true' : undefined} onClick={() => { if (page < pages - 1) turn(page + 1) }}>Next →</button>
				</nav>
			)}
		</>
	)
}
