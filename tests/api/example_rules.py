# SPDX-License-Identifier: GPL-2.0-or-later
"""Each example of the document, sent to the daemon."""

# Objects that others use cannot be removed: only these collections are there meanwhile.
ALONE = {'/api/v1/zones/{zone}': ('zones',),
         '/api/v1/server-groups/{server_group}': ('zones', 'server_groups')}
# Writes that must say what they are about.
CONDITIONAL = (('PUT', '/api/v1/config'),
               ('POST', '/api/v1/config/revisions/{revision}/rollback'))
# Of sessions only, and whoever asks by the socket has none.
# No webhook is set.
REFUSED = {('POST', '/api/v1/notify/test'): 409,
           ('POST', '/api/v1/auth/password'): 403}


def _send(daemon, method, path, query=''):
    target = daemon.example_target(method, path)
    target += ('&' if '?' in target else '?') + query if query else ''
    headers = {'If-Match': '*'} if (method, path) in CONDITIONAL else None
    return daemon.judged(method, target, daemon.sent_body(method, path), headers)


def examples_are_answered_as_documented(daemon):
    faults = []
    for method, path, _ in daemon.operations():
        daemon.prepare(method, path)
        if method == 'DELETE' and path in ALONE:
            daemon.install(ALONE[path])
        answer, found = _send(daemon, method, path)
        faults += found
        if not 200 <= answer.status < 300 and answer.status != REFUSED.get((method, path)):
            faults.append(f'{method} {path}: the example is refused: {answer}')
    return faults


# POST that changes nothing that is kept, or signs somebody in: there is nothing to try without doing it.
NO_TRIAL = {'/api/v1/config/validate', '/api/v1/config/plan', '/api/v1/tools/detection-time', '/api/v1/notify/test',
            '/api/v1/server-groups/{server_group}/servers/{server}/probe', '/api/v1/auth/login', '/api/v1/auth/logout',
            '/api/v1/auth/password', '/api/v1/auth/setup', '/api/v1/auth/first-user'}
KEPT = ('/api/v1/overrides', '/api/v1/users', '/api/v1/tokens', '/api/v1/sessions')


def kept(daemon):
    """What a dry run must leave: the document, and what is beside it."""
    ids = [[one.get('id') or one.get('name') or one['object'] for one in daemon.call('GET', path).json['items']] for path in KEPT]
    users = [one['role'] for one in daemon.call('GET', '/api/v1/users').json['items']]
    return daemon.call('GET', '/api/v1/config').headers['ETag'], ids, users


def _knows(operation, name):
    return any(p['in'] == 'query' and p['name'] == name for p in operation['parameters'])


def dry_runs_are_answered_as_documented(daemon):
    """And change nothing."""
    faults = []
    for method, path, operation in daemon.operations():
        if not _knows(operation, 'dry_run'):
            if method != 'GET' and path not in NO_TRIAL:
                faults.append(f'{method} {path}: a write that knows no dry run')
            continue
        daemon.prepare(method, path)
        if method == 'DELETE' and path in ALONE:
            daemon.install(ALONE[path])
        before = kept(daemon)
        answer, found = _send(daemon, method, path, 'dry_run=true')
        faults += found
        if answer.status != 200:
            faults.append(f'{method} {path}: the dry run is refused: {answer}')
        elif not {'diff', 'kernel_ops', 'dns_changes', 'warnings'} <= set(answer.json):
            faults.append(f'{method} {path}: the dry run tells only {sorted(answer.json)}')
        if kept(daemon) != before:
            faults.append(f'{method} {path}: the dry run changed something: {before} {kept(daemon)}')
    return faults


def optional_parameters_are_answered_as_documented(daemon):
    """Values of an enumeration, booleans and limits of the query, one after the other."""
    faults = []
    daemon.install()
    for method, path, operation in daemon.operations():
        if method != 'GET':
            continue
        daemon.prepare(method, path)
        for parameter in operation['parameters']:
            schema = parameter['schema']
            values = schema.get('enum') or {'boolean': ['true', 'false'], 'integer': ['1']}.get(
                schema.get('type'), [])
            if parameter['in'] != 'query' or parameter['required']:
                continue
            for value in values:
                answer, found = _send(daemon, method, path, f'{parameter["name"]}={value}')
                faults += found
                if not 200 <= answer.status < 300 and path != '/readyz':
                    faults.append(f'{method} {path}: {parameter["name"]}={value}: {answer}')
    return faults


def faults_are_answered_as_documented(daemon):
    """What is wrong with a request has a status of the document and a problem with members that it knows."""
    faults = []
    daemon.install()
    for method, path, operation in daemon.operations():
        target = daemon.example_target(method, path)
        takes = 'requestBody' in operation
        tries = [(f'{target}{"&" if "?" in target else "?"}no_such_parameter=1', {}, None, 400)]
        if '{' in path and method in ('GET', 'PATCH', 'DELETE'):
            other = daemon.example_target(method, path, '4711' if '{revision}' in path else 'not-there')
            tries.append((other, {}, '{}' if takes else None, None))
        if takes and 'text/plain' in operation['requestBody']['content']:
            tries += [(target, {'Content-Type': 'text/plain'}, 'no network', 422),
                      (target, {'Content-Type': 'application/json'}, '10.0.0.0/8 deny', 415)]
        elif takes:
            kind = 'application/merge-patch+json' if method == 'PATCH' else 'application/json'
            tries += [(target, {'Content-Type': kind}, '{"a":1,"a":2}', 400),
                      (target, {'Content-Type': kind}, '{"no_such_member":1}', 422),
                      (target, {'Content-Type': 'text/plain'}, '{}', 415),
                      (target, {'Content-Type': kind}, '[]', None)]
        for where, headers, body, status in tries:
            if (method, path) in CONDITIONAL:
                headers = {**headers, 'If-Match': '*'}
            answer = daemon.call(method, where, body, headers)
            faults += daemon.contract.check_answer(method, where, answer)
            if answer.status < 400 or (status and answer.status != status):
                faults.append(f'{method} {where} {body}: {answer.status}, not {status or "refused"}')
    return faults


RULES = (examples_are_answered_as_documented, dry_runs_are_answered_as_documented,
         optional_parameters_are_answered_as_documented, faults_are_answered_as_documented)
