// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {condition, fieldsOf, makeBody, makePatch, readValues, visible, type Schema} from '../../../webui/src/lib/schema.ts'

const schema: Schema = {
	type: 'object', required: ['protocol'],
	properties: {
		protocol: {type: 'string', enum: ['tcp', 'udp']},
		weight: {type: 'integer', minimum: 0, maximum: 65535, default: 100},
		enabled: {type: 'boolean', default: true},
		subnets: {type: 'array', items: {type: 'string'}, default: []},
		check: {type: 'object', properties: {
			type: {type: 'string', enum: ['tcp', 'http', 'https']}, path: {type: 'string', description: 'of the request; only with type http or https', default: '/'},
			close: {type: 'string', description: 'how; only with type tcp (handshake full) or tls'},
		}},
		servers: {type: 'object', additionalProperties: {type: 'object'}},
		uid: {readOnly: true}, status: {readOnly: true},
	},
}
const fields = fieldsOf(schema, {})

test('fields come in order, inner objects after their own; what is ours or a collection is none', () => {
	assert.deepEqual(fields.map(f => f.pointer), ['/protocol', '/weight', '/enabled', '/subnets', '/check/type', '/check/path', '/check/close'])
	assert.deepEqual(fields.map(f => f.kind), ['choice', 'number', 'flag', 'list', 'choice', 'text', 'text'])
	assert.equal(fields[0]!.required, true)
	assert.equal(fields[1]!.max, 65535)
})

test('conditions are read from the help', () => {
	assert.deepEqual(condition('of the request; only with type http or https'), {sibling: 'type', values: ['http', 'https']})
	assert.deepEqual(condition('x; only with type tcp (handshake full) or tls')?.values.includes('tls'), true)
	assert.equal(condition('port to probe; only with a type that has ports, not icmp'), undefined)
	assert.equal(condition('for people'), undefined)
})

test('a field is there while its condition holds', () => {
	const path = fields[5]!
	assert.equal(visible(path, {'/check/type': 'http'}), true)
	assert.equal(visible(path, {'/check/type': 'tcp'}), false)
	assert.equal(visible(fields[6]!, {'/check/type': ''}), true)
})

test('a new object says only what differs from the defaults', () => {
	const values = readValues(fields, undefined)
	assert.equal(values['/protocol'], 'tcp')
	assert.equal(values['/weight'], '100')
	assert.deepEqual(makeBody(fields, values), {protocol: 'tcp'})
	assert.deepEqual(makeBody(fields, {...values, '/weight': '7', '/enabled': false, '/subnets': '10.0.0.0/8, 10.1.0.0/16', '/check/type': 'http', '/check/path': '/x'}),
		{protocol: 'tcp', weight: 7, enabled: false, subnets: ['10.0.0.0/8', '10.1.0.0/16'], check: {type: 'http', path: '/x'}})
})

test('what is no number is sent as typed, for the daemon to judge', () => {
	assert.deepEqual(makeBody(fields, {...readValues(fields, undefined), '/weight': '7x'}), {protocol: 'tcp', weight: '7x'})
})

test('a patch holds what changed, and null for what no longer belongs', () => {
	const original = {protocol: 'tcp', weight: 100, enabled: true, subnets: ['10.0.0.0/8'], check: {type: 'http', path: '/x'}}
	const values = readValues(fields, original)
	assert.deepEqual(makePatch(fields, original, values), {})
	assert.deepEqual(makePatch(fields, original, {...values, '/weight': '', '/subnets': ''}), {weight: null, subnets: []})
	assert.deepEqual(makePatch(fields, original, {...values, '/check/type': 'tcp'}), {check: {type: 'tcp', path: null}})
})

test('a range of numbers is text with a dash; lists of objects are no fields', () => {
	const all = {Entry: {type: 'object', properties: {cidr: {type: 'string'}}}}
	const own = fieldsOf({type: 'object', properties: {port_range: {type: 'array', maxItems: 2, items: {type: 'integer'}}, entries: {type: 'array', items: {$ref: '#/components/schemas/Entry'}}}}, all)
	assert.deepEqual(own.map(f => [f.pointer, f.kind]), [['/port_range', 'range']])
	assert.equal(readValues(own, {port_range: [8000, 8100]})['/port_range'], '8000-8100')
	assert.deepEqual(makeBody(own, {'/port_range': '8000 – 8100'}), {port_range: [8000, 8100]})
	assert.deepEqual(makeBody(own, {'/port_range': '8000'}), {port_range: '8000'}, 'the daemon says what is wrong with it')
	assert.deepEqual(makePatch(own, {port_range: [8000, 8100]}, {'/port_range': ''}), {port_range: null})
})
