// SPDX-License-Identifier: GPL-2.0-or-later
// What a page shows is asked again: at a pace while it is looked at, and at once when an event came. What could not be
// renewed is told as old, never shown as if it were now.
import {signal, type Signal} from '@preact/signals'
import {useEffect, useMemo} from 'preact/hooks'
import {ApiError, lastAnswer, lostSince, signedOut} from './api.ts'
import type {EventItem} from './types.ts'

export interface Resource<T> {
	data: Signal<T | undefined>
	error: Signal<ApiError | undefined>
	at: Signal<number>
	refresh: () => Promise<void>
}

export const now = signal(Date.now())
/** A wave that renews all that is shown: after a write, or an event. */
const wave = signal(0)
export const refreshAll = (): void => { wave.value++ }
/** Whether events come by themselves (SSE): then polling is only the safety net. */
export const streaming = signal(false)
export const lastEvent = signal<EventItem | undefined>(undefined)

const EVENT_PAUSE_MS = 250

class Poller<T> implements Resource<T> {
	data = signal<T | undefined>(undefined)
	error = signal<ApiError | undefined>(undefined)
	at = signal(0)
	private timer = 0
	private running = false
	private again = false
	private stopped = false
	private abort = new AbortController()

	constructor(private load: (signal: AbortSignal) => Promise<T>, private every: number) {}

	start(): void { void this.refresh() }

	stop(): void {
		this.stopped = true
		clearTimeout(this.timer)
		this.abort.abort()
	}

	refresh = async (): Promise<void> => {
		if (this.stopped) return
		if (this.running) { this.again = true; return }
		this.running = true
		clearTimeout(this.timer)
		const began = performance.now()
		let took = 0
		try {
			const data = await this.load(this.abort.signal)
			if (this.stopped) return
			this.data.value = data
			this.error.value = undefined
			this.at.value = Date.now()
			took = performance.now() - began
		} catch (fault) {
			if (this.stopped) return
			this.error.value = fault instanceof ApiError ? fault : new ApiError(0, 'unknown', String(fault))
		} finally {
			this.running = false
		}
		if (this.stopped) return
		if (this.again) { this.again = false; void this.refresh(); return }
		// What takes long is asked less often, so that asking never fills the connection; what had no answer has waited already.
		const rest = document.hidden ? 30000 : Math.max(this.every, 3 * took)
		this.timer = window.setTimeout(this.refresh, rest)
	}
}

/** The resource of a component; asked again while the component is there. `key` changes: another resource. */
export function useResource<T>(key: string, load: (signal: AbortSignal) => Promise<T>, every = 2000): Resource<T> {
	const poller = useMemo(() => new Poller<T>(load, every), [key])
	useEffect(() => {
		poller.start()
		const off = wave.subscribe(() => { if (wave.peek()) void poller.refresh() })
		const seen = () => { if (!document.hidden) void poller.refresh() }
		document.addEventListener('visibilitychange', seen)
		return () => { poller.stop(); off(); document.removeEventListener('visibilitychange', seen) }
	}, [poller])
	return poller
}

let source: EventSource | undefined
let soon = 0

function onEvent(message: MessageEvent<string>): void {
	try { lastEvent.value = JSON.parse(message.data) as EventItem } catch { /* a comment of the stream */ }
	lastAnswer.value = Date.now()
	clearTimeout(soon)
	soon = window.setTimeout(refreshAll, EVENT_PAUSE_MS)
}

/** Names of events that the daemon may send; EventSource hears only those that it is told of. */
export function openStream(names: string[]): void {
	closeStream()
	source = new EventSource('/api/v1/events')
	source.onopen = () => { streaming.value = true; lostSince.value = 0; refreshAll() }
	source.onerror = () => {
		streaming.value = false
		// The browser comes back by itself, unless the answer was final.
		if (source?.readyState === EventSource.CLOSED) setTimeout(() => { if (source && !signedOut.value) openStream(names) }, 5000)
	}
	source.onmessage = onEvent
	for (const name of names) source.addEventListener(name, onEvent)
}

export function closeStream(): void {
	source?.close()
	source = undefined
	streaming.value = false
}

export function startClock(): void {
	setInterval(() => { now.value = Date.now() }, 1000)
}
