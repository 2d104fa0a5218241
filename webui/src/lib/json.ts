// SPDX-License-Identifier: GPL-2.0-or-later
/** The line of a JSON text at which an object that a pointer names begins; undefined: not found. Pure. */
export function lineOf(text: string, pointer: string): number | undefined {
	const rows = text.split('\n')
	let at = 0
	for (const part of pointer.split('/').slice(1).map(p => p.replace(/~1/g, '/').replace(/~0/g, '~'))) {
		const next = rows.findIndex((row, i) => i >= at && row.trimStart().startsWith(`${JSON.stringify(part)}:`))
		if (next < 0) return at ? at + 1 : undefined
		at = next
	}
	return at + 1
}
