// SPDX-License-Identifier: GPL-2.0-or-later
// Signing in, and the first user with the code that `zonegate setup` prints on the host.
import {useEffect, useRef, useState} from 'preact/hooks'
import {ApiError} from '../lib/api.ts'
import {replace, route} from '../lib/router.ts'
import {firstUser, login, me} from '../lib/session.ts'
import {Brand, Toasts} from '../ui/bits.tsx'
import {Text} from '../ui/fields.tsx'

function useSubmit(run: () => Promise<void>) {
	const [busy, setBusy] = useState(false)
	const [error, setError] = useState<ApiError | undefined>()
	const submit = async (event: Event) => {
		event.preventDefault()
		if (busy) return
		setBusy(true)
		setError(undefined)
		try { await run() } catch (e) { setError(e instanceof ApiError ? e : new ApiError(0, 'unknown', String(e))) } finally { setBusy(false) }
	}
	const faultOf = (name: string) => error?.faults.find(f => f.pointer === `/${name}`)?.detail
	const shown = error && !error.faults.some(f => /^\/(user|password|code)$/.test(f.pointer)) ? error.message : ''
	return {busy, submit, faultOf, shown}
}

function SignIn({other}: {other: () => void}) {
	const [user, setUser] = useState('')
	const [password, setPassword] = useState('')
	const {busy, submit, faultOf, shown} = useSubmit(() => login(user, password))
	return (
		<form class="panel" onSubmit={submit} noValidate>
			<h1 class="brand"><Brand /></h1>
			<p class="soft">Sign in to see and change what this gateway balances.</p>
			<Text label="User" value={user} onInput={setUser} autocomplete="username" fault={faultOf('user')} autofocus />
			<Text label="Password" type="password" value={password} onInput={setPassword} autocomplete="current-password" fault={faultOf('password')} />
			{shown && <div class="banner bad" role="alert">{shown}</div>}
			<button type="submit" class="main-action" aria-disabled={busy ? 'true' : undefined}>{busy ? 'Signing in …' : 'Sign in'}</button>
			<p class="small soft">No user yet, or no password that is known? <code>zonegate setup</code>, as root on the gateway, prints a one-time code. <button type="button" class="quiet small" onClick={other}>I have a code</button></p>
		</form>
	)
}

function FirstRun({other, done}: {other: () => void; done: () => void}) {
	const [code, setCode] = useState('')
	const [user, setUser] = useState('admin')
	const [password, setPassword] = useState('')
	const [again, setAgain] = useState('')
	const differ = again !== '' && again !== password ? 'is not the same' : undefined
	const {busy, submit, faultOf, shown} = useSubmit(async () => {
		if (again !== password) throw new ApiError(0, 'invalid', 'the two passwords are not the same')
		await firstUser(code.trim(), user, password)
		done()
	})
	return (
		<form class="panel" onSubmit={submit} noValidate>
			<h1 class="brand"><Brand /></h1>
			<p class="soft">Make the first administrator. The code comes from <code>zonegate setup</code>, run as root on the gateway; it works once, within 15 minutes.</p>
			<Text label="One-time code" value={code} onInput={setCode} fault={faultOf('code')} placeholder="XXXX-XXXX-XXXX-XXXX" autocomplete="one-time-code" autofocus />
			<Text label="User" value={user} onInput={setUser} autocomplete="username" fault={faultOf('user')} />
			<Text label="Password" type="password" value={password} onInput={setPassword} autocomplete="new-password" fault={faultOf('password')} help="At least 10 characters." />
			<Text label="Password again" type="password" value={again} onInput={setAgain} autocomplete="new-password" fault={differ} />
			{shown && <div class="banner bad" role="alert">{shown}</div>}
			<button type="submit" class="main-action" aria-disabled={busy ? 'true' : undefined}>{busy ? 'Making the user …' : 'Make the user and sign in'}</button>
			<button type="button" class="quiet" onClick={other}>Back to signing in</button>
		</form>
	)
}

/** The address says which form it is; signing in leads to the page that was asked for. */
export function Sign() {
	const first = route.value.parts[0] === 'setup'
	const asked = useRef('#/')
	if (!first) asked.current = location.hash || '#/'
	useEffect(() => document.querySelector<HTMLElement>('#main input')?.focus(), [first])
	document.title = 'Sign in – Zonegate'
	if (me.value) return null
	const back = () => replace(asked.current)
	return <main class="sign" id="main">{first ? <FirstRun other={back} done={back} /> : <SignIn other={() => { location.hash = '#/setup' }} />}<Toasts /></main>
}
