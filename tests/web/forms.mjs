// SPDX-License-Identifier: GPL-2.0-or-later
// Every kind of object is made, changed and removed by its form, and a fault of the API stands at the field it belongs to.
import assert from 'node:assert/strict'
import {close, open, PASSWORD, until, visit} from './page.mjs'

/** What the daemon has of it. */
const read = (world, path) => world.daemon.must('GET', `/api/v1/${path}?view=config`)
const gone = async (world, path) => assert.equal((await world.daemon.call('GET', `/api/v1/${path}`)).status, 404, `${path} is gone`)

/** The page, form, field, a value that is refused and one that is taken. */
async function refusedThenTaken(world, page, hash, label, bad, good) {
	await visit(world, page, hash)
	const field = page.getByLabel(label, {exact: true}), save = page.getByRole('button', {name: 'Save', exact: true})
	await field.waitFor()
	const before = page.url()
	await field.fill(bad)
	await save.first().click()
	await until(async () => await field.getAttribute('aria-invalid') === 'true', `${hash}: the fault stands at ${label}`)
	await until(() => page.evaluate(() => document.activeElement.getAttribute('aria-invalid') === 'true'), 'and the focus, too')
	assert.equal(page.url(), before, 'the form stays')
	await field.fill(good)
	await save.first().click()
	// It leads to what was changed, but for that which has no page of its own.
	await until(async () => page.url() !== before || await page.getByRole('status').getByText('The settings were saved').count(), `${hash}: it is saved`)
}

async function removeIt(page) {
	await page.getByRole('button', {name: 'Remove', exact: true}).first().click()
	await page.getByRole('dialog').getByRole('button', {name: 'Remove', exact: true}).click()
	await page.getByRole('dialog').waitFor({state: 'detached'})
}

async function every_object_is_changed_by_its_form(world) {
	const page = await open(world)
	await world.daemon.must('PUT', '/api/v1/zones/zone-f', {})
	await world.daemon.must('PUT', '/api/v1/server-groups/forms', {protocol: 'tcp', servers: {'f-1': {address: '127.0.1.31', port: 80}}})
	await world.daemon.must('PUT', '/api/v1/load-balancers/forms', {zones: {'zone-f': {vip4: '127.0.4.10'}}, listeners: {http: {protocol: 'tcp', port: 80, server_group: 'forms'}}})
	const taken = (what, test) => until(test, `${what} is as the form said`)
	await refusedThenTaken(world, page, '#/zones/zone-f/edit', 'Client subnets', '10.1.0.1/16', '10.1.0.0/16')
	await taken('the zone', async () => String((await read(world, 'zones/zone-f')).client_subnets) === '10.1.0.0/16')
	await refusedThenTaken(world, page, '#/server-groups/forms/servers/f-1/edit', 'Weight', '70000', '7')
	await taken('the server', async () => (await read(world, 'server-groups/forms/servers/f-1')).weight === 7)
	await refusedThenTaken(world, page, '#/server-groups/forms/check', 'Timeout (ms)', '5', '700')
	await taken('the check', async () => (await read(world, 'server-groups/forms')).health_check.timeout_ms === 700)
	await refusedThenTaken(world, page, '#/load-balancers/forms/edit', 'DNS TTL (s)', '0', '30')
	await taken('the load balancer', async () => (await read(world, 'load-balancers/forms')).dns_ttl_s === 30)
	await refusedThenTaken(world, page, '#/load-balancers/forms/zones/zone-f', 'VIP (IPv4)', '127.0.4.300', '127.0.4.11')
	await taken('its zone', async () => (await read(world, 'load-balancers/forms/zones/zone-f')).vip4 === '127.0.4.11')
	await refusedThenTaken(world, page, '#/load-balancers/forms/listeners/http', 'Port', '99999', '8080')
	await taken('its listener', async () => (await read(world, 'load-balancers/forms/listeners/http')).port === 8080)
	await refusedThenTaken(world, page, '#/system/settings', 'UDP (s)', '-1', '60')
	await taken('the settings', async () => (await read(world, 'settings')).timeouts.udp_s === 60)
	await world.daemon.must('PATCH', '/api/v1/settings', {timeouts: {udp_s: 0}})
	// A server by form, and all of it removed by theirs.
	await visit(world, page, '#/server-groups/forms')
	await page.getByRole('button', {name: 'Add a server'}).click()
	await page.getByLabel('Name *').fill('f-2')
	await page.getByLabel('Address *').fill('127.0.1.300')
	await page.getByRole('button', {name: 'Save', exact: true}).click()
	await until(async () => await page.getByLabel('Address *').getAttribute('aria-invalid') === 'true', 'the fault stands at the address')
	await page.getByLabel('Address *').fill('127.0.1.32')
	await page.getByLabel('Port', {exact: true}).fill('80')
	await page.getByRole('button', {name: 'Save', exact: true}).click()
	await page.getByRole('heading', {name: 'f-2', exact: true, level: 1}).waitFor()
	await taken('the new server', async () => (await read(world, 'server-groups/forms')).servers['f-2'].address === '127.0.1.32')
	for (const [hash, path] of [['#/server-groups/forms/servers/f-2/edit', 'server-groups/forms/servers/f-2'], ['#/load-balancers/forms/listeners/http', 'load-balancers/forms/listeners/http'],
		['#/load-balancers/forms', 'load-balancers/forms'], ['#/server-groups/forms', 'server-groups/forms'], ['#/zones/zone-f/edit', 'zones/zone-f']]) {
		await visit(world, page, hash)
		await removeIt(page)
		await gone(world, path)
	}
	await close(page)
}

async function users_and_tokens_by_dialogs(world) {
	const page = await open(world)
	const dialog = page.getByRole('dialog')
	await visit(world, page, '#/system/users')
	await page.getByRole('button', {name: 'New user'}).click()
	await dialog.getByLabel('Name').fill('olaf')
	await dialog.getByLabel('Role').selectOption('operator')
	await dialog.getByLabel('Password').fill('short')
	await dialog.getByRole('button', {name: 'Save'}).click()
	await dialog.getByRole('alert').waitFor()
	await dialog.getByLabel('Password').fill(PASSWORD)
	await dialog.getByRole('button', {name: 'Save'}).click()
	const row = page.getByRole('row').filter({hasText: 'olaf'})
	await row.getByText('operator').waitFor()
	await page.getByRole('button', {name: 'Change olaf'}).click()
	await dialog.getByLabel('Role').selectOption('viewer')
	await dialog.getByRole('button', {name: 'Save'}).click()
	await row.getByText('viewer').waitFor()
	await page.getByRole('button', {name: 'Remove olaf'}).click()
	await dialog.getByRole('button', {name: 'Remove'}).click()
	await row.waitFor({state: 'detached'})
	assert.equal(await page.getByRole('button', {name: /^Remove anna \(this is you\)/}).getAttribute('aria-disabled'), 'true')
	await visit(world, page, '#/system/tokens')
	await page.getByRole('button', {name: 'New token'}).click()
	await dialog.getByLabel('Name').fill('prometheus')
	await dialog.getByLabel('Role').selectOption('metrics')
	await dialog.getByLabel('Holds for').fill('12h')
	await dialog.getByRole('button', {name: 'Make it'}).click()
	await dialog.getByText('It is shown now and never again.').waitFor()
	const secret = (await dialog.locator('code').textContent()).trim()
	assert.ok(secret.length > 30, 'the token')
	await dialog.getByRole('button', {name: 'Done'}).click()
	const status = () => page.evaluate(async token => (await fetch('/metrics', {headers: {Authorization: `Bearer ${token}`}, credentials: 'omit'})).status, secret)
	assert.equal(await status(), 200, 'it lets in')
	await page.getByRole('button', {name: 'Revoke prometheus'}).click()
	await dialog.getByRole('button', {name: 'Revoke'}).click()
	await page.getByText('No token yet').waitFor()
	assert.equal(await status(), 401, 'and no more')
	await close(page)
}

/** A daemon that takes a question and never answers: the page says so, and what is asked anew comes. */
async function every_wait_has_an_end(world) {
	const page = await open(world)
	let silent = true
	await page.route('**/api/v1/zones?*', route => silent ? undefined : route.continue()) // never answered
	try {
		await page.goto(`${world.base}#/zones`)
		await page.getByText('Reading the zones').waitFor()
		await page.getByText(/the zones cannot be shown/i).waitFor()
		silent = false
		await page.getByRole('heading', {name: 'zone-a'}).waitFor()
	} finally { await page.unrouteAll({behavior: 'ignoreErrors'}) }
	await close(page)
}

/** In this order: each begins where the one before ended. */
export const FORMS = [every_object_is_changed_by_its_form, users_and_tokens_by_dialogs, every_wait_has_an_end]
