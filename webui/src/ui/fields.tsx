// SPDX-License-Identifier: GPL-2.0-or-later
// One input with its label, its help and what is wrong with it, tied together for who cannot see them.
import type {ComponentChildren} from 'preact'
import {useId} from 'preact/hooks'

interface Common { label: string; help?: string; fault?: string; wide?: boolean; required?: boolean }

/** What the mark says, once a form. */
export const Required = () => <p class="soft small">* is required</p>

function Field({label, help, fault, wide, required, children}: Common & {children: (id: string, described: string | undefined) => ComponentChildren}) {
	const id = useId()
	const described = [help && `${id}-help`, fault && `${id}-fault`].filter(Boolean).join(' ') || undefined
	return (
		<div class={`field${wide ? ' wide' : ''}`}>
			<label for={id}>{label}{required && '\u00a0*'}</label>
			{children(id, described)}
			{help && <span class="help" id={`${id}-help`}>{help}</span>}
			{fault && <span class="fault" id={`${id}-fault`}>{fault}</span>}
		</div>
	)
}

export interface TextProps extends Common {
	value: string; onInput: (value: string) => void; type?: 'text' | 'password' | 'number'; placeholder?: string; autocomplete?: string; list?: string[]
	min?: number; max?: number; autofocus?: boolean
}

export function Text(p: TextProps) {
	const listId = useId()
	return (
		<Field {...p}>
			{(id, described) => {
				const same = {
					id, value: p.value, placeholder: p.placeholder, autocomplete: p.autocomplete ?? 'off', required: p.required, autofocus: p.autofocus, spellcheck: false,
					'aria-invalid': p.fault ? 'true' as const : undefined, 'aria-describedby': described, onInput: (e: {currentTarget: HTMLInputElement}) => p.onInput(e.currentTarget.value),
				}
				if (p.type === 'number') return <input {...same} type="number" min={p.min} max={p.max} />
				if (p.type === 'password') return <input {...same} type="password" />
				if (!p.list?.length) return <input {...same} type="text" />
				return <><input {...same} type="text" list={listId} /><datalist id={listId}>{p.list.map(v => <option key={v} value={v} />)}</datalist></>
			}}
		</Field>
	)
}

export function Select(p: Common & {value: string; options: (string | [string, string])[]; onInput: (value: string) => void}) {
	return (
		<Field {...p}>
			{(id, described) => (
				<select id={id} value={p.value} required={p.required} aria-invalid={p.fault ? 'true' : undefined} aria-describedby={described} onChange={e => p.onInput(e.currentTarget.value)}>
					{p.options.map(o => typeof o === 'string' ? <option key={o} value={o}>{o}</option> : <option key={o[0]} value={o[0]}>{o[1]}</option>)}
				</select>
			)}
		</Field>
	)
}

export function Area(p: Common & {value: string; onInput: (value: string) => void; code?: boolean; rows?: number; readOnly?: boolean; placeholder?: string}) {
	return (
		<Field {...p}>
			{(id, described) => <textarea id={id} class={p.code ? 'code' : ''} value={p.value} rows={p.rows} readOnly={p.readOnly} placeholder={p.placeholder} required={p.required} spellcheck={false}
				aria-invalid={p.fault ? 'true' : undefined} aria-describedby={described} onInput={e => p.onInput(e.currentTarget.value)} />}
		</Field>
	)
}

export function Check({label, checked, onInput, help, fault}: Common & {checked: boolean; onInput: (value: boolean) => void}) {
	const id = useId()
	return (
		<div class="field">
			<div class="check">
				<input id={id} type="checkbox" checked={checked} onChange={e => onInput(e.currentTarget.checked)} aria-describedby={help || fault ? `${id}-help` : undefined} />
				<label for={id}>{label}</label>
			</div>
			{(help || fault) && <span class={fault ? 'fault' : 'help'} id={`${id}-help`}>{fault ?? help}</span>}
		</div>
	)
}
