// SPDX-License-Identifier: GPL-2.0-or-later
// Requests to the documented API and nothing else: a path that openapi.json does not have is a fault of types. Every
// request has an end.
import {signal} from '@preact/signals'
import type {paths} from '../../types/openapi'
import type {Changed, Fault} from './types.ts'

export type {Fault} from './types.ts'
export type Path = keyof paths
export type Method = 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE'

/** What a GET of the path answers, and what it may be asked with: as openapi.json says. */
export type AnswerOf<P extends Path> = paths[P] extends {get: {responses: {200: {content: {'application/json': infer T}}}}} ? T : never
type QueryOf<P extends Path> = paths[P] extends {get: {parameters: {query?: infer Q}}} ? NonNullable<Q> : never

/** A refusal of the daemon, or (status 0) none of its answers. */
export class ApiError extends Error {
	constructor(readonly status: number, readonly type: string, detail: string, readonly faults: Fault[] = [],
		readonly changed?: Changed) {
		super(detail)
	}
}

const TIMEOUT_MS = 15000

/** When the daemon answered last, whatever it said; and since when it does not. */
export const lastAnswer = signal(0)
export const lostSince = signal(0)
/** A request was refused because nobody is signed in. */
export const signedOut = signal(false)

export function fillPath(path: string, params: Record<string, string | number> = {}): string {
	return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
}

export interface Call {
	params?: Record<string, string | number>
	query?: Record<string, string | number | boolean | undefined>
	body?: unknown
	headers?: Record<string, string>
	signal?: AbortSignal
	/** Refusals of this status are answers like others: /readyz says with a 503 why it is not ready. */
	also?: number
}

export interface Answer<T> { data: T; status: number; etag: string | null }

function target(path: string, call: Call): string {
	const query = new URLSearchParams()
	for (const [name, value] of Object.entries(call.query ?? {})) if (value !== undefined && value !== '') query.set(name, String(value))
	const text = query.toString()
	return fillPath(path, call.params) + (text ? `?${text}` : '')
}

async function send(method: Method, path: string, call: Call): Promise<Response> {
	const body = call.body === undefined ? undefined : JSON.stringify(call.body)
	const timeout = AbortSignal.timeout(TIMEOUT_MS)
	try {
		const response = await fetch(target(path, call), {
			method, credentials: 'same-origin', cache: 'no-store', body,
			headers: {Accept: 'application/json', ...(body ? {'Content-Type': 'application/json'} : {}), ...call.headers},
			signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout,
		})
		lastAnswer.value = Date.now()
		lostSince.value = 0
		return response
	} catch (fault) {
		if (call.signal?.aborted) throw fault
		if (!lostSince.value) lostSince.value = Date.now()
		throw new ApiError(0, 'unreachable', timeout.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : 'the daemon cannot be reached')
	}
}

async function refusal(response: Response): Promise<ApiError> {
	const problem = await response.json().catch(() => null)
	if (!problem?.title) return new ApiError(response.status, 'unknown', `the daemon answered ${response.status}`)
	return new ApiError(response.status, problem.type, problem.detail || problem.title, problem.errors ?? [], problem.changed)
}

export async function request<T>(method: Method, path: Path, call: Call = {}): Promise<Answer<T>> {
	const response = await send(method, path, call)
	if (!response.ok && response.status !== call.also) {
		const fault = await refusal(response)
		if (fault.status === 401 && !path.startsWith('/api/v1/auth/')) signedOut.value = true
		throw fault
	}
	const text = await response.text()
	return {data: (text ? JSON.parse(text) : undefined) as T, status: response.status, etag: response.headers.get('ETag')}
}

export async function get<P extends Path>(path: P, params?: Call['params'], query?: QueryOf<P>): Promise<AnswerOf<P>> {
	return (await request<AnswerOf<P>>('GET', path, {params, query})).data
}

interface Page { items: unknown[]; next_cursor: string | null }
/** Lists that come page by page. */
type ListPath = {[P in Path]: AnswerOf<P> extends Page ? P : never}[Path]

/** All items of a list, page by page; at most `most`. */
export async function getAll<P extends ListPath>(path: P, params: Call['params'], limit: number, most = 20000, signal?: AbortSignal): Promise<AnswerOf<P>> {
	let whole: (AnswerOf<P> & Page) | undefined
	let cursor: string | undefined
	do {
		const page = (await request<AnswerOf<P> & Page>('GET', path, {params, query: {limit, cursor}, signal})).data
		whole = whole ? {...page, items: whole.items.concat(page.items)} : page
		cursor = page.next_cursor ?? undefined
	} while (cursor && whole.items.length < most)
	return whole
}
