// SPDX-License-Identifier: GPL-2.0-or-later
// The frame around the pages: who is signed in, where one is, whether what is shown is of now.
import './style.css'
import 'uplot/dist/uPlot.min.css'
import {render} from 'preact'
import {effect} from '@preact/signals'
import {useEffect, useRef, useState} from 'preact/hooks'
import {lostSince, signedOut} from './lib/api.ts'
import {followEvents} from './lib/events.ts'
import {span} from './lib/format.ts'
import {closeStream, now, startClock} from './lib/live.ts'
import {href, route, startRouter} from './lib/router.ts'
import {findSession, logout, me, startFault} from './lib/session.ts'
import {applyTheme, nextTheme, theme} from './lib/theme.ts'
import {Brand, Empty, PageHead, say, Toasts} from './ui/bits.tsx'
import {Dialogs, closeDialog} from './ui/dialog.tsx'
import {Sign} from './pages/sign.tsx'
import {Overview} from './pages/overview.tsx'
import {BalancerPage, Balancers} from './pages/balancer.tsx'
import {GroupPage, Groups} from './pages/group.tsx'
import {ServerPage} from './pages/server.tsx'
import {CheckEditor} from './pages/check.tsx'
import {ObjectEditor} from './pages/editor.tsx'
import {DnsPage} from './pages/dns.tsx'
import {ConfigPage} from './pages/config.tsx'
import {EventsPage} from './pages/events.tsx'
import {SystemPage} from './pages/system.tsx'
import {AccessLists, AccessPage} from './pages/access.tsx'
import {Zones} from './pages/zones.tsx'
import {ConfirmBanner} from './pages/confirm.tsx'

const PLACES: [string, string][] = [
	['', 'Overview'], ['load-balancers', 'Load balancers'], ['server-groups', 'Server groups'], ['zones', 'Zones'], ['access-lists', 'Access lists'], ['dns', 'DNS'],
	['config', 'Configuration'], ['events', 'Events and audit'], ['system', 'System'],
]

const leave = async () => { try { await logout() } catch (e) { say((e as Error).message) } }

function Side() {
	const [open, setOpen] = useState(false)
	const here = route.value.parts[0] ?? ''
	useEffect(() => setOpen(false), [route.value])
	return (
		<header class={`side${open ? ' open' : ''}`}>
			<div class="top">
				<a class="brand" href="#/"><Brand /></a>
				<button type="button" class="menu" aria-expanded={open} aria-controls="places" onClick={() => setOpen(!open)}>Menu</button>
			</div>
			<nav id="places" aria-label="Pages">
				<ul>{PLACES.map(([id, text]) => <li key={id}><a href={`#/${id}`} aria-current={here === id ? 'page' : undefined}>{text}</a></li>)}</ul>
			</nav>
			<div class="foot">
				<span>{me.value?.who}<br /><span class="soft">{me.value?.role}</span></span>
				<button type="button" class="small" onClick={nextTheme}>Theme: {theme.value}</button>
				{me.value?.authenticated_by === 'session' && <button type="button" class="small" onClick={leave}>Sign out</button>}
			</div>
		</header>
	)
}

function Lost() {
	if (!lostSince.value) return null
	return (
		<div class="banner bad lost" role="alert">
			<span><strong>The connection to the daemon is lost.</strong> What is shown is at least <span aria-live="off">{span(Math.max(1000, now.value - lostSince.value))}</span> old. It is tried again by itself.</span>
		</div>
	)
}

/** The address that `zonegate setup` prints, where somebody is signed in. */
function SetupPage() {
	return (
		<><PageHead title="First administrator" /><Empty title={`You are signed in as ${me.value?.who}`} text="The code of zonegate setup makes an administrator for who cannot sign in. To use it here, sign out first.">
			<span class="row"><a class="button" href={href()}>Overview</a><button type="button" onClick={leave}>Sign out</button></span>
		</Empty></>
	)
}

function Page() {
	const [place = '', ...rest] = route.value.parts
	const [a, b, c, d] = rest
	if (place === '') return <Overview />
	if (place === 'load-balancers') {
		if (!a) return <Balancers />
		if (a === ':new') return <ObjectEditor kind="load_balancer" />
		if (b === 'edit') return <ObjectEditor kind="load_balancer" name={a} />
		if (b === 'listeners' && c) return <ObjectEditor kind="listener" parent={a} name={c === ':new' ? undefined : c} />
		if (b === 'zones' && c) return <ObjectEditor kind="lb_zone" parent={a} name={c === ':new' ? undefined : c} />
		return <BalancerPage key={a} name={a} />
	}
	if (place === 'server-groups') {
		if (!a) return <Groups />
		if (a === ':new') return <ObjectEditor kind="server_group" />
		if (b === 'edit') return <ObjectEditor kind="server_group" name={a} />
		if (b === 'check') return <CheckEditor key={a} group={a} />
		if (b === 'servers' && c === ':new') return <ObjectEditor kind="server" parent={a} />
		if (b === 'servers' && c && d === 'edit') return <ObjectEditor kind="server" parent={a} name={c} />
		if (b === 'servers' && c) return <ServerPage key={`${a}/${c}`} group={a} server={c} />
		return <GroupPage key={a} name={a} />
	}
	if (place === 'zones') {
		if (a === ':new') return <ObjectEditor kind="zone" />
		if (a && b === 'edit') return <ObjectEditor kind="zone" name={a} />
		return <Zones />
	}
	if (place === 'access-lists') {
		if (!a) return <AccessLists />
		if (a === ':new') return <ObjectEditor kind="access_list" />
		if (b === 'edit') return <ObjectEditor kind="access_list" name={a} />
		return <AccessPage key={a} name={a} />
	}
	if (place === 'setup') return <SetupPage />
	if (place === 'dns') return <DnsPage />
	if (place === 'config') return <ConfigPage tab={a ?? 'edit'} revision={b} />
	if (place === 'events') return <EventsPage tab={a ?? 'events'} />
	if (place === 'system') return <SystemPage tab={a ?? 'node'} />
	return <><PageHead title="There is no such page" /><Empty title="Nothing is here" text="The address may be of an object that was removed."><a class="button" href={href()}>Overview</a></Empty></>
}

/** A new page begins at its heading, for eyes and for screen readers. */
function useArrival() {
	const first = useRef(true)
	const where = route.value.parts.join('/')
	useEffect(() => {
		closeDialog()
		if (first.current) { first.current = false; return }
		scrollTo(0, 0)
		document.querySelector<HTMLElement>('#main h1')?.focus({preventScroll: true})
	}, [where])
}

function Frame() {
	useArrival()
	useEffect(() => { void followEvents(); return closeStream }, [])
	return (
		<div class={`frame${lostSince.value ? ' stale' : ''}`}>
			<a class="skip" href="#main" onClick={e => { e.preventDefault(); document.querySelector<HTMLElement>('#main h1')?.focus() }}>To the content</a>
			<Side />
			<main class="main" id="main"><Lost /><ConfirmBanner /><Page /></main>
			<Toasts />
			<Dialogs />
		</div>
	)
}

function App() {
	if (me.value === undefined) {
		return <main class="sign"><div class="stack">{startFault.value ? <div class="banner bad" role="alert">{startFault.value}. It is tried again.</div> : <p role="status">Asking the daemon who you are …</p>}</div></main>
	}
	return me.value ? <Frame /> : <Sign />
}

applyTheme()
startRouter()
startClock()
effect(() => { if (signedOut.value && me.peek()) { me.value = null; say('The session has ended: sign in again') } })
const begin = async () => { await findSession(); if (me.value === undefined) setTimeout(begin, 2000) }
void begin()
render(<App />, document.getElementById('app')!)
