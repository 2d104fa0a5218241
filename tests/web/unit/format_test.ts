// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {clock, count, ms, parseSpan, partsOf, percent, plural, portsOf, rateOf, readable, span, when} from '../../../webui/src/lib/format.ts'

test('spans have two units at most', () => {
	assert.equal(span(0), '0 s')
	assert.equal(span(499), '0 s')
	assert.equal(span(38 * 60000), '38 min')
	assert.equal(span(125 * 60000), '2 h 5 min')
	assert.equal(span(2 * 3600000), '2 h')
	assert.equal(span(76 * 3600000), '3 d 4 h')
	assert.equal(span(12 * 60000 + 5000), '12 min')
	assert.equal(span(-5), '0 s')
	assert.equal(span(NaN), '–')
})

test('a countdown never shows less than is left, nor less than nothing', () => {
	assert.equal(clock(7200000), '2:00:00')
	assert.equal(clock(1), '0:00:01')
	assert.equal(clock(-3), '0:00:00')
	assert.equal(clock(3599001), '1:00:00')
})

test('moments in a sentence are read as people do', () => {
	const now = Date.parse('2026-11-30T12:00:00Z')
	assert.equal(readable('until 2026-11-30T11:25:43.760Z; comment', now), 'until 11:25:43; comment')
	assert.equal(readable('since 2026-11-29T11:25:43Z', now), 'since 29 Nov, 11:25')
	assert.equal(readable('revision 2026-11', now), 'revision 2026-11')
})

test('milliseconds', () => {
	assert.equal(ms(0.098), '0.1 ms')
	assert.equal(ms(0.25), '0.25 ms')
	assert.equal(ms(12.3), '12 ms')
	assert.equal(ms(1500), '1.5 s')
	assert.equal(ms(62510), '62.5 s')
})

test('counts', () => {
	assert.equal(count(9999), '9999')
	assert.equal(count(12345), '12 k')
	assert.equal(count(1.25e6), '1.3 M')
	assert.equal(count(0.5), '0.5')
	assert.equal(plural(1, 'server'), '1 server')
	assert.equal(plural(0, 'address', 'addresses'), '0 addresses')
})

test('times that people type', () => {
	assert.equal(parseSpan('2h'), '7200s')
	assert.equal(parseSpan(' 1h 30m '), '5400s')
	assert.equal(parseSpan('1h30m'), '5400s')
	assert.equal(parseSpan('3 d'), '259200s')
	assert.equal(parseSpan('90'), null)
	assert.equal(parseSpan('2h x'), null)
	assert.equal(parseSpan('x 2h'), null)
	assert.equal(parseSpan('0s'), null)
	assert.equal(parseSpan(''), null)
})

test('a percentage claims neither 0 nor 100 when it is not', () => {
	assert.equal(percent(1, 1000), '<1 %')
	assert.equal(percent(999, 1000), '>99 %')
	assert.equal(percent(0, 10), '0 %')
	assert.equal(percent(10, 10), '100 %')
	assert.equal(percent(1, 0), '–')
})

test('times of today have no day', () => {
	const now = Date.parse('2026-11-30T12:00:00Z')
	assert.equal(when('2026-11-30T08:01:02Z', now), '08:01:02')
	assert.equal(when('2026-11-29T08:01:02Z', now), '29 Nov, 08:01')
	assert.equal(when(null, now), '–')
})

test('a word is broken after dots, and within a label only if that is long', () => {
	assert.deepEqual(partsOf('192.0.2.10'), ['192.0.2.10'])
	assert.deepEqual(partsOf('hostmaster.lb.example.net.'), ['hostmaster.', 'lb.', 'example.', 'net.'])
	assert.deepEqual(partsOf('net.ipv4.vs.expire_quiescent_template'), ['net.', 'ipv4.', 'vs.', 'expire_', 'quiescent_', 'template'])
	assert.equal(partsOf('x'.repeat(63)).join(''), 'x'.repeat(63))
})

test('ports of a listener', () => {
	assert.deepEqual([{port: 80}, {port_range: [8000, 8100]}, {port_range: [1, 65535]}].map(portsOf), ['80', '8000–8100', 'all ports'])
})

test('how often a second', () => {
	assert.equal(rateOf(1 / 3), '0.333')
	assert.equal(rateOf(12.04), '12')
})
