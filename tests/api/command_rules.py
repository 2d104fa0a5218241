# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line covers the API: for each route the command that asks for it, seen on the way to the daemon."""

import json
import os
import re
import signal
import subprocess

import recorder

WHY = 'why'
BASE = '/api/v1'
LB = BASE + '/load-balancers/{load_balancer}'
GROUP = BASE + '/server-groups/{server_group}'
SERVER = GROUP + '/servers/{server}'
LISTS = BASE + '/access-lists/{access_list}'
SHIFT = BASE + '/zone-shifts/{shift}'


def _object(path, noun, name, parent, member, delete):
    """The commands of one kind of object. None: another row has it."""
    collection = path.rpartition('/')[0]
    rows = {f'GET {path}': f'{noun} show {name}', f'PATCH {path}': f'{noun} set {name} {member}',
            f'PUT {path}': f'{noun} set {name} -f {{body}}', f'DELETE {path}': delete}
    if noun != 'server':
        rows[f'GET {collection}'] = f'{noun} list{parent}'
    return rows


def _drains(path, noun, name, zone=''):
    return {f'PUT {path}/drain': f'{noun} drain{zone} {name} --comment {WHY}',
            f'GET {path}/drain': f'{noun} drain{zone}-status {name}',
            f'DELETE {path}/drain': f'{noun} undrain{zone} {name}'}


# {body}: a file with the example of the route; {other names}: what the examples say.
COMMANDS = {
    **_object(BASE + '/zones/{zone}', 'zone', 'zone-a', '', 'description=new', 'zone delete zone-a'),
    **_object(LB, 'lb', 'shop', '', 'dns_ttl_s=20', 'lb delete shop'),
    **_object(LB + '/zones/{zone}', 'lb-zone', 'shop/zone-a', ' shop', 'enabled=false',
              'lb-zone delete shop/zone-a'),
    **_object(LB + '/listeners/{listener}', 'listener', 'shop/http', ' shop', 'scheduler=wlc',
              'listener delete shop/http'),
    **_object(GROUP, 'group', 'web', '', 'slow_start_ms=1000', 'group delete web'),
    **_object(BASE + '/access-lists/{access_list}', 'access', 'office', '', 'description=new',
              'access delete office'),
    f'GET {LISTS}/entries': 'access export office',
    f'GET {LISTS}/hits': 'access hits office',
    f'PUT {LISTS}/entries': 'access import office {body}',
    f'PATCH {LISTS}/entries': 'access deny office 203.0.113.7 --comment why',
    f'GET {LB}/listeners/{{listener}}/access': 'access check shop/http 203.0.113.7',
    **_object(SERVER, 'server', 'web/web-1', '', 'weight=5', 'server delete web/web-1'),
    **_drains(LB, 'lb', 'shop'),
    **_drains(LB + '/listeners/{listener}', 'listener', 'shop/http'),
    **_drains(SERVER, 'server', 'web/web-1'),
    **_drains(GROUP + '/zones/{zone}', 'group', 'web zone-a', '-zone'),
    f'PUT {GROUP}/servers': 'group set-servers web -f {body}',
    f'PUT {SERVER}/weight-override': f'server weight web/web-1 3 --comment {WHY}',
    f'GET {SERVER}/weight-override': 'server weight-status web/web-1',
    f'DELETE {SERVER}/weight-override': 'server weight web/web-1 --reset',
    f'GET {GROUP}/health': 'server list web',
    f'GET {SERVER}/health': 'server why web/web-1',
    f'GET {SERVER}/health/history': 'server history web/web-1',
    f'POST {SERVER}/probe': 'server probe web/web-1',
    f'GET {LB}/status': 'lb status shop',
    f'GET {LB}/failover-time': 'failover-time shop',
    f'GET {BASE}/config': 'config export',
    f'PUT {BASE}/config': 'config apply -f {body}',
    f'POST {BASE}/config/validate': 'config validate -f {body}',
    f'GET {BASE}/zone-shifts': 'shift list',
    f'POST {BASE}/zone-shifts': f'zone shift zone-b --lb shop --for 2h --force --comment {WHY}',
    f'GET {SHIFT}': 'shift show {shift}',
    f'PATCH {SHIFT}': 'zone extend zone-b --for 4h',
    f'DELETE {SHIFT}': 'zone return zone-b',
    f'GET {BASE}/overrides': 'override list',
    f'GET {BASE}/dns/preview': 'dns preview shop.lb.example.net',
    f'GET {BASE}/dns/records': 'dns records',
    f'POST {BASE}/tools/detection-time': 'check estimate interval_ms=1000 timeout_ms=500',
    f'GET {BASE}/stats': 'stats',
    f'GET {BASE}/kernel': 'kernel show',
    f'GET {BASE}/kernel/drift': 'kernel drift',
    f'GET {BASE}/system': 'status',
    f'GET {BASE}/system/doctor': 'doctor',
    f'GET {BASE}/audit': 'audit list',
    f'POST {BASE}/config/plan': 'config plan -f {body}',
    f'POST {BASE}/config/confirm': 'config confirm',
    f'GET {BASE}/config/revisions': 'config history',
    f'GET {BASE}/config/revisions/{{revision}}': 'config show {revision}',
    f'GET {BASE}/config/revisions/{{revision}}/diff': 'config diff {revision}',
    f'POST {BASE}/config/revisions/{{revision}}/rollback':
        f'config rollback {{revision}} --comment {WHY}',
    f'GET {BASE}/settings': 'settings show',
    f'PATCH {BASE}/settings': 'settings set timeouts.tcp_s=900',
    f'POST {BASE}/kernel/reconcile': 'kernel reconcile',
    f'GET {BASE}/events': 'events',
    f'GET {BASE}/notify': 'notify status',
    f'POST {BASE}/notify/test': 'notify test',
    f'GET {BASE}/users': 'user list',
    f'GET {BASE}/users/{{user}}': 'user show alice',
    f'PUT {BASE}/users/{{user}}': 'user set bob --role viewer --password-file {password}',
    f'PATCH {BASE}/users/{{user}}': 'user set alice --role viewer',
    f'DELETE {BASE}/users/{{user}}': 'user delete alice',
    f'GET {BASE}/tokens': 'token list',
    f'GET {BASE}/tokens/{{token}}': 'token show {token}',
    f'POST {BASE}/tokens': 'token create other --role viewer',
    f'DELETE {BASE}/tokens/{{token}}': 'token revoke {token}',
    f'GET {BASE}/sessions': 'session list',
    f'DELETE {BASE}/sessions/{{session}}': 'session end {session}',
    f'GET {BASE}/auth/session': 'whoami',
    f'POST {BASE}/auth/setup': 'setup',
}
# Routes without a command of their own, and why. `zonegate api` asks for each of them.
WITHOUT = {
    f'GET {GROUP}/servers': 'server list shows the same, with the states',
    f'GET {BASE}/config/confirm': 'status and override list show it among the rest',
    f'PUT {BASE}/settings': 'settings set changes members; config apply replaces',
    'GET /livez': 'for what watches processes: a command that ends with 0 says the same',
    'GET /readyz': 'for what watches processes: status says the same, with the reasons',
    'GET /metrics': 'for Prometheus',
    'GET /openapi.json': 'for generators of clients',
    f'POST {BASE}/auth/login': 'for browsers: the command line has a token, or the socket',
    f'POST {BASE}/auth/logout': 'for browsers',
    f'POST {BASE}/auth/first-user': 'for browsers, with the code of zonegate setup',
    f'POST {BASE}/auth/password': 'for browsers: of who has a session; user password sets one',
}
NAMELESS = ('status', 'stats', 'access hits office')  # what they show has no name
REFUSED = ('notify test',)  # no webhook is set here
# Changes that cannot be tried without doing them, and why.
NO_DRY_RUN = {
    'server probe': 'changes nothing',
    'check estimate': 'changes nothing',
    'config validate': 'changes nothing',
    'config plan': 'is one',
    'notify test': 'changes nothing',
    'setup': 'makes a code that nobody has to use',
}


def _run(daemon, socket, words):
    environment = {**os.environ, 'LC_ALL': 'C.UTF-8'}
    return subprocess.run([os.path.join(daemon.build, 'zonegate'), '--socket', socket, *words],
                          capture_output=True, text=True, timeout=20, check=False, env=environment,
                          stdin=subprocess.DEVNULL)


def _ready(daemon, method, path, folder):
    """The installation, and a file with the example of the route."""
    import example_rules
    daemon.prepare(method, path)
    if method == 'DELETE' and path in example_rules.ALONE:
        daemon.install(example_rules.ALONE[path])
    body = os.path.join(folder, 'body.json')
    with open(body, 'w', encoding='ascii') as file:
        example = daemon.sent_body(method, path)
        file.write(example if isinstance(example, str) else json.dumps(example))
    return body


def _words(daemon, line, body):
    password = os.path.join(os.path.dirname(body), 'password')
    with open(password, 'w', encoding='ascii') as file:
        file.write('correct horse battery\n')
    names = {name: f'no-{name}' for name in ('shift', 'token', 'session', 'revision')}
    return [word.format_map({**names, 'body': body, 'password': password, **daemon.fixed}) for word in line.split()]


def every_route_has_a_command(daemon):
    faults = []
    told = {f'{method} {path}' for method, path, _ in daemon.operations()}
    faults += [f'{route}: no command asks for it' for route in told - set(COMMANDS) - set(WITHOUT)]
    faults += [f'{route}: in the table of commands, and no route'
               for route in {*COMMANDS, *WITHOUT} - told]
    with recorder.Recorder(daemon, daemon.out) as between:
        for route, line in COMMANDS.items():
            if route not in told:
                continue
            method, _, path = route.partition(' ')
            body = _ready(daemon, method, path, daemon.out)
            between.seen.clear()
            result = _run(daemon, between.path, _words(daemon, line, body))
            asked = {f'{verb} {daemon.contract.find(target)}' for verb, target in between.seen}
            if route not in asked:
                faults.append(f'{line}: asked for {sorted(asked)}, not for {route}: {result.stderr}')
            elif result.returncode not in (0, 1, 2) and line not in REFUSED:
                faults.append(f'{line}: ended with {result.returncode}: {result.stderr}')
    return faults


def _is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def every_list_and_show_knows_all_formats(daemon):
    faults = []
    for route, line in COMMANDS.items():
        method, _, path = route.partition(' ')
        if method != 'GET' or path not in daemon.document['paths'] or path.endswith('/entries'):  # a text of its own
            continue
        body = _ready(daemon, method, path, daemon.out)
        words = _words(daemon, line, body)
        texts = {form: _run(daemon, daemon.socket, [*words, '-o', form]).stdout
                 for form in ('table', 'json', 'jsonl', 'name')}
        if not texts['table']:
            faults.append(f'{line} -o table: nothing')
        if not _is_json(texts['json']):
            faults.append(f'{line} -o json: {texts["json"][:200]!r}')
        if not all(_is_json(one) for one in texts['jsonl'].splitlines()):
            faults.append(f'{line} -o jsonl: {texts["jsonl"][:200]!r}')
        if '{' in texts['name'] or (texts['jsonl'] and 'audit' not in line and ' ' not in line
                                    and not texts['name'] and line not in NAMELESS):
            faults.append(f'{line} -o name: {texts["name"][:200]!r}')
    return faults


def every_change_knows_a_dry_run(daemon):
    faults = []
    for route, line in COMMANDS.items():
        if route.startswith('GET '):
            continue
        words = line.split()[:2]
        usage = _run(daemon, daemon.socket, [*words, '--help']).stdout.partition('\n')[0]
        if '--dry-run' not in usage and ' '.join(words) not in NO_DRY_RUN:
            faults.append(f'{" ".join(words)}: {usage}')
    return faults


def every_command_asks_for_something(daemon):
    """No command that the table does not know of."""
    own = {'user password', 'server stats', 'access allow', 'access remove',  # other ways to a route of the table
           'flush', 'api', 'completion', 'complete', 'config diff', 'setup', 'version'}
    listed = set()
    for line in _run(daemon, daemon.socket, ['--help']).stdout.split('\n'):
        match = re.match(r'  (\w[\w-]*)(?: +(\w[\w-]*))? {2,}\S', line)
        if match:
            listed.add(' '.join(word for word in match.groups() if word))
    used = {' '.join(line.split()[:n]) for line in COMMANDS.values() for n in (1, 2)}
    return [f'{command}: no route of the table has it' for command in sorted(listed - used - own)]


def a_full_disk_is_told(daemon):
    """What was to be kept and is not is no success: a copy of the configuration, a token that is shown once."""
    faults = []
    daemon.install()
    for words in (['config', 'export'], ['token', 'create', 'kept', '--role', 'viewer', '--for', '1h'], ['status'],
                  ['server', 'list', '-o', 'name'], ['config', 'export', '-o', 'json'], ['--help'], ['--version']):
        with open('/dev/full', 'wb', buffering=0) as full:
            done = subprocess.run([os.path.join(daemon.build, 'zonegate'), '--socket', daemon.socket, *words],
                                  stdout=full, stderr=subprocess.PIPE, text=True, timeout=20, check=False)
        if done.returncode != 1 or 'could not be written' not in done.stderr:
            faults.append(f'{" ".join(words)}: {done.returncode}, {done.stderr}')
    daemon.call('DELETE', '/api/v1/tokens/kept')
    return faults


def a_reader_that_leaves_ends_what_follows(daemon):
    """`zonegate events --follow | head`: it does not wait for one more event to find out."""
    words = ['events', '--follow', '--type', 'vip_device.*']  # none comes
    with subprocess.Popen([os.path.join(daemon.build, 'zonegate'), '--socket', daemon.socket, *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as following:
        following.stdout.close()
        try:
            status = following.wait(20)
        except subprocess.TimeoutExpired:
            following.kill()
            return ['nobody reads, and it still follows']
    return [] if status == -signal.SIGPIPE else [f'it ended with {status}']


RULES = (a_full_disk_is_told, a_reader_that_leaves_ends_what_follows, every_route_has_a_command, every_list_and_show_knows_all_formats,
         every_change_knows_a_dry_run, every_command_asks_for_something)
