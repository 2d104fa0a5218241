// SPDX-License-Identifier: GPL-2.0-or-later
// What an operator does, from nothing to a shifted zone.
import assert from 'node:assert/strict'
import {Resolver} from 'node:dns/promises'
import {close, open, PASSWORD, signIn, until, visit} from './page.mjs'

const addresses = async world => {
	const resolver = new Resolver({timeout: 1000, tries: 1})
	resolver.setServers([world.daemon.dns])
	return (await resolver.resolve4('shop.lb.example.net')).sort()
}

async function first_run(world) {
	const text = await world.daemon.cli('setup')
	const code = /[A-Z0-9]{4}(?:-[A-Z0-9]{4}){3}/.exec(text)?.[0]
	assert.ok(code, `no code in: ${text}`)
	const page = await open(world, {user: null})
	await page.getByRole('button', {name: 'I have a code'}).click()
	await page.getByLabel('One-time code').waitFor()
	// As it is printed: the address with the code's page.
	await page.goto(`${world.daemon.base}#/setup`)
	await page.reload()
	await page.getByLabel('One-time code').fill('AAAA-BBBB-CCCC-DDDD')
	await page.getByLabel('User').fill('anna')
	await page.getByLabel('Password', {exact: true}).fill('short')
	await page.getByLabel('Password again').fill('short')
	await page.getByRole('button', {name: 'Make the user'}).click()
	await until(() => page.locator('[aria-invalid=true], [role=alert]').count(), 'a bad code or password is told')
	await page.getByLabel('One-time code').fill(code)
	await page.getByLabel('Password', {exact: true}).fill(PASSWORD)
	await page.getByLabel('Password again').fill(PASSWORD)
	await page.getByRole('button', {name: 'Make the user'}).click()
	await page.getByRole('heading', {name: 'Overview', level: 1}).waitFor()
	await page.getByText('No load balancer yet').waitFor()
	await world.daemon.must('PUT', '/api/v1/users/vera', {role: 'viewer', password: PASSWORD})
	await close(page)
}
first_run.needed = true

async function refuses_a_wrong_password(world) {
	const page = await open(world, {user: null})
	await page.getByLabel('User').fill('anna')
	await page.getByLabel('Password').fill('another password')
	await page.getByRole('button', {name: 'Sign in'}).click()
	await page.getByRole('alert').getByText('the user or the password is wrong').waitFor()
	await signIn(page, 'anna')
	await close(page)
}

async function makeZone(world, page, name) {
	await visit(world, page, '#/zones/:new')
	await page.getByLabel('Name *').fill(name)
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('link', {name, exact: true}).waitFor()
}

async function builds_a_load_balancer_by_forms(world) {
	const page = await open(world)
	await makeZone(world, page, 'zone-a')
	await makeZone(world, page, 'zone-b')
	await visit(world, page, '#/server-groups/:new')
	await page.getByLabel('Name *').fill('web')
	const check = page.getByRole('group', {name: 'Health check'})
	await check.getByLabel('Type').selectOption('http')
	await check.getByLabel('Path').fill('/healthz')
	await check.getByLabel('Interval (ms)').fill('5')
	await check.getByLabel('Timeout (ms)').fill('900')
	await page.getByLabel('First servers').fill('web-1 127.0.1.11:8080 zone-a\nweb-2 127.0.1.12:8080 zone-a\nweb-3 127.0.1.13:8080 zone-b\nweb-4 127.0.1.14:8080 zone-b')
	await page.getByRole('button', {name: 'Save'}).click()
	// The fault of the API stands at its field.
	const interval = check.getByLabel('Interval (ms)')
	await until(async () => await interval.getAttribute('aria-invalid') === 'true', 'the bad interval is marked')
	assert.match(await page.locator(`#${(await interval.getAttribute('aria-describedby')).split(' ').pop()}`).textContent(), /100 to 300000/)
	await interval.fill('1000')
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('heading', {name: 'web', level: 1}).waitFor()
	await visit(world, page, '#/load-balancers/:new')
	await page.getByLabel('Name *').fill('shop')
	await page.getByLabel('DNS name').fill('shop.lb.example.net')
	const zone = page.getByRole('group', {name: 'First zone'})
	await zone.getByLabel('Zone').selectOption('zone-a')
	await zone.getByLabel('VIP (IPv4)', {exact: true}).fill('127.0.2.10')
	const listener = page.getByRole('group', {name: 'First listener'})
	await listener.getByLabel('Name of the listener').fill('http')
	await listener.getByLabel('Port *').fill('80')
	await listener.getByLabel('Server group *').selectOption('web')
	await page.getByRole('button', {name: 'What it will do'}).click()
	await page.getByRole('dialog').getByText('NEW_SERVICE').first().waitFor()
	await page.getByRole('dialog').getByRole('button', {name: 'Save'}).click()
	await page.getByRole('heading', {name: 'shop', level: 1}).waitFor()
	await page.getByRole('button', {name: 'Add a zone'}).click()
	await page.getByLabel('Zone *').selectOption('zone-b')
	await page.getByLabel('VIP (IPv4)', {exact: true}).fill('127.0.2.20')
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('heading', {name: 'zone-b', level: 3}).waitFor()
	await visit(world, page, '#/')
	await page.getByText('All 4 servers are healthy').waitFor()
	assert.deepEqual(await until(async () => { const a = await addresses(world); return a.length === 2 && a }, 'both zones are answered'), ['127.0.2.10', '127.0.2.20'])
	await close(page)
}
builds_a_load_balancer_by_forms.needed = true

async function tells_why_a_server_is_down(world) {
	const page = await open(world)
	await visit(world, page, '#/server-groups/web/servers/web-4')
	await world.backends[3].stop()
	const began = Date.now()
	await page.getByRole('heading', {name: 'Why unhealthy?'}).waitFor()
	// Its window, what was left of a probe, and one look of the page.
	assert.ok(Date.now() - began < 8000, `${Date.now() - began} ms`)
	await page.getByText('refused the connection').first().waitFor()
	await page.getByText('What to try:').waitFor()
	await visit(world, page, '#/')
	await page.getByRole('link', {name: /^1 of 4 servers down$/i}).click()
	await page.getByRole('heading', {name: 'Server groups', level: 1}).waitFor()
	await page.getByRole('link', {name: 'web', exact: true}).click()
	await page.getByRole('rowheader', {name: 'web-4'}).waitFor()
	assert.equal(await page.getByRole('rowheader').count(), 1, 'only what is unhealthy is listed')
	await world.backends[3].start()
	await page.getByText('No server matches').waitFor()
	await close(page)
}

async function drains_and_undrains(world) {
	const page = await open(world)
	await visit(world, page, '#/server-groups/web')
	await page.getByLabel('Pick web-1').check()
	await page.getByLabel('Pick web-2').check()
	await page.getByRole('button', {name: 'Drain', exact: true}).click()
	const dialog = page.getByRole('dialog')
	await dialog.getByLabel('Why').fill('new disks')
	await dialog.getByRole('button', {name: 'Drain'}).click()
	await dialog.waitFor({state: 'detached'})
	await until(async () => (await page.getByRole('row').filter({hasText: 'Draining'}).count()) === 2, 'two rows drain')
	assert.equal((await world.daemon.must('GET', '/api/v1/overrides')).items.filter(o => o.comment === 'new disks').length, 2)
	await page.getByRole('button', {name: 'Undrain', exact: true}).click()
	await dialog.getByRole('button', {name: 'Undrain'}).click()
	await until(async () => (await page.getByRole('row').filter({hasText: 'Draining'}).count()) === 0, 'none drains')
	await close(page)
}

async function overrides_a_weight(world) {
	const page = await open(world)
	await visit(world, page, '#/server-groups/web/servers/web-3')
	await page.getByRole('button', {name: 'Weight'}).click()
	const dialog = page.getByRole('dialog')
	await dialog.getByLabel('Weight').fill('7')
	await dialog.getByLabel('Why').fill('slow disk')
	await dialog.getByRole('button', {name: 'Set the weight'}).click()
	await page.getByText('weight 7 of 100').waitFor()
	await page.getByRole('button', {name: /^Reset the weight/}).click()
	await dialog.getByRole('button', {name: 'Reset'}).click()
	await page.getByText('weight 100').waitFor()
	await close(page)
}

async function probes_now(world) {
	const page = await open(world)
	await visit(world, page, '#/server-groups/web/servers/web-3')
	await page.getByRole('button', {name: 'Probe now'}).click()
	await page.getByRole('dialog').getByText('Passed').waitFor()
	await page.keyboard.press('Escape')
	await page.getByRole('dialog').waitFor({state: 'detached'})
	await close(page)
}

async function shifts_a_zone_and_dns_follows(world) {
	const page = await open(world)
	await visit(world, page, '#/load-balancers/shop')
	await page.getByRole('button', {name: 'Shift away zone-b'}).click()
	const dialog = page.getByRole('dialog')
	const impact = dialog.getByRole('region', {name: 'What it will do'})
	await impact.getByText('(without 127.0.2.20)').waitFor()
	assert.equal((await world.daemon.must('GET', '/api/v1/zone-shifts')).items.length, 0, 'looking changes nothing')
	await dialog.getByLabel('For how long').fill('38m')
	await dialog.getByLabel('Why').fill('new switch')
	await dialog.getByRole('button', {name: 'Shift away'}).click()
	await page.getByRole('timer').waitFor()
	assert.deepEqual(await addresses(world), ['127.0.2.10'])
	await page.getByRole('button', {name: 'Extend'}).click()
	await dialog.getByLabel('From now on, for').fill('2h')
	await dialog.getByRole('button', {name: 'Extend'}).click()
	await until(async () => /^[12]:\d\d:\d\d/.test(await page.getByRole('timer').textContent()), 'the countdown begins anew')
	await visit(world, page, '#/')
	await page.getByText(/zone-b shifted away, (2 h|1 h \d+ min) left/).waitFor()
	// A second one would leave no zone: it is refused unless the name is typed.
	await visit(world, page, '#/load-balancers/shop')
	await page.getByRole('button', {name: 'Shift away zone-a'}).click()
	await dialog.getByText('would have no zone left').waitFor()
	await dialog.getByLabel('Why').fill('both')
	await dialog.getByRole('button', {name: 'Shift away'}).click({force: true})
	await dialog.getByText('Type zone-a to confirm', {exact: true}).waitFor()
	assert.equal((await world.daemon.must('GET', '/api/v1/zone-shifts')).items.length, 1)
	await page.keyboard.press('Escape')
	await page.getByRole('button', {name: 'Return now'}).click()
	await dialog.getByRole('button', {name: 'Return now'}).click()
	await until(async () => (await addresses(world)).length === 2, 'both zones are answered again')
	await close(page)
}

async function edits_plans_applies_and_goes_back(world) {
	const page = await open(world)
	await visit(world, page, '#/config')
	const text = page.getByLabel('The document')
	const before = await text.inputValue()
	await text.fill(before.replace('"weight": 100', '"weight": 70000'))
	await page.getByRole('button', {name: 'What it will do'}).click()
	await page.getByRole('alert').getByText('/server_groups/web/servers/web-1/weight').waitFor()
	await text.fill(before.replace('"weight": 100', '"weight": 40'))
	await page.getByRole('button', {name: 'What it will do'}).click()
	await page.getByText(/SET_DEST.*40/).first().waitFor()
	await page.getByLabel('Comment').fill('lighter')
	await page.getByRole('button', {name: 'Apply'}).click()
	await page.getByText('The document is applied').waitFor()
	await visit(world, page, '#/config/history')
	await page.getByRole('cell', {name: 'lighter'}).waitFor()
	await page.getByRole('button', {name: /^Go back to/}).first().click()
	const dialog = page.getByRole('dialog')
	await dialog.getByText(/SET_DEST.*100/).first().waitFor()
	await dialog.getByLabel('Why').fill('too light')
	await dialog.getByRole('button', {name: 'Go back'}).click()
	await page.getByText('waits to be confirmed').waitFor()
	await page.getByRole('button', {name: 'Keep the change'}).click()
	await page.getByText('waits to be confirmed').waitFor({state: 'detached'})
	assert.equal((await world.daemon.must('GET', '/api/v1/server-groups/web/servers/web-1')).weight, 100)
	await close(page)
}

async function advises_while_one_types(world) {
	const page = await open(world)
	await visit(world, page, '#/server-groups/web/check')
	const aside = page.getByRole('complementary', {name: 'What it means'})
	await aside.getByText(/It is back within/).waitFor()
	await page.getByLabel('Interval (ms)').fill('60000')
	await aside.getByText('gets connections for up to').first().waitFor()
	await page.getByLabel('Interval (ms)').fill('7')
	await until(async () => await page.getByLabel('Interval (ms)').getAttribute('aria-invalid') === 'true', 'the bound is told at the field')
	await page.getByLabel('Type').selectOption('tcp')
	assert.equal(await page.getByLabel('Expected status').count(), 0, 'a tcp check has no status')
	await close(page)
}

async function refuses_a_viewer_with_the_reason(world) {
	const page = await open(world, {user: 'vera'})
	await visit(world, page, '#/load-balancers/shop')
	const button = page.getByRole('button', {name: /^Shift away zone-a/})
	assert.equal(await button.getAttribute('aria-disabled'), 'true')
	await page.getByText('needs the role operator; you are viewer').first().waitFor()
	await button.click({force: true})
	assert.equal(await page.getByRole('dialog').count(), 0)
	await visit(world, page, '#/system/users')
	await page.getByText('needs the role admin; you are viewer').first().waitFor()
	// And the daemon itself would not have it either.
	const status = await page.evaluate(async () => (await fetch('/api/v1/zone-shifts', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({zone: 'zone-a', load_balancer: 'shop', expires_in: '1h', comment: 'x'})})).status)
	assert.equal(status, 403)
	await close(page)
}

async function shows_events_as_they_happen(world) {
	const page = await open(world)
	await visit(world, page, '#/events')
	await page.getByText('Live: events come as they happen').waitFor()
	await world.daemon.must('PATCH', '/api/v1/zones/zone-a', {description: 'Hall 7'})
	await until(async () => /config\.applied/.test(await page.locator('#main .list li').first().textContent()), 'the change is on top', 3000)
	await close(page)
}

async function loses_and_regains_the_daemon(world) {
	const page = await open(world)
	await visit(world, page, '#/load-balancers/shop')
	await world.daemon.kill()
	await page.getByText('The connection to the daemon is lost.').waitFor()
	assert.equal(await page.locator('.stale').count(), 1, 'what is old is not shown as if it were now')
	await world.daemon.start()
	await page.getByText('The connection to the daemon is lost.').waitFor({state: 'detached'})
	await page.getByRole('heading', {name: 'zone-a', level: 3}).waitFor()
	await close(page)
}

async function ends_a_session(world) {
	const page = await open(world)
	for (const session of (await world.daemon.must('GET', '/api/v1/sessions')).items.filter(s => s.user === 'anna')) await world.daemon.must('DELETE', `/api/v1/sessions/${session.id}`)
	await page.getByRole('button', {name: 'Sign in'}).waitFor()
	await close(page)
}

/** In this order: each begins where the one before ended. */
export const FLOWS = [
	first_run,
	refuses_a_wrong_password,
	builds_a_load_balancer_by_forms,
	tells_why_a_server_is_down,
	drains_and_undrains,
	overrides_a_weight,
	probes_now,
	shifts_a_zone_and_dns_follows,
	edits_plans_applies_and_goes_back,
	advises_while_one_types,
	refuses_a_viewer_with_the_reason,
	shows_events_as_they_happen,
	loses_and_regains_the_daemon,
	ends_a_session,
]
