// SPDX-License-Identifier: GPL-2.0-or-later
// Steps that several stories begin with: the first user, and a load balancer by forms.
import assert from 'node:assert/strict'
import {PASSWORD, visit} from './page.mjs'

/** The code in what `zonegate setup` printed. */
export function codeOf(text) {
	const code = /[A-Z0-9]{4}(?:-[A-Z0-9]{4}){3}/.exec(text)?.[0]
	assert.ok(code, `no code in: ${text}`)
	return code
}

export async function fillFirstUser(page, code, user, password) {
	await page.getByLabel('One-time code').fill(code)
	await page.getByLabel('User').fill(user)
	await page.getByLabel('Password', {exact: true}).fill(password)
	await page.getByLabel('Password again').fill(password)
	await page.getByRole('button', {name: 'Make the user'}).click()
}

/** As it is printed: the address with the code's page. */
export async function makeFirstUser(world, page, code, user) {
	await page.goto(`${world.base}#/setup`)
	await fillFirstUser(page, code, user, PASSWORD)
	await page.getByRole('heading', {name: 'Overview', level: 1}).waitFor()
}

export async function makeZone(world, page, name) {
	await visit(world, page, '#/zones/:new')
	await page.getByLabel('Name *').fill(name)
	await page.getByRole('button', {name: 'Save'}).click()
	await page.getByRole('link', {name, exact: true}).waitFor()
}

/** The form of the group `web`, filled and not yet saved. `servers`: lines of the form. */
export async function makeGroup(world, page, servers) {
	await visit(world, page, '#/server-groups/:new')
	await page.getByLabel('Name *').fill('web')
	const check = page.getByRole('group', {name: 'Health check'})
	await check.getByLabel('Type').selectOption('http')
	await check.getByLabel('Path').fill('/healthz')
	await check.getByLabel('Interval (ms)').fill('1000')
	await check.getByLabel('Timeout (ms)').fill('900')
	await page.getByLabel('First servers').fill(servers.join('\n'))
	return check
}

/** The load balancer `shop` in zone-a, before the group `web`. */
export async function makeBalancer(world, page, vip) {
	await visit(world, page, '#/load-balancers/:new')
	await page.getByLabel('Name *').fill('shop')
	await page.getByLabel('DNS name').fill('shop.lb.example.net')
	const zone = page.getByRole('group', {name: 'First zone'})
	await zone.getByLabel('Zone').selectOption('zone-a')
	await zone.getByLabel('VIP (IPv4)', {exact: true}).fill(vip)
	const listener = page.getByRole('group', {name: 'First listener'})
	await listener.getByLabel('Name of the listener').fill('http')
	await listener.getByLabel('Port', {exact: true}).fill('80')
	await listener.getByLabel('Server group *').selectOption('web')
	await page.getByRole('button', {name: 'What it will do'}).click()
	await page.getByRole('dialog').getByText('NEW_SERVICE').first().waitFor()
	await page.getByRole('dialog').getByRole('button', {name: 'Save'}).click()
	await page.getByRole('heading', {name: 'shop', level: 1}).waitFor()
}

/** From the page of the load balancer. */
export async function addZone(page, zone, vip) {
	await page.getByRole('button', {name: 'Add a zone'}).click()
	await page.getByLabel('Zone *').selectOption(zone)
	await page.getByLabel('VIP (IPv4)', {exact: true}).fill(vip)
	await page.getByRole('button', {name: 'Save'}).click()
}
