// SPDX-License-Identifier: GPL-2.0-or-later
// What several pages read.
import {get, getAll} from './api.ts'
import {useResource} from './live.ts'
import type {AccessList, Group, List, LoadBalancer, Zone} from './types.ts'

const SLOW_MS = 3000

export const useBalancers = () => useResource('balancers', signal => getAll('/api/v1/load-balancers', undefined, 100, 2000, signal) as Promise<List<LoadBalancer>>, SLOW_MS)
export const useZones = () => useResource('zones', signal => getAll('/api/v1/zones', undefined, 1000, 5000, signal) as Promise<List<Zone>>, 10000)
export const useAccessLists = () => useResource('access-lists', signal => getAll('/api/v1/access-lists', undefined, 100, 1000, signal) as Promise<List<AccessList>>, 10000)
export const useOverrides = () => useResource('overrides', () => get('/api/v1/overrides'), 2000)
export const useSystem = () => useResource('system', () => get('/api/v1/system'), 5000)
export const useGroups = () => useResource('groups', signal => getAll('/api/v1/server-groups', undefined, 20, 2000, signal) as Promise<List<Group>>, SLOW_MS)
