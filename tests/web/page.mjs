// SPDX-License-Identifier: GPL-2.0-or-later
// A page of the UI in a browser of its own, and all that went wrong on it.
import assert from 'node:assert/strict'

export const PASSWORD = 'a long password'

export async function open(world, {user = 'anna', width = 1280, height = 800, theme = 'light', bypassCSP = false} = {}) {
	const context = await world.browser.newContext({viewport: {width, height}, colorScheme: theme, bypassCSP, reducedMotion: 'reduce'})
	context.setDefaultTimeout(15000)
	const page = await context.newPage()
	page.troubles = []
	page.on('pageerror', fault => page.troubles.push(fault.stack))
	page.on('console', message => { if (message.type() === 'error' && !/status of (401|403|404|409|412|422|503)|ERR_/.test(message.text())) page.troubles.push(message.text()) })
	page.on('request', request => { if (!request.url().startsWith(new URL(world.daemon.base).origin)) page.troubles.push(`asks ${request.url()}`) })
	await page.goto(world.daemon.base)
	if (user) await signIn(page, user)
	return page
}

export async function signIn(page, user, password = PASSWORD) {
	await page.getByLabel('User').fill(user)
	await page.getByLabel('Password').fill(password)
	await page.getByRole('button', {name: 'Sign in'}).click()
	await page.getByRole('heading', {name: 'Overview', level: 1}).waitFor()
}

export async function visit(world, page, hash) {
	await page.goto(world.daemon.base + hash)
	await page.locator('#main h1').first().waitFor()
	await page.waitForFunction(() => ![...document.querySelectorAll('#main [role=status]')].some(e => e.textContent.startsWith('Reading')))
}

export async function close(page) {
	await page.context().close()
	assert.deepEqual(page.troubles, [])
}

/** Waits until `test` is true; says what it saw last when it does not become so. */
export async function until(test, what, limit = 15000) {
	const end = Date.now() + limit
	let last
	for (;;) {
		try { last = await test(); if (last) return last } catch (fault) { last = fault }
		if (Date.now() > end) throw new Error(`${what}: not within ${limit} ms (${last})`)
		await new Promise(done => setTimeout(done, 50))
	}
}
