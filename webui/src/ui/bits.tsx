// SPDX-License-Identifier: GPL-2.0-or-later
// The small pieces that all pages are made of.
import {signal} from '@preact/signals'
import {Fragment, type ComponentChildren} from 'preact'
import {useState} from 'preact/hooks'
import {look, type Look, type Shape, type Tone} from '../lib/health.ts'
import {partsOf, plural, SHORT} from '../lib/format.ts'
import type {ApiError} from '../lib/api.ts'

const PATHS: Record<Shape, ComponentChildren> = {
	disc: <circle cx="8" cy="8" r="6.5" fill="currentColor" />,
	cross: <path d="M3 3l10 10M13 3L3 13" stroke="currentColor" stroke-width="3.6" stroke-linecap="round" />,
	triangle: <path d="M8 1.5L15 14.5H1z" fill="currentColor" />,
	ring: <circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="2.6" stroke-dasharray="4 2.5" />,
	half: <><circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="2" /><path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" /></>,
	bar: <rect x="1.5" y="5.5" width="13" height="5" rx="1" fill="currentColor" />,
	dash: <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="2" />,
}

export function Mark({shape}: {shape: Shape}) {
	return <svg viewBox="0 0 16 16" aria-hidden="true">{PATHS[shape]}</svg>
}

export function StateMark({state, as}: {state?: string; as?: Look}) {
	const l = as ?? look(state ?? '')
	return <span class={`state t-${l.tone}`}><Mark shape={l.shape} />{l.word}</span>
}

/**
 * Names, commands and data of records: short words stay whole; where a long one has no room it is broken after a dot or a slash,
 * and only what is long between those after "-", "_", ":" or "=", too.
 */
export function Words({text}: {text: string}) {
	return <>{text.split(/( +)/).map((word, i) => i % 2 ? word : <Fragment key={i}>{partsOf(word).map((part, n) => <Fragment key={n}>{n > 0 && <wbr />}{part.length <= SHORT ? <span class="nowrap">{part}</span> : part}</Fragment>)}</Fragment>)}</>
}

export function Brand() {
	return <><svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#14532d" /><path d="M7 9h18M7 16h11M7 23h18" stroke="#fff" stroke-width="3.4" stroke-linecap="round" /><circle cx="24" cy="16" r="2.6" fill="#4ade80" /></svg>Zonegate</>
}

export interface Crumb { text: string; href: string }

export function PageHead({title, crumbs = [], sub, children}: {title: string; crumbs?: Crumb[]; sub?: ComponentChildren; children?: ComponentChildren}) {
	document.title = `${title} – Zonegate`
	return (
		<header class="head">
			<div>
				{crumbs.length > 0 && <nav class="crumbs" aria-label="Where this is">{crumbs.map((c, i) => <span key={c.href}>{i > 0 && '/\u00a0'}<a href={c.href}>{c.text}</a></span>)}</nav>}
				<h1 tabIndex={-1}>{title}</h1>
				{sub && <div class="sub">{sub}</div>}
			</div>
			<div class="actions">{children}</div>
		</header>
	)
}

/** A button that says why it does nothing: it stays in the order of the keyboard, and its reason is read with it. */
export function Act({why = '', onClick, class: name = '', children, label, busy}: {
	why?: string; onClick: () => void; class?: string; children: ComponentChildren; label?: string; busy?: boolean
}) {
	return (
		<button type="button" class={name} aria-disabled={why || busy ? 'true' : undefined} title={why || undefined} aria-label={label ? (why ? `${label} (${why})` : label) : undefined}
			onClick={() => { if (why) say(why); else if (!busy) onClick() }}>
			{children}{why && !label && <span class="hide"> ({why})</span>}
		</button>
	)
}

export function Empty({title, text, cli, children}: {title: string; text: string; cli?: string; children?: ComponentChildren}) {
	return <div class="empty"><strong>{title}</strong><p>{text}</p>{children}{cli && <code><Words text={cli} /></code>}</div>
}

export function Fault({error, what}: {error?: ApiError; what: string}) {
	if (!error) return null
	return <div class="banner bad" role="alert"><span><strong>{what}: </strong>{error.message}</span></div>
}

/** What stands while nothing is known yet; the request behind it has an end of its own. */
export function Waiting({what, error}: {what: string; error?: ApiError}) {
	return error ? <Fault error={error} what={`${what} cannot be shown`} /> : <p class="soft" role="status">Reading {what} …</p>
}

export function Numbers({items}: {items: {value: ComponentChildren; text: string; href?: string; tone?: Tone}[]}) {
	return (
		<div class="numbers">
			{items.map(i => i.href
				? <a key={i.text} href={i.href}><b class={i.tone ? `t-${i.tone}` : ''}>{i.value}</b><span>{i.text}</span></a>
				: <div key={i.text}><b class={i.tone ? `t-${i.tone}` : ''}>{i.value}</b><span>{i.text}</span></div>)}
		</div>
	)
}

/** Parts of a whole; the words beside it say the same. */
export function Bar({parts}: {parts: {n: number; tone: Tone; text: string}[]}) {
	const shown = parts.filter(p => p.n > 0)
	return (
		<div class="bar" role="img" aria-label={shown.map(p => `${p.n} ${p.text}`).join(', ') || 'none'}>
			{shown.map(p => <i key={p.text} class={`t-${p.tone}`} style={{flexGrow: p.n}} />)}
		</div>
	)
}

export function GroupBar({s}: {s: {servers: number; healthy: number; unhealthy: number; initial: number; unchecked: number; weight_zero: number; disabled: number; draining: number}}) {
	const serve = Math.max(0, s.healthy - s.weight_zero), unchecked = Math.max(0, s.unchecked - Math.max(0, s.weight_zero - s.healthy))
	return <Bar parts={[{n: serve, tone: 'ok', text: 'healthy'}, {n: s.initial, tone: 'info', text: 'being checked'}, {n: s.draining, tone: 'warn', text: 'draining'}, {n: s.weight_zero, tone: 'warn', text: 'of weight 0'},
		{n: s.unhealthy, tone: 'bad', text: 'unhealthy'}, {n: unchecked, tone: 'idle', text: 'not checked'}, {n: s.disabled, tone: 'idle', text: 'disabled'}]} />
}

export function CopyButton({text, what}: {text: string; what: string}) {
	const [done, setDone] = useState(false)
	const copy = async () => {
		try { await navigator.clipboard.writeText(text); setDone(true); say(`${what} copied`); setTimeout(() => setDone(false), 2000) } catch { say('The browser does not let this page copy') }
	}
	return <button type="button" class="small" onClick={copy} aria-label={`${done ? 'Copied' : 'Copy'} ${what}`}>{done ? 'Copied' : 'Copy'}</button>
}

/* ---- what is said aloud and shown for a moment ---- */

const said = signal<{id: number; text: string}[]>([])
let next = 0

export function say(text: string): void {
	const id = ++next
	said.value = [...said.value.slice(-2), {id, text}]
	setTimeout(() => { said.value = said.value.filter(s => s.id !== id) }, 6000)
}

export function Toasts() {
	return <div class="toast" role="status" aria-live="polite">{said.value.map(s => <div key={s.id}>{s.text}</div>)}</div>
}

export function Advices({list}: {list: {code: string; detail: string}[]}) {
	if (!list.length) return null
	return (
		<section class="panel live" aria-label="Advice">
			<h2>{plural(list.length, 'piece')} of advice</h2>
			<ul class="list">{list.map(a => <li key={a.code + a.detail}><span class="state t-info"><Mark shape="triangle" /><span class="hide">Advice: </span></span><span class="grow">{a.detail}</span></li>)}</ul>
		</section>
	)
}
