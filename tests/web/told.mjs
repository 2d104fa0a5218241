// SPDX-License-Identifier: GPL-2.0-or-later
// What the pages tell of a gateway where something is not as it should be: answers that a kernel, a host or another person would
// have caused are put in the place of the daemon's, as it would give them.
import assert from 'node:assert/strict'
import {close, open, until, visit} from './page.mjs'
import {allLooks, openToLook} from './shots.mjs'

const sentence = page => page.locator('.sentence')

/** From now on answers of this kind are those of the daemon, changed by `how`. */
async function change(page, pattern, how) {
	await page.route(pattern, async route => {
		if (route.request().method() !== 'GET') return route.continue()
		const answer = await route.fetch()
		await route.fulfill({response: answer, json: how(await answer.json())})
	})
}

/** Where checks are off nobody knows who is well: nothing is green. */
async function servers_without_checks_are_not_healthy(world) {
	const {page, session} = await openToLook(world)
	const checks = enabled => world.daemon.must('PATCH', '/api/v1/server-groups/web', {health_check: {enabled}})
	const faults = []
	await checks(false)
	try {
		await visit(world, page, '#/')
		await sentence(page).getByText('one of 4 servers is checked').waitFor()
		assert.equal(await sentence(page).locator('.t-ok').count(), 0, 'not green')
		const card = page.locator('.card').filter({hasText: 'shop'})
		await card.getByText('4 of 4 not checked').waitFor()
		await card.getByRole('img', {name: '4 not checked', exact: true}).waitFor()
		assert.equal(await card.locator('.t-ok').count(), 0)
		faults.push(...await allLooks(world, page, session, '_unchecked'))
		await visit(world, page, '#/server-groups/web')
		const numbers = page.getByRole('region', {name: 'In numbers'})
		await numbers.getByText('Nothing is probed').waitFor()
		assert.equal(await numbers.getByText('healthy', {exact: true}).count(), 0)
		await numbers.getByRole('link', {name: 'not checked'}).click()
		await page.getByRole('row').filter({hasText: 'web-1'}).getByText('Not checked', {exact: true}).waitFor()
		faults.push(...await allLooks(world, page, session, '_unchecked_group'))
	} finally { await checks(true) }
	await visit(world, page, '#/server-groups/web')
	await page.getByRole('region', {name: 'In numbers'}).getByText('healthy', {exact: true}).waitFor()
	await until(async () => (await world.daemon.must('GET', '/api/v1/server-groups/web')).status.healthy === 4, 'they are checked again')
	await session.detach()
	await close(page)
	assert.deepEqual(faults, [])
}

/** Who took a zone out knows it; what went by itself is told, also beside a shift. */
async function a_zone_out_by_itself_is_told_apart(world) {
	const page = await open(world)
	let status = {}
	const well = {fail_open: false, fail_open_family: null, drained: false, min_healthy_breached: 0, checking: 0, addresses_published: 1, addresses_left_out: 1, addresses_withdrawn: 0, addresses_undecided: 0, fault: null}
	await change(page, '**/api/v1/load-balancers?*', list => ({...list, items: list.items.map(lb => ({...lb, status: {...lb.status, ...well, ...status}}))}))
	const card = page.locator('.card').filter({hasText: 'shop'})
	const shown = async (words, look, tone) => {
		await page.reload()
		await sentence(page).getByText(words).waitFor()
		await card.getByText(look, {exact: true}).waitFor()
		assert.equal(await sentence(page).locator(`.t-${tone}`).count(), 1, `${words}: ${tone}`)
	}
	try {
		await visit(world, page, '#/')
		await shown('All 4 servers are healthy', 'In service', 'ok') // zone-b is disabled on purpose
		status = {addresses_withdrawn: 1}
		await shown('shop has an address withdrawn from DNS', 'Zone withdrawn', 'bad')
		const shift = await world.daemon.must('POST', '/api/v1/zone-shifts', {zone: 'zone-a', load_balancer: 'shop', expires_in: '1h', comment: 'new switch', force: true})
		try {
			await shown('shop has an address withdrawn from DNS', 'Zone withdrawn', 'bad')
			status = {}
			await shown('zone-a shifted away', 'Zone shifted', 'warn')
		} finally { await world.daemon.must('DELETE', `/api/v1/zone-shifts/${shift.id}`) }
		status = {addresses_published: 0, addresses_left_out: 2}
		await shown('shop has no address in DNS', 'Not in DNS', 'bad')
		status = {addresses_undecided: 1}
		await shown('shop has an address being checked', 'Being checked', 'warn')
	} finally { await page.unrouteAll({behavior: 'ignoreErrors'}) }
	await close(page)
}

const REFUSED = 'Linux has no scheduler "wrrr"; did you mean wrr?'
/** What the kernel refused stands where the servers of the listener are looked at, in its words. */
async function a_listener_that_is_not_in_force_is_told(world) {
	const {page, session} = await openToLook(world)
	const faults = [], service = zone => ({load_balancer: 'shop', zone, listener: 'http', server_group: 'web', family: 4, programmed: false, planned: false, fault: REFUSED, eligible: 4, in_service: 4, initial: 0, min_healthy_breached: false, none_healthy: '', weight: null, left_out: null})
	const row = name => page.getByRole('row').filter({hasText: name})
	const left = 'zone zone-b is shifted away with its servers (zone shift ea1ab6369e86, evacuate_servers)'
	await change(page, '**/api/v1/server-groups/web/health?*', h => ({
		...h, not_in_force: [service('zone-a'), service('zone-b')],
		items: h.items.map(r => r.server === 'web-3' ? {...r, weight: 0, left_out: left} : r.server === 'web-1' ? {...r, weight: 0, left_out: `shop/zone-a/http: ${REFUSED}`} : r),
	}))
	await change(page, '**/api/v1/server-groups/web/servers/web-1/health', h => ({...h, weight: 0, services: [service('zone-a'), {...service('zone-b'), fault: null, programmed: true, service: 'tcp 127.0.2.20:80', weight: 0, left_out: left}]}))
	const banner = page.locator('.banner').filter({hasText: 'is not in force'})
	try {
		await visit(world, page, '#/server-groups/web')
		await banner.getByText(REFUSED).waitFor()
		assert.equal(await banner.count(), 1, 'once, whatever zones have it')
		assert.match(await banner.textContent(), /shop\/http is not in force in zone-a, zone-b/)
		await row('web-1').locator('.two').getByText(`gets nothing: shop/zone-a/http: ${REFUSED}`).waitFor()
		await row('web-3').locator('.two').getByText(`gets nothing: ${left}`).waitFor()
		assert.equal(await row('web-2').getByText('gets nothing').count(), 0)
		faults.push(...await allLooks(world, page, session, '_refused_group'))
		await page.setViewportSize({width: 1280, height: 800})
		await visit(world, page, '#/server-groups/web/servers/web-1')
		await banner.getByText(REFUSED).waitFor()
		await page.getByText(`It gets nothing: ${left}`).waitFor()
		await page.getByRole('region', {name: 'Its services'}).getByRole('row').filter({hasText: 'zone-a'}).getByText(REFUSED).waitFor()
		faults.push(...await allLooks(world, page, session, '_refused_server'))
	} finally { await page.unrouteAll({behavior: 'ignoreErrors'}) }
	await session.detach()
	await close(page)
	assert.deepEqual(faults, [])
}

/** What is picked is what is listed: not what a filter hides, nor what somebody removed meanwhile. */
async function picks_are_of_what_is_listed(world) {
	const page = await open(world)
	await world.daemon.must('PUT', '/api/v1/server-groups/pool', {protocol: 'tcp', servers: Object.fromEntries([1, 2, 3].map(n => [`p-${n}`, {address: `127.0.1.${20 + n}`, port: 80}]))})
	try {
		await visit(world, page, '#/server-groups/pool')
		await page.getByLabel('Pick all 3 listed').check()
		await page.getByText('3 servers picked').waitFor()
		await page.getByLabel('Find', {exact: true}).fill('p-2')
		await page.getByText('1 server picked').waitFor()
		await page.getByRole('group', {name: 'With the picked servers'}).getByRole('button', {name: 'Drain', exact: true}).click()
		await page.getByRole('dialog').getByRole('heading').getByText('p-2').waitFor()
		await page.keyboard.press('Escape')
		await page.getByLabel('Find', {exact: true}).fill('')
		await page.getByText('3 servers picked').waitFor()
		await world.daemon.must('DELETE', '/api/v1/server-groups/pool/servers/p-3')
		await page.getByText('2 servers picked').waitFor()
		await world.daemon.must('PUT', '/api/v1/server-groups/pool/servers/p-3', {address: '127.0.1.23', port: 80})
		await page.getByLabel('Pick p-3').waitFor()
		await page.getByText('2 servers picked').waitFor()
		assert.equal(await page.getByLabel('Pick p-3').isChecked(), false, 'a new one of an old name is not picked')
	} finally { await world.daemon.must('DELETE', '/api/v1/server-groups/pool') }
	await close(page)
}

const LACKS = [
	{service: 'tcp 192.0.2.10:80', load_balancer: 'shop', zone: 'zone-a', listener: 'http', missing: true, fault: REFUSED},
	{service: 'tcp 192.0.2.20:80', load_balancer: 'shop', zone: 'zone-b', listener: 'http', missing: false, fault: null},
]
/** The panels of the kernel: services, sets and rules that are missing or not as they should be, in the words of the kernel. */
async function what_is_missing_in_the_kernel_is_told(world) {
	const {page, session} = await openToLook(world)
	await change(page, '**/api/v1/kernel/drift', d => ({...d, in_sync: false, operations: ['NEW_SERVICE tcp 192.0.2.10:80 wrrr'], operations_total: 1, not_in_force: LACKS, not_in_force_total: 102, fault: null}))
	await change(page, '**/api/v1/kernel', k => ({
		...k, ipvs: 'auto', not_in_force: LACKS, not_in_force_total: 102, filters: {
			...k.filters, fault: null, sets_left_out: 7,
			rules: [{family: 'ipv4', table: 'filter', program: 'iptables', state: 'changed', rules: 4}, {family: 'ipv6', table: 'filter', program: null, state: 'missing', rules: 2}],
			sets: [{name: 'zg4-1-d', use: 'office', access_list: 'office', type: 'hash:net', state: 'in_force', entries: 3, memory_bytes: 1160},
				{name: 'zg4-2-lt', use: 'shop/http', access_list: null, type: 'hash:ip,port,ip', state: 'missing', entries: 0, memory_bytes: 0},
				{name: 'zg4-9-d', use: null, access_list: null, type: 'hash:net', state: 'unwanted', entries: 1, memory_bytes: 2500000},
				{name: 'f2b-sshd', use: null, access_list: null, type: 'hash:ip', entries: 12, memory_bytes: 900}],
		},
	}))
	try {
		await visit(world, page, '#/system/kernel')
		const drift = page.getByRole('region', {name: 'Drift'}), table = page.getByRole('region', {name: 'Table', exact: true}), filters = page.getByRole('region', {name: 'Sets and rules'})
		await drift.getByText('NEW_SERVICE tcp 192.0.2.10:80 wrrr').waitFor()
		await drift.getByText(`tcp 192.0.2.10:80 (shop/zone-a/http) is missing: ${REFUSED}`).waitFor()
		await drift.getByText('tcp 192.0.2.20:80 (shop/zone-b/http) is not as it should be').waitFor()
		await drift.getByText('and 100 more').waitFor()
		assert.equal(await drift.getByText('has what it should have').count(), 0)
		assert.equal(await drift.getByRole('button', {name: 'Mend it now'}).getAttribute('aria-disabled'), null)
		await table.getByText('1 service missing: tcp 192.0.2.10:80').waitFor()
		const row = text => filters.getByRole('row').filter({hasText: text})
		await row('iptables').getByText('Not as it should be').waitFor()
		await row('none yet').getByText('Missing').waitFor()
		await row('zg4-1-d').getByText('In force').waitFor()
		assert.equal(await row('zg4-1-d').getByRole('link', {name: 'office'}).getAttribute('href'), '#/access-lists/office')
		await row('zg4-2-lt').getByText('Missing').waitFor()
		await row('zg4-9-d').getByText('Left over').waitFor()
		await row('zg4-9-d').getByText('2.5 MB').waitFor()
		await row('f2b-sshd').getByText('foreign').waitFor()
		await filters.getByText('And 7 sets more.').waitFor()
		assert.deepEqual(await allLooks(world, page, session, '_kernel_lacks'), [])
	} finally { await page.unrouteAll({behavior: 'ignoreErrors'}) }
	await session.detach()
	await close(page)
}

const FOUND = [
	{code: 'ip_forward_off', severity: 'error', object: 'net.ipv4.ip_forward', where: 'gateway', what: 'net.ipv4.ip_forward is 0', why: 'packets of clients are not passed on to servers', mend: 'sysctl -w net.ipv4.ip_forward=1'},
	{code: 'vip_answered_elsewhere', severity: 'warning', object: '10.2.0.11', where: 'servers', what: 'server web-1 answers for the VIP, too', why: 'clients reach it past the gateway', mend: 'sysctl -w net.ipv4.conf.all.arp_ignore=1'},
	{code: 'flows_tracked', severity: 'info', object: '', where: 'gateway', what: 'connections of IPVS are tracked', why: 'snat needs it', mend: ''},
]
/** What the doctor finds: how bad, how many, the command to copy; and the sysctls against floods, with what they are for. */
async function what_the_doctor_finds_is_told(world) {
	const {page, session} = await openToLook(world)
	await change(page, '**/api/v1/system/doctor', d => ({...d, errors: 1, warnings: 1, findings: FOUND}))
	await change(page, '**/api/v1/system', s => ({...s, kernel: {...s.kernel, modules: ['ip_vs', 'ip_vs_wrr'], sysctls: [{name: 'net.ipv4.vs.drop_entry', value: 1}, {name: 'net.ipv4.vs.secure_tcp', value: 3}, {name: 'net.ipv4.vs.new_one', value: 7}]}}))
	await page.evaluate(() => { navigator.clipboard.writeText = async text => { window.copied = text } })
	const doctor = page.getByRole('region', {name: 'Doctor'}), facts = page.getByRole('region', {name: 'Modules and sysctls'})
	try {
		await visit(world, page, '#/system')
		await doctor.getByRole('heading', {name: 'Doctor: 1 error, 1 warning'}).waitFor()
		const finding = text => doctor.getByRole('listitem').filter({hasText: text})
		assert.deepEqual(await doctor.getByRole('listitem').locator('.state').allTextContents(), ['Error', 'Warning', 'Note'])
		await finding('ip_forward is 0').getByText('On the gateway:').waitFor()
		await finding('answers for the VIP').getByText('On the servers:').waitFor()
		assert.equal(await finding('are tracked').getByRole('button').count(), 0, 'nothing to mend, nothing to copy')
		await finding('ip_forward is 0').getByRole('button', {name: 'Copy the command for ip forward off of net.ipv4.ip_forward'}).click()
		assert.equal(await page.evaluate(() => window.copied), 'sysctl -w net.ipv4.ip_forward=1')
		await finding('ip_forward is 0').getByText('Copied', {exact: true}).waitFor()
		await page.getByRole('status').getByText('the command for ip forward off of net.ipv4.ip_forward copied').waitFor()
		const row = text => facts.getByRole('row').filter({hasText: text})
		assert.match(await row('net.ipv4.vs.drop_entry').textContent(), /1.*half-open connections are dropped at random/)
		assert.match(await row('net.ipv4.vs.secure_tcp').textContent(), /3.*only after their handshake/)
		assert.match(await row('net.ipv4.vs.new_one').textContent(), /7$/, 'one without words is shown all the same')
		await facts.getByText('ip_vs_wrr').waitFor()
		assert.deepEqual(await allLooks(world, page, session, '_doctor'), [])
	} finally { await page.unrouteAll({behavior: 'ignoreErrors'}) }
	await session.detach()
	await close(page)
}

/** What limits drop stands at the listener, and on the card while it goes on. */
async function what_limits_drop_is_told(world) {
	const {page, session} = await openToLook(world)
	const faults = []
	let recent = 1
	await change(page, '**/api/v1/load-balancers/shop/status', s => ({...s, listeners: s.listeners.map(l => ({...l, rate_limit_dropped: 120, rate_limit_dropped_recent: recent * 7, max_connections_dropped: 1, max_connections_dropped_recent: 0}))}))
	await change(page, '**/api/v1/load-balancers?*', list => ({...list, items: list.items.map(lb => ({...lb, status: {...lb.status, dropped: 121, dropped_recent: recent * 7, dropped_recent_s: 40}}))}))
	const row = page.getByRole('region', {name: 'Listeners'}).getByRole('row').filter({hasText: 'http'}), card = page.locator('.card').filter({hasText: 'shop'})
	try {
		await visit(world, page, '#/load-balancers/shop')
		await row.locator('.t-warn').getByText('Rate limit has dropped 120 new connections, 7 of them lately').waitFor()
		await row.locator('.soft').getByText('Max connections has dropped 1 new connection, none of them lately').waitFor()
		faults.push(...await allLooks(world, page, session, '_limits'))
		await visit(world, page, '#/')
		await card.getByText('Limits dropped 7 new connections within 40 s').waitFor()
		faults.push(...await allLooks(world, page, session, '_limits_card'))
		recent = 0
		await page.reload()
		await card.getByText('In service', {exact: true}).waitFor()
		assert.equal(await card.getByText('Limits dropped').count(), 0, 'it is over')
	} finally { await page.unrouteAll({behavior: 'ignoreErrors'}) }
	await session.detach()
	await close(page)
	assert.deepEqual(faults, [])
}

/** By weights of 0, or by shifts that were forced: nobody is down, and yet it is not well. */
async function who_serves_nobody_by_hand_is_not_green(world) {
	const {page, session} = await openToLook(world)
	const faults = [], servers = [1, 2, 3, 4].map(n => `/api/v1/server-groups/web/servers/web-${n}/weight-override`), card = page.locator('.card').filter({hasText: 'shop'})
	const notGreen = async words => {
		await visit(world, page, '#/')
		await sentence(page).getByText(words).waitFor()
		assert.equal(await sentence(page).locator('.t-ok').count(), 0, `${words}: not green`)
		assert.equal(await card.locator('.state.t-ok').count(), 0)
	}
	try {
		for (const path of servers) await world.daemon.must('PUT', path, {weight: 0, comment: 'spare'})
		await notGreen('web serves nobody: all of it has weight 0')
		await card.getByText('4 of 4 healthy, 4 of weight 0').waitFor()
		await card.getByRole('img', {name: '4 of weight 0', exact: true}).waitFor()
		faults.push(...await allLooks(world, page, session, '_weight_zero'))
		await page.setViewportSize({width: 1280, height: 800})
	} finally { for (const path of servers) await world.daemon.must('DELETE', path) }
	const shifts = []
	try {
		for (const zone of ['zone-a', 'zone-b']) shifts.push(await world.daemon.must('POST', '/api/v1/zone-shifts', {zone, load_balancer: 'shop', expires_in: '1h', comment: 'new switch', force: true}))
		await notGreen('shop has no address in DNS')
		await visit(world, page, '#/load-balancers/shop')
		await page.locator('.banner.bad').getByText('DNS hands out none of its addresses').waitFor()
		faults.push(...await allLooks(world, page, session, '_no_address'))
	} finally { for (const {id} of shifts) await world.daemon.must('DELETE', `/api/v1/zone-shifts/${id}`) }
	await until(async () => (await world.daemon.must('GET', '/api/v1/load-balancers/shop/status')).zones[0].publication[0].published, 'it is handed out again')
	await session.detach()
	await close(page)
	assert.deepEqual(faults, [])
}

async function the_dns_name_is_copied(world) {
	const page = await open(world)
	await page.evaluate(() => { navigator.clipboard.writeText = async text => { window.copied = text } })
	await visit(world, page, '#/load-balancers/shop')
	await page.getByRole('button', {name: 'Copy the DNS name'}).click()
	await page.getByRole('button', {name: 'Copied the DNS name'}).waitFor()
	assert.equal(await page.evaluate(() => window.copied), 'shop.lb.example.net')
	await page.getByRole('status').getByText('the DNS name copied').waitFor()
	await page.getByRole('button', {name: 'Copy the DNS name'}).waitFor() // and again
	await page.evaluate(() => { navigator.clipboard.writeText = async () => { throw new Error('refused') } })
	await page.getByRole('button', {name: 'Copy the DNS name'}).click()
	await page.getByText('The browser does not let this page copy').waitFor()
	await close(page)
}

/** In this order: each begins where the one before ended. */
export const TOLD = [
	servers_without_checks_are_not_healthy,
	a_zone_out_by_itself_is_told_apart,
	a_listener_that_is_not_in_force_is_told,
	picks_are_of_what_is_listed,
	what_is_missing_in_the_kernel_is_told,
	what_the_doctor_finds_is_told,
	what_limits_drop_is_told,
	who_serves_nobody_by_hand_is_not_green,
	the_dns_name_is_copied,
]
