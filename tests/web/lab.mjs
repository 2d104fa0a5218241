// SPDX-License-Identifier: GPL-2.0-or-later
// What an operator does with a gateway that balances: real IPVS, real servers and clients. Each story asserts what the
// kernel's table, the client's connections or its dig show, not what the page says of itself.
import assert from 'node:assert/strict'
import {join} from 'node:path'
import {pictures, walk} from './shots.mjs'
import {close, open, PASSWORD, until, visit} from './page.mjs'
import {codeOf, makeBalancer, makeFirstUser, makeGroup, makeZone, addZone} from './steps.mjs'

const VIP_A = '192.0.2.10', VIP_B = '192.0.2.20'
const BOTH = [VIP_A, VIP_B]
const SERVERS = {'web-1': '10.2.0.11', 'web-2': '10.2.0.12', 'web-3': '10.2.0.13', 'web-4': '10.2.0.14'}
// Beside a window: what a busy machine takes away from a lab with one processor, and a look of the page.
const MARGIN_MS = 10000

/** Until both services have these weights: `all` for each server, but for what `others` say. */
const weights = (world, all, others = {}) => {
	const wanted = Object.fromEntries(Object.entries(SERVERS).map(([name, address]) => [address, others[name] ?? all]))
	return until(async () => {
		const table = await world.gateway.act('table')
		return BOTH.every(vip => { const have = table[`TCP ${vip}:80`]; return have && Object.entries(wanted).every(([a, w]) => have[a] === w) }) || Promise.reject(new Error(JSON.stringify(table)))
	}, `the kernel has weight ${all}, ${JSON.stringify(others)}`)
}

const dig = (world, wanted, why) => until(async () => {
	const have = await world.gateway.act('dig')
	return String(have) === String(wanted) || Promise.reject(new Error(have))
}, why)

/** Nobody new comes to these servers, while the client is answered by others. */
async function nobodyComesTo(world, ...names) {
	const counts = async () => (await world.gateway.act('counts')).answers
	const sum = answers => Object.values(answers).reduce((a, n) => a + n, 0)
	// The client asks one after the other: what was on its way is over after two answers more.
	const more = async (than, n) => until(async () => { const now = await counts(); return sum(now) >= sum(than) + n && now }, `${n} more answers`)
	const before = await more(await counts(), 2)
	const after = await more(before, 8)
	for (const name of names) assert.equal(after[name], before[name], `${name} gets no connection`)
}

async function lab_the_first_users(world) {
	const page = await open(world, {user: null})
	await makeFirstUser(world, page, codeOf(await world.gateway.act('setup')), 'anna')
	await page.getByText('No load balancer yet').waitFor()
	await visit(world, page, '#/system/users')
	await page.getByRole('button', {name: 'New user'}).click()
	const dialog = page.getByRole('dialog')
	await dialog.getByLabel('Name').fill('vera')
	await dialog.getByLabel('Role').selectOption('viewer')
	await dialog.getByLabel('Password').fill(PASSWORD)
	await dialog.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('cell', {name: 'vera', exact: true}).waitFor()
	await close(page)
}

async function lab_a_load_balancer_from_nothing(world) {
	const page = await open(world)
	assert.deepEqual(await world.gateway.act('table'), {})
	await makeZone(world, page, 'zone-a')
	await makeZone(world, page, 'zone-b')
	await makeGroup(world, page, Object.entries(SERVERS).map(([name, address], i) => `${name} ${address}:80 ${i < 2 ? 'zone-a' : 'zone-b'}`))
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('heading', {name: 'web', level: 1}).waitFor()
	await makeBalancer(world, page, VIP_A)
	await addZone(page, 'zone-b', VIP_B)
	await page.getByRole('heading', {name: 'zone-b', level: 3}).waitFor()
	await weights(world, 100)
	await dig(world, BOTH, 'both zones are answered')
	await visit(world, page, '#/')
	await page.getByText('All 4 servers are healthy').waitFor()
	await close(page)
}

async function lab_traffic_is_seen(world) {
	await world.gateway.act('traffic')
	const page = await open(world)
	await visit(world, page, '#/load-balancers/shop')
	const panel = page.getByRole('region', {name: 'Throughput'})
	const number = async text => Number((await panel.locator('.numbers > *').filter({hasText: text}).locator('b').textContent()).replace(/[^\d.]/g, ''))
	await until(async () => await number('new connections/s') > 0, 'connections flow, as the page says')
	await panel.getByText('as a table').click()
	await until(async () => (await panel.getByRole('table').getByRole('row').count()) > 2, 'and as a table')
	await until(async () => Object.keys((await world.gateway.act('counts')).answers).length === 4, 'every server answers the client')
	await visit(world, page, '#/system/kernel')
	const row = page.getByRole('row').filter({hasText: `${VIP_A}:80`})
	await until(async () => Number((await row.getByRole('cell').last().textContent()).replace(/\D/g, '')) > 0, 'the table counts them')
	await visit(world, page, '#/system')
	await page.getByRole('region', {name: 'Doctor'}).getByText('ip route replace default via').first().waitFor()
	await close(page)
}

/** The forms of an access list, and what its packets see: the page counts those that it kept out. */
async function lab_an_access_list_keeps_out(world) {
	const stranger = await world.gateway.act('stranger')
	const knock = () => world.gateway.act('knock', VIP_A, 80, stranger)
	assert.equal(await knock(), 'open')
	const page = await open(world)
	await visit(world, page, '#/access-lists/:new')
	await page.getByLabel('Name *').fill('office')
	await page.getByLabel('Default action').selectOption('allow')
	await page.getByLabel('First entries').fill(`${stranger} deny # a scanner\n10.9.0.0/16 deny`)
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByText('in no listener: it keeps nobody out').waitFor()
	assert.equal(await knock(), 'open', 'no listener names it')
	await visit(world, page, '#/load-balancers/shop/listeners/http')
	await page.getByLabel('Access list').selectOption('office')
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('region', {name: 'Listeners'}).getByRole('link', {name: 'office'}).click()
	assert.equal(await knock(), 'silent', 'saved is in force')
	await nobodyComesTo(world) // others go on: the client of the traffic is answered
	const row = page.getByRole('region', {name: 'Entries'}).getByRole('row').filter({hasText: stranger})
	await until(async () => Number(/(\d+)$/.exec(await row.getByRole('cell').filter({hasText: /^\d+$/}).textContent())[1]) >= 5, 'its packets are counted')
	await page.getByRole('region', {name: 'In numbers'}).getByText(/^Allowed, [\d,]+ packets$/).waitFor()
	const question = page.getByRole('region', {name: 'May a client come in'})
	await question.getByLabel("Client's address").fill(stranger)
	await question.getByRole('button', {name: 'Ask'}).click()
	await question.getByText(`is kept out by the entry ${stranger}/32 of office “a scanner”`).waitFor()
	await pictures(world, page, '_access_counted')
	// All that is listed is picked by one press, and removed.
	await page.getByLabel('Pick all 2 listed').check()
	await page.getByText('2 entries picked').waitFor()
	await page.getByRole('region', {name: 'Entries'}).getByRole('button', {name: 'Remove'}).click()
	await page.getByRole('dialog').getByRole('button', {name: 'Remove'}).click()
	await page.getByText('No entry yet').waitFor()
	assert.equal(await knock(), 'open')
	await visit(world, page, '#/load-balancers/shop/listeners/http')
	await page.getByLabel('Access list').selectOption('')
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('region', {name: 'Listeners'}).waitFor()
	await visit(world, page, '#/access-lists/office')
	await page.getByRole('button', {name: 'Remove', exact: true}).first().click()
	await page.getByRole('dialog').getByRole('button', {name: 'Remove'}).click()
	await page.getByText('No access list yet').waitFor()
	await close(page)
}

async function lab_a_range_of_ports_is_balanced_and_the_rest_guarded(world) {
	const knock = port => world.gateway.act('knock', VIP_A, port)
	const page = await open(world)
	await visit(world, page, '#/load-balancers/shop/listeners/:new')
	await page.getByLabel('Name *').fill('many')
	await page.getByLabel('Port range').fill('8000-8100')
	await page.getByLabel('Server group *').selectOption('web')
	await page.getByRole('button', {name: 'Save'}).click()
	const row = page.getByRole('region', {name: 'Listeners'}).getByRole('row').filter({hasText: 'many'})
	await row.getByText('tcp 8000–8100').waitFor()
	await row.getByText('2 of 2 services').waitFor()
	for (const port of [8000, 8057, 8100]) assert.equal(await knock(port), 'open', `${port}`)
	assert.equal(await knock(8101), 'refused')
	await visit(world, page, '#/load-balancers/shop/edit')
	await page.getByText(/^More settings/).click()
	await page.getByLabel('Vip guard').or(page.getByLabel('VIP guard')).selectOption('drop')
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('heading', {name: 'shop', level: 1, exact: true}).waitFor()
	assert.equal(await knock(8101), 'silent', 'what has no listener is not answered')
	assert.equal(await knock(8057), 'open')
	await visit(world, page, '#/load-balancers/shop/edit')
	await page.getByText(/^More settings/).click()
	await page.getByLabel('Vip guard').or(page.getByLabel('VIP guard')).selectOption('off')
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('link', {name: 'many', exact: true}).click()
	await page.getByRole('button', {name: 'Remove'}).click()
	await page.getByRole('dialog').getByRole('button', {name: 'Remove'}).click()
	await page.getByRole('region', {name: 'Listeners'}).waitFor() // of the load balancer: it has been removed
	await row.waitFor({state: 'detached'})
	assert.equal(await knock(8057), 'refused')
	await close(page)
}

async function lab_a_killed_server_tells_its_reason(world) {
	const page = await open(world)
	await visit(world, page, '#/server-groups/web')
	const said = /\(silent\) or ([\d.]+) (ms|s) \(refused\)/.exec(await page.getByText('is noticed within').textContent())
	const window = Number(said[1]) * (said[2] === 's' ? 1000 : 1)
	await visit(world, page, '#/server-groups/web/servers/web-2')
	await world.gateway.act('kill', 'web-2')
	const began = Date.now()
	const card = page.getByRole('region', {name: 'Why unhealthy'})
	await card.waitFor()
	const took = Date.now() - began
	assert.ok(took < window + MARGIN_MS, `${took} ms; its window is ${window} ms`)
	await card.getByText('refused the connection').first().waitFor()
	await card.getByText('What to try:').waitFor()
	await card.getByText('gateway-1').waitFor()
	await weights(world, 100, {'web-2': 0})
	await nobodyComesTo(world, 'web-2')
	// From the number to the list behind it.
	await visit(world, page, '#/')
	await page.getByRole('link', {name: /^1 of 4 servers down$/i}).click()
	await page.getByRole('heading', {name: 'Server groups', level: 1}).waitFor()
	await page.getByRole('link', {name: 'web', exact: true}).click()
	await page.getByRole('rowheader', {name: 'web-2'}).waitFor()
	assert.equal(await page.getByRole('rowheader').count(), 1, 'only what is unhealthy is listed')
	await world.gateway.act('start', 'web-2')
	await page.getByText('No server matches').waitFor()
	await weights(world, 100)
	await close(page)
}

async function lab_a_drain_lets_connections_finish(world) {
	await world.gateway.act('hold', VIP_A)
	const before = await world.gateway.act('held')
	assert.ok((before.owners['web-1'] ?? 0) + (before.owners['web-3'] ?? 0) > 0, 'some are on those that will be drained')
	const page = await open(world, {width: 360, height: 740}) // by thumb
	await visit(world, page, '#/server-groups/web')
	await page.getByLabel('Pick web-1').check()
	await page.getByLabel('Pick web-3').check()
	await page.getByRole('button', {name: 'Drain', exact: true}).click()
	const dialog = page.getByRole('dialog')
	await dialog.getByLabel('Why').fill('new disks')
	await dialog.getByLabel('Let connections finish').fill('30m')
	assert.ok((await dialog.getByRole('button', {name: 'Drain'}).boundingBox()).height >= 44, 'a thumb hits it')
	assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the screen')
	await page.screenshot({path: join(world.shots, 'narrow_drain.png')})
	await dialog.getByRole('button', {name: 'Drain'}).click()
	await dialog.waitFor({state: 'detached'})
	await weights(world, 100, {'web-1': 0, 'web-3': 0})
	const row = page.getByRole('row').filter({hasText: 'web-1'})
	await row.getByText(/^\d+ (?:open )?left · .*(29|30):\d\d/).waitFor()
	await nobodyComesTo(world, 'web-1', 'web-3')
	const held = await world.gateway.act('held')
	assert.deepEqual(held.broken, [], 'those of before go on')
	await until(async () => (await world.gateway.act('held')).exchanges > held.exchanges, 'they speak on')
	// The band of its health: what was before the drain stays.
	await visit(world, page, '#/server-groups/web/servers/web-1')
	await page.getByRole('img', {name: /Healthy from \S+ for [^;]+; Draining from \S+ for \d+ s$/}).waitFor()
	await visit(world, page, '#/server-groups/web')
	await page.getByLabel('Pick web-1').check()
	await page.getByLabel('Pick web-3').check()
	await page.getByRole('button', {name: 'Undrain', exact: true}).click()
	await dialog.getByRole('button', {name: 'Undrain'}).click()
	await weights(world, 100)
	await until(async () => (await page.getByRole('row').filter({hasText: 'Draining'}).count()) === 0, 'none drains')
	await close(page)
}

async function lab_a_shift_changes_what_dig_says(world) {
	const page = await open(world)
	await visit(world, page, '#/load-balancers/shop')
	await page.getByRole('button', {name: 'Shift away zone-b'}).click()
	const dialog = page.getByRole('dialog')
	const effect = dialog.getByRole('region', {name: 'What it will do'})
	await effect.getByText(`(without ${VIP_B})`).waitFor()
	assert.match(await effect.textContent(), /Zones left1.*Answers now192.*Answers then192.*Load that moves50 % of the answers/)
	assert.deepEqual(await world.gateway.act('dig'), BOTH, 'looking changes nothing')
	await dialog.getByLabel('For how long').fill('38m')
	await dialog.getByLabel('Why').fill('new switch')
	await dialog.getByRole('button', {name: 'Shift away'}).click()
	await dialog.waitFor({state: 'detached'})
	assert.deepEqual(await world.gateway.act('dig'), [VIP_A], 'the answer has changed when the dialog closes')
	await page.getByRole('timer').waitFor()
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
	assert.deepEqual(await world.gateway.act('dig'), [VIP_A])
	await dialog.getByLabel('Type zone-a to confirm').fill('zone-a')
	await dialog.getByRole('button', {name: 'Shift away'}).click()
	await dialog.waitFor({state: 'detached'})
	const back = page.getByRole('button', {name: 'Return now'})
	for (let left = 2; left > 0; left--) {
		await until(async () => await back.count() === left, `${left} shifts`)
		await back.first().click()
		await dialog.getByRole('button', {name: 'Return now'}).click()
		await dialog.waitFor({state: 'detached'})
	}
	await dig(world, BOTH, 'both zones are answered again')
	await close(page)
}

async function lab_a_change_is_planned_applied_and_rolled_back(world) {
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
	await weights(world, 100)
	await page.getByLabel('Comment').fill('lighter')
	await page.getByRole('button', {name: 'Apply'}).click()
	await page.getByText('The document is applied').waitFor()
	await weights(world, 100, {'web-1': 40})
	await visit(world, page, '#/config/history')
	await page.getByRole('cell', {name: 'lighter'}).waitFor()
	await page.getByRole('button', {name: /^Go back to/}).first().click()
	const dialog = page.getByRole('dialog')
	await dialog.getByText(/SET_DEST.*100/).first().waitFor()
	await dialog.getByLabel('Why').fill('too light')
	await dialog.getByRole('button', {name: 'Go back'}).click()
	const banner = page.getByRole('alert').getByText('waits to be confirmed')
	await banner.waitFor()
	await page.getByRole('status').getByText(/^The document of revision \d+ waits to be confirmed$/).waitFor()
	await pictures(world, page, '_confirm')
	await weights(world, 100)
	await page.getByRole('button', {name: 'Keep the change'}).click()
	await banner.waitFor({state: 'detached'})
	await close(page)
}

async function lab_a_viewer_is_refused_with_the_reason(world) {
	const page = await open(world, {user: 'vera'})
	await visit(world, page, '#/load-balancers/shop')
	const button = page.getByRole('button', {name: /^Shift away zone-a/})
	assert.equal(await button.getAttribute('aria-disabled'), 'true')
	await page.getByText('needs the role operator; your role is viewer').first().waitFor()
	await button.click({force: true})
	assert.equal(await page.getByRole('dialog').count(), 0)
	await pictures(world, page, '_viewer')
	await visit(world, page, '#/system/users')
	await page.getByText('needs the role admin; your role is viewer').first().waitFor()
	await pictures(world, page, '_viewer_users')
	// And the daemon itself would not have it either.
	const status = await page.evaluate(async () => (await fetch('/api/v1/zone-shifts', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({zone: 'zone-a', load_balancer: 'shop', expires_in: '1h', comment: 'x'})})).status)
	assert.equal(status, 403)
	assert.deepEqual(await world.gateway.act('dig'), BOTH)
	await close(page)
}

async function lab_the_daemon_is_lost_and_regained(world) {
	const page = await open(world)
	await visit(world, page, '#/load-balancers/shop')
	const {exchanges} = await world.gateway.act('held')
	await world.gateway.act('daemon_kill')
	await page.getByText('The connection to the daemon is lost.').waitFor()
	assert.equal(await page.locator('.stale').count(), 1, 'what is old is not shown as if it were now')
	const fresh = await page.evaluate(() => [...document.querySelectorAll('#main .panel, #main .zone')].filter(e => ![e, ...e.querySelectorAll('*')].some(x => x.closest('.live'))).map(e => e.textContent.slice(0, 60)))
	assert.deepEqual(fresh, [], 'nothing looks as if it were of now')
	await pictures(world, page, '_lost')
	await weights(world, 100)
	await until(async () => (await world.gateway.act('held')).exchanges > exchanges, 'the kernel balances on')
	await world.gateway.act('daemon_start')
	await page.getByText('The connection to the daemon is lost.').waitFor({state: 'detached'})
	await page.getByRole('heading', {name: 'zone-a', level: 3}).waitFor()
	await weights(world, 100)
	assert.deepEqual((await world.gateway.act('held')).broken, [])
	await world.gateway.act('release')
	await close(page)
}

/** With something to look at: a server down, a drain, a shift, an access list. */
async function lab_every_page_in_both_themes_and_narrow(world) {
	const page = await open(world)
	await world.gateway.act('kill', 'web-4')
	const put = (path, method, body) => page.evaluate(async ([p, m, b]) => (await fetch(p, {method: m, headers: {'Content-Type': 'application/json'}, body: JSON.stringify(b)})).status, [path, method, body])
	assert.equal(await put('/api/v1/server-groups/web/servers/web-1/drain', 'PUT', {comment: 'new disk'}), 201)
	assert.equal(await put('/api/v1/zone-shifts', 'POST', {zone: 'zone-b', load_balancer: 'shop', expires_in: '1h', comment: 'new switch'}), 201)
	assert.equal(await put('/api/v1/access-lists/office', 'PUT', {default_action: 'allow', entries: [{cidr: '203.0.113.0/24', action: 'deny', comment: 'scanners'}, {cidr: '203.0.113.7/32', action: 'allow'}]}), 201)
	assert.equal(await put('/api/v1/load-balancers/shop/listeners/http', 'PATCH', {access_list: 'office'}), 200)
	await weights(world, 100, {'web-1': 0, 'web-4': 0})
	await visit(world, page, '#/load-balancers/shop')
	const facts = page.locator('.zone').first().locator('dd')
	await facts.filter({hasText: /^2 of 4, 1 draining$/}).waitFor()
	await page.locator('.zone').first().getByRole('img', {name: '2 in service, 1 draining, 1 not in service'}).waitFor()
	await visit(world, page, '#/zones')
	await page.locator('.card').filter({hasText: 'zone-b'}).getByText('Shifted away', {exact: true}).waitFor()
	assert.equal(await page.locator('.card').filter({hasText: 'zone-a'}).getByText('Shifted away', {exact: true}).count(), 0)
	await close(page)
	await walk(world)
}

/** In this order: each begins where the one before ended. */
export const LAB = [
	lab_the_first_users,
	lab_a_load_balancer_from_nothing,
	lab_traffic_is_seen,
	lab_an_access_list_keeps_out,
	lab_a_range_of_ports_is_balanced_and_the_rest_guarded,
	lab_a_killed_server_tells_its_reason,
	lab_a_drain_lets_connections_finish,
	lab_a_shift_changes_what_dig_says,
	lab_a_change_is_planned_applied_and_rolled_back,
	lab_a_viewer_is_refused_with_the_reason,
	lab_the_daemon_is_lost_and_regained,
	lab_every_page_in_both_themes_and_narrow,
]
