// SPDX-License-Identifier: GPL-2.0-or-later
// Who is signed in, and what that role may.
import {signal} from '@preact/signals'
import {ApiError, get, request, signedOut} from './api.ts'
import type {Identity, Role} from './types.ts'

const ORDER: Role[] = ['nobody', 'metrics', 'viewer', 'operator', 'editor', 'admin']

/** undefined: not known yet; null: nobody. */
export const me = signal<Identity | null | undefined>(undefined)
export const startFault = signal<string>('')

export function atLeast(have: Role | undefined, need: Role): boolean {
	return have !== undefined && ORDER.indexOf(have) >= ORDER.indexOf(need)
}

/** Why not, or '' if one may. */
export function whyNot(need: Role): string {
	const role = me.value?.role
	return atLeast(role, need) ? '' : `needs the role ${need}; ${role ? `your role is ${role}` : 'you are not signed in'}`
}

/** Whether a session was begun here and not ended: without one nobody is asked, as each such question is a line of the audit. */
const KEY = 'zonegate-session'
const begun = {
	get: (): boolean => { try { return localStorage.getItem(KEY) === 'yes' } catch { return true } },
	set: (yes: boolean): void => { try { if (yes) localStorage.setItem(KEY, 'yes'); else localStorage.removeItem(KEY) } catch { /* then it is asked */ } },
}

export async function findSession(): Promise<void> {
	if (!begun.get()) { me.value = null; return }
	try {
		me.value = await get('/api/v1/auth/session')
		signedOut.value = false
		startFault.value = ''
	} catch (fault) {
		if (fault instanceof ApiError && (fault.status === 401 || fault.status === 403)) { begun.set(false); me.value = null }
		else startFault.value = (fault as Error).message
	}
}

export async function login(user: string, password: string): Promise<void> {
	me.value = (await request<Identity>('POST', '/api/v1/auth/login', {body: {user, password}})).data
	begun.set(true)
	signedOut.value = false
}

export async function firstUser(code: string, user: string, password: string): Promise<void> {
	me.value = (await request<Identity>('POST', '/api/v1/auth/first-user', {body: {code, user, password}})).data
	begun.set(true)
	signedOut.value = false
}

export async function logout(): Promise<void> {
	await request('POST', '/api/v1/auth/logout')
	begun.set(false)
	me.value = null
}
