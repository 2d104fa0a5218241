// SPDX-License-Identifier: GPL-2.0-or-later
import {useEffect, useRef} from 'preact/hooks'

/** Brings what is open to the middle of the row, at once: nothing moves that one would have to follow. The page itself stays. */
function show(box: HTMLElement): void {
	const one = box.querySelector<HTMLElement>('[aria-current]')
	if (one) box.scrollLeft = one.offsetLeft - (box.clientWidth - one.offsetWidth) / 2
}

/** Pages beside each other; each has an address. On a narrow screen, also one that becomes narrow, the one that is shown is in sight. */
export function Tabs({list, here, base}: {list: [string, string][]; here: string; base: string}) {
	const ref = useRef<HTMLElement>(null)
	useEffect(() => {
		const box = ref.current!
		const watch = new ResizeObserver(() => show(box)) // says the first size, too
		watch.observe(box)
		return () => watch.disconnect()
	}, [here])
	return <nav class="tabs" ref={ref} aria-label="Parts of this page">{list.map(([id, text]) => <a key={id} href={`#/${base}/${id}`} aria-current={here === id ? 'page' : undefined}>{text}</a>)}</nav>
}
