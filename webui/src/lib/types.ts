// SPDX-License-Identifier: GPL-2.0-or-later
// The pages' names for what openapi.json describes. The types are those of the document itself: types/openapi.d.ts is made from
// what the daemon answers. Written by hand is only what may be counted on where the document has to leave it open.
import type {components} from '../../types/openapi'

type S = components['schemas']

/** Each member is there. */
type Whole<T> = {[K in keyof T]-?: T[K]}
/** These are there when an object is read as it is: it is ?view=config, and what is written, that may lack them. */
type Shown<T, K extends keyof T> = Omit<T, K> & Whole<Pick<T, K>>

export type Identity = S['Identity']
export type Role = Identity['role'] | 'nobody'
export type Fault = S['Fault']
export type Changed = S['Changed']
export type Advice = S['Advice']

export type ProbeEvidence = S['Evidence']
export type Probe = S['Probe']
export type Range = S['Range']
export type RecentResult = S['Result']
export type ServerRow = S['GroupServer']
export type ServerHealth = S['ServerHealth']
export type GroupHealth = S['GroupHealth']
export type HistoryItem = S['HealthEvent']
export type DetectionTime = S['DetectionTime']
export type KernelLacking = S['KernelLacking']
export type FailoverTime = S['FailoverTime']
export type HealthCheck = NonNullable<S['ServerGroup']['health_check']>

export type Publication = S['Publication']
export type ZoneStatus = S['StatusZone']
export type LbStatus = S['LoadBalancerStatus']
/** Absent for the moment in which the engine does not know a group that was just written. */
export type MaybeSummary = S['ServerGroupState'] | undefined
export type GroupSummary = Whole<Omit<S['ServerGroupState'], 'advice'>>

export type LoadBalancer = Shown<S['LoadBalancerItem'], 'name' | 'zones' | 'listeners'> & {status: Whole<S['LoadBalancerState']>}
export type Group = Shown<S['ServerGroupItem'], 'name'> & {status: GroupSummary}
export type Zone = Shown<S['ZoneItem'], 'name'>
export type AccessEntry = S['AccessEntry']
export type AccessVerdict = S['AccessVerdict']
export type AccessHits = S['AccessHits']
export type AccessList = Shown<S['AccessListItem'], 'name'>
export interface List<T> { items: T[]; next_cursor: string | null }

export type Override = S['OverrideItem']
export type ShiftEffect = S['ShiftEffect']
export type ShiftEffects = S['ZoneShiftEffects']

export type Change = S['DiffEntry']
export type DnsChange = S['DnsChange']
/** Of a write, of the whole document or of an override: of the last no word about the kernel. */
export type Plan = Omit<S['DryRun'], 'ipvs'> & Partial<Pick<S['DryRun'], 'ipvs'>>

export type RevisionRow = S['RevisionHead']
export type Revision = S['Revision']
export type DnsRecord = S['RecordSet']
export type KernelTable = S['KernelTable']
export type KernelFilters = S['KernelFilters']
export type EventItem = S['Event']
export type StatsAnswer = S['Stats']
export type Rates = Omit<S['StatsTotal'], 'now'>
export type AuditItem = S['AuditEntry']
export type Notify = S['Notify']
export type User = S['User']
export type Token = S['Token']
export type NewToken = S['NewToken']
export type Settings = S['Settings']
export type NotifyTest = S['NotifyTest']
export type SessionRow = S['Session']
