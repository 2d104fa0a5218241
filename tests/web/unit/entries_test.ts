// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {compareEntries, packetsOf, parseEntries} from '../../../webui/src/lib/entries.ts'

test('packets of an entry are known, none, or not told', () => {
	const hits = {available: true, entries: [{cidr: '10.0.0.0/8', action: 'deny', comment: '', packets: 7, bytes: 420}], entries_total: 1, default: {packets: 3, bytes: 180}}
	const of = (h: Parameters<typeof packetsOf>[0], cidr: string) => packetsOf(h)?.({cidr, action: 'deny'})
	assert.equal(of(hits, '10.0.0.0/8'), 7)
	assert.equal(of(hits, '10.0.0.0/9'), 0)
	assert.equal(of({...hits, entries_total: 2}, '10.0.0.0/9'), undefined)
	assert.equal(packetsOf({...hits, available: false}), undefined)
	assert.equal(packetsOf(undefined), undefined)
})

test('entries are read line by line', () => {
	assert.deepEqual(parseEntries('203.0.113.0/24 deny # scanners # all\n\n# nothing\n198.51.100.7\n2001:db8::1 allow', 'allow'), {fault: '', lines: [1, 4, 5], entries: [
		{cidr: '203.0.113.0/24', action: 'deny', comment: 'scanners # all'}, {cidr: '198.51.100.7/32', action: 'allow'}, {cidr: '2001:db8::1/128', action: 'allow'},
	]})
	assert.match(parseEntries('10.0.0.0/8\n10.0.0.0/8 maybe', 'deny').fault, /^line 2/)
	assert.match(parseEntries('10.0.0.0/8 deny it', 'deny').fault, /^line 1/)
})

test('networks stand by number, IPv4 first', () => {
	const sorted = ['2001:db8::/32', '10.0.0.0/8', '::1/128', '9.0.0.0/8', '10.0.0.0/16', '2001:db8::1:0/112'].map(cidr => ({cidr, action: 'deny' as const})).sort(compareEntries)
	assert.deepEqual(sorted.map(e => e.cidr), ['9.0.0.0/8', '10.0.0.0/8', '10.0.0.0/16', '::1/128', '2001:db8::/32', '2001:db8::1:0/112'])
})
