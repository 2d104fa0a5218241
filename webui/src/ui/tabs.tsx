// SPDX-License-Identifier: GPL-2.0-or-later
export function Tabs({list, here, base}: {list: [string, string][]; here: string; base: string}) {
	return <nav class="tabs" aria-label="Parts of this page">{list.map(([id, text]) => <a key={id} href={`#/${base}/${id}`} aria-current={here === id ? 'page' : undefined}>{text}</a>)}</nav>
}
