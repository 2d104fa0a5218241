// SPDX-License-Identifier: GPL-2.0-or-later
// States over time as a band, gaps as gaps; and the same as a table.
import {look} from '../lib/health.ts'
import {span, when} from '../lib/format.ts'
import type {Piece} from '../lib/timeline.ts'

const at = (t: number): string => when(new Date(t).toISOString())
export const wordsOf = (p: Piece): string => p.unsaid ? `unknown until ${at(p.to)}` : `${p.state ? look(p.state).word : 'not looked at'} from ${at(p.from)} for ${span(p.to - p.from)}`

export function Timeline({pieces, from, to}: {pieces: Piece[]; from: number; to: number}) {
	const x = (t: number) => (1000 * (t - from)) / (to - from)
	const said = pieces.map(wordsOf).join('; ')
	return (
		<div class="stack">
			<svg class="timeline" viewBox="0 0 1000 34" preserveAspectRatio="none" role="img" aria-label={said || 'nothing is known'}>
				{pieces.some(p => p.unsaid) && <defs><pattern id="unsaid" width="6" height="34" patternUnits="userSpaceOnUse"><rect class="t-idle" width="2" height="34" fill="currentColor" /></pattern></defs>}
				{pieces.filter(p => p.unsaid).map(p => <rect key={p.from} x={x(p.from)} width={Math.max(4, x(p.to) - x(p.from))} height="34" fill="url(#unsaid)"><title>{wordsOf(p)}</title></rect>)}
				{pieces.filter(p => p.state).map(p => {
					const tall = p.state === 'healthy' ? 34 : p.state === 'unhealthy' ? 34 : 22
					return <rect key={p.from} class={`t-${look(p.state!).tone}`} x={Math.min(x(p.from), 996)} width={Math.max(4, x(p.to) - x(p.from))} y={34 - tall} height={tall} fill="currentColor"><title>{`${look(p.state!).word}, ${span(p.to - p.from)}`}</title></rect>
				})}
			</svg>
			<div class="axis"><span>{to - from === 86400000 ? '24 h' : span(to - from)} ago</span><span>now</span></div>
		</div>
	)
}
