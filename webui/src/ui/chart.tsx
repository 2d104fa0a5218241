// SPDX-License-Identifier: GPL-2.0-or-later
// Lines over time, and the same numbers as a table. Gaps are gaps.
import uPlot from 'uplot'
import {useEffect, useRef, useState} from 'preact/hooks'
import {painted} from '../lib/theme.ts'
import {ms, when} from '../lib/format.ts'

export interface Line { name: string; values: (number | null)[]; dash?: number[]; points?: boolean; colour?: string }

/** Beside the pointer the legend tells what is under it; without one, the last of all. */
const last = (u: uPlot, line: number) => u.data[line]?.[u.data[line]!.length - 1]

const COLOURS = ['--info', '--ok', '--warn', '--bad']

export function Chart({title, times, lines, format, height = 190}: {title: string; times: number[]; lines: Line[]; format: (value: number) => string; height?: number}) {
	const box = useRef<HTMLDivElement>(null)
	const plot = useRef<uPlot | undefined>(undefined)
	const shape = `${lines.map(l => l.name).join('|')}-${painted.value}-${height}`
	useEffect(() => {
		const place = box.current!
		const style = getComputedStyle(document.documentElement)
		const colour = (name: string) => style.getPropertyValue(name).trim()
		const axis = {stroke: colour('--soft'), grid: {stroke: colour('--line'), width: 1}, ticks: {stroke: colour('--line'), width: 1}, font: '12px system-ui, sans-serif'}
		const made = new uPlot({
			width: place.clientWidth || 300, height, padding: [8, 28, 0, 0], cursor: {drag: {x: false, y: false}}, legend: {live: true},
			scales: {x: {time: true}, y: {range: (_u, _min, max) => [0, max > 0 ? max * 1.12 : 1]}},
			axes: [{...axis, space: 70, values: (_u, ticks) => ticks.map(t => when(new Date(t * 1000).toISOString()).slice(-8, ticks.length > 1 && ticks[1]! - ticks[0]! < 60 ? undefined : -3))}, {...axis, size: 62, values: (_u, ticks) => ticks.map(format)}],
			series: [{label: 'Time', value: (u, t, line, i) => { const at = i === null ? last(u, line) : t; return typeof at === 'number' ? when(new Date(at * 1000).toISOString()) : '–' }},
				...lines.map((l, i) => ({...l, paint: colour(l.colour ?? COLOURS[i % COLOURS.length]!)})).map(l => ({label: l.name, stroke: l.paint, width: 2, dash: l.dash, points: {show: l.points || times.length < 3, size: 5, stroke: l.paint, fill: l.paint}, value: (u: uPlot, v: number | null, line: number, i: number | null) => { const at = i === null ? last(u, line) : v; return typeof at === 'number' ? format(at) : '–' }}))],
		}, [times, ...lines.map(l => l.values)] as uPlot.AlignedData, place)
		plot.current = made
		const watch = new ResizeObserver(() => made.setSize({width: place.clientWidth, height}))
		watch.observe(place)
		return () => { watch.disconnect(); made.destroy() }
	}, [shape])
	useEffect(() => { plot.current?.setData([times, ...lines.map(l => l.values)] as uPlot.AlignedData) }, [times, lines])
	const step = Math.max(1, Math.ceil(times.length / 30))
	const rows = times.map((t, i) => [t, i] as const).filter(([, i]) => i % step === 0 || i === times.length - 1)
	return (
		<div class="stack">
			<div class="chart" ref={box} role="img" aria-label={`${title}: a chart; its numbers are in the table that follows`} />
			<details>
				<summary>{title} as a table</summary>
				<div class="scroll" tabIndex={0} role="group" aria-label={`${title}, table`}>
					<table>
						<caption class="hide">{title}</caption>
						<thead><tr><th scope="col">Time</th>{lines.map(l => <th key={l.name} scope="col" class="num">{l.name}</th>)}</tr></thead>
						<tbody>{rows.map(([t, i]) => <tr key={t}><th scope="row">{when(new Date(t * 1000).toISOString())}</th>{lines.map(l => <td key={l.name} class="num">{l.values[i] === null || l.values[i] === undefined ? '–' : format(l.values[i]!)}</td>)}</tr>)}</tbody>
					</table>
				</div>
			</details>
		</div>
	)
}

const SHOWN = 14
type Results = {result: string; duration_ms: number}[]

/** The last results in a few pixels: height is the time an answer took, what failed stands out by shape and colour. */
export function Spark({results, top}: {results: Results; top: number}) {
	const shown = results.slice(0, SHOWN).reverse()
	// By the root: one slow answer among quick ones leaves them their differences.
	const tall = (r: {duration_ms: number}) => Math.max(2, Math.min(18, 18 * Math.sqrt(r.duration_ms / (top || 1))))
	const failed = shown.filter(r => r.result === 'fail').length
	return (
		<svg class="spark" viewBox="0 0 86 22" role="img" aria-label={`The last ${shown.length} probes, ${failed || 'none'} failed`}>
			{shown.map((r, i) => r.result === 'fail'
				? <path key={i} class="t-bad" d={`M${i * 6 + 1} 8l4 6m0-6l-4 6`} stroke="currentColor" stroke-width="1.6" />
				: <rect key={i} class={r.result === 'pass' ? 't-ok' : 't-idle'} x={i * 6 + 1} width="4" y={20 - tall(r)} height={tall(r)} fill="currentColor" />)}
		</svg>
	)
}

/** What the sparks of a table draw, as numbers; made when it is opened. */
export function SparkTable({rows}: {rows: [string, Results][]}) {
	const [open, setOpen] = useState(false)
	const columns = Math.min(SHOWN, Math.max(0, ...rows.map(([, results]) => results.length)))
	return (
		<details open={open} onToggle={e => setOpen(e.currentTarget.open)}>
			<summary>The last probes as a table</summary>
			{open && (
				<div class="scroll" tabIndex={0} role="group" aria-label="The last probes, table">
					<table class="small">
						<caption class="hide">The last probes of the servers in sight, the newest first</caption>
						<thead><tr><th scope="col">Server</th>{Array.from({length: columns}, (_, i) => <th key={i} scope="col" class="num">{i === 0 ? 'Newest' : i + 1}</th>)}</tr></thead>
						<tbody>{rows.map(([name, results]) => (
							<tr key={name}><th scope="row">{name}</th>{Array.from({length: columns}, (_, i) => { const r = results[i]; return <td key={i} class={`num${r?.result === 'fail' ? ' t-bad' : ''}`}>{!r ? '–' : r.result === 'pass' ? ms(r.duration_ms) : `${r.result === 'fail' ? 'failed' : 'not sent'}, ${ms(r.duration_ms)}`}</td> })}</tr>
						))}</tbody>
					</table>
				</div>
			)}
		</details>
	)
}
