// SPDX-License-Identifier: GPL-2.0-or-later
// A page of the UI in a browser of its own, and all that went wrong on it.
import assert from 'node:assert/strict'

export const PASSWORD = 'a long password'

/** One browser state for all cases, and one with the policy lifted: each is processes of its own. */
async function contextOf(world, bypassCSP) {
	const known = world.contexts.get(bypassCSP)
	if (known) return known
	const made = await world.browser.newContext({bypassCSP, reducedMotion: 'reduce'})
	made.setDefaultTimeout(30000)
	world.contexts.set(bypassCSP, made)
	return made
}

async function newPage(world, context) {
	const page = await context.newPage()
	page.on('pageerror', fault => page.troubles.push(fault.stack))
	page.on('console', message => { if (message.type() === 'error' && !/status of (400|401|403|404|409|412|422|503)|ERR_/.test(message.text())) page.troubles.push(message.text()) })
	page.on('request', request => { if (!request.url().startsWith(new URL(world.base).origin)) page.troubles.push(`asks ${request.url()}`) })
	return page
}

/** The tab that stands, loaded anew: as this user, who signs in once, as people do; `user` null: as nobody. */
export async function open(world, {user = 'anna', width = 1280, height = 800, bypassCSP = false} = {}) {
	const context = await contextOf(world, bypassCSP)
	const page = context.pages()[0] ?? await newPage(world, context)
	page.troubles = []
	if (!user || context.user !== user) await context.clearCookies()
	context.user = user
	await page.emulateMedia({colorScheme: 'light'})
	await page.setViewportSize({width, height})
	await page.goto(world.base)
	const overview = page.getByRole('heading', {name: 'Overview', level: 1}), button = page.getByRole('button', {name: 'Sign in'})
	await (user ? overview.or(button) : button).waitFor()
	if (!user) return page
	if (await button.count()) await signIn(page, user)
	return page
}

export async function signIn(page, user, password = PASSWORD) {
	await page.getByLabel('User').fill(user)
	await page.getByLabel('Password').fill(password)
	await page.getByRole('button', {name: 'Sign in'}).click()
	await page.getByRole('heading', {name: 'Overview', level: 1}).waitFor()
}

export async function visit(world, page, hash) {
	await page.goto(world.base + hash)
	await page.locator('#main h1').first().waitFor()
	await page.waitForFunction(() => ![...document.querySelectorAll('#main [role=status], #main p.soft')].some(e => /^(Reading|Computing)/.test(e.textContent)))
}

/** Nothing runs in the tab any more. */
export async function close(page) {
	const troubles = [...page.troubles] // what it still asks for while it is left is none
	await page.goto(new URL('none', page.url()).href)
	assert.deepEqual(troubles, [])
}

/** Waits until `test` is true; says what it saw last when it does not become so. */
export async function until(test, what, limit = 30000) {
	const end = Date.now() + limit
	let last
	for (;;) {
		try { last = await test(); if (last) return last } catch (fault) { last = fault }
		if (Date.now() > end) throw new Error(`${what}: not within ${limit} ms (${last})`)
		await new Promise(done => setTimeout(done, 100))
	}
}
