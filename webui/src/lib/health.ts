// SPDX-License-Identifier: GPL-2.0-or-later
// States in words, and the one sentence of the overview. Pure.
import type {Group, GroupSummary, LoadBalancer, MaybeSummary, Override} from './types.ts'
import {plural, span} from './format.ts'

export type Tone = 'ok' | 'bad' | 'warn' | 'info' | 'idle'
export type Shape = 'disc' | 'cross' | 'triangle' | 'ring' | 'half' | 'bar' | 'dash'
export interface Look { word: string; tone: Tone; shape: Shape }

const LOOKS: Record<string, Look> = {
	healthy: {word: 'Healthy', tone: 'ok', shape: 'disc'},
	unhealthy: {word: 'Unhealthy', tone: 'bad', shape: 'cross'},
	initial: {word: 'Being checked', tone: 'info', shape: 'ring'},
	draining: {word: 'Draining', tone: 'warn', shape: 'half'},
	disabled: {word: 'Disabled', tone: 'idle', shape: 'bar'},
	unavailable: {word: 'Not checked', tone: 'idle', shape: 'dash'},
	unused: {word: 'Unused', tone: 'idle', shape: 'dash'},
}

/** Never a colour alone: each state has a word and a shape of its own. */
export function look(state: string): Look {
	return LOOKS[state] ?? {word: state, tone: 'idle', shape: 'dash'}
}

const RANK = ['unhealthy', 'initial', 'draining', 'unavailable', 'healthy', 'disabled', 'unused']
/** The worst first. */
export function rank(state: string): number {
	const at = RANK.indexOf(state)
	return at < 0 ? RANK.length : at
}

/** A group that the engine does not know yet has no server in any state. */
export const summaryOf = (s: MaybeSummary): GroupSummary => ({servers: 0, healthy: 0, unhealthy: 0, initial: 0, unchecked: 0, weight_zero: 0, disabled: 0, draining: 0, used: false, ...s})

/** "3 of 4 healthy"; of a group whose checks are off nobody knows that. */
export const healthyOf = (s: {servers: number; healthy: number; unchecked: number; weight_zero: number}): string =>
	(s.unchecked ? `${s.unchecked} of ${s.servers} not checked` : `${s.healthy} of ${s.servers} healthy`) + (s.weight_zero ? `, ${s.weight_zero} of weight 0` : '')

/** None of it takes connections, as all that could have weight 0. */
export const isIdle = (s: {healthy: number; unchecked: number; weight_zero: number}): boolean => s.weight_zero > 0 && s.healthy + s.unchecked <= s.weight_zero

/** `named`: it begins with a name, which stays as it is written. */
export interface Part { text: string; href?: string; named?: boolean }
export interface Sentence { tone: Tone; parts: Part[] }

/** `faults`: of the node itself, as faultsOf() tells them. */
export interface Facts { groups: Group[]; balancers: LoadBalancer[]; overrides: Override[]; faults?: Part[]; now: number }

const used = (groups: Group[]) => groups.filter(group => group.status.used)
const sumOf = (groups: Group[], of: (s: GroupSummary) => number): number => used(groups).reduce((sum, group) => sum + of(group.status), 0)
export const serversOf = (groups: Group[]): number => sumOf(groups, s => s.servers)
export const downOf = (groups: Group[]): number => sumOf(groups, s => s.unhealthy)

/** The nearest end of the shifts of a zone. */
export function shiftsByZone(overrides: Override[]): {zone: string; lbs: string[]; ends: number}[] {
	const zones = new Map<string, {zone: string; lbs: string[]; ends: number}>()
	for (const o of overrides) {
		if (o.kind !== 'zone_shift' || !o.zone) continue
		const known = zones.get(o.zone) ?? {zone: o.zone, lbs: [], ends: Infinity}
		known.lbs.push(o.load_balancer ?? '*')
		known.ends = Math.min(known.ends, Date.parse(o.expires_at ?? ''))
		zones.set(o.zone, known)
	}
	return [...zones.values()]
}

const pageOf = (lb: LoadBalancer): string => `#/load-balancers/${encodeURIComponent(lb.name)}`
/** Whether a zone of it is shifted away. */
export const isShifted = (lb: LoadBalancer, overrides: Override[]): boolean =>
	overrides.some(o => o.kind === 'zone_shift' && (o.load_balancer === lb.name || (o.load_balancer === '*' && o.zone && lb.zones?.[o.zone] !== undefined)))

function shiftParts(facts: Facts): Part[] {
	return shiftsByZone(facts.overrides).map(shift => ({
		text: `${shift.zone} shifted away, ${span(shift.ends - facts.now)} left`, named: true,
		href: shift.lbs[0] === '*' ? '#/?show=overrides' : `#/load-balancers/${encodeURIComponent(shift.lbs[0]!)}`,
	}))
}

const KINDS: [Override['kind'], (n: number) => string][] = [
	['drain', n => plural(n, 'drain')], ['weight_override', n => `${plural(n, 'weight')} not as configured`], ['removal', n => `${plural(n, 'removed server')} with connections left`],
	['unconfirmed_change', () => 'a change waits to be confirmed'],
]
function otherOverrides(facts: Facts): Part[] {
	return KINDS.flatMap(([kind, words]) => {
		const n = facts.overrides.filter(o => o.kind === kind).length
		return n ? [{text: words(n), href: '#/?show=overrides'}] : []
	})
}

/** One is named, of more is told how many. */
function namedOrCounted(list: LoadBalancer[], words: (one: boolean) => string, href: string): Part[] {
	if (list.length === 0) return []
	return list.length === 1 ? [{text: `${list[0]!.name} ${words(true)}`, href: pageOf(list[0]!), named: true}] : [{text: `${list.length} load balancers ${words(false)}`, href}]
}

/** All that could serve is drained by hand, and it shows. */
export const isDrained = (lb: LoadBalancer): boolean => !!lb.status.drained && (!!lb.status.fail_open || !!lb.status.min_healthy_breached)

const drainedParts = (facts: Facts): Part[] => facts.balancers.filter(lb => lb.enabled !== false && isDrained(lb)).map(lb => ({
	text: `${lb.name} ${lb.status.backup_serves ? 'is served by backup servers: all else is drained by hand' : 'serves nobody: all is drained by hand'}`, href: pageOf(lb), named: true,
}))

/** Nobody has to be down for that. */
const idleParts = ({groups}: Facts): Part[] => used(groups).filter(g => isIdle(g.status)).map(g => ({
	text: `${g.name} serves nobody: all of it has weight 0`, href: `#/server-groups/${encodeURIComponent(g.name)}`, named: true,
}))

/** " for IPv6" where only one of two families fails open. */
export const openFamily = (s: {fail_open_family?: number | null}): string => s.fail_open_family ? ` for IPv${s.fail_open_family}` : ''

/** It has a name and addresses, and nobody is handed any of them. */
export const isUnanswered = (lb: LoadBalancer): boolean => !!lb.dns_name && lb.status.addresses_published === 0 && lb.status.addresses_left_out > 0

/** Addresses without a verdict yet, where no server is what is waited for. */
const undecidedParts = ({balancers}: Facts): Part[] =>
	namedOrCounted(balancers.filter(lb => lb.enabled !== false && !!lb.status.addresses_undecided && !lb.status.fault), one => `${one ? 'has' : 'have'} an address being checked`, '#/load-balancers')

function badParts(facts: Facts): Part[] {
	const lbs = facts.balancers.filter(lb => lb.enabled !== false && !isDrained(lb)), open = lbs.filter(lb => lb.status.fail_open)
	const of = open.length === 1 ? openFamily(open[0]!.status) : ''
	const few = lbs.filter(lb => !open.includes(lb) && lb.status.min_healthy_breached && !lb.status.checking)
	const none = lbs.filter(lb => isUnanswered(lb))
	const out = lbs.filter(lb => !open.includes(lb) && !few.includes(lb) && !none.includes(lb) && lb.status.addresses_withdrawn && !lb.status.checking)
	const stuck = facts.balancers.filter(lb => lb.status.fault), down = downOf(facts.groups)
	return [
		...facts.faults ?? [],
		...namedOrCounted(open, one => `${one ? 'fails' : 'fail'} open${of}: unhealthy zones are handed out, as there is no healthy one`, '#/load-balancers?state=fail_open'),
		...down ? [{text: `${down} of ${plural(serversOf(facts.groups), 'server')} down`, href: '#/server-groups?state=unhealthy'}] : [],
		...namedOrCounted(few, one => `${one ? 'has' : 'have'} too few servers`, '#/load-balancers'),
		...namedOrCounted(none, one => `${one ? 'has' : 'have'} no address in DNS`, '#/load-balancers'),
		...namedOrCounted(out, one => `${one ? 'has' : 'have'} an address withdrawn from DNS`, '#/load-balancers'),
		...stuck.length ? [{text: `the kernel refused a part of ${stuck.map(lb => lb.name).slice(0, 3).join(', ')}`, href: pageOf(stuck[0]!)}] : [],
	]
}

/** Where none is down: how many of which are well. */
function wellPart({groups}: Facts): Part {
	const servers = serversOf(groups), healthy = sumOf(groups, s => s.healthy), disabled = sumOf(groups, s => s.disabled), unchecked = sumOf(groups, s => s.unchecked), idle = sumOf(groups, s => s.weight_zero)
	const rest = [disabled && `${disabled} disabled`, unchecked && `${unchecked} not checked`, idle && `${idle} of weight 0`].filter(Boolean).join(', ')
	const href = '#/server-groups'
	if (unchecked === servers) return {text: servers === 1 ? 'the one server is not checked' : `none of ${servers} servers is checked`, href}
	if (rest) return {text: `${healthy} of ${plural(servers, 'server')} healthy, ${rest}`, href}
	return {text: servers === 1 ? 'the one server is healthy' : `all ${servers} servers are healthy`, href}
}

/** "2 of 14 servers down, zone-b shifted away, 38 min left." The worst first; nothing is left out that is not as it should be. */
export function sentence(facts: Facts): Sentence {
	const bad = badParts(facts)
	const moved = [...shiftParts(facts), ...drainedParts(facts), ...idleParts(facts), ...otherOverrides(facts)]
	const checking = sumOf(facts.groups, s => s.initial)
	if (checking) moved.push({text: `${plural(checking, 'server')} being checked`, href: '#/server-groups?state=initial'})
	else moved.push(...undecidedParts(facts))
	if (bad.length) return {tone: 'bad', parts: [...bad, ...moved]}
	const unchecked = sumOf(facts.groups, s => s.unchecked)
	if (moved.length) return {tone: 'warn', parts: [...serversOf(facts.groups) ? [unchecked ? wellPart(facts) : {text: 'no server is down', href: '#/server-groups'}] : [], ...moved]}
	if (!facts.balancers.length) return {tone: 'idle', parts: [{text: 'nothing is balanced yet'}]}
	if (!serversOf(facts.groups)) return {tone: 'warn', parts: [{text: 'no server is in use', href: '#/server-groups'}]}
	const well = sumOf(facts.groups, s => s.healthy)
	return {tone: well && !unchecked ? 'ok' : 'idle', parts: [wellPart(facts), {text: 'nothing is overridden'}]}
}

interface Applied { revision: number; applied_revision: number; kernel: {ipvs: string; available: boolean; guard_fault?: string} }
/** Why the kernel is not as configured; `passing`: it may be so for a moment after a change. Where there is no IPVS that is told by itself. */
export function missingOf(s: Applied): {text: string; passing: boolean} | undefined {
	if (s.kernel.ipvs !== 'off' && !s.kernel.available) return undefined
	if (s.kernel.guard_fault) return {text: s.kernel.guard_fault, passing: false}
	return s.applied_revision < s.revision ? {text: `the revision is ${s.revision}; the kernel has ${s.applied_revision}.`, passing: true} : undefined
}

interface NodeFacts extends Applied { store: {ok: boolean}; dns_update?: {in_sync: boolean; server: string} }
/** What the node itself lacks, for the sentence above the banners that tell more of it. `missing`: as missingOf() tells, and for long enough. */
export function faultsOf(s: NodeFacts | undefined, missing: boolean): Part[] {
	if (!s) return []
	return [
		...s.kernel.ipvs !== 'off' && !s.kernel.available ? [{text: 'the kernel has no IPVS', href: '#/system'}] : [],
		...missing ? [{text: 'not all of the configuration is in the kernel', href: '#/system'}] : [],
		...s.store.ok ? [] : [{text: 'the store takes no changes', href: '#/system'}],
		...s.dns_update && !s.dns_update.in_sync ? [{text: `the name server ${s.dns_update.server} is not equal`, href: '#/system'}] : [],
	]
}

/** What a publication means for clients, in two words. */
export function publicationLook(p: {published: boolean; reason_code: string}): Look {
	if (p.published && p.reason_code === 'healthy') return {word: 'Published', tone: 'ok', shape: 'disc'}
	if (p.published && p.reason_code === 'undecided') return {word: 'Published, being checked', tone: 'info', shape: 'ring'}
	if (p.published) return {word: 'Published, unhealthy', tone: 'bad', shape: 'triangle'}
	if (p.reason_code === 'withdrawn_manual') return {word: 'Shifted away', tone: 'warn', shape: 'half'}
	if (p.reason_code === 'undecided') return {word: 'Being checked', tone: 'info', shape: 'ring'}
	if (p.reason_code === 'disabled') return {word: 'Disabled', tone: 'idle', shape: 'bar'}
	return {word: 'Withdrawn', tone: 'bad', shape: 'cross'}
}

/** What is left to say of a zone whose load balancer is in no DNS. */
export function serviceLook(inService: number, eligible: number): Look {
	if (inService > 0) return {word: 'In service', tone: 'ok', shape: 'disc'}
	return eligible > 0 ? {word: 'No server in service', tone: 'bad', shape: 'cross'} : {word: 'No server', tone: 'idle', shape: 'dash'}
}
