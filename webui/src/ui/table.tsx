// SPDX-License-Identifier: GPL-2.0-or-later
// A real table of which only the rows in sight are in the document, however many there are.
import type {ComponentChildren} from 'preact'
import {useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks'

export interface Column<T> {
	id: string; head: ComponentChildren; label?: string; cell: (row: T) => ComponentChildren; sort?: (a: T, b: T) => number
	width?: string; num?: boolean; wideOnly?: boolean; rowHeader?: boolean; twoLines?: boolean
}

export interface Order { id: string; down: boolean }

export function sortRows<T>(rows: T[], columns: Column<T>[], order: Order): T[] {
	const by = columns.find(c => c.id === order.id)?.sort
	if (!by) return rows
	const sorted = [...rows].sort(by)
	return order.down ? sorted.reverse() : sorted
}

export interface Window { first: number; end: number }

/** Which rows are in sight, with some beyond. Never more than `most`. */
export function rowsInSight(scroll: number, height: number, row: number, total: number, beyond = 6, most = 120): Window {
	const first = Math.max(0, Math.min(Math.floor(scroll / row) - beyond, total))
	return {first, end: Math.min(total, first + Math.min(most, Math.ceil(height / row) + 2 * beyond))}
}

/** Heights of a row: on a narrow screen what has no column of its own stands below, in so many lines. */
const ROW = 48, LINE = 17
const NARROW = '(max-width: 860px)'
const rowNow = (under: number): number => ROW + (matchMedia(NARROW).matches ? under * LINE : 0)
const FEW = 60

/** Rows that are picked, to do something with all of them. */
export interface Picks { picked: Set<string>; toggle: (key: string) => void; all: (keys: string[], on: boolean) => void }

/** The picks of a table. */
export function usePicks(): Picks & {clear: () => void} {
	const [picked, setPicked] = useState<Set<string>>(new Set())
	return useMemo(() => ({
		picked,
		toggle: key => setPicked(old => { const next = new Set(old); if (!next.delete(key)) next.add(key); return next }),
		all: (keys, on) => setPicked(old => { const next = new Set(old); for (const k of keys) if (on) next.add(k); else next.delete(k); return next }),
		clear: () => setPicked(new Set()),
	}), [picked])
}

/** All that is listed, also what is out of sight: `keys`. */
function PickAll({keys, picks}: {keys: string[]; picks: Picks}) {
	const n = keys.reduce((sum, k) => sum + (picks.picked.has(k) ? 1 : 0), 0)
	const all = n > 0 && n === keys.length
	return <input type="checkbox" checked={all} indeterminate={n > 0 && !all} aria-label={`Pick all ${keys.length.toLocaleString('en')} listed`} onChange={() => picks.all(keys, !all)} />
}

/** The column of the picks before the others. */
function withPicks<T>(columns: Column<T>[], picks: Picks | undefined, keys: string[], keyOf: (row: T) => string): Column<T>[] {
	if (!picks) return columns
	return [{id: 'pick', head: <PickAll keys={keys} picks={picks} />, width: '34px', cell: row => <input type="checkbox" checked={picks.picked.has(keyOf(row))} aria-label={`Pick ${keyOf(row)}`} onChange={() => picks.toggle(keyOf(row))} />}, ...columns]
}

export function Head<T>({columns, order, onOrder}: {columns: Column<T>[]; order: Order; onOrder: (order: Order) => void}) {
	return (
		<thead>
			<tr>
				{columns.map(c => (
					<th key={c.id} scope="col" class={`${c.num ? 'num' : ''}${c.wideOnly ? ' wide-only' : ''}`} style={c.width ? {width: c.width} : undefined}
						aria-sort={c.sort ? (order.id === c.id ? (order.down ? 'descending' : 'ascending') : 'none') : undefined}>
						{c.sort ? <button type="button" onClick={() => onOrder({id: c.id, down: order.id === c.id && !order.down})}>{c.head}</button> : c.head}
					</th>
				))}
			</tr>
		</thead>
	)
}

/** `onSight` is told which rows are in the document, whenever others are. `under`: lines below a row on a narrow screen. */
export function VirtualTable<T>({rows, columns: own, keyOf, order, onOrder, onSight, caption, picks, under = 1}: {
	rows: T[]; columns: Column<T>[]; keyOf: (row: T) => string; order: Order; onOrder: (order: Order) => void; onSight?: (keys: string[]) => void; caption: string
	picks?: Picks; under?: number
}) {
	const all = useMemo(() => picks ? rows.map(keyOf) : [], [rows, picks !== undefined])
	const columns = withPicks(own, picks, all, keyOf)
	const box = useRef<HTMLDivElement>(null)
	const [tall, setTall] = useState(() => rowNow(under))
	const [sight, setSight] = useState<Window>({first: 0, end: FEW})
	const look = useCallback(() => {
		const b = box.current
		if (!b) return
		const row = rowNow(under)
		setTall(row)
		const next = rowsInSight(b.scrollTop, b.clientHeight, row, rows.length)
		setSight(old => old.first === next.first && old.end === next.end ? old : next)
	}, [rows.length])
	useLayoutEffect(look, [look])
	useEffect(() => {
		addEventListener('resize', look)
		return () => removeEventListener('resize', look)
	}, [look])
	const {first, end} = {first: Math.min(sight.first, rows.length), end: Math.min(sight.end, rows.length)}
	const height = Math.min(rows.length, 400) * tall + 52
	const keys = rows.slice(first, end).map(keyOf)
	useEffect(() => onSight?.(keys), [keys.join('\n')])
	return (
		<div class="virtual live" ref={box} onScroll={look} tabIndex={0} role="group" aria-label={caption} style={{height: `${height}px`, '--row': `${tall}px`}}>
			<table aria-rowcount={rows.length + 1}>
				<caption class="hide">{caption}</caption>
				<Head columns={columns} order={order} onOrder={onOrder} />
				<tbody>
					{first > 0 && <tr class="pad" aria-hidden="true"><td style={{height: `${first * tall}px`}} /></tr>}
					{rows.slice(first, end).map((row, i) => (
						<tr key={keyOf(row)} aria-rowindex={first + i + 2} aria-selected={picks?.picked.has(keyOf(row)) || undefined}>
							{columns.map(c => {
								const name = `${c.num ? 'num' : c.twoLines ? 'two' : ''}${c.wideOnly ? ' wide-only' : ''}`
								return c.rowHeader ? <th key={c.id} scope="row" class={name}>{c.cell(row)}</th> : <td key={c.id} class={name}>{c.cell(row)}</td>
							})}
						</tr>
					))}
					{end < rows.length && <tr class="pad" aria-hidden="true"><td style={{height: `${(rows.length - end) * tall}px`}} /></tr>}
				</tbody>
			</table>
		</div>
	)
}

/** A table of few rows. */
/** `num`: columns of numbers. */
export function Table({head, rows, caption, empty, num = []}: {head: ComponentChildren[]; rows: ComponentChildren[][]; caption: string; empty?: string; num?: number[]}) {
	const side = (i: number) => head[i] === '' ? 'right' : num.includes(i) ? 'num' : ''
	if (!rows.length) return <p class="soft">{empty ?? 'None.'}</p>
	// Narrow screens show each row as a block, its heads before its cells: the roles keep it a table for who hears it.
	return (
		<div class="scroll" tabIndex={0} role="group" aria-label={caption}>
			<table class="stacks" role="table">
				<caption class="hide">{caption}</caption>
				<thead role="rowgroup"><tr role="row">{head.map((h, i) => <th key={i} scope="col" role="columnheader" class={side(i)}>{h === '' ? <span class="hide">Actions</span> : h}</th>)}</tr></thead>
				<tbody role="rowgroup">{rows.map((cells, r) => <tr key={r} role="row">{cells.map((c, i) => <td key={i} role="cell" class={side(i)} data-head={typeof head[i] === 'string' ? head[i] : undefined}>{c === '' || c === null ? null : <div>{c}</div>}</td>)}</tr>)}</tbody>
			</table>
		</div>
	)
}
