// SPDX-License-Identifier: GPL-2.0-or-later
// What a change would do: to the document, to the kernel, to DNS.
import type {Change, DnsChange, Plan} from '../lib/types.ts'
import {plural} from '../lib/format.ts'
import {Words} from './bits.tsx'

const WORD: Record<string, string> = {create: 'New', update: 'Changed', delete: 'Removed'}

/** "port: 80" lines of an object, one a member; nested ones with dots. Pure. */
export function lines(value: unknown, before = ''): string[] {
	if (value === null || value === undefined) return []
	if (typeof value !== 'object' || Array.isArray(value)) return [`${before}: ${JSON.stringify(value)}`]
	return Object.entries(value).flatMap(([name, v]) => lines(v, before ? `${before}.${name}` : name))
}

/** A member is broken after its dots; what is long is no name, but data. */
const Line = ({text}: {text: string}) => text.length < 80 ? <Words text={text} /> : <>{text}</>

function ChangeView({change}: {change: Change}) {
	const old = lines(change.old), made = lines(change.new)
	return (
		<div class="diff stack">
			<h3>{WORD[change.action] ?? change.action} <span class="mono"><Words text={change.path.slice(1)} /></span></h3>
			<div>{old.filter(l => !made.includes(l)).map(l => <del key={l}><Line text={l} /></del>)}{made.filter(l => !old.includes(l)).map(l => <ins key={l}><Line text={l} /></ins>)}</div>
		</div>
	)
}

export function Changes({list, total}: {list: Change[]; total: number}) {
	if (!list.length) return <p class="soft">Nothing changes in the configuration.</p>
	return <div class="stack">{list.map(c => <ChangeView key={c.action + c.path} change={c} />)}{total > list.length && <p class="soft">and {total - list.length} more</p>}</div>
}

const answers = (list: string[], ttl: number | null) => list.length ? `${list.join(', ')}${ttl ? ` (TTL ${ttl} s)` : ''}` : 'nothing'

function DnsView({list, total}: {list: DnsChange[]; total: number}) {
	if (!list.length) return <p class="soft">No answer of DNS changes.</p>
	return (
		<div class="diff stack">
			{list.map(c => <div key={c.name + c.type}><span class="mono"><Words text={c.name} /> {c.type}</span><del>{answers(c.before, c.ttl_before_s)}</del><ins>{answers(c.after, c.ttl_after_s)}</ins></div>)}
			{total > list.length && <p class="soft">and {total - list.length} more</p>}
		</div>
	)
}

export function Operations({list, total, ipvs}: {list: string[]; total: number; ipvs?: string}) {
	if (!list.length) return <p class="soft">Nothing changes in the kernel.</p>
	return (
		<>
			{ipvs === 'off' && <p class="soft">IPVS is off on this node: these are planned and not carried out.</p>}
			<ol class="ops" tabIndex={0} aria-label="Kernel operations, in their order">{list.map((op, i) => <li key={i}>{op}</li>)}</ol>
			{total > list.length && <p class="soft">and {total - list.length} more</p>}
		</>
	)
}

/** Of an override there is no change of the configuration to show. */
export function PlanView({plan}: {plan: Partial<Pick<Plan, 'diff'>> & Omit<Plan, 'diff'>}) {
	const changes = plan.diff ? plan.diff_total ?? 0 : 0
	const warnings = plan.warnings.map(w => <div class="banner warn" key={w.detail}>{w.detail}</div>)
	if (changes + plan.kernel_ops_total + plan.dns_changes_total === 0) return <div class="stack"><p class="soft">Nothing changes.</p>{warnings}</div>
	return (
		<div class="stack">
			{plan.diff && <section class="stack"><h3>{plural(changes, 'change')} of the configuration</h3><Changes list={plan.diff} total={changes} /></section>}
			<section class="stack"><h3>{plural(plan.kernel_ops_total, 'kernel operation')}</h3><Operations list={plan.kernel_ops} total={plan.kernel_ops_total} ipvs={plan.ipvs} /></section>
			<section class="stack"><h3>DNS</h3><DnsView list={plan.dns_changes} total={plan.dns_changes_total} /></section>
			{warnings}
		</div>
	)
}
