// SPDX-License-Identifier: GPL-2.0-or-later
// The node: what it runs on, what the kernel holds, who may come in.
import {useState} from 'preact/hooks'
import {get, request, type AnswerOf} from '../lib/api.ts'
import {count, NO_SPAN, parseSpan, plural, when} from '../lib/format.ts'
import type {Look} from '../lib/health.ts'
import {refreshAll, useResource} from '../lib/live.ts'
import {me, whyNot} from '../lib/session.ts'
import type {KernelLacking, NewToken, Role, SessionRow, Token, User} from '../lib/types.ts'
import {NotApplied} from '../ui/applied.tsx'
import {Act, Advices, CopyButton, Empty, PageHead, say, StateMark, Waiting, Words} from '../ui/bits.tsx'
import {ActionDialog, closeDialog, DialogTitle, showDialog} from '../ui/dialog.tsx'
import {Select, Text} from '../ui/fields.tsx'
import {Filters} from '../ui/filters.tsx'
import {Operations} from '../ui/plan.tsx'
import {Table} from '../ui/table.tsx'
import {Tabs} from '../ui/tabs.tsx'
import {Timeouts, Webhooks} from './settings.tsx'

const ROLES: Role[] = ['viewer', 'operator', 'editor', 'admin']
const good = {word: 'In order', tone: 'ok', shape: 'disc'} as const
const bad = {word: 'Not in order', tone: 'bad', shape: 'cross'} as const
const STATES: Record<string, Look> = {ok: good, degraded: {word: 'Degraded', tone: 'warn', shape: 'triangle'}, 'not ready': {word: 'Not ready', tone: 'bad', shape: 'cross'}}
const unread = {word: 'Not known', tone: 'warn', shape: 'triangle'} as const
const off = {word: 'Off', tone: 'idle', shape: 'bar'} as const

const MEANINGS: Record<string, string> = {
	'net.ipv4.ip_forward': 'packets of clients are passed on; NAT needs 1', 'net.ipv6.conf.all.forwarding': 'the same for IPv6', 'net.ipv4.vs.conntrack': '1: connections of IPVS are tracked, for what filters or masquerades them',
	'net.ipv4.vs.conn_reuse_mode': 'a client that comes again with its port may be given another server', 'net.ipv4.vs.expire_nodest_conn': '1: connections to a removed server end at once',
	'net.ipv4.vs.expire_quiescent_template': '1: persistence ends when its server has weight 0', 'net.netfilter.nf_conntrack_max': 'entries of connection tracking',
	'net.ipv4.vs.secure_tcp': 'against floods of SYN: connections count as established only after their handshake. 1: while memory is short, 2: it is, 3: always', 'net.ipv4.vs.drop_entry': 'against floods of SYN: half-open connections are dropped at random. 1, 2, 3 as above',
	'net.ipv4.vs.drop_packet': 'packets of clients are dropped. 1, 2, 3 as above', 'net.ipv4.vs.amemthresh': 'memory is short with fewer free pages than these',
}

function KernelFacts({modules, sysctls}: {modules: string[]; sysctls: {name: string; value: number}[]}) {
	return (
		<section class="panel stack live whole" aria-label="Modules and sysctls">
			<h2>Modules and sysctls</h2>
			{modules.length ? <div class="row">{modules.map(m => <code class="chip" key={m}>{m}</code>)}</div> : <p class="soft">No module of IPVS is listed: it is not loaded, or built into the kernel.</p>}
			<Table caption="Sysctls" empty="None can be read." head={['Sysctl', 'Value', 'What it is for']} num={[1]} rows={sysctls.map(s => [<span class="mono keep"><Words text={s.name} /></span>, String(s.value), MEANINGS[s.name] ? <span class="small">{MEANINGS[s.name]}</span> : ''])} />
		</section>
	)
}

const SEVERITIES = {error: {word: 'Error', tone: 'bad', shape: 'cross'}, warning: {word: 'Warning', tone: 'warn', shape: 'triangle'}, info: {word: 'Note', tone: 'info', shape: 'ring'}} as const
const WHERE = {gateway: 'On the gateway', servers: 'On the servers', network: 'On the router between'}

/* Looked at when the page is opened, and by hand: a host does not change by the second. */
function DoctorFindings() {
	const doctor = useResource('doctor', () => get('/api/v1/system/doctor'), 60000)
	const d = doctor.data.value
	if (!d) return <Waiting what="what the doctor finds" error={doctor.error.value} />
	return (
		<section class="panel stack live whole" aria-label="Doctor">
			<h2>Doctor: {plural(d.errors, 'error')}, {plural(d.warnings, 'warning')}</h2>
			<ul class="list findings">{d.findings.map(f => (
				<li key={f.code + f.object + f.what}><StateMark as={SEVERITIES[f.severity]} /><div class="grow stack">
					<span>{f.what}</span><span class="soft small">{f.why}</span>
					{f.mend && <div class="row"><span class="small">{WHERE[f.where]}:</span><code class="grow"><Words text={f.mend} /></code><CopyButton text={f.mend} what={`the command for ${f.code.replace(/_/g, ' ')}${f.object ? ` of ${f.object}` : ''}`} /></div>}
				</div></li>
			))}</ul>
			{!d.findings.length && <p class="soft">Nothing was found.</p>}
		</section>
	)
}

function Node() {
	const system = useResource('system', () => get('/api/v1/system'), 3000)
	const ready = useResource('ready', async () => { try { return (await request<AnswerOf<'/readyz'>>('GET', '/readyz', {query: {verbose: true}, also: 503})).data } catch { return undefined } }, 5000)
	const s = system.data.value
	if (!s) return <Waiting what="the system" error={system.error.value} />
	const k = s.kernel
	return (
		<div class="halves">
			<div class="column"><section class="panel stack live" aria-label="Node">
				<h2>Node</h2>
				<dl class="facts">
					<dt>Name</dt><dd>{s.node ?? '–'}</dd><dt>State</dt><dd><StateMark as={STATES[s.state] ?? bad} /></dd><dt>Version</dt><dd>{s.version}</dd><dt>Runs since</dt><dd>{when(s.started)}</dd>
					<dt>Revision</dt><dd>{s.revision}{s.applied_revision < s.revision && <span class="t-bad">; the kernel has {s.applied_revision}</span>}</dd>
					<dt>Virtual services</dt><dd>{s.services}</dd><dt>Servers probed</dt><dd>{s.probes}</dd>
					<dt>Store</dt><dd><StateMark as={s.store.ok ? good : bad} /> {s.store.detail}</dd>
				</dl>
			</section>
			<section class="panel stack live" aria-label="Kernel">
				<h2>Kernel</h2>
				<dl class="facts">
					<dt>Release</dt><dd>{k.release ?? '–'}</dd>
					<dt>IPVS</dt><dd><StateMark as={k.ipvs === 'off' ? off : k.available ? good : bad} /> {k.detail}</dd>
					{k.vip_device && <><dt>Device of the VIPs</dt><dd>{k.vip_device} {k.vip_device_fault && <span class="t-bad">{k.vip_device_fault}</span>}</dd></>}
					{k.guard_fault && <><dt>Guard of the VIPs</dt><dd><span class="t-bad">{k.guard_fault}</span></dd></>}
					{k.conntrack && <><dt>Connection tracking</dt><dd>{count(k.conntrack.max)} entries, of which probes can take {count(k.conntrack.taken_by_probes)}</dd></>}
					<dt>Drift repaired</dt><dd>{s.drift.repaired_since_start}, last look {when(s.drift.last_audit)}</dd>
				</dl>
			</section></div>
			<section class="panel stack live" aria-label="Checks">
				<h2>Checks</h2>
				{ready.data.value?.checks ? <ul class="list">{ready.data.value.checks.map(c => <li key={c.check}><StateMark as={c.ok ? good : bad} /><span class="grow">{c.check.replace(/_/g, ' ')}{c.detail && <span class="soft">: {c.detail}</span>}</span></li>)}</ul> : <p class="soft">Not known now.</p>}
			</section>
			<Advices list={s.advice ?? []} />
			<DoctorFindings />
			<KernelFacts modules={k.modules} sysctls={k.sysctls} />
			{s.dns_update && (
				<section class="panel stack live" aria-label="DNS updates"><h2>DNS updates</h2><p><StateMark as={s.dns_update.in_sync ? good : bad} /> {s.dns_update.server}, {plural(s.dns_update.record_sets, 'record set')}</p>{s.dns_update.error && <p class="t-bad">{s.dns_update.error}</p>}</section>
			)}
			{s.api.tls && (
				<section class="panel stack live" aria-label="Certificate"><h2>Certificate</h2>
					<dl class="facts"><dt>Subject</dt><dd>{s.api.tls.subject}</dd><dt>Ends</dt><dd>{when(s.api.tls.not_after)}</dd><dt>SHA-256</dt><dd class="mono small">{s.api.tls.fingerprint_sha256}</dd></dl>
				</section>
			)}
		</div>
	)
}

/** Services that the document wants and the kernel does not have so. */
function Lacking({list, total}: {list: KernelLacking[], total: number}) {
	const shown = list.slice(0, 100)
	return total === 0 ? null : (
		<ul class="list" aria-label="Not in force">
			{shown.map(x => <li key={x.service}><StateMark as={bad} /><span class="grow"><span class="mono">{x.service}</span> ({x.load_balancer}/{x.zone}/{x.listener}) is {x.missing ? 'missing' : 'not as it should be'}{x.fault && `: ${x.fault}`}</span></li>)}
			{total > shown.length && <li class="soft">and {count(total - shown.length)} more</li>}
		</ul>
	)
}

function Kernel() {
	const drift = useResource('drift', () => get('/api/v1/kernel/drift'), 5000)
	const table = useResource('kernel', () => get('/api/v1/kernel'), 5000)
	const d = drift.data.value, t = table.data.value
	const reconcile = async () => { try { const {data} = await request<{in_sync: boolean, mended: boolean, fault: string | null}>('POST', '/api/v1/kernel/reconcile'); say(data.mended || data.in_sync ? 'The kernel was mended' : data.fault ? 'Whether the kernel is mended could not be read' : 'The kernel could not be mended: see what is not in force'); refreshAll() } catch (e) { say((e as Error).message) } }
	return (
		<>
			<NotApplied />
			<section class="panel stack live" aria-label="Drift">
				<div class="spread"><h2>Drift</h2><Act why={whyNot('operator') || (d && d.operations.length > 0 ? '' : 'there is nothing to mend')} onClick={reconcile}>Mend it now</Act></div>
				{!d ? <Waiting what="the drift" error={drift.error.value} /> : d.operations.length === 0 ? <p><StateMark as={d.in_sync ? good : unread} /> {d.in_sync ? 'The kernel' : 'As far as it could be read, the kernel'} has what it should have{d.repaired_since_start > 0 && `; ${d.repaired_since_start} repaired since the start`}.</p>
					: <Operations list={d.operations} total={d.operations_total} ipvs={d.ipvs} />}
				{d && <Lacking list={d.not_in_force} total={d.not_in_force_total} />}
				{d?.fault && <p><StateMark as={bad} /> Sets and rules could not be compared: {d.fault}</p>}
			</section>
			<section class="panel stack live" aria-label="Table">
				<h2>IPVS table</h2>
				{t && t.not_in_force.some(x => x.missing) && <p><StateMark as={bad} /> {plural(t.not_in_force.filter(x => x.missing).length, 'service')} missing: {t.not_in_force.filter(x => x.missing).slice(0, 5).map(x => x.service).join(', ')}</p>}
				{t?.ipvs === 'off' && <p class="soft">IPVS is off on this node: this is what is planned.</p>}
				{!t ? <Waiting what="the table" error={table.error.value} /> : (
					<Table caption="IPVS table" empty="It is empty." head={['Service', 'Scheduler', 'Owner', 'Servers', 'Active', 'Inactive', 'Connections so far']} num={[3, 4, 5, 6]}
						rows={t.services.slice(0, 300).map(s => [
							<span class="mono nowrap">{s.service}</span>, s.scheduler, s.owner === 'zonegate' ? `${s.load_balancer ?? 'zonegate'}${s.zone ? `, ${s.zone}` : ''}` : <span class="chip">foreign</span>,
							`${s.destinations.filter(x => x.weight > 0).length} of ${s.destinations.length}`, count(s.destinations.reduce((a, x) => a + (x.active ?? 0), 0)), count(s.destinations.reduce((a, x) => a + (x.inactive ?? 0), 0)), count(s.stats?.connections ?? 0),
						])} />
				)}
			</section>
			<section class="panel stack live" aria-label="Sets and rules">
				<h2>Sets and rules</h2>
				{t?.filters ? <Filters filters={t.filters} /> : <Waiting what="sets and rules" error={table.error.value} />}
			</section>
		</>
	)
}

function UserDialog({user}: {user?: User}) {
	const [name, setName] = useState(user?.name ?? '')
	const [role, setRole] = useState<string>(user?.role ?? 'viewer')
	const [password, setPassword] = useState('')
	return (
		<ActionDialog title={user ? `Change ${user.name}` : 'New user'} action="Save" done={`${name} was saved`} ready={name !== '' && (user !== undefined || password !== '')} why="A name and a password are needed"
			run={async () => {
				await request(user ? 'PATCH' : 'PUT', '/api/v1/users/{user}', {params: {user: name}, body: {role, ...(password ? {password} : {})}, headers: user ? {} : {'If-None-Match': '*'}})
			}}>
			{!user && <Text label="Name" required value={name} onInput={setName} />}
			<Select label="Role" value={role} onInput={setRole} options={ROLES} help="viewer reads; operator shifts and drains; editor configures; admin also has the users" />
			<Text label={user ? 'New password' : 'Password'} required={!user} type="password" autocomplete="new-password" value={password} onInput={setPassword} help={user ? 'empty: as it is. A change ends the sessions' : 'at least 10 characters'} />
		</ActionDialog>
	)
}

function Users() {
	const users = useResource('users', () => get('/api/v1/users'), 10000)
	const list = users.data.value?.items
	const remove = (u: User) => showDialog(() => <ActionDialog title={`Remove ${u.name}`} action="Remove" danger done={`${u.name} was removed`} run={async () => { await request('DELETE', '/api/v1/users/{user}', {params: {user: u.name}}) }}><p>All sessions of this user end at once.</p></ActionDialog>)
	return (
		<section class="panel stack live" aria-label="Users">
			<div class="spread"><h2>Users</h2><button type="button" class="main-action" onClick={() => showDialog(() => <UserDialog />)}>New user</button></div>
			{!list ? <Waiting what="the users" error={users.error.value} /> : (
				list.length === 0 ? <Empty title="No user yet" text="Root comes in by the socket of the host; everybody else needs a user." cli="zonegate user set anna --role operator" /> : <Table caption="Users" head={['Name', 'Role', 'Last signed in', '']}
					rows={list.map(u => [u.name, u.role, when(u.last_login_at), <span class="row"><button type="button" class="small" aria-label={`Change ${u.name}`} onClick={() => showDialog(() => <UserDialog user={u} />)}>Change</button>
						<Act class="small danger" why={u.name === me.value?.who ? 'this is you' : ''} label={`Remove ${u.name}`} onClick={() => remove(u)}>Remove</Act></span>])} />
			)}
		</section>
	)
}

function Made({secret}: {secret: string}) {
	return (
		<div>
			<DialogTitle>The new token</DialogTitle>
			<p>It is shown now and never again.</p>
			<div class="row"><code class="evidence grow" tabIndex={0}>{secret}</code><CopyButton text={secret} what="the token" /></div>
			<div class="end"><button type="button" class="main-action" onClick={closeDialog}>Done</button></div>
		</div>
	)
}

function TokenDialog() {
	const [name, setName] = useState('')
	const [role, setRole] = useState('viewer')
	const [life, setLife] = useState('90d')
	const [sources, setSources] = useState('')
	const expires = life.trim() === '' ? null : parseSpan(life)
	return (
		<ActionDialog title="New token" action="Make it" done="The token was made" ready={name !== '' && (life.trim() === '' || expires !== null)} why="A name is needed, and a time such as 90d"
			run={async () => {
				const from = sources.split(/[\s,]+/).filter(Boolean)
				const made = await request<NewToken>('POST', '/api/v1/tokens', {body: {name, role, expires_in: expires, ...(from.length ? {sources: from} : {})}})
				setTimeout(() => showDialog(() => <Made secret={made.data.token} />), 0)
			}}>
			<Text label="Name" required value={name} onInput={setName} help="what it is for" placeholder="such as prometheus" />
			<Select label="Role" value={role} onInput={setRole} options={['metrics', ...ROLES]} />
			<Text label="Holds for" value={life} onInput={setLife} help="12h, 1d12h, 90d; empty = until it is revoked" fault={life.trim() !== '' && expires === null ? NO_SPAN : undefined} />
			<Text label="Only from" value={sources} onInput={setSources} help="networks such as 10.0.0.0/8; empty = from anywhere" />
		</ActionDialog>
	)
}

function Tokens() {
	const tokens = useResource('tokens', () => get('/api/v1/tokens'), 10000)
	const list = tokens.data.value?.items
	const revoke = (t: Token) => showDialog(() => <ActionDialog title={`Revoke ${t.name ?? t.id}`} action="Revoke" danger done="The token was revoked" run={async () => { await request('DELETE', '/api/v1/tokens/{token}', {params: {token: t.id}}) }}><p>Whoever uses it is refused at once.</p></ActionDialog>)
	return (
		<section class="panel stack live" aria-label="Tokens">
			<div class="spread"><h2>Tokens</h2><button type="button" class="main-action" onClick={() => showDialog(() => <TokenDialog />)}>New token</button></div>
			{!list ? <Waiting what="the tokens" error={tokens.error.value} /> : (
				list.length === 0 ? <Empty title="No token yet" text="A token lets a program use the API, with a role and for as long as you say." cli="zonegate token create prometheus --role metrics --for 90d" /> : <Table caption="Tokens" head={['Name', 'Role', 'Ends', 'Only from', 'Last used', '']}
					rows={list.map(t => [t.name ?? t.id, t.role, t.expires_at ? when(t.expires_at) : 'never', t.sources?.join(', ') || 'anywhere', when(t.last_used_at), <button type="button" class="small danger" aria-label={`Revoke ${t.name ?? t.id}`} onClick={() => revoke(t)}>Revoke</button>])} />
			)}
		</section>
	)
}

function Sessions() {
	const sessions = useResource('sessions', () => get('/api/v1/sessions'), 10000)
	const list = sessions.data.value?.items
	const end = (s: SessionRow) => showDialog(() => <ActionDialog title={`End the session of ${s.user}`} action="End it" danger done="The session has ended" run={async () => { await request('DELETE', '/api/v1/sessions/{session}', {params: {session: s.id}}) }}><p>{s.current ? 'It is the one that you are using: you are signed out.' : 'Whoever uses it has to sign in again.'}</p></ActionDialog>)
	return (
		<section class="panel stack live" aria-label="Sessions">
			<h2>Sessions</h2>
			{!list ? <Waiting what="the sessions" error={sessions.error.value} /> : (
				<Table caption="Sessions" empty="None." head={['User', 'From', 'Since', 'Last seen', 'Ends', '']}
					rows={list.map(s => [<>{s.user}{s.current && <> <span class="chip">this one</span></>}</>, s.source ?? '–', when(s.created_at), when(s.last_seen_at), when(s.expires_at), <button type="button" class="small" aria-label={`End the session of ${s.user} since ${when(s.created_at)}`} onClick={() => end(s)}>End</button>])} />
			)}
		</section>
	)
}

function Password() {
	const [old, setOld] = useState('')
	const [made, setMade] = useState('')
	const change = async (event: Event) => {
		event.preventDefault()
		try { await request('POST', '/api/v1/auth/password', {body: {current_password: old, new_password: made}}); say('The password was changed'); setOld(''); setMade('') } catch (e) { say((e as Error).message) }
	}
	if (me.value?.authenticated_by !== 'session') return null
	return (
		<section class="panel" aria-label="Password"><form class="stack" onSubmit={change}><h2>Your password</h2>
			<div class="fields"><Text label="Current password" type="password" autocomplete="current-password" value={old} onInput={setOld} /><Text label="New password" type="password" autocomplete="new-password" value={made} onInput={setMade} help="at least 10 characters" /></div>
			<div><button type="submit">Change it</button></div></form></section>
	)
}

export function SystemPage({tab}: {tab: string}) {
	const why = whyNot('admin')
	return (
		<>
			<PageHead title="System" />
			<Tabs here={tab} list={[['node', 'Node'], ['kernel', 'Kernel and drift'], ['settings', 'Settings'], ['users', 'Users'], ['tokens', 'Tokens'], ['sessions', 'Sessions']]} base="system" />
			{tab === 'kernel' ? <Kernel /> : tab === 'settings' ? <><Timeouts /><Webhooks /></> : tab === 'sessions' ? <><Sessions /><Password /></> : tab === 'users' || tab === 'tokens'
				? (why ? <Empty title="Not for this role" text={`This ${why}.`} /> : tab === 'users' ? <Users /> : <Tokens />) : <Node />}
		</>
	)
}
