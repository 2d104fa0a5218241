// SPDX-License-Identifier: GPL-2.0-or-later
// What stands before IPVS in the kernel: the sets of everybody, and our rules.
import {count} from '../lib/format.ts'
import type {KernelFilters} from '../lib/types.ts'
import {StateMark} from './bits.tsx'
import {Table} from './table.tsx'

const WORDS: Record<string, string> = {missing: 'Missing', changed: 'Not as it should be', unwanted: 'Left over'}
const FAMILY: Record<string, string> = {ipv4: 'IPv4', ipv6: 'IPv6'}

function State({state}: {state?: string}) {
	return state ? <StateMark as={state === 'in_force' ? {word: 'In force', tone: 'ok', shape: 'disc'} : {word: WORDS[state] ?? state, tone: 'bad', shape: 'cross'}} /> : <span class="chip">foreign</span>
}

const size = (bytes: number) => bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e3).toFixed(1)} kB`

export function Filters({filters: f}: {filters: KernelFilters}) {
	return (
		<>
			{f.fault && <div class="banner bad"><span><strong>Not all of it could be read: </strong>{f.fault}</span></div>}
			<Table caption="Rules" empty={f.fault ? 'None was read.' : 'No rule of Zonegate: nothing asks for one.'} head={['Rules', 'Table', 'Program', 'State', 'Count']} num={[4]}
				rows={f.rules.map(r => [FAMILY[r.family], <code>{r.table}</code>, r.program ? <code>{r.program}</code> : 'none yet', <State state={r.state} />, count(r.rules)])} />
			<Table caption="Sets" empty={f.fault ? 'None was read.' : 'There is no set.'} head={['Set', 'For', 'Type', 'State', 'Entries', 'Memory']} num={[4, 5]}
				rows={f.sets.slice(0, 300).map(s => [
					<span class="mono nowrap">{s.name}</span>, s.access_list ? <a href={`#/access-lists/${encodeURIComponent(s.access_list)}`}>{s.use}</a> : s.use ?? '', <code>{s.type}</code>,
					<State state={s.state} />, count(s.entries), <span class="nowrap">{size(s.memory_bytes)}</span>,
				])} />
			{f.sets_left_out > 0 && <p class="soft">And {count(f.sets_left_out)} sets more.</p>}
		</>
	)
}
