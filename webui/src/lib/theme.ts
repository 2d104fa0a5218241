// SPDX-License-Identifier: GPL-2.0-or-later
// Light, dark, or as the system has it.
import {signal} from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'
const ORDER: Theme[] = ['system', 'light', 'dark']
const KEY = 'zonegate-theme'

const stored = (): Theme => { try { return ORDER.find(t => t === localStorage.getItem(KEY)) ?? 'system' } catch { return 'system' } }
export const theme = signal<Theme>(stored())
/** Rises when colours have changed: charts draw anew. */
export const painted = signal(0)

const dark = matchMedia('(prefers-color-scheme: dark)')

export function applyTheme(): void {
	const paint = () => {
		document.documentElement.dataset.theme = theme.value === 'system' ? (dark.matches ? 'dark' : 'light') : theme.value
		painted.value++
	}
	dark.addEventListener('change', paint)
	theme.subscribe(paint)
}

export function nextTheme(): void {
	theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length]!
	try { localStorage.setItem(KEY, theme.value) } catch { /* it holds until the page is closed */ }
}
