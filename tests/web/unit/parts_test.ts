// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {fillPath} from '../../../webui/src/lib/api.ts'
import {href, parseHash} from '../../../webui/src/lib/router.ts'
import {parseServers} from '../../../webui/src/lib/serverlist.ts'
import {askFor, byName, endpointOf, filterRows, flowsAt, flowsOf, leftOf, reasonAlone, reasonOf, weightOf} from '../../../webui/src/lib/servers.ts'
import {pieces} from '../../../webui/src/lib/timeline.ts'
import type {HistoryItem, KernelTable, ServerRow} from '../../../webui/src/lib/types.ts'
import {lines} from '../../../webui/src/ui/plan.tsx'
import {pageOf} from '../../../webui/src/ui/paged.tsx'
import {wordsOf} from '../../../webui/src/ui/timeline.tsx'
import {rowsInSight} from '../../../webui/src/ui/table.tsx'
import {lineOf} from '../../../webui/src/lib/json.ts'

const row = (server: string, state = 'healthy', zone: string | null = null): ServerRow => ({server, state, zone, address: '10.0.0.1', port: 80, detail: `${state} for 2 s: fine`} as ServerRow)

test('addresses of pages go there and back', () => {
	assert.equal(href('server-groups', 'a/b'), '#/server-groups/a%2Fb')
	assert.deepEqual(parseHash('#/server-groups/a%2Fb?state=unhealthy').parts, ['server-groups', 'a/b'])
	assert.equal(parseHash('#/x?state=unhealthy').query.get('state'), 'unhealthy')
	assert.deepEqual(parseHash('').parts, [])
	assert.deepEqual(parseHash('#/%zz').parts, ['%zz'])
	assert.equal(fillPath('/a/{x}/b', {x: 'y/z'}), '/a/y%2Fz/b')
})

test('servers are read line by line', () => {
	assert.deepEqual(parseServers('web-1 10.0.1.11:8080 zone-a\n\n web-2 [2001:db8::1]:80\nweb-3 2001:db8::2').servers, {
		'web-1': {address: '10.0.1.11', port: 8080, zone: 'zone-a'}, 'web-2': {address: '2001:db8::1', port: 80}, 'web-3': {address: '2001:db8::2'},
	})
	assert.match(parseServers('web-1').fault, /line 1/)
	assert.match(parseServers('a 10.0.0.1:1\na 10.0.0.2:1').fault, /twice/)
})

test('rows are found by state, zone and text', () => {
	const rows = [row('web-10', 'unhealthy', 'zone-a'), row('web-2', 'healthy', 'zone-b')]
	assert.deepEqual(filterRows(rows, {text: '', state: 'unhealthy', zone: ''}).map(r => r.server), ['web-10'])
	assert.deepEqual(filterRows(rows, {text: 'WEB-2', state: '', zone: ''}).map(r => r.server), ['web-2'])
	assert.deepEqual(filterRows(rows, {text: '', state: '', zone: 'zone-b'}).map(r => r.server), ['web-2'])
	assert.deepEqual([...rows].sort(byName).map(r => r.server), ['web-2', 'web-10'])
	assert.equal(reasonOf('unhealthy for 12.5 s: refused'), 'refused')
	assert.equal(reasonOf('disabled'), 'disabled')
	assert.equal(reasonAlone('healthy for 2 s; last probe: [2001:db8::1]:80 answered'), 'answered')
	assert.equal(reasonAlone('no listener uses its group: it is not probed'), 'no listener uses its group: it is not probed')
	assert.deepEqual([{address: '10.0.0.1', port: 80}, {address: '2001:db8::1', port: 80}, {address: '10.0.0.1', port: 0}].map(endpointOf), ['10.0.0.1:80', '[2001:db8::1]:80', '10.0.0.1'])
})

test('connections of an address are those of all services', () => {
	const dest = (active: number) => ({address: '10.0.0.1', port: 80, active, inactive: 1})
	const table = {services: [{destinations: [dest(2)]}, {destinations: [dest(3)]}]} as unknown as KernelTable
	assert.deepEqual(flowsAt(flowsOf(table), {address: '10.0.0.1', port: 80}), {active: 5, inactive: 2})
	assert.equal(flowsAt(flowsOf(undefined), {address: '10.0.0.1', port: 80}), undefined)
})

test('as many servers are asked for as one question takes', () => {
	assert.equal(askFor([]), '')
	assert.equal(askFor(['web-1', 'web-2']), 'web-1,web-2')
	assert.equal(askFor(Array.from({length: 200}, (_, i) => `w-${i}`)).split(',').length, 50)
	const long = askFor(Array.from({length: 60}, (_, i) => 'a'.repeat(60) + String(i).padStart(3, '0')))
	assert.ok(encodeURIComponent(long).length <= 1500)
	assert.ok(long.split(',').length > 20 && long.split(',').every(name => name.length === 63), 'whole names only')
})

test('what a drain waits for stands apart from what stays until its timeout', () => {
	assert.equal(leftOf({connections: 12, active: 3}), '3 open connections left, and 9 closing, UDP or remembered')
	assert.equal(leftOf({connections: 1, active: 1}), '1 open connection left')
	assert.equal(leftOf({connections: 1200, active: 0}), '0 open connections left, and 1,200 closing, UDP or remembered')
	assert.equal(leftOf({connections: 2}), '2 connections left')
})

test('a weight of the kernel reads as that beside the configured one', () => {
	assert.equal(weightOf(100), 100)
	assert.equal(weightOf(200, 10), 20)
	assert.equal(weightOf(5, 10), 0.5)
	assert.equal(weightOf(1, 7), 0.1)
})

const at = (minutes: number): string => new Date(Date.UTC(2026, 10, 30, 12, minutes)).toISOString()
const turn = (minutes: number, from: string, to: string, lasted_ms: number): HistoryItem => ({at: at(minutes), event: 'transition', from, to, lasted_ms})

test('a timeline is its transitions, and a gap where the daemon did not run', () => {
	const from = Date.parse(at(0)), now = Date.parse(at(60))
	const list = pieces([turn(50, 'healthy', 'unhealthy', 600000), {at: at(40), event: 'daemon.started'}, {at: at(30), event: 'daemon.stopped'}, turn(20, 'initial', 'healthy', 60000)], 'unhealthy', Date.parse(at(50)), from, now)
	assert.deepEqual(list.map(p => [p.state, (p.to - p.from) / 60000]), [['initial', 1], ['healthy', 10], [null, 10], ['healthy', 10], ['unhealthy', 10]])
	assert.deepEqual(pieces([], 'healthy', NaN, from, now), [])
	assert.deepEqual(pieces([], 'healthy', Date.parse(at(45)), from, now).map(p => [p.state, (p.to - p.from) / 60000]), [['healthy', 15]])
})

test('a drain begins when it began: what was before it stays', () => {
	const from = Date.parse(at(0)), now = Date.parse(at(60))
	const told = (items: HistoryItem[], state: string, since: number) => pieces(items, state, Date.parse(at(since)), from, now).map(p => [p.state, (p.to - p.from) / 60000])
	const healthy = turn(20, 'initial', 'healthy', 60000)
	assert.deepEqual(told([healthy], 'draining', 50), [['initial', 1], ['healthy', 30], ['draining', 10]])
	assert.deepEqual(told([healthy], 'disabled', 50), [['initial', 1], ['healthy', 30], ['disabled', 10]])
	// Its health goes on beneath, and while the daemon did not run nobody looked.
	assert.deepEqual(told([turn(55, 'healthy', 'unhealthy', 2100000), healthy], 'draining', 50), [['initial', 1], ['healthy', 30], ['draining', 10]])
	assert.deepEqual(told([{at: at(58), event: 'daemon.started'}, {at: at(55), event: 'daemon.stopped'}, healthy], 'draining', 50), [['initial', 1], ['healthy', 30], ['draining', 5], [null, 3], ['draining', 2]])
	assert.deepEqual(told([], 'draining', 50), [['draining', 10]])
})

test('no state is drawn longer than it lasted: between is a gap', () => {
	const from = Date.parse(at(0)), now = Date.parse(at(60))
	const told = (items: HistoryItem[], state: string, since: number) => pieces(items, state, Date.parse(at(since)), from, now).map(p => [p.state, (p.to - p.from) / 60000])
	// In no listener from some time on, and in one again: checked anew for a minute.
	assert.deepEqual(told([turn(50, 'initial', 'healthy', 60000), turn(20, 'initial', 'healthy', 60000)], 'healthy', 50), [['initial', 1], [null, 29], ['initial', 1], ['healthy', 10]])
	assert.deepEqual(told([turn(20, 'initial', 'healthy', 60000)], 'unused', 40), [['initial', 1], [null, 20], ['unused', 20]])
})

test('after an end without a stop all since the last entry is unknown', () => {
	const from = Date.parse(at(0)), now = Date.parse(at(60)), started: HistoryItem = {at: at(40), event: 'daemon.started', unclean: true}
	const told = (items: HistoryItem[]) => pieces(items, 'healthy', NaN, from, now).map(p => [p.state, p.unsaid ?? false, (p.to - p.from) / 60000])
	assert.deepEqual(told([started, turn(20, 'initial', 'healthy', 60000)]), [['initial', false, 1], [null, true, 20], ['healthy', false, 20]])
	assert.deepEqual(told([started]), [[null, true, 40], ['healthy', false, 20]])
	assert.deepEqual(told([started, {at: at(30), event: 'daemon.started'}]), [[null, true, 10], ['healthy', false, 20]])
	assert.match(wordsOf(pieces([started], 'healthy', NaN, from, now)[0]!), /^unknown until 12:40:00$|^unknown until 30 Nov, 12:40$/)
})

test('few rows are in the document, wherever one is', () => {
	for (const scroll of [0, 1000, 220000, 440000, 1e9]) {
		const sight = rowsInSight(scroll, 800, 44, 10000)
		assert.ok(sight.end - sight.first <= 120)
		assert.ok(sight.first >= 0 && sight.end <= 10000)
	}
	assert.deepEqual(rowsInSight(0, 800, 44, 3), {first: 0, end: 3})
	assert.ok(rowsInSight(44 * 5000, 800, 44, 10000).first <= 5000)
	assert.ok(rowsInSight(44 * 5000, 800, 44, 10000).end >= 5000 + 800 / 44)
})

test('objects are shown a line a member', () => {
	assert.deepEqual(lines({port: 80, check: {type: 'http'}, list: ['a']}), ['port: 80', 'check.type: "http"', 'list: ["a"]'])
	assert.deepEqual(lines(null), [])
})

test('a fault is found in the text of the document', () => {
	const text = JSON.stringify({zones: {a: {}}, server_groups: {web: {servers: {'web-1': {weight: 70000}}}}}, null, 2)
	assert.equal(text.split('\n')[lineOf(text, '/server_groups/web/servers/web-1/weight')! - 1]!.trim(), '"weight": 70000')
	assert.equal(lineOf(text, '/nothing'), undefined)
})

test('pages of a list', () => {
	assert.deepEqual(pageOf(500, 0, 48), {page: 0, first: 0, end: 48, pages: 11})
	assert.deepEqual(pageOf(500, 99, 48), {page: 10, first: 480, end: 500, pages: 11})
	assert.deepEqual(pageOf(0, 3, 48), {page: 0, first: 0, end: 0, pages: 1})
})
