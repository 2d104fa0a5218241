// SPDX-License-Identifier: GPL-2.0-or-later
// What the pages read of the answers. The members are those of openapi.json (types/openapi.d.ts is made from it); the names
// are the pages' own.
export type Role = 'nobody' | 'metrics' | 'viewer' | 'operator' | 'editor' | 'admin'

export interface Identity { who: string; role: Role; via: string; authenticated_by: string; id: string | null; expires_at: string | null }

export interface Advice { code: string; pointer: string; detail: string }

export interface ProbeEvidence {
	started: string; result: string; reason_code: string; duration_ms: number; received: string; sent?: string; detail?: string
	connect_ms?: number; tls_ms?: number; first_byte_ms?: number; http_status?: number; error?: string; reused_connection?: boolean
}

export interface Range { best_ms: number; worst_ms: number }
export interface Windows { detection_silent: Range | null; detection_active: Range; recovery: Range; silence?: string }

export interface ServiceStatus {
	load_balancer: string; zone: string; listener: string; server_group: string; family: number; programmed: boolean; planned: boolean
	fault: string | null; eligible: number; in_service: number; initial: number; min_healthy_breached: boolean; none_healthy: string
	service?: string; weight?: number | null
}

export interface ServerRow {
	server_group: string; server: string; address: string; port: number; zone: string | null; state: string; reason_code: string
	detail: string; since: string | null; in_service: boolean; trusted: boolean; rests_on_silence: boolean; passes: number
	failures: number; weight_configured: number; weight: number; last_probe: ProbeEvidence | null
}

export interface RecentResult { result: string; reason_code: string; duration_ms: number }

export interface ServerHealth extends ServerRow {
	services: ServiceStatus[]
	check: {endpoint: string; type: string; interval_ms: number; timeout_ms: number; healthy_threshold: number; unhealthy_threshold: number; fast_retry: boolean} | null
	last_failure: ProbeEvidence | null; recent: RecentResult[]; next_change: string; advice: string; windows?: Windows
}

export interface GroupSummary { servers: number; healthy: number; unhealthy: number; initial: number; disabled: number; draining: number; used: boolean }
export interface GroupHealth {
	server_group: string; summary: GroupSummary; windows: Windows; advice: Advice[]; items: ServerRow[]; next_cursor: string | null
}

export interface HistoryItem {
	at: string; event: string; from?: string; to?: string; reason_code?: string; detail?: string; lasted_ms?: number; recent?: RecentResult[]; unclean?: boolean
}

export interface Publication {
	family: number; published: boolean; reason_code: string; detail: string; server_group: string | null; shift: string | null
	fail_open: boolean; vip: string; address: string; servers_eligible: number; servers_in_service: number
	vip_health: {state: string; source: string; detail: string; since: string | null}
}

export interface ZoneStatus { zone: string; enabled: boolean; vip4: string | null; vip6: string | null; publication: Publication[]; services: ServiceStatus[] }
export interface ListenerStatus { listener: string; protocol: string; port: number; server_group: string; services: ServiceStatus[] }
export interface GroupStatus { server_group: string; summary: GroupSummary; servers: ServerRow[]; servers_total: number }

export interface LbStatus {
	load_balancer: string; dns_name: string | null; enabled: boolean; cross_zone: boolean; fail_open: boolean; revision: number
	zones: ZoneStatus[]; listeners: ListenerStatus[]; server_groups: GroupStatus[]; advice: Advice[]; draining: unknown[]
}

export interface LbSummary {
	services: number; programmed: number; planned: number; with_servers: number; min_healthy_breached: number; checking: number
	fault: string | null; addresses_published: number; addresses_left_out: number; fail_open: boolean
}

export interface Named { name: string; revision: number; updated_at: string }
export interface LoadBalancer extends Named {
	dns_name?: string; enabled: boolean; cross_zone: boolean; dns_ttl_s: number; client_affinity: string; status: LbSummary
	zones: Record<string, {vip4?: string; vip6?: string; enabled: boolean}>
	listeners: Record<string, {protocol: string; port: number; server_group: string; scheduler: string}>
}
export interface Group extends Named {
	protocol: string; forward_method: string; health_check: Record<string, unknown>; servers: Record<string, {address: string; port: number; weight: number; zone?: string; enabled: boolean}>
	status: GroupSummary
}
export interface Zone extends Named { description: string; client_subnets: string[] }
export interface List<T> { items: T[]; next_cursor: string | null }

export interface Override {
	kind: 'zone_shift' | 'drain' | 'weight_override' | 'removal' | 'unconfirmed_change'; id: string | null; object: string; who: string | null; comment: string | null; created_at: string; detail?: string
	zone?: string | null; load_balancer?: string | null; listener?: string | null; server_group?: string | null; server?: string | null
	expires_at?: string | null; deadline_at?: string | null; time_left_ms?: number; connections?: number; state?: string
	weight?: number; weight_configured?: number; evacuate_servers?: boolean; forced?: boolean; timeout_ms?: number; endpoint?: string
}

export interface ShiftEffect {
	load_balancer: string; dns_name: string | null; zones_left: number; servers_moved: number; share_percent: number
	answers_before: string[]; answers_after: string[]
}
export interface ShiftEffects { effects: ShiftEffect[]; refusals: {pointer: string; code: string; detail: string}[] }

export interface Change { action: string; path: string; old: unknown; new: unknown }
export interface DnsChange { name: string; type: string; before: string[]; after: string[]; ttl_before_s: number | null; ttl_after_s: number | null }
export interface Plan {
	diff?: Change[]; diff_total?: number; kernel_ops: string[]; kernel_ops_total: number; dns_changes: DnsChange[]; dns_changes_total: number
	warnings: Advice[]; ipvs?: string; override?: Override
}

export interface RevisionRow { revision: number; at: string; who: string; via: string; comment: string | null; changes: {created: number; updated: number; deleted: number} }
export interface Revision { revision: number; at: string; who: string; comment: string | null; changes: Change[]; changes_total: number }
export interface RevisionDiff { from: number; to: number; diff: Change[]; diff_total: number }
export interface Pending { pending: {revision?: number; who?: string; comment?: string | null; deadline_at?: string; expires_at?: string; time_left_ms?: number} | null }

export interface PreviewAddress {
	address: string; zone: string | null; published: boolean; share_percent: number; reason_code: string | null; detail: string
}
export interface Preview {
	name: string; type: string; rcode: string; serial: number; ttl_s: number; negative_ttl_s: number; load_balancer: string | null
	client_affinity: string; client_zone: string | null; addresses: PreviewAddress[]; detail: string
}
export interface DnsRecord { name: string; type: string; ttl_s: number; data: string[]; load_balancer: string | null; zone: string | null }

export interface KernelDest { address: string; port: number; forward_method: string; weight: number; active: number; inactive: number; persistent: number; stats: Stats }
export interface Stats { connections: number; packets_in: number; packets_out: number; bytes_in: number; bytes_out: number }
export interface KernelService {
	service: string; family: number; protocol: string; address: string; port: number; scheduler: string; stats: Stats
	destinations: KernelDest[]; owner: string; load_balancer?: string; zone?: string; listener?: string
}
export interface KernelTable { ipvs: string; services: KernelService[] }
export interface Drift { ipvs: string; in_sync: boolean; operations: string[]; operations_total: number; repaired_since_start: number }

export interface System {
	node: string | null; version: string; started: string | null; revision: number; applied_revision: number; services: number; probes: number
	kernel: {ipvs: string; available: boolean; known: boolean; release?: string; detail?: string; vip_device?: string; vip_device_fault?: string
		conntrack?: {max: number; taken_by_probes: number}; modules: string[]; sysctls: {name: string; value: number}[]}
	advice: Advice[]
	store: {ok: boolean; detail?: string}
	drift: {repaired_since_start: number; last_audit: string | null}
	dns_update?: {server: string; zone: string | null; phase: string; in_sync: boolean; record_sets: number; failures: number; error: string; last_success: string | null} | null
	api: {tls?: {fingerprint_sha256: string; subject: string; not_after: string; self_signed: boolean}}
}
export interface DoctorFinding { code: string; severity: 'error' | 'warning' | 'info'; what: string; why: string; mend: string; where: 'gateway' | 'servers' | 'network'; object?: string }
export interface Doctor { ipvs: string; errors: number; warnings: number; infos: number; findings: DoctorFinding[] }
export interface Ready { status: string; checks?: {check: string; ok: boolean; decides: boolean; detail: string}[] }

export interface EventItem { id: string; at: string; type: string; object: string; severity: string; detail: string; data: Record<string, unknown> }
export interface Rates { connections_per_s: (number | null)[]; packets_per_s: (number | null)[]; bits_per_s: (number | null)[]; active: (number | null)[] }
export interface RatesNow { active: number; inactive: number; connections_per_s: number; packets_per_s: number; bits_per_s: number; connections: number }
export interface StatsSeries extends Rates { now: RatesNow; server?: string; server_group?: string; load_balancer?: string; listener?: string; zone?: string | null }
export interface StatsAnswer { available: boolean; unavailable_because: string | null; step_s: number; points: number; end: string | null; total: Rates & {now: RatesNow}; series: StatsSeries[]; series_total: number }
export interface AuditItem {
	id: string; at: string; actor: string; via: string; source: string | null; method: string; path: string; object: string | null
	status: number; result: string; revision_before: number | null; revision_after: number | null; dry_run: boolean; count?: number
}
export interface User { name: string; role: Role; created_at?: string; updated_at?: string; last_login_at?: string | null }
export interface Token { id: string; name: string; role: Role; created_at: string; expires_at: string | null; last_used_at: string | null; sources: string[] }
export interface SessionRow { id: string; user: string; created_at: string; expires_at: string; last_seen_at: string; source: string; current: boolean }
export interface FailoverTime { total_ms: number | null; ttl_s: number; dominant: string | null; advice: string; parts: {part: string; worst_ms: number; counted: boolean; detail: string}[] }
export interface DetectionTime { health_check: Record<string, unknown>; windows: Windows; advice: Advice[] }
