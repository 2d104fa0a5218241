# SPDX-License-Identifier: GPL-2.0-or-later
"""What holds for every route: pages, preconditions, and that what is read can be sent back and changes nothing."""

OTHER = '"another"'


def _lists(daemon):
    for method, path, operation in daemon.operations():
        schema = operation['responses'].get('200', {}).get('content', {}).get('application/json', {}).get('schema', {})
        name = schema.get('$ref', '').rpartition('/')[2]
        members = daemon.document['components']['schemas'].get(name, {}).get('properties', {})
        if method == 'GET' and 'items' in members:
            yield path, operation, members


def every_list_is_paged(daemon):
    faults = []
    for path, operation, members in _lists(daemon):
        known = {p['name'] for p in operation['parameters'] if p['in'] == 'query'}
        if not {'limit', 'cursor'} <= known or 'next_cursor' not in members:
            faults.append(f'GET {path}: a list without limit, cursor and next_cursor')
    return faults


def _key(item):
    return tuple(str(item.get(name)) for name in ('kind', 'id', 'name', 'object', 'revision'))


def _pages(daemon, target):
    """(items, one page each) of a list, asked for one by one."""
    items, cursor = [], ''
    for _ in range(50):
        page = daemon.call('GET', f'{target}?limit=1{cursor}').expect(200).json
        items += page['items']
        if len(page['items']) > 1:
            return None
        if page['next_cursor'] is None:
            return items
        cursor = f'&cursor={page["next_cursor"]}'
    return None


def _fill(daemon):
    """Two of everything."""
    daemon.install()
    server = '/api/v1/server-groups/web/servers/web-'
    body = {'comment': 'why'}
    for name in '12':
        daemon.call('PUT', f'{server}{name}/drain', body).expect(200, 201)
        daemon.call('PUT', f'{server}{name}/weight-override', {**body, 'weight': 3}).expect(200, 201)
        daemon.call('PUT', f'/api/v1/users/user-{name}', {'role': 'viewer', 'password': 'correct horse battery'})
        daemon.call('POST', '/api/v1/tokens', {'name': f'token-{name}', 'role': 'viewer'})
        daemon.call('POST', '/api/v1/auth/login', {'user': f'user-{name}', 'password': 'correct horse battery'})
        daemon.call('POST', '/api/v1/zone-shifts', {'zone': f'zone-{"ab"[int(name) - 1]}', 'load_balancer': 'shop',
                                                   'expires_in': '1h', 'comment': 'why', 'force': True})


def pages_are_the_list(daemon):
    """One by one it is what it is at once, in the same order, and no item is left out or comes twice."""
    faults = []
    _fill(daemon)
    for path in ('/zones', '/server-groups', '/load-balancers', '/server-groups/web/servers', '/zone-shifts', '/overrides',
                 '/users', '/tokens', '/sessions'):
        whole = daemon.call('GET', f'/api/v1{path}').expect(200).json['items']
        single = _pages(daemon, f'/api/v1{path}')
        if single is None or [_key(i) for i in single] != [_key(i) for i in whole]:
            faults.append(f'{path}: {whole} is not {single}')
        least = 1 if path in ('/server-groups', '/load-balancers') else 2
        if len(whole) < least or len({_key(i) for i in whole}) != len(whole):
            faults.append(f'{path}: {whole}')
        for query in ('limit=0', 'limit=1001', 'cursor=%C3%A4'):
            answer = daemon.call('GET', f'/api/v1{path}?{query}')
            if answer.status != 400:
                faults.append(f'{path}?{query}: {answer}')
    for name in '12':
        daemon.call('DELETE', f'/api/v1/users/user-{name}').expect(204)
    return faults


# What cannot be asked for beforehand has no tag that could be sent.
UNCONDITIONAL = {'/api/v1/sessions/{session}'}


def named(what, answer):
    """A 412 says who changed the thing, and when."""
    changed = answer.json.get('changed') or {}
    if changed.get('who') and changed.get('at') and f"by {changed['who']}" in answer.json['detail']:
        return []
    return [f'{what}: not by whom and when: {answer.json}']


def preconditions_are_kept(daemon):
    """A tag that is another's: 412, and nothing is done. The one that GET gave: done."""
    import example_rules
    faults = []
    for method, path, operation in daemon.operations():
        if method not in ('PUT', 'PATCH', 'DELETE') or path in UNCONDITIONAL:
            continue
        if 'If-Match' not in {p['name'] for p in operation['parameters']}:
            faults.append(f'{method} {path}: knows no If-Match')
            continue
        daemon.prepare(method, path)
        if method == 'DELETE' and path in example_rules.ALONE:
            daemon.install(example_rules.ALONE[path])
        target, body = daemon.example_target(method, path), daemon.sent_body(method, path)
        if method == 'PUT':
            daemon.call('PUT', target, body, {'If-Match': '*'} if path.endswith('/config') else None)
        whole = path.endswith('/servers')  # which has no tag but that of its group
        shown = daemon.call('GET', target[:-len('/servers')] if whole else target)
        tag = shown.headers['ETag']
        if not tag:
            faults.append(f'GET {path}: no ETag')
            continue
        answer, found = daemon.judged(method, target, body, {'If-Match': OTHER})
        faults += found
        if answer.status != 412:
            faults.append(f'{method} {path} with another tag: {answer}')
        faults += named(f'{method} {path} with another tag', answer)
        if method == 'PUT' and not whole and 'config' not in path and 'settings' not in path:
            answer, found = daemon.judged(method, target, body, {'If-None-Match': '*'})
            faults += found
            if answer.status != 412:
                faults.append(f'{method} {path} create only: {answer}')
            faults += named(f'{method} {path} create only', answer)
        answer, found = daemon.judged(method, target, body, {'If-Match': tag})
        faults += found
        if not 200 <= answer.status < 300:
            faults.append(f'{method} {path} with its tag {tag}: {answer}')
    return faults


def what_is_read_can_be_sent_back(daemon):
    """GET, then PUT of the same body: no revision, no operation of the kernel, no other tag."""
    faults = []
    for method, path, _ in daemon.operations():
        if method != 'PUT' or not path.startswith('/api/v1/') or '/drain' in path or 'weight-override' in path:
            continue
        daemon.prepare(method, path)
        target = daemon.example_target(method, path)
        if daemon.call('GET', target).status == 404:
            daemon.call('PUT', target, daemon.sent_body(method, path)).expect(201)
        before = daemon.call('GET', '/api/v1/config').headers['ETag']
        for query in ('', '?view=config'):
            if query and ('/users/' in path or path.endswith('/entries')):
                continue
            shown = daemon.call('GET', target + query).expect(200)
            tag = {'If-Match': before} if path.endswith('/config') else None
            body = shown.body.decode() if path.endswith('/entries') else shown.json
            plan = daemon.call('PUT', f'{target}?dry_run=true', body, tag)
            if plan.status != 200 or plan.json['diff'] or plan.json['kernel_ops'] or plan.json['dns_changes']:
                faults.append(f'{path}{query}: a dry run of it as it is: {plan} {plan.json}')
            answer, found = daemon.judged('PUT', target, body, tag)
            faults += found
            if answer.status != 200:
                faults.append(f'{path}{query}: refused as it is: {answer}')
            elif not path.endswith('/servers') and answer.headers['ETag'] != daemon.call('GET', target).headers['ETag']:
                faults.append(f'{path}{query}: has another tag now')
            if daemon.call('GET', '/api/v1/config').headers['ETag'] != before:
                faults.append(f'{path}{query}: made a revision')
                before = daemon.call('GET', '/api/v1/config').headers['ETag']
    return faults


def reading_changes_nothing(daemon):
    """Every GET and HEAD of the document: the configuration and what is beside it stay as they are."""
    import example_rules
    faults = []
    for method, path, _ in daemon.operations():
        if method != 'GET' or path == '/api/v1/events':
            continue
        daemon.prepare(method, path)
        before = example_rules.kept(daemon)
        for verb in ('GET', 'HEAD'):
            daemon.call(verb, daemon.example_target(method, path))
            if example_rules.kept(daemon) != before:
                faults.append(f'{verb} {path}: {before} became {example_rules.kept(daemon)}')
    return faults


RUNNING = ('time_left_ms', 'last_login_at', 'status')  # goes on by itself


def what_was_put_is_what_is_read(daemon):
    """PUT answers 201, or 200 if it was there, with the object as GET shows it and the same tag."""
    faults = []
    for method, path, _ in daemon.operations():
        if method != 'PUT' or path.endswith(('/servers', '/entries')):
            continue
        daemon.prepare(method, path)
        target, body = daemon.example_target(method, path), daemon.sent_body(method, path)
        headers = {'If-Match': '*'} if path.endswith('/config') else None
        there = daemon.call('GET', target).status == 200
        for status in (200,) if there else (201, 200):
            put = daemon.call('PUT', target, body, headers)
            shown = daemon.call('GET', target)
            if put.status != status:
                faults.append(f'{path}: {status} is expected: {put}')
                continue
            one, other = ({k: v for k, v in a.json.items() if k not in RUNNING} for a in (put, shown))
            if one != other or put.headers['ETag'] != shown.headers['ETag']:
                faults.append(f'{path}: answered {one} {put.headers["ETag"]}, and shows {other} {shown.headers["ETag"]}')
            if status == 201 and put.headers['Location'] != target:
                faults.append(f'{path}: Location is {put.headers["Location"]}')
    return faults


def a_change_that_waits_is_listed(daemon):
    faults = []
    daemon.install()
    daemon.call('PATCH', '/api/v1/zones/zone-a?confirm_within_s=60&comment=try', {'description': 'tried'}).expect(200)
    items = daemon.call('GET', '/api/v1/overrides').expect(200).json['items']
    waiting = [i for i in items if i['kind'] == 'unconfirmed_change']
    if len(waiting) != 1 or waiting[0]['comment'] != 'try' or not waiting[0]['expires_at']:
        faults.append(f'the overrides are {items}')
    answer, found = daemon.judged('POST', '/api/v1/config/confirm', None, {'If-Match': OTHER})
    faults += found
    if answer.status != 412 or answer.json.get('changed', {}).get('comment') != 'try':
        faults.append(f'a stale confirmation: {answer} {answer.json}')
    daemon.call('POST', '/api/v1/config/confirm').expect(200)
    if any(i['kind'] == 'unconfirmed_change' for i in daemon.call('GET', '/api/v1/overrides').json['items']):
        faults.append('it is listed after its confirmation')
    return faults


def what_is_off_is_said_to_be(daemon):
    checks = daemon.call('GET', '/readyz?verbose=true').expect(200).json['checks']
    return [f'{c}: does not say off' for c in checks if c['check'].startswith('kernel') and not c['detail'].startswith('off')]


RULES = (every_list_is_paged, pages_are_the_list, preconditions_are_kept, what_is_read_can_be_sent_back,
         reading_changes_nothing, what_was_put_is_what_is_read,
         a_change_that_waits_is_listed, what_is_off_is_said_to_be)
