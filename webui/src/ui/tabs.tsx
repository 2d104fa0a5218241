// SPDX-License-Identifier: GPL-2.0-or-later
import {useEffect, useRef} from 'preact/hooks'

/** Pages beside each other; each has an address. On a narrow screen the one that is shown is brought into sight. */
export function Tabs({list, here, base}: {list: [string, string][]; here: string; base: string}) {
	const box = useRef<HTMLElement>(null)
	useEffect(() => {
		const one = box.current?.querySelector<HTMLElement>('[aria-current]')
		if (one && box.current) box.current.scrollLeft = one.offsetLeft - (box.current.clientWidth - one.offsetWidth) / 2
	}, [here])
	return <nav class="tabs" ref={box} aria-label="Parts of this page">{list.map(([id, text]) => <a key={id} href={`#/${base}/${id}`} aria-current={here === id ? 'page' : undefined}>{text}</a>)}</nav>
}
