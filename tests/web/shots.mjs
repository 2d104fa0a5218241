// SPDX-License-Identifier: GPL-2.0-or-later
// Every page and dialog in both themes and narrow: judged by axe, not wider than the screen, and a picture of each to look at.
import assert from 'node:assert/strict'
import {writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {close, open, until, visit} from './page.mjs'

const ROUTES = [
	'#/', '#/load-balancers', '#/load-balancers/shop', '#/load-balancers/shop/edit', '#/load-balancers/shop/zones/zone-a', '#/load-balancers/shop/listeners/http', '#/load-balancers/:new',
	'#/server-groups', '#/server-groups/web', '#/server-groups/web/servers/web-1', '#/server-groups/web/servers/web-4', '#/server-groups/web/servers/web-1/edit', '#/server-groups/web/check', '#/server-groups/:new',
	'#/zones', '#/zones/:new', '#/access-lists', '#/access-lists/office', '#/access-lists/office/edit', '#/access-lists/:new', '#/dns?name=shop.lb.example.net', '#/config', '#/config/history', '#/config/history/1', '#/events', '#/events/audit',
	'#/system', '#/system/kernel', '#/system/settings', '#/system/users', '#/system/tokens', '#/system/sessions', '#/nothing/here',
]
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

async function judgePage(page, what, only = RULES) {
	const {violations} = await page.evaluate(rules => axe.run(document, {runOnly: rules, resultTypes: ['violations'], reporter: 'no-passes', selectors: false, iframes: false, preload: false}), only)
	return violations.map(v => `${what}: ${v.id}: ${v.nodes.map(n => n.html.slice(0, 120)).slice(0, 2).join(' ')}`)
}

/** The same page in three looks, without reading its data anew: all rules in the first, what depends on the look in the others. */
const LOOKS_OF_A_PAGE = [
	{name: 'light', colorScheme: 'light', width: 1280, height: 800, rules: RULES},
	{name: 'dark', colorScheme: 'dark', width: 1280, height: 800, rules: ['color-contrast']},
	{name: 'narrow', colorScheme: 'dark', width: 360, height: 740, rules: ['target-size', 'scrollable-region-focusable']},
]

/** A tab that the browser paints no more, as it does with some while it takes the picture of another, must not be waited for without end. */
const painted = page => page.evaluate(() => new Promise(done => { requestAnimationFrame(() => requestAnimationFrame(done)); setTimeout(done, 1000) }))

let turn = Promise.resolve()
/** One look after the other, also of stories that run beside each other: two pictures at once may keep a browser waiting for ever. */
function inTurn(act) {
	const mine = turn.then(act)
	turn = mine.catch(() => undefined)
	return mine
}

/** All of the page, or a dialog in its window; in half the time of the library's own: nothing is waited for, and the file is not made small. */
async function shoot(page, session, path) {
	const {cssContentSize} = await session.send('Page.getLayoutMetrics')
	const {width, height} = page.viewportSize()
	const dialog = await page.evaluate(() => document.querySelector('dialog[open]') !== null)
	const clip = {x: 0, y: dialog ? await page.evaluate(() => scrollY) : 0, width, height: dialog ? height : Math.ceil(cssContentSize.height), scale: 1}
	const {data} = await session.send('Page.captureScreenshot', {format: 'png', optimizeForSpeed: true, captureBeyondViewport: true, clip})
	writeFileSync(path, Buffer.from(data, 'base64'))
}

const look = (...what) => inTurn(() => lookNow(...what))

async function lookNow(world, page, session, hash, {name, colorScheme, width, height, rules}) {
	await page.emulateMedia({colorScheme})
	await page.setViewportSize({width, height})
	await painted(page)
	const faults = rules.length ? await judgePage(page, `${hash} (${name})`, rules) : []
	const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
	if (wide > 0) faults.push(`${hash}: ${wide} px wider than the screen of ${width}`)
	await shoot(page, session, join(world.shots, `${name}${hash.replace(/[#?=/:.]+/g, '_')}.png`))
	return faults
}

/** What stands there now, in all looks. `height`: so high a window, for a dialog that would be scrolled. */
export async function allLooks(world, page, session, name, height) {
	const faults = []
	for (const one of LOOKS_OF_A_PAGE) faults.push(...await look(world, page, session, name, height ? {...one, height} : one))
	return faults
}

/** The same of a tab that lets no axe in. */
export async function pictures(world, page, name) {
	const session = await page.context().newCDPSession(page)
	const faults = []
	for (const one of LOOKS_OF_A_PAGE) faults.push(...await look(world, page, session, name, {...one, rules: []}))
	await session.detach()
	assert.deepEqual(faults, [])
}

/** A tab to look with. A policy that is lifted lets axe in. */
export async function openToLook(world, as) {
	const page = await open(world, {...as, bypassCSP: true})
	await page.evaluate(world.axe)
	return {page, session: await page.context().newCDPSession(page)}
}

/** In one tab: of two in a window only the one in front is painted. */
export async function walk(world) {
	const {page, session} = await openToLook(world)
	const faults = []
	for (const hash of ROUTES) {
		await visit(world, page, hash)
		faults.push(...await allLooks(world, page, session, hash))
	}
	await session.detach()
	await close(page)
	assert.deepEqual(faults, [])
}

async function the_sign_in_page_too(world) {
	const {page, session} = await openToLook(world, {user: null})
	const faults = await allLooks(world, page, session, '_sign_in')
	await page.getByRole('button', {name: 'I have a code'}).click()
	faults.push(...await allLooks(world, page, session, '_first_run'))
	await page.evaluate(() => document.querySelector('main').append(new Image()))
	assert.match((await judgePage(page, 'planted')).join(), /image-alt/, 'a fault that is planted is found')
	await session.detach()
	await close(page)
	assert.deepEqual(faults, [])
}

/** What is empty teaches: a form, and the command line. */
export async function what_is_empty_teaches(world) {
	const {page, session} = await openToLook(world)
	const faults = []
	const teaches = async place => {
		await visit(world, page, `#/${place}`)
		assert.notEqual(await page.locator('.empty code').count(), 0, `${place} says how it begins`)
		faults.push(...await allLooks(world, page, session, `_empty_${place}`))
	}
	for (const place of ['', 'load-balancers', 'server-groups', 'zones', 'config/history', 'system/tokens']) await teaches(place)
	await world.daemon.must('PUT', '/api/v1/server-groups/void', {protocol: 'tcp'})
	await world.daemon.must('PUT', '/api/v1/zones/hall', {})
	await world.daemon.must('PUT', '/api/v1/load-balancers/void', {zones: {hall: {vip4: '127.0.3.10'}}})
	for (const place of ['server-groups/void', 'load-balancers/void']) await teaches(place)
	await world.daemon.must('DELETE', '/api/v1/load-balancers/void')
	await world.daemon.must('DELETE', '/api/v1/server-groups/void')
	await world.daemon.must('DELETE', '/api/v1/zones/hall')
	await session.detach()
	await close(page)
	assert.deepEqual(faults, [])
}

const TALL = 1240
/** By name: the page that it is opened from, the button, and what is there once its data has arrived. */
const DIALOGS = {
	shift: ['#/load-balancers/shop', 'Shift away zone-b', 'Answers then'],
	remove: ['#/load-balancers/shop', 'Remove', 'Its services leave'],
	drain: ['#/server-groups/web/servers/web-2', 'Drain', 'kernel operation'],
	weight: ['#/server-groups/web/servers/web-2', 'Weight', 'Beside the configuration'],
	probe: ['#/server-groups/web/servers/web-2', 'Probe now', 'It counts for nothing'],
	plan: ['#/load-balancers/shop/edit', 'What it will do', 'Nothing changes.'],
	back: ['#/config/history', 'Go back to 1', 'kernel operation'],
	user: ['#/system/users', 'New user', 'Role'],
	token: ['#/system/tokens', 'New token', 'Only from'],
	end_session: ['#/system/sessions', /^End the session/, 'Cancel'],
}

async function every_dialog_too(world) {
	const {page, session} = await openToLook(world)
	const dialog = page.getByRole('dialog'), faults = []
	const see = async (name, button, text) => {
		await page.setViewportSize({width: 1280, height: TALL})
		await page.getByRole('button', {name: button, exact: true}).first().click()
		await dialog.getByText(text).first().waitFor()
		faults.push(...await allLooks(world, page, session, `_dialog_${name}`, TALL))
		await page.keyboard.press('Escape')
		await dialog.waitFor({state: 'detached'})
	}
	for (const [name, [hash, button, text]] of Object.entries(DIALOGS)) {
		await visit(world, page, hash)
		await see(name, button, text)
	}
	// One that would leave no zone, and what stands while one is shifted.
	const shift = await world.daemon.must('POST', '/api/v1/zone-shifts', {zone: 'zone-b', load_balancer: 'shop', expires_in: '1h', comment: 'new switch'})
	await visit(world, page, '#/load-balancers/shop')
	await see('extend', 'Extend', 'From now on')
	await see('return', 'Return now', 'handed out again')
	await see('risky', 'Shift away zone-a', 'Type zone-a to confirm')
	await world.daemon.must('DELETE', `/api/v1/zone-shifts/${shift.id}`)
	await session.detach()
	await close(page)
	assert.deepEqual(faults, [])
}

/** At 360 px a thumb hits what a dialog does, and the places are behind a button. */
async function a_thumb_is_enough(world) {
	const {page, session} = await openToLook(world, {width: 360, height: 740})
	await visit(world, page, '#/load-balancers/shop')
	await page.getByRole('button', {name: 'Shift away zone-b'}).click()
	await page.getByRole('dialog').getByText('Answers then').waitFor()
	const box = await page.getByRole('dialog').getByRole('button', {name: 'Shift away'}).boundingBox()
	assert.ok(box.height >= 44, 'a thumb hits it')
	await page.keyboard.press('Escape')
	await page.getByRole('button', {name: 'Menu'}).click()
	await page.getByRole('link', {name: 'Server groups', exact: true}).waitFor()
	const faults = await look(world, page, session, '_menu', LOOKS_OF_A_PAGE.find(l => l.name === 'narrow'))
	await page.getByRole('link', {name: 'Server groups', exact: true}).click()
	await page.getByRole('heading', {name: 'Server groups', level: 1}).waitFor()
	await session.detach()
	await close(page)
	assert.deepEqual(faults, [])
}

/** The page of the row that one is on is never out of sight, however narrow the window is or becomes. */
async function the_open_tab_is_in_sight(world) {
	const page = await open(world, {width: 360, height: 740})
	const hidden = () => page.evaluate(() => {
		const row = document.querySelector('.tabs'), one = row.querySelector('[aria-current]')
		const a = row.getBoundingClientRect(), b = one.getBoundingClientRect()
		return b.left >= a.left - 1 && b.right <= a.right + 1 ? '' : `${one.textContent}: ${b.left} to ${b.right} in ${a.left} to ${a.right}`
	})
	for (const tab of ['node', 'kernel', 'settings', 'users', 'tokens', 'sessions']) {
		await visit(world, page, `#/system/${tab}`)
		await until(async () => await hidden() === '' || Promise.reject(new Error(await hidden())), 'it is in sight')
		await page.setViewportSize({width: 1280, height: 740})
		await painted(page)
		await page.setViewportSize({width: 360, height: 740})
		await until(async () => await hidden() === '' || Promise.reject(new Error(await hidden())), 'and after the window became narrow')
		assert.equal(await page.evaluate(() => scrollY), 0, 'the page itself stays')
	}
	await close(page)
}

/** Lines of narrow screens end between words, and in a name after a dot: no label is in two lines. */
async function names_are_broken_after_dots(world) {
	const page = await open(world, {width: 360, height: 740})
	const torn = () => page.evaluate(() => {
		const lines = document.createRange(), found = []
		for (const place of document.querySelectorAll('.mono, code')) {
			const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT)
			let before = '', top
			for (let node = walker.nextNode(); node; node = walker.nextNode()) {
				for (let i = 0; i < node.data.length; i++) {
					lines.setStart(node, i)
					lines.setEnd(node, i + 1)
					const box = lines.getClientRects()[0]
					if (!box || /\s/.test(node.data[i])) { before = node.data[i]; continue }
					// Within a label only where it is long.
					const soft = /[\w-]{21}/.test(place.textContent) ? /[\s./_:=-]/ : /[\s./]/
					if (top !== undefined && box.top > top + 4 && !soft.test(before)) found.push(`${place.textContent}: after "${before}"`)
					before = node.data[i]
					top = box.top
				}
			}
		}
		return found
	})
	const long = 'a-name-of-many-syllables'
	await world.daemon.must('PATCH', '/api/v1/load-balancers/shop', {dns_name: `${long}.shop.lb.example.net`})
	for (const hash of [`#/dns?name=${long}.shop.lb.example.net`, '#/load-balancers/shop', '#/system', '#/events/audit']) {
		await visit(world, page, hash)
		assert.deepEqual(await torn(), [], hash)
	}
	// Where there is room none is broken at all.
	await page.setViewportSize({width: 1280, height: 800})
	await visit(world, page, '#/dns')
	const lines = await page.evaluate(() => [...document.querySelectorAll('.keep')].map(e => e.getBoundingClientRect().height))
	assert.ok(lines.length > 2 && Math.max(...lines) < 30, lines.join())
	await world.daemon.must('PATCH', '/api/v1/load-balancers/shop', {dns_name: 'shop.lb.example.net'})
	await close(page)
}

export const SHOTS = [
	the_sign_in_page_too,
	every_dialog_too,
	a_thumb_is_enough,
	the_open_tab_is_in_sight,
	names_are_broken_after_dots,
]
