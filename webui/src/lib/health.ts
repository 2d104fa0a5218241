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
export const summaryOf = (s: MaybeSummary): GroupSummary => ({servers: 0, healthy: 0, unhealthy: 0, initial: 0, disabled: 0, draining: 0, used: false, ...s})

export interface Part { text: string; href?: string }
export interface Sentence { tone: Tone; parts: Part[] }

export interface Facts { groups: Group[]; balancers: LoadBalancer[]; overrides: Override[]; now: number }

const used = (groups: Group[]) => groups.filter(group => group.status.used)
export const serversOf = (groups: Group[]): number => used(groups).reduce((sum, group) => sum + group.status.servers, 0)
export const downOf = (groups: Group[]): number => used(groups).reduce((sum, group) => sum + group.status.unhealthy, 0)

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

function shiftParts(facts: Facts): Part[] {
	return shiftsByZone(facts.overrides).map(shift => ({
		text: `${shift.zone} shifted away, ${span(shift.ends - facts.now)} left`,
		href: shift.lbs[0] === '*' ? '#/?show=overrides' : `#/load-balancers/${encodeURIComponent(shift.lbs[0]!)}`,
	}))
}

function drainPart(facts: Facts): Part[] {
	const drains = facts.overrides.filter(o => o.kind === 'drain').length
	return drains ? [{text: plural(drains, 'drain'), href: '#/?show=overrides'}] : []
}

function badParts(facts: Facts): Part[] {
	const parts: Part[] = []
	const open = facts.balancers.filter(lb => lb.status.fail_open)
	const down = downOf(facts.groups)
	const stuck = facts.balancers.filter(lb => lb.status.fault)
	if (open.length === 1) parts.push({text: `${open[0]!.name} fails open: unhealthy zones are handed out, as there is no healthy one`, href: `#/load-balancers/${encodeURIComponent(open[0]!.name)}`})
	if (open.length > 1) parts.push({text: `${open.length} load balancers fail open: unhealthy zones are handed out, as there is no healthy one`, href: '#/load-balancers?state=fail_open'})
	if (down) parts.push({text: `${down} of ${plural(serversOf(facts.groups), 'server')} down`, href: '#/server-groups?state=unhealthy'})
	if (stuck.length) parts.push({text: `the kernel refused a part of ${stuck.map(lb => lb.name).slice(0, 3).join(', ')}`, href: `#/load-balancers/${encodeURIComponent(stuck[0]!.name)}`})
	return parts
}

/** "2 of 14 servers down, zone-b shifted away, 38 min left." The worst first; nothing is left out that is not as it should be. */
export function sentence(facts: Facts): Sentence {
	const bad = badParts(facts)
	const moved = [...shiftParts(facts), ...drainPart(facts)]
	const checking = used(facts.groups).reduce((sum, group) => sum + group.status.initial, 0)
	const servers = serversOf(facts.groups)
	if (checking) moved.push({text: `${plural(checking, 'server')} being checked`, href: '#/server-groups?state=initial'})
	if (bad.length || moved.length) return {tone: bad.length ? 'bad' : 'warn', parts: [...bad, ...moved]}
	if (!facts.balancers.length) return {tone: 'idle', parts: [{text: 'Nothing is balanced yet'}]}
	if (!servers) return {tone: 'warn', parts: [{text: 'No server is in use', href: '#/server-groups'}]}
	return {tone: 'ok', parts: [{text: servers === 1 ? 'The one server is healthy' : `All ${servers} servers are healthy`, href: '#/server-groups'}, {text: 'nothing is overridden'}]}
}

interface Applied { revision: number; applied_revision: number; kernel: {ipvs: string; available: boolean; guard_fault?: string} }
/** Why the kernel is not as configured; `passing`: it may be so for a moment after a change. Where there is no IPVS that is told by itself. */
export function missingOf(s: Applied): {text: string; passing: boolean} | undefined {
	if (s.kernel.ipvs !== 'off' && !s.kernel.available) return undefined
	if (s.kernel.guard_fault) return {text: s.kernel.guard_fault, passing: false}
	return s.applied_revision < s.revision ? {text: `the revision is ${s.revision}; the kernel has ${s.applied_revision}.`, passing: true} : undefined
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
