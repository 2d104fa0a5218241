# SPDX-License-Identifier: GPL-2.0-or-later
"""What an event tells a program, which does not read its sentence."""

import time

SERVER = '/api/v1/server-groups/web/servers/web-1'
# Of each type the members that it always has.
DATA = {
    'config.applied': {'revision'},
    'config.confirmed': {'revision', 'made_by', 'by'},
    'config.rolled_back': {'revision', 'undone'},
    'drain.started': {'id', 'by', 'comment', 'expires_at'},
    'drain.changed': {'id', 'by', 'comment', 'expires_at'},
    'drain.cancelled': {'id', 'by', 'comment', 'expires_at'},
    'override.started': {'id', 'by', 'comment', 'weight'},
    'override.changed': {'id', 'by', 'comment', 'weight', 'expires_at'},
    'override.ended': {'id', 'by', 'comment', 'weight', 'expires_at'},
    'shift.started': {'shift', 'zone', 'load_balancer', 'by', 'expires_at', 'comment'},
    'shift.cancelled': {'shift', 'zone', 'load_balancer', 'by', 'expires_at', 'comment'},
}
ROLLBACK_SECONDS = 20


def _events(daemon, since):
    items = daemon.call('GET', '/api/v1/events?limit=1000').expect(200).json['items']
    return [event for event in items if int(event['id']) > since]


def _provoke(daemon):
    """One of each type, the undone change last."""
    body = {'comment': 'new disk'}
    wish = {**body, 'weight': 3}
    daemon.call('PUT', f'{SERVER}/drain', body).expect(200, 201)
    daemon.call('PUT', f'{SERVER}/drain', {**body, 'timeout_ms': 60000}).expect(200, 201)
    daemon.call('DELETE', f'{SERVER}/drain').expect(200, 204)
    daemon.call('PUT', f'{SERVER}/weight-override', wish).expect(200, 201)
    daemon.call('PUT', f'{SERVER}/weight-override', {**wish, 'expires_in': '1h'}).expect(200, 201)
    daemon.call('DELETE', f'{SERVER}/weight-override').expect(200, 204)
    shift = daemon.call('POST', '/api/v1/zone-shifts', {**body, 'zone': 'zone-a', 'load_balancer': 'shop', 'expires_in': '1h',
                                                       'force': True}).expect(201).json
    daemon.call('DELETE', f'/api/v1/zone-shifts/{shift["id"]}').expect(200, 204)
    for seconds, text in ((60, 'kept'), (1, 'undone')):
        daemon.call('PATCH', f'/api/v1/zones/zone-a?confirm_within_s={seconds}', {'description': text}).expect(200)
        if text == 'kept':
            daemon.call('POST', '/api/v1/config/confirm').expect(200)


def events_carry_data(daemon):
    """Each with what its sentence says, as members."""
    daemon.install()
    since = max((int(event['id']) for event in _events(daemon, 0)), default=0)
    _provoke(daemon)
    end, found = time.monotonic() + ROLLBACK_SECONDS, []
    while time.monotonic() < end and 'config.rolled_back' not in {event['type'] for event in found}:
        time.sleep(0.1)
        found = _events(daemon, since)
    faults = [f'no {kind}' for kind in DATA if kind not in {event['type'] for event in found}]
    for event in found:
        lacking = DATA.get(event['type'], set()) - set(event['data'])
        if lacking:
            faults.append(f'{event["type"]} without {sorted(lacking)}: {event}')
    return faults


RULES = (events_carry_data,)
