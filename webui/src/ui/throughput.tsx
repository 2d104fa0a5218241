// SPDX-License-Identifier: GPL-2.0-or-later
// What flows: new connections a second and bits, as the kernel counts them.
import {useMemo, useState} from 'preact/hooks'
import {get} from '../lib/api.ts'
import {count} from '../lib/format.ts'
import {useResource} from '../lib/live.ts'
import type {Rates} from '../lib/types.ts'
import {Chart} from './chart.tsx'
import {Numbers, Waiting} from './bits.tsx'

/** Of each the words of the chart, and those of the button. */
const FIGURES: [keyof Rates, string, string][] = [['connections_per_s', 'new connections/s', 'new conn./s'], ['active', 'active connections', 'active'], ['bits_per_s', 'bit/s', 'bit/s'], ['packets_per_s', 'packets/s', 'packets/s']]
/** Where the kernel's own counts stand, service by service. */
const TABLE = '#/system/kernel'
export type Filter = {lb?: string; server_group?: string; server?: string}

/** Times of the points: the last one is at `end`. Pure. */
export function timesOf(s: {points: number; step_s: number; end: string | null}): number[] {
	const end = Date.parse(s.end ?? '') / 1000
	return Array.from({length: s.points}, (_, i) => end - (s.points - 1 - i) * s.step_s)
}

export function Throughput({title, of = {}}: {title: string; of?: Filter}) {
	const [window, setWindow] = useState('5m')
	const [figure, setFigure] = useState<keyof Rates>('connections_per_s')
	const stats = useResource(`stats-${JSON.stringify(of)}-${window}`, () => get('/api/v1/stats', undefined, {...of, window}), window === '5m' ? 2000 : 10000)
	const s = stats.data.value
	const series = useMemo(() => s && {times: timesOf(s), lines: [{name: FIGURES.find(f => f[0] === figure)![1], values: s.total[figure]}]}, [s, figure])
	const n = s?.total.now
	return (
		<section class="panel stack live" aria-label={title}>
			<div class="spread"><h2>{title}</h2>
				{s?.available && <div class="row" role="group" aria-label="How far back">{[['5m', '5 min'], ['1h', '1 h']].map(([w, t]) => <button key={w} type="button" class="small" aria-pressed={w === window} onClick={() => setWindow(w!)}>{w === window ? `✓ ${t}` : t}</button>)}</div>}</div>
			{!s || !series || !n ? <Waiting what="the statistics" error={stats.error.value} />
				: !s.available ? <p class="soft">Nothing is counted: {s.unavailable_because}</p> : <>
					<Numbers items={[{value: count(n.connections_per_s), text: 'new connections/s', href: TABLE}, {value: count(n.active), text: 'active connections', href: TABLE}, {value: count(n.bits_per_s), text: 'bit/s', href: TABLE}]} />
					{series.times.length < 2 ? <p class="soft" role="status">Counting …</p> : <Chart title={`${title}: ${series.lines[0]!.name}`} times={series.times} lines={series.lines} format={count} />}
					<div class="row" role="group" aria-label="What is drawn">{FIGURES.map(([id, full, text]) => <button key={id} type="button" class="small" title={full} aria-pressed={id === figure} onClick={() => setFigure(id)}>{id === figure ? `✓ ${text}` : text}</button>)}</div>
				</>}
		</section>
	)
}
