// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {bites, dropsOf} from '../../../webui/src/lib/limits.ts'

test('what a limit has dropped is told, and whether it goes on', () => {
	assert.deepEqual(dropsOf({}), [], 'no limit')
	assert.deepEqual(dropsOf({rate_limit_dropped: null, rate_limit_dropped_recent: null}), [], 'not counted yet')
	assert.deepEqual(dropsOf({rate_limit_dropped: 0, rate_limit_dropped_recent: 0}), [])
	assert.deepEqual(dropsOf({rate_limit_dropped: 1200, rate_limit_dropped_recent: 7}), [{text: 'Rate limit has dropped 1,200 new connections, 7 of them lately', recent: true}])
	assert.deepEqual(dropsOf({max_connections_dropped: 1, max_connections_dropped_recent: 0}), [{text: 'Max connections has dropped 1 new connection, none of them lately', recent: false}])
	assert.equal(dropsOf({rate_limit_dropped: 3, max_connections_dropped: 4}).length, 2)
})

test('a load balancer whose limits bite now says within what time', () => {
	assert.equal(bites({}), '')
	assert.equal(bites({dropped_recent: null, dropped_recent_s: null}), '')
	assert.equal(bites({dropped_recent: 0, dropped_recent_s: 60}), '')
	assert.equal(bites({dropped_recent: 1, dropped_recent_s: 40}), 'Limits dropped 1 new connection within 40 s')
})
