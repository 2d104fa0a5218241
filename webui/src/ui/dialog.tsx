// SPDX-License-Identifier: GPL-2.0-or-later
// One dialog at a time, on the browser's own <dialog>: it traps the focus, closes on Escape and gives the focus back.
import {signal} from '@preact/signals'
import type {ComponentChildren} from 'preact'
import {useEffect, useRef, useState} from 'preact/hooks'
import {ApiError} from '../lib/api.ts'
import {refreshAll} from '../lib/live.ts'
import {say} from './bits.tsx'

const open = signal<(() => ComponentChildren) | null>(null)

export function showDialog(render: () => ComponentChildren): void { open.value = render }
export function closeDialog(): void { open.value = null }

export function Dialogs() {
	const ref = useRef<HTMLDialogElement>(null)
	const render = open.value
	useEffect(() => {
		if (render && !ref.current?.open) ref.current?.showModal()
	}, [render])
	if (!render) return null
	return <dialog ref={ref} onClose={closeDialog} aria-labelledby="dialog-title">{render()}</dialog>
}

export function DialogTitle({children}: {children: ComponentChildren}) {
	return <h2 id="dialog-title">{children}</h2>
}

/** A dialog that does one thing: its form, what is wrong with it, and two buttons. */
export function ActionDialog({title, action, run, danger, ready = true, why = '', done, children}: {
	title: string; action: string; run: (told: (progress: string) => void) => Promise<void>; danger?: boolean; ready?: boolean; why?: string; done: string; children?: ComponentChildren
}) {
	const [busy, setBusy] = useState(false)
	const [progress, setProgress] = useState('')
	const [fault, setFault] = useState('')
	const submit = async (event: Event) => {
		event.preventDefault()
		if (busy || !ready) { if (!ready && why) say(why); return }
		setBusy(true)
		setFault('')
		try {
			await run(setProgress)
			closeDialog()
			say(done)
			refreshAll()
		} catch (e) {
			refreshAll() // some of it may be done
			setFault(e instanceof ApiError && e.faults.length ? e.faults.map(f => (f.pointer ? `${f.pointer.slice(1)}: ` : '') + f.detail).join('; ') : (e as Error).message)
		} finally { setBusy(false); setProgress('') }
	}
	return (
		<form onSubmit={submit} onInput={() => setFault('')} noValidate>
			<DialogTitle>{title}</DialogTitle>
			{children}
			{fault && <div class="banner bad" role="alert">{fault}</div>}
			{!ready && why && <p class="why">{why}</p>}
			<div class="end">
				<button type="button" onClick={closeDialog}>Cancel</button>
				<button type="submit" class={`main-action${danger ? ' danger' : ''}`} aria-disabled={busy || !ready ? 'true' : undefined}>{busy ? `Working … ${progress}` : action}</button>
			</div>
		</form>
	)
}

/** One after the other; what fails says how far it came. */
export async function eachOf<T>(list: T[], nameOf: (one: T) => string, run: (one: T) => Promise<unknown>, told: (progress: string) => void): Promise<void> {
	for (const [i, one] of list.entries()) {
		if (list.length > 1) told(`${i + 1} of ${list.length}`)
		try { await run(one) } catch (e) {
			if (list.length === 1) throw e
			throw new Error(`${nameOf(one)}: ${(e as Error).message}; ${i} of ${list.length} ${i === 1 ? 'is' : 'are'} done`)
		}
	}
}
