// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {look, missingOf, publicationLook, rank, sentence, serviceLook, type Facts} from '../../../webui/src/lib/health.ts'
import type {Group, LoadBalancer, Override} from '../../../webui/src/lib/types.ts'

const now = Date.parse('2026-11-30T12:00:00Z')
const group = (status: Partial<Group['status']>): Group => ({name: 'web', status: {servers: 14, healthy: 14, unhealthy: 0, initial: 0, disabled: 0, draining: 0, used: true, ...status}} as Group)
const lb = (status: Partial<LoadBalancer['status']> = {}): LoadBalancer => ({name: 'shop', status: {fail_open: false, fault: null, ...status}} as LoadBalancer)
const shift = {kind: 'zone_shift', zone: 'zone-b', load_balancer: 'shop', expires_at: '2026-11-30T12:38:00Z'} as Override
const text = (f: Partial<Facts>): string => sentence({groups: [group({})], balancers: [lb()], overrides: [], now, ...f}).parts.map(p => p.text).join(', ')

test('the sentence tells all that is not as it should be, the worst first', () => {
	assert.equal(text({groups: [group({unhealthy: 2, healthy: 12})], overrides: [shift]}), '2 of 14 servers down, zone-b shifted away, 38 min left')
	assert.match(text({balancers: [lb({fail_open: true})], groups: [group({unhealthy: 14})]}), /^shop fails open.*14 of 14 servers down$/)
	assert.equal(text({}), 'All 14 servers are healthy, nothing is overridden')
	assert.equal(text({groups: [group({servers: 1, healthy: 1})]}), 'The one server is healthy, nothing is overridden')
})

test('it is never green when something is overridden, checked or unknown', () => {
	const tone = (f: Partial<Facts>) => sentence({groups: [group({})], balancers: [lb()], overrides: [], now, ...f}).tone
	assert.equal(tone({}), 'ok')
	assert.equal(tone({overrides: [shift]}), 'warn')
	assert.equal(tone({overrides: [{kind: 'drain'} as Override]}), 'warn')
	assert.equal(tone({groups: [group({initial: 1})]}), 'warn')
	assert.equal(tone({groups: [group({unhealthy: 1})]}), 'bad')
	assert.equal(tone({balancers: [lb({fault: 'no space'})]}), 'bad')
	assert.equal(tone({groups: []}), 'warn')
	assert.equal(tone({balancers: []}), 'idle')
})

test('groups that no listener uses do not count', () => {
	assert.equal(text({groups: [group({}), group({used: false, unhealthy: 3})]}), 'All 14 servers are healthy, nothing is overridden')
})

test('each state has a word, a shape and a rank of its own', () => {
	const states = ['healthy', 'unhealthy', 'initial', 'draining', 'disabled', 'unavailable']
	assert.equal(new Set(states.map(s => look(s).word)).size, states.length)
	assert.equal(new Set(states.map(s => look(s).shape)).size, states.length)
	assert.ok(rank('unhealthy') < rank('healthy'))
	assert.equal(look('what is new').word, 'what is new')
})

test('only what is published as healthy is green', () => {
	assert.equal(publicationLook({published: true, reason_code: 'healthy'}).tone, 'ok')
	assert.equal(publicationLook({published: true, reason_code: 'fail_open'}).tone, 'bad')
	assert.equal(publicationLook({published: false, reason_code: 'withdrawn_manual'}).word, 'Shifted away')
	assert.equal(publicationLook({published: false, reason_code: 'withdrawn_group'}).tone, 'bad')
	assert.equal(publicationLook({published: true, reason_code: 'undecided'}).tone, 'info')
})

test('what the kernel lacks is told, and what may be on its way is told apart', () => {
	const told = (revision: number, applied_revision: number, kernel: object = {}) => missingOf({revision, applied_revision, kernel: {ipvs: 'auto', available: true, ...kernel}})
	assert.equal(told(9, 9), undefined)
	assert.deepEqual(told(9, 8), {text: 'the revision is 9; the kernel has 8.', passing: true})
	assert.deepEqual(told(9, 8, {guard_fault: 'no nft'}), {text: 'no nft', passing: false})
	assert.equal(told(9, 8, {available: false}), undefined)
	assert.equal(told(9, 8, {ipvs: 'off', available: false})?.passing, true)
})

test('a zone that is in no DNS is as good as its servers', () => {
	assert.deepEqual([serviceLook(2, 3), serviceLook(0, 3), serviceLook(0, 0)].map(l => l.tone), ['ok', 'bad', 'idle'])
})
