// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {faultsOf, healthyOf, look, missingOf, publicationLook, rank, sentence, serviceLook, type Facts} from '../../../webui/src/lib/health.ts'
import type {Group, LoadBalancer, Override} from '../../../webui/src/lib/types.ts'

const now = Date.parse('2026-11-30T12:00:00Z')
const group = (status: Partial<Group['status']>): Group => ({name: 'web', status: {servers: 14, healthy: 14, unhealthy: 0, initial: 0, unchecked: 0, weight_zero: 0, disabled: 0, draining: 0, used: true, ...status}} as Group)
const lb = (status: Partial<LoadBalancer['status']> = {}): LoadBalancer => ({name: 'shop', status: {fail_open: false, fault: null, ...status}} as LoadBalancer)
const shift = {kind: 'zone_shift', zone: 'zone-b', load_balancer: 'shop', expires_at: '2026-11-30T12:38:00Z'} as Override
const text = (f: Partial<Facts>): string => sentence({groups: [group({})], balancers: [lb()], overrides: [], now, ...f}).parts.map(p => p.text).join(', ')

test('the sentence tells all that is not as it should be, the worst first', () => {
	assert.equal(text({groups: [group({unhealthy: 2, healthy: 12})], overrides: [shift]}), '2 of 14 servers down, zone-b shifted away, 38 min left')
	assert.match(text({balancers: [lb({fail_open: true})], groups: [group({unhealthy: 14})]}), /^shop fails open.*14 of 14 servers down$/)
	assert.equal(text({}), 'all 14 servers are healthy, nothing is overridden')
	assert.equal(text({groups: [group({servers: 1, healthy: 1})]}), 'the one server is healthy, nothing is overridden')
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

test('who has weight 0 takes nothing, healthy or not checked: never green where nobody else does', () => {
	const told = (...groups: Group[]) => { const s = sentence({groups, balancers: [lb()], overrides: [], now}); return [s.tone, s.parts.map(p => p.text).join(', ')] }
	assert.deepEqual(told(group({weight_zero: 14})), ['warn', 'no server is down, web serves nobody: all of it has weight 0'])
	assert.deepEqual(told(group({healthy: 2, unhealthy: 12, weight_zero: 2})), ['bad', '12 of 14 servers down, web serves nobody: all of it has weight 0'])
	assert.equal(told(group({healthy: 0, unchecked: 14, weight_zero: 14}))[0], 'warn')
	assert.deepEqual(told(group({weight_zero: 2})), ['ok', '14 of 14 servers healthy, 2 of weight 0, nothing is overridden'])
	assert.deepEqual(told(group({healthy: 0, servers: 0})), ['warn', 'no server is in use'])
	assert.equal(healthyOf(group({weight_zero: 2}).status), '14 of 14 healthy, 2 of weight 0')
})

test('it says no more than is so', () => {
	assert.equal(text({groups: [group({healthy: 13, disabled: 1})]}), '13 of 14 servers healthy, 1 disabled, nothing is overridden')
	assert.equal(text({groups: [group({healthy: 12, disabled: 1, unchecked: 1})]}), '12 of 14 servers healthy, 1 disabled, 1 not checked, nothing is overridden')
	const told = (f: Partial<Facts>) => { const s = sentence({groups: [], balancers: [lb()], overrides: [], now, ...f}); return [s.tone, s.parts[0]!.text] }
	assert.deepEqual(told({groups: [group({healthy: 0, unchecked: 14})]}), ['idle', 'none of 14 servers is checked'])
	assert.deepEqual(told({groups: [group({servers: 1, healthy: 0, unchecked: 1})]}), ['idle', 'the one server is not checked'])
	assert.deepEqual(told({groups: [group({}), group({healthy: 0, unchecked: 14})]}), ['idle', '14 of 28 servers healthy, 14 not checked'])
	assert.deepEqual(told({groups: [group({healthy: 0, unchecked: 14})], overrides: [shift]}), ['warn', 'none of 14 servers is checked'])
	assert.equal(text({overrides: [{kind: 'weight_override'}, {kind: 'removal'}, {kind: 'unconfirmed_change'}] as Override[]}), 'no server is down, 1 weight not as configured, 1 removed server with connections left, a change waits to be confirmed')
})

test('a zone that is out of DNS by itself is told; one that somebody took out is none', () => {
	const of = (status: Partial<LoadBalancer['status']>) => ({...lb({addresses_published: 1, addresses_left_out: 1, addresses_withdrawn: 0, addresses_undecided: 0, ...status}), dns_name: 'shop.example.net', zones: {'zone-b': {}}}) as unknown as LoadBalancer
	const out = of({addresses_withdrawn: 1})
	assert.equal(text({balancers: [out]}), 'shop has an address withdrawn from DNS')
	assert.equal(text({balancers: [of({})]}), 'all 14 servers are healthy, nothing is overridden', 'disabled on purpose')
	assert.equal(text({balancers: [of({})], overrides: [shift]}), 'no server is down, zone-b shifted away, 38 min left')
	assert.equal(text({balancers: [out], overrides: [shift]}), 'shop has an address withdrawn from DNS, zone-b shifted away, 38 min left', 'a shift hides no other zone')
	assert.equal(text({balancers: [out, {...out, name: 'b'}]}), '2 load balancers have an address withdrawn from DNS')
	assert.equal(text({balancers: [of({addresses_published: 0, addresses_left_out: 2})]}), 'shop has no address in DNS')
	assert.equal(text({balancers: [of({addresses_undecided: 1})]}), 'no server is down, shop has an address being checked')
	assert.equal(text({balancers: [lb({min_healthy_breached: 1})]}), 'shop has too few servers')
})

test('one family that fails open is named, and a drain by hand is no fault', () => {
	assert.equal(text({balancers: [lb({fail_open: true})]}), 'shop fails open: unhealthy zones are handed out, as there is no healthy one')
	assert.equal(text({balancers: [lb({fail_open: true, fail_open_family: 6})]}), 'shop fails open for IPv6: unhealthy zones are handed out, as there is no healthy one')
	assert.equal(text({balancers: [lb({fail_open: true, fail_open_family: 6}), lb({fail_open: true})]}), '2 load balancers fail open: unhealthy zones are handed out, as there is no healthy one')
	const drained = lb({fail_open: true, min_healthy_breached: 1, drained: true}), drain = {kind: 'drain', object: 'load_balancers/shop'} as Override
	const told = sentence({groups: [group({})], balancers: [drained], overrides: [drain], now})
	assert.equal(told.tone, 'warn')
	assert.equal(told.parts.map(p => p.text).join(', '), 'no server is down, shop serves nobody: all is drained by hand, 1 drain')
	const backed = sentence({groups: [group({})], balancers: [lb({...drained.status, backup_serves: true})], overrides: [drain], now})
	assert.equal(backed.parts[1]!.text, 'shop is served by backup servers: all else is drained by hand')
})

test('what the node lacks is in the sentence, never green above its banner', () => {
	const node = {revision: 9, applied_revision: 9, kernel: {ipvs: 'auto', available: true}, store: {ok: true}}
	assert.deepEqual(faultsOf(undefined, false), [])
	assert.deepEqual(faultsOf(node, false), [])
	const words = (of: Parameters<typeof faultsOf>[0], missing = false) => faultsOf(of, missing).map(p => p.text)
	assert.deepEqual(words({...node, kernel: {ipvs: 'auto', available: false}}), ['the kernel has no IPVS'])
	assert.deepEqual(words({...node, store: {ok: false}}, true), ['not all of the configuration is in the kernel', 'the store takes no changes'])
	assert.deepEqual(words({...node, dns_update: {in_sync: false, server: '192.0.2.100'}}), ['the name server 192.0.2.100 is not equal'])
	assert.equal(sentence({groups: [group({})], balancers: [lb()], overrides: [], faults: faultsOf(node, true), now}).tone, 'bad')
})

test('groups that no listener uses do not count', () => {
	assert.equal(text({groups: [group({}), group({used: false, unhealthy: 3})]}), 'all 14 servers are healthy, nothing is overridden')
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
