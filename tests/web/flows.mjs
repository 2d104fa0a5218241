// SPDX-License-Identifier: GPL-2.0-or-later
// What needs no kernel: forms and their faults, advice, sessions, the stream of events. What an operator does with a gateway
// that balances is in lab.mjs.
import assert from 'node:assert/strict'
import {close, open, PASSWORD, signIn, until, visit} from './page.mjs'
import {allLooks, openToLook, what_is_empty_teaches} from './shots.mjs'
import {addZone, codeOf, fillFirstUser, makeBalancer, makeFirstUser, makeGroup, makeZone} from './steps.mjs'

async function first_run(world) {
	const code = codeOf(await world.daemon.cli('setup'))
	const page = await open(world, {user: null})
	await page.getByRole('button', {name: 'I have a code'}).click()
	await page.getByLabel('One-time code').waitFor()
	await fillFirstUser(page, 'AAAA-BBBB-CCCC-DDDD', 'anna', 'short')
	await until(() => page.locator('[aria-invalid=true], [role=alert]').count(), 'a bad code or password is told')
	await makeFirstUser(world, page, code, 'anna')
	await page.getByText('No load balancer yet').waitFor()
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

/** Who is signed out goes by addresses, too: to the form for a code, and after signing in to the page that was asked for. */
async function an_address_is_followed_while_signed_out(world) {
	const page = await open(world, {user: null})
	const code = page.getByLabel('One-time code'), user = page.getByLabel('User')
	const enter = async () => {
		await user.fill('anna')
		await page.getByLabel('Password', {exact: true}).fill(PASSWORD)
		await page.getByRole('button', {name: 'Sign in'}).click()
	}
	await page.goto(`${world.base}#/system/kernel`)
	await page.getByRole('button', {name: 'Sign in'}).waitFor()
	await page.goto(`${world.base}#/setup`) // as printed, into the tab that is open
	await code.waitFor()
	assert.equal(await code.evaluate(e => e === document.activeElement), true, 'one may type at once')
	await page.goBack()
	await page.getByRole('button', {name: 'Sign in'}).waitFor()
	await page.getByRole('button', {name: 'I have a code'}).click()
	await code.waitFor()
	assert.equal(new URL(page.url()).hash, '#/setup')
	await page.getByRole('button', {name: 'Back to signing in'}).click()
	await page.getByRole('button', {name: 'Sign in'}).waitFor()
	assert.equal(await user.evaluate(e => e === document.activeElement), true)
	await enter()
	await page.getByRole('region', {name: 'Drift'}).waitFor()
	assert.equal(new URL(page.url()).hash, '#/system/kernel', 'the page that was asked for')
	// Signed in, the address of the code says what to do.
	await page.goto(`${world.base}#/setup`)
	await page.getByText('You are signed in as').waitFor()
	await page.locator('#main').getByRole('button', {name: 'Sign out'}).click()
	await code.waitFor()
	await page.getByRole('button', {name: 'Back to signing in'}).click()
	await enter()
	await page.getByRole('heading', {name: 'Overview', level: 1}).waitFor()
	await close(page)
}

async function faults_stand_at_their_fields(world) {
	const page = await open(world)
	await makeZone(world, page, 'zone-a')
	await makeZone(world, page, 'zone-b')
	const check = await makeGroup(world, page, ['web-1 127.0.1.11:8080 zone-a', 'web-2 127.0.1.12:8080 zone-a', 'web-3 127.0.1.13:8080 zone-b', 'web-4 127.0.1.14:8080 zone-b'])
	const interval = check.getByLabel('Interval (ms)')
	await interval.fill('5')
	await page.getByRole('button', {name: 'Save'}).click()
	await until(async () => await interval.getAttribute('aria-invalid') === 'true', 'the bad interval is marked')
	assert.match(await page.locator(`#${(await interval.getAttribute('aria-describedby')).split(' ').pop()}`).textContent(), /100 to 300000/)
	await interval.fill('1000')
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('heading', {name: 'web', level: 1}).waitFor()
	await makeBalancer(world, page, '127.0.2.10')
	await addZone(page, 'zone-b', '127.0.2.20')
	await page.getByRole('heading', {name: 'zone-b', level: 3}).waitFor()
	await visit(world, page, '#/')
	await page.getByText('All 4 servers are healthy').waitFor()
	await close(page)
}
faults_stand_at_their_fields.needed = true

async function a_form_holds_what_is_configured(world) {
	const page = await open(world)
	await visit(world, page, '#/load-balancers/shop/edit')
	await until(async () => await page.getByLabel('DNS name').inputValue() === 'shop.lb.example.net', 'that of the load balancer')
	// Straight from one form to another: nothing of the first is in the second.
	await visit(world, page, '#/load-balancers/shop/zones/zone-b')
	await until(async () => await page.getByLabel('VIP (IPv4)', {exact: true}).inputValue() === '127.0.2.20', 'that of the zone')
	await visit(world, page, '#/load-balancers/shop/listeners/http')
	await until(async () => await page.getByLabel('Port', {exact: true}).inputValue() === '80', 'that of the listener')
	await visit(world, page, '#/load-balancers/:new')
	assert.equal(await page.getByLabel('Cross zone').isChecked(), true, 'a new one begins with the defaults')
	assert.equal(await page.getByLabel('DNS name').inputValue(), '')
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

async function shows_events_as_they_happen(world) {
	const page = await open(world)
	await visit(world, page, '#/events')
	await page.getByText('Live: events come as they happen').waitFor()
	await world.daemon.must('PATCH', '/api/v1/zones/zone-a', {description: 'Hall 7'})
	await until(async () => /config\.applied/.test(await page.locator('#main .list li').first().textContent()), 'the change is on top')
	await close(page)
}

/** What the sparks draw, and what a server has to bear of probes. */
async function probes_are_told_in_numbers(world) {
	const {page, session} = await openToLook(world)
	await visit(world, page, '#/server-groups/web')
	await page.getByRole('img', {name: /^The last \d+ probes/}).first().waitFor()
	await page.getByText('The last probes as a table').click()
	const table = page.getByRole('table', {name: 'The last probes of the servers in sight, the newest first'})
	for (const name of ['web-1', 'web-4']) assert.match(await table.getByRole('row').filter({hasText: name}).textContent(), /\d ms/)
	assert.deepEqual(await allLooks(world, page, session, '_probes'), [])
	await visit(world, page, '#/server-groups/web/servers/web-1')
	await page.getByText('each gateway sends 1 probe a second to 127.0.1.11').waitFor()
	await close(page)
}

/** Of a daemon that was killed nobody knows when it ceased to look: the band and the table say so. */
async function an_end_without_a_stop_is_told(world) {
	await world.daemon.kill()
	await world.daemon.start()
	const page = await open(world)
	await visit(world, page, '#/server-groups/web/servers/web-1')
	const over = page.getByRole('region', {name: 'Health over time'})
	await over.getByRole('img', {name: /unknown until \d\d:\d\d:\d\d/}).waitFor()
	await over.getByText('Hatched: the daemon ended without a stop').waitFor()
	await over.getByRole('row').filter({hasText: 'The daemon started'}).getByText(/^Unknown until \d\d:\d\d:\d\d: it had ended without a stop/).first().waitFor()
	await close(page)
}

async function an_access_list_by_forms(world) {
	const {page, session} = await openToLook(world)
	const faults = [], see = async name => {
		faults.push(...await allLooks(world, page, session, name))
		await page.setViewportSize({width: 1280, height: 800})
	}
	await visit(world, page, '#/access-lists')
	await page.getByText('No access list yet').waitFor()
	await see('_empty_access-lists')
	await page.getByRole('button', {name: 'New access list'}).click()
	await page.getByLabel('Name *').fill('office')
	await page.getByLabel('Description').fill('who works here')
	await page.getByLabel('First entries').fill('198.51.100.0/24 allow # the house\n203.0.113.7 maybe')
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('alert').getByText('Nothing was sent: line 2').waitFor()
	await page.getByLabel('First entries').fill('198.51.100.0/24 allow # the house\n203.0.113.7/24 deny')
	await page.getByRole('button', {name: 'Save'}).click()
	await until(async () => await page.getByLabel('First entries').getAttribute('aria-invalid') === 'true', 'the fault stands at the field')
	await page.getByText('line 2: 203.0.113.7/24').waitFor()
	await see('_access_new')
	await page.getByLabel('First entries').fill('198.51.100.0/24 allow # the house\n203.0.113.7 deny # a scanner')
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('heading', {name: 'office', level: 1}).waitFor()
	const entries = page.getByRole('region', {name: 'Entries'}), dialog = page.getByRole('dialog')
	await entries.getByRole('row').filter({hasText: '203.0.113.7/32'}).getByText('Denied').waitFor()
	await page.getByRole('button', {name: 'Add entries'}).click()
	await dialog.getByLabel('Entries').fill('2001:db8::/32\n\n10.0.0.1/8 deny')
	await dialog.getByRole('button', {name: 'Add'}).click()
	await dialog.getByText('line 3: 10.0.0.1/8').waitFor()
	assert.equal(await dialog.getByLabel('Entries').getAttribute('aria-invalid'), 'true', 'the fault stands at the field')
	await dialog.getByRole('alert').waitFor()
	await dialog.getByLabel('Entries').fill('2001:db8::/32\n198.51.100.66 deny # the guests')
	await dialog.getByRole('alert').waitFor({state: 'detached'}) // what is written anew has no fault yet
	assert.equal(await dialog.getByLabel('Entries').getAttribute('aria-invalid'), null)
	await see('_dialog_entries')
	await dialog.getByRole('button', {name: 'Add'}).click()
	await entries.getByRole('row').filter({hasText: '2001:db8::/32'}).getByText('Allowed').waitFor()
	await page.getByRole('button', {name: 'Change 198.51.100.66/32'}).click()
	await dialog.getByLabel('Entries').fill('198.51.100.66 allow # they may')
	await dialog.getByRole('button', {name: 'Save'}).click()
	await entries.getByRole('row').filter({hasText: '198.51.100.66/32'}).getByText('Allowed').waitFor()
	await page.getByLabel('Pick 203.0.113.7/32').check()
	await entries.getByRole('button', {name: 'Remove'}).click()
	await dialog.getByRole('button', {name: 'Remove'}).click()
	await entries.getByRole('row').filter({hasText: '203.0.113.7/32'}).waitFor({state: 'detached'})
	const {entries: kept} = await world.daemon.must('GET', '/api/v1/access-lists/office')
	assert.deepEqual(kept.map(e => [e.cidr, e.action]), [['198.51.100.0/24', 'allow'], ['198.51.100.66/32', 'allow'], ['2001:db8::/32', 'allow']])
	// A listener names it; then it is not removed.
	await visit(world, page, '#/load-balancers/shop/listeners/http')
	await page.getByLabel('Access list').selectOption('office')
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('region', {name: 'Listeners'}).getByRole('link', {name: 'office'}).click()
	await page.getByRole('link', {name: 'shop/http'}).waitFor()
	const question = page.getByRole('region', {name: 'May a client come in'})
	const ask = async (client, answer) => {
		await question.getByLabel("Client's address").fill(client)
		await question.getByRole('button', {name: 'Ask'}).click()
		await question.getByText(answer).waitFor()
	}
	await ask('198.51.100.7', /comes in by the entry 198\.51\.100\.0\/24 of office “the house”/)
	await ask('2001:db9::1', /is kept out as no entry of office is around it/)
	await ask('198.51.100.300', /"198\.51\.100\.300" is not a/)
	await see('_access_list')
	await visit(world, page, '#/load-balancers/shop/listeners/http')
	await ask('198.51.100.66', /comes in by the entry 198\.51\.100\.66\/32 of office “they may”/)
	await see('_access_question')
	await visit(world, page, '#/access-lists/office')
	await page.getByRole('button', {name: 'Remove', exact: true}).first().click()
	await dialog.getByRole('button', {name: 'Remove'}).click()
	await dialog.getByRole('alert').getByText('shop').first().waitFor()
	await page.keyboard.press('Escape')
	await visit(world, page, '#/access-lists')
	await page.getByRole('link', {name: 'shop/http'}).waitFor()
	await see('_access_lists')
	await visit(world, page, '#/access-lists/office/edit')
	await page.getByLabel('Default action').selectOption('allow')
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('region', {name: 'In numbers'}).getByText('Allowed', {exact: true}).waitFor()
	await world.daemon.must('PATCH', '/api/v1/load-balancers/shop/listeners/http', {access_list: null})
	await world.daemon.must('DELETE', '/api/v1/access-lists/office')
	await session.detach()
	await close(page)
	assert.deepEqual(faults, [])
}

async function a_range_of_ports_by_form(world) {
	const {page, session} = await openToLook(world)
	await visit(world, page, '#/load-balancers/shop/listeners/:new')
	await page.getByLabel('Name *').fill('many')
	const range = page.getByLabel('Port range')
	assert.equal(await page.locator('form .help').filter({hasText: /port_range|false:|true:/}).count(), 0, 'words of the form, not of the document')
	await range.fill('8100-8000')
	await page.getByLabel('Server group *').selectOption('web')
	await page.getByRole('button', {name: 'Save'}).click()
	await until(async () => await range.getAttribute('aria-invalid') === 'true', 'the fault stands at the field')
	assert.deepEqual(await allLooks(world, page, session, '_range'), [])
	await range.fill('8000-8100')
	await page.getByRole('button', {name: 'Save'}).click()
	const row = page.getByRole('region', {name: 'Listeners'}).getByRole('row').filter({hasText: 'many'})
	await row.getByText('tcp 8000–8100').waitFor()
	await row.getByRole('link', {name: 'many'}).click()
	await page.getByRole('heading', {name: 'Edit many', level: 1}).waitFor()
	assert.equal(await page.getByLabel('Port range').inputValue(), '8000-8100')
	await page.getByLabel('Port range').fill('')
	await page.getByLabel('Port', {exact: true}).fill('8443')
	await page.getByRole('button', {name: 'Save'}).click()
	await row.getByText('tcp 8443').waitFor()
	await world.daemon.must('DELETE', '/api/v1/load-balancers/shop/listeners/many')
	await session.detach()
	await close(page)
}

/** What is shown is the configuration: where the kernel lacks some of it, each page that may mislead says so. */
async function what_the_kernel_lacks_is_told(world) {
	const page = await open(world)
	let lacks = () => ({})
	await page.route('**/api/v1/system', async route => {
		const answer = await route.fetch(), json = await answer.json()
		await route.fulfill({response: answer, json: {...json, ...lacks(json)}})
	})
	const note = page.locator('.banner').filter({hasText: 'Not all of the configuration is in the kernel:'})
	try {
		lacks = json => ({kernel: {...json.kernel, guard_fault: 'the guard of the VIPs was refused'}})
		for (const hash of ['#/', '#/access-lists', '#/load-balancers/shop/listeners/http', '#/load-balancers/shop', '#/system/kernel']) {
			await visit(world, page, hash)
			await note.getByText('the guard of the VIPs was refused').waitFor()
			assert.equal(await note.getByRole('link', {name: 'System'}).getAttribute('href'), '#/system', hash)
			assert.equal(await note.count(), 1, hash)
			if (hash === '#/') await page.locator('.sentence').filter({has: page.locator('.t-bad')}).getByText('Not all of the configuration is in the kernel').waitFor()
		}
		lacks = json => ({applied_revision: json.revision - 1})
		await visit(world, page, '#/')
		await note.getByText(/the revision is \d+; the kernel has \d+\.$/).waitFor()
		assert.match(await note.getAttribute('class'), /bad/)
		lacks = () => ({})
		await note.waitFor({state: 'detached'})
		// A node that is not ready says why: its checks come with a 503.
		lacks = () => ({state: 'not ready'})
		await page.route('**/readyz?*', route => route.fulfill({status: 503, json: {status: 'not ready', checks: [{check: 'store', ok: false, decides: true, detail: 'the disk is full'}]}}))
		await visit(world, page, '#/system')
		await page.getByRole('region', {name: 'Checks'}).getByText('store: the disk is full').waitFor()
		await page.getByRole('region', {name: 'Node', exact: true}).getByText('Not ready').waitFor()
	} finally { await page.unrouteAll({behavior: 'ignoreErrors'}) }
	await close(page)
}

/** As a gateway tells it that has the list in its kernel. */
async function an_access_list_tells_what_it_decided(world) {
	await world.daemon.must('PUT', '/api/v1/access-lists/office', {default_action: 'deny', entries: [{cidr: '198.51.100.0/24', action: 'allow'}, {cidr: '203.0.113.7/32', action: 'deny'}]})
	const {page, session} = await openToLook(world)
	const entries = page.getByRole('region', {name: 'Entries'}), numbers = page.getByRole('region', {name: 'In numbers'})
	await visit(world, page, '#/access-lists/office')
	await entries.getByRole('rowheader').first().waitFor()
	assert.equal(await entries.getByText('Packets').count(), 0, 'nothing is counted here: no column')
	const hits = {available: true, entries: [{cidr: '203.0.113.7/32', action: 'deny', comment: '', packets: 12345, bytes: 740700}], entries_total: 1, default: {packets: 1, bytes: 60}}
	await page.route('**/api/v1/access-lists/office/hits', route => route.fulfill({json: hits}))
	try {
		await entries.getByRole('button', {name: 'Packets'}).dblclick()
		await entries.getByRole('row').nth(1).getByText('12 k', {exact: true}).waitFor()
		assert.match(await entries.getByRole('row').nth(1).textContent(), /^203\.0\.113\.7\/32.*Denied12\sk/, 'downwards the busiest is first')
		await numbers.getByText(/^Denied, 1 packet$/).waitFor()
		assert.deepEqual(await allLooks(world, page, session, '_access_hits'), [])
	} finally { await page.unrouteAll({behavior: 'ignoreErrors'}) }
	await world.daemon.must('DELETE', '/api/v1/access-lists/office')
	await session.detach()
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
	what_is_empty_teaches,
	refuses_a_wrong_password, an_address_is_followed_while_signed_out,
	faults_stand_at_their_fields,
	a_form_holds_what_is_configured,
	overrides_a_weight,
	probes_now,
	advises_while_one_types,
	shows_events_as_they_happen,
	probes_are_told_in_numbers,
	an_end_without_a_stop_is_told,
	an_access_list_by_forms,
	a_range_of_ports_by_form,
	what_the_kernel_lacks_is_told,
	an_access_list_tells_what_it_decided,
	ends_a_session,
]
