# SPDX-License-Identifier: GPL-2.0-or-later
"""What the model promises, asked for from outside: every bound at both of its ends, presets, all faults at once, advice."""
import copy
import json
import subprocess

GROUP = '/server_groups/web'
CHECK = f'{GROUP}/health_check'
SERVER = f'{GROUP}/servers/s1'
BALANCER = '/load_balancers/shop'
LISTENER = f'{BALANCER}/listeners/http'
BASE = {
    'zones': {'zone-a': {}, 'zone-b': {}},
    'server_groups': {
        'web': {'protocol': 'tcp', 'servers': {'s1': {'address': '127.0.0.1', 'port': 9, 'zone': 'zone-a'}}},
        'names': {'protocol': 'udp', 'servers': {'s1': {'address': '127.0.0.1', 'port': 9}}},
    },
    'load_balancers': {
        'shop': {
            'zones': {'zone-a': {'vip4': '127.1.0.1'}},
            'listeners': {'http': {'protocol': 'tcp', 'port': 80, 'server_group': 'web'}},
        },
        'dns': {
            'zones': {'zone-a': {'vip4': '127.1.0.2'}},
            'listeners': {'dns': {'protocol': 'udp', 'port': 53, 'server_group': 'names'}},
        },
    },
}
WORD = 2 ** 32 - 1
# member, smallest, largest, and what else must be so
BOUNDS = (
    (f'{CHECK}/interval_ms', 100, 300000, {}),
    (f'{CHECK}/timeout_ms', 10, 300000, {}),
    (f'{CHECK}/healthy_threshold', 1, 20, {}),
    (f'{CHECK}/unhealthy_threshold', 1, 20, {}),
    (f'{CHECK}/port', 0, 65535, {}),
    (f'{CHECK}/fwmark', 0, WORD, {}),
    (f'{CHECK}/window/of', 1, 64, {f'{CHECK}/window/failures': 1}),
    (f'{CHECK}/window/failures', 1, 64, {f'{CHECK}/window/of': 64}),
    (f'{GROUP}/min_healthy/count', 0, 65535, {}),
    (f'{GROUP}/min_healthy/percent', 0, 100, {}),
    (f'{GROUP}/dns_min_healthy/count', 0, 65535, {f'{GROUP}/min_healthy/count': 0}),
    (f'{GROUP}/dns_min_healthy/percent', 0, 100, {}),
    (f'{GROUP}/drain_timeout_ms', 0, 3600000, {}),
    (f'{GROUP}/slow_start_ms', 0, 900000, {}),
    (f'{GROUP}/tunnel/port', 1, 65535, {f'{GROUP}/forward_method': 'tunnel', f'{GROUP}/tunnel/type': 'gue', f'{SERVER}/port': 80}),
    (f'{SERVER}/port', 0, 65535, {f'{CHECK}/port': 80}),
    (f'{SERVER}/weight', 0, 65535, {}),
    (f'{SERVER}/max_connections/upper', 0, WORD, {}),
    (f'{SERVER}/max_connections/lower', 0, WORD, {f'{SERVER}/max_connections/upper': WORD}),
    (f'{BALANCER}/dns_ttl_s', 1, 86400, {}),
    (f'{BALANCER}/vip_probe/port', 1, 65535, {f'{BALANCER}/vip_probe/type': 'tcp'}),
    (f'{BALANCER}/vip_probe/interval_ms', 100, 300000, {}),
    (f'{BALANCER}/vip_probe/timeout_ms', 10, 300000, {}),
    (f'{BALANCER}/vip_probe/healthy_threshold', 1, 20, {}),
    (f'{BALANCER}/vip_probe/unhealthy_threshold', 1, 20, {}),
    (f'{LISTENER}/port', 1, 65535, {}),
    (f'{LISTENER}/persistence_s', 0, 86400, {}),
    (f'{LISTENER}/persistence_prefix', 1, 128, {}),
    (f'{LISTENER}/rate_limit', 0, 1000000, {}),
    (f'{LISTENER}/max_connections', 0, 1000000, {}),
    ('/settings/timeouts/tcp_s', 0, 2147483, {}),
    ('/settings/timeouts/tcp_fin_s', 0, 2147483, {}),
    ('/settings/timeouts/udp_s', 0, 2147483, {}),
)


def _with(members):
    """The base document with other members, by their pointers."""
    document = copy.deepcopy(BASE)
    for pointer, value in members.items():
        *parents, last = pointer.strip('/').split('/')
        place = document
        for name in parents:
            place = place.setdefault(name, {})
        place[last] = value
    return document


def _faults(daemon, document):
    """Pointers of the faults; none: valid."""
    answer = daemon.call('POST', '/api/v1/config/validate', document)
    return [] if answer.status == 200 else [f['pointer'] for f in answer.json['errors']]


def every_bound_is_kept(daemon):
    """Both ends are taken, what lies beyond is refused with its pointer, and so is what is no whole number."""
    faults = []
    for member, low, high, others in BOUNDS:
        for value, expected in ((low, []), (high, []), (low - 1, [member]), (high + 1, [member]),
                                (str(low), [member]), (low + 0.5, [member]), (True, [member])):
            found = _faults(daemon, _with({**others, member: value}))
            if found != expected:
                faults.append(f'{member} = {value!r}: {found} instead of {expected}')
    return faults


PRESETS = {
    ('aws-nlb', 'tcp'): (30000, 10000, 5, 2, None, None),
    ('aws-nlb', 'http'): (30000, 6000, 5, 2, 'GET', '200-399'),
    ('aws-nlb', 'https'): (30000, 6000, 5, 2, 'GET', '200-399'),
    ('aliyun-nlb', 'tcp'): (10000, 5000, 2, 2, None, None),
    ('aliyun-nlb', 'http'): (10000, 5000, 2, 2, 'GET', '200-299'),
    ('baidu-blb', 'tcp'): (3000, 3000, 3, 3, None, None),
    ('baidu-blb', 'http'): (3000, 3000, 3, 3, 'HEAD', '200-299'),
}
SPELLED = ('interval_ms', 'timeout_ms', 'healthy_threshold', 'unhealthy_threshold', 'method', 'expected_status')


def presets_are_spelled_out(daemon):
    """A GET shows the numbers and no preset, and what is set beside the preset wins."""
    faults = []
    daemon.install()
    target = '/api/v1/server-groups/preset'
    for (preset, kind), expected in PRESETS.items():
        daemon.call('PUT', target, {'protocol': 'tcp', 'health_check': {'preset': preset, 'type': kind}}).expect(200, 201)
        check = daemon.call('GET', target).json['health_check']
        found = tuple(check.get(member) for member in SPELLED)
        if found != expected or 'preset' in check or not check['fast_retry']:
            faults.append(f'{preset}, {kind}: {check}')
    daemon.call('PUT', target, {'protocol': 'tcp', 'health_check': {'preset': 'aws-nlb', 'interval_ms': 5000}})
    check = daemon.call('GET', target).json['health_check']
    if (check['interval_ms'], check['timeout_ms']) != (5000, 10000):
        faults.append(f'an interval beside the preset: {check}')
    daemon.call('DELETE', target).expect(204, 200)
    return faults


def the_nodes_faults_come_with_the_models(daemon):
    """What this node cannot serve is refused by every way to ask, beside other faults, with a pointer into what was sent."""
    faults = []
    name, unknown = f'{BALANCER}/dns_name', f'{GROUP}/colour'
    for members, expected in (({name: 'shop.other.example'}, [name]),
                              ({name: 'shop.other.example', unknown: 1}, [name, unknown]),
                              ({name: 'no name'}, [name])):
        document = _with(members)
        for method, target, headers in (('POST', '/api/v1/config/validate', {}),
                                        ('PUT', '/api/v1/config?dry_run=true', {'If-Match': '*'}),
                                        ('PUT', '/api/v1/config', {'If-Match': '*'})):
            answer = daemon.call(method, target, document, headers)
            found = sorted(f['pointer'] for f in answer.json.get('errors', []))
            if answer.status != 422 or found != sorted(expected):
                faults.append(f'{method} {target} with {members}: {answer.status}, {found}')
    daemon.install()
    answer = daemon.call('PUT', '/api/v1/load-balancers/other', {
        'dns_name': 'shop.other.example', 'zones': {'zone-a': {'vip4': '127.1.0.9'}}})
    found = [f['pointer'] for f in answer.json.get('errors', [])]
    if answer.status != 422 or found != ['/dns_name']:
        faults.append(f'PUT of the object: {answer.status}, {found}')
    return faults


def weights_are_of_the_servers_own_services(daemon):
    """Servers of two groups at one address and port: each is in the services of its own group."""
    faults = []
    daemon.call('PUT', '/api/v1/config', BASE, {'If-Match': '*'}).expect(200)
    for group, expected in (('web', ['shop']), ('names', ['dns'])):
        status = daemon.call('GET', f'/api/v1/server-groups/{group}/servers/s1/health').expect(200).json
        found = [s['load_balancer'] for s in status['services']]
        if found != expected:
            faults.append(f'{group}/s1 is in services of {found}')
    daemon.install()
    return faults


# What the model lists, the configuration that calls for it, and where it is said.
ADVICE = (
    ('slow_detection', {f'{CHECK}/interval_ms': 30000}, CHECK),
    ('timeout_not_below_interval', {f'{CHECK}/timeout_ms': 3000}, f'{CHECK}/timeout_ms'),
    ('interval_with_many_gateways', {'/zones/zone-c': {}, f'{CHECK}/interval_ms': 1999, f'{CHECK}/timeout_ms': 500},
     f'{CHECK}/interval_ms'),
    ('intermittent_failure_unseen', {f'{CHECK}/interval_ms': 10000}, f'{CHECK}/window'),
    ('verdict_rests_on_silence', {'/server_groups/names/health_check/expect': 'no_unreachable'},
     '/server_groups/names/health_check/type'),
    ('dns_request_by_default', {}, '/server_groups/names/health_check/request'),
    ('http_path_not_set', {f'{CHECK}/type': 'http'}, f'{CHECK}/path'),
    ('tcp_probe_reset', {}, f'{CHECK}/close'),
    ('zone_without_servers', {f'{BALANCER}/cross_zone': False, f'{BALANCER}/zones/zone-b': {'vip4': '127.1.0.3'}},
     f'{BALANCER}/zones/zone-b'),
    ('ttl_longer_than_failover', {f'{BALANCER}/dns_name': 'shop.lb.example.net',
                                  f'{BALANCER}/zones/zone-b': {'vip4': '127.1.0.3'}}, f'{BALANCER}/dns_ttl_s'),
    ('server_is_client', {'/zones/zone-a/client_subnets': ['127.0.0.0/24'], f'{LISTENER}/scheduler': 'sh'},
     f'{LISTENER}/scheduler'),
    ('server_is_client_without_snat', {'/zones/zone-a/client_subnets': ['127.0.0.0/24']}, LISTENER),
    ('many_probes', {f'{CHECK}/interval_ms': 100, f'{CHECK}/timeout_ms': 50}, f'{CHECK}/interval_ms'),
    ('one_zone', {}, f'{BALANCER}/zones'),
    ('vip_is_server', {f'{BALANCER}/zones/zone-a/vip4': '127.0.0.1'}, f'{BALANCER}/zones/zone-a/vip4'),
    ('server_is_vip', {f'{SERVER}/address': '127.1.0.2'}, f'{GROUP}/servers'),
    ('no_server_of_family', {f'{BALANCER}/zones/zone-a/vip6': '2001:db8::10'}, f'{LISTENER}/server_group'),
    ('zones_on_one_gateway', {f'{BALANCER}/zones/zone-b': {'vip4': '127.1.0.3'}}, f'{BALANCER}/zones'),
    ('probe_sources', {}, f'{CHECK}/source_address'),
    ('group_unused', {'/server_groups/new': {'protocol': 'tcp'}}, '/server_groups/new'),
    ('list_unused', {'/access_lists/a/default_action': 'deny'}, '/access_lists/a'),
    ('list_denies_all', {'/access_lists/a/default_action': 'deny', f'{LISTENER}/access_list': 'a'},
     '/access_lists/a/default_action'),
    ('list_allows_all', {'/access_lists/a/default_action': 'allow', f'{LISTENER}/access_list': 'a'},
     '/access_lists/a/default_action'),
    ('entries_without_effect', {'/access_lists/a/entries': [{'cidr': '10.0.0.0/8', 'action': 'deny'}]},
     '/access_lists/a/entries'),
    ('one_packet_with_nat', {'/load_balancers/dns/listeners/dns/one_packet': True},
     '/load_balancers/dns/listeners/dns/one_packet'),
)


def _objects_advice(daemon, pointer):
    """As the status of the object says it."""
    collection, name = pointer.strip('/').split('/')[:2]
    target = f'/api/v1/{collection.replace("_", "-")}/{name}'
    if collection == 'access_lists':
        return daemon.call('GET', target).expect(200).json['status']['advice']
    shown = 'health' if collection == 'server_groups' else 'status'
    return daemon.call('GET', f'{target}/{shown}').expect(200).json['advice']


def every_advice_is_given(daemon):
    """By validate, by the status of the object, and by the command line."""
    faults = []
    for code, members, pointer in ADVICE:
        document = _with(members)
        told = daemon.call('POST', '/api/v1/config/validate', document).expect(200).json['advice']
        daemon.call('PUT', '/api/v1/config', document, {'If-Match': '*'}).expect(200)
        detail = next((a['detail'] for a in told if (a['code'], a['pointer']) == (code, pointer)), None)
        if not detail:
            faults.append(f'{code} is not said of {members}: {told}')
            continue
        if not any((a['code'], a['detail']) == (code, detail) for a in _objects_advice(daemon, pointer)):
            faults.append(f'{code} is not said by the object of {pointer}')
        done = subprocess.run([f'{daemon.build}/zonegate', '--socket', daemon.socket, 'config', 'validate', '-f', '-'],
                              input=json.dumps(document), capture_output=True, text=True, timeout=20, check=False)
        if done.returncode != 0 or detail not in done.stderr:
            faults.append(f'{code} is not said by the command line: {done.returncode}, {done.stderr}')
    daemon.install()
    return faults


RULES = (every_bound_is_kept, presets_are_spelled_out, the_nodes_faults_come_with_the_models,
         weights_are_of_the_servers_own_services, every_advice_is_given)
