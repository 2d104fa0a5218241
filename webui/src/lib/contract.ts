// SPDX-License-Identifier: GPL-2.0-or-later
// What the pages read is what openapi.json promises: where it is not, this does not compile. No code comes of it.
import type {components} from '../../types/openapi'
import type * as pages from './types.ts'

type S = components['schemas']
/** Names and kinds of members; whether one may be missing is the pages' to know. */
type Sure<T> = T extends (infer U)[] ? Sure<NonNullable<U>>[] : T extends object ? {[K in keyof T]-?: Sure<NonNullable<T[K]>>} : T
/** An answer of the API that does for the pages. */
type Does<Answer, Wanted> = Sure<Answer> extends Sure<Wanted> ? true : never

export const CONTRACT: [
	Does<S['LoadBalancerStatus'], pages.LbStatus>, Does<S['GroupHealth'], pages.GroupHealth>, Does<S['ServerHealth'], pages.ServerHealth>,
	Does<S['ZoneShiftEffects'], pages.ShiftEffects>, Does<S['DryRun'], Omit<pages.Plan, 'override'>>, Does<S['OverridePlan'], Omit<pages.Plan, 'diff' | 'diff_total' | 'ipvs'>>,
	Does<S['Revision'], pages.Revision>, Does<S['RevisionDiff'], pages.RevisionDiff>, Does<S['DnsPreview'], pages.Preview>,
	Does<S['KernelTable'], pages.KernelTable>, Does<S['KernelDrift'], pages.Drift>, Does<S['System'], pages.System>, Does<S['FailoverTime'], pages.FailoverTime>,
	Does<S['DetectionTime'], pages.DetectionTime>, Does<S['OverrideList']['items'][0], pages.Override>, Does<S['Stats'], pages.StatsAnswer>, Does<S['Event'], pages.EventItem>,
	Does<S['AuditEntry'], pages.AuditItem>, Does<S['User'], pages.User>, Does<S['Token'], pages.Token>, Does<S['Session'], pages.SessionRow>, Does<S['Identity'], pages.Identity>,
] = [
	true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true,
]
