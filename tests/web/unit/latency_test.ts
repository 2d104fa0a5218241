// SPDX-License-Identifier: GPL-2.0-or-later
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {join, ofHistory, ofNow} from '../../../webui/src/lib/latency.ts'
import type {HistoryItem, ServerHealth} from '../../../webui/src/lib/types.ts'

const at = (s: number) => new Date(1700000000000 + s * 1000).toISOString()
const t = (s: number) => 1700000000000 + s * 1000
const result = (duration_ms: number, result = 'pass') => ({result, duration_ms, reason_code: 'none'})

test('the last results stand one interval apart, the newest at its time', () => {
	const h = {check: {interval_ms: 1000}, last_probe: {started: at(10)}, recent: [result(3), result(2, 'fail')]} as unknown as ServerHealth
	assert.deepEqual(ofNow(h), [{t: t(10), pass: 3, fail: null}, {t: t(9), pass: null, fail: 2}])
	assert.deepEqual(ofNow({...h, last_probe: null}), [])
})

test('the history has the results before each change', () => {
	const items = [
		{event: 'transition', at: at(100), recent: [result(5, 'fail'), result(1)]}, {event: 'daemon.started', at: at(50)}, {event: 'transition', at: at(-100), recent: [result(9)]},
	] as HistoryItem[]
	assert.deepEqual(ofHistory(items, 1000, t(0)), [{t: t(100), pass: null, fail: 5}, {t: t(99), pass: 1, fail: null}])
})

test('moments are joined once, and where nobody looked is a gap', () => {
	const now = [{t: t(100), pass: 1, fail: null}, {t: t(99), pass: 2, fail: null}]
	const old = [{t: t(99.2), pass: 7, fail: null}, {t: t(20), pass: null, fail: 3}]
	assert.deepEqual(join([now, old], 1000), [
		{t: t(20), pass: null, fail: 3}, {t: t(21), pass: null, fail: null}, {t: t(99), pass: 2, fail: null}, {t: t(100), pass: 1, fail: null},
	])
})
