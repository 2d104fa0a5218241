// SPDX-License-Identifier: GPL-2.0-or-later
// A real table of which only the rows in sight are in the document, however many there are.
import type {ComponentChildren} from 'preact'
import {useCallback, useEffect, useLayoutEffect, useRef, useState} from 'preact/hooks'

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

const ROW = 44
const FEW = 60

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

/** `onSight` is told which rows are in the document, whenever others are. */
export function VirtualTable<T>({rows, columns, keyOf, order, onOrder, onSight, caption, selected}: {
	rows: T[]; columns: Column<T>[]; keyOf: (row: T) => string; order: Order; onOrder: (order: Order) => void; onSight?: (keys: string[]) => void; caption: string
	selected?: (row: T) => boolean
}) {
	const box = useRef<HTMLDivElement>(null)
	const [sight, setSight] = useState<Window>({first: 0, end: FEW})
	const look = useCallback(() => {
		const b = box.current
		if (!b) return
		const next = rowsInSight(b.scrollTop, b.clientHeight, ROW, rows.length)
		setSight(old => old.first === next.first && old.end === next.end ? old : next)
	}, [rows.length])
	useLayoutEffect(look, [look])
	useEffect(() => {
		addEventListener('resize', look)
		return () => removeEventListener('resize', look)
	}, [look])
	const {first, end} = {first: Math.min(sight.first, rows.length), end: Math.min(sight.end, rows.length)}
	const height = Math.min(rows.length, 400) * ROW + 52
	const keys = rows.slice(first, end).map(keyOf)
	useEffect(() => onSight?.(keys), [keys.join('\n')])
	return (
		<div class="virtual live" ref={box} onScroll={look} tabIndex={0} role="group" aria-label={caption} style={{height: `${height}px`}}>
			<table aria-rowcount={rows.length + 1}>
				<caption class="hide">{caption}</caption>
				<Head columns={columns} order={order} onOrder={onOrder} />
				<tbody>
					{first > 0 && <tr class="pad" aria-hidden="true"><td style={{height: `${first * ROW}px`}} /></tr>}
					{rows.slice(first, end).map((row, i) => (
						<tr key={keyOf(row)} aria-rowindex={first + i + 2} aria-selected={selected?.(row) || undefined}>
							{columns.map(c => {
								const name = `${c.num ? 'num' : c.twoLines ? 'two' : ''}${c.wideOnly ? ' wide-only' : ''}`
								return c.rowHeader ? <th key={c.id} scope="row" class={name}>{c.cell(row)}</th> : <td key={c.id} class={name}>{c.cell(row)}</td>
							})}
						</tr>
					))}
					{end < rows.length && <tr class="pad" aria-hidden="true"><td style={{height: `${(rows.length - end) * ROW}px`}} /></tr>}
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
