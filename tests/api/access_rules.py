# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may: every route with every role, and the ways in that must be closed. A daemon of its own for each rule, by TCP."""

import contextlib
import http.client
import json
import time

from zglab import alone, api

PORT = 7480
PASSWORD = 'correct horse battery'
ROLES = ('nobody', 'metrics', 'viewer', 'operator', 'editor', 'admin')
OWN_PAGE = {'Sec-Fetch-Site': 'same-origin'}


class Gate:
    """A daemon with a listener on loopback; `root` asks by its socket."""

    def __init__(self, build, out):
        self.daemon = alone.Daemon({'build': build, 'out': out})
        with open(self.daemon._settings, 'a', encoding='ascii') as file:
            file.write(f'[api]\nlisten = 127.0.0.1:{PORT}\nallowed_hosts = gate.example\n')
        self._start()

    def _start(self):
        """Its socket listens a moment before the port does."""
        self.daemon.start()
        for _ in range(1000):
            with contextlib.suppress(ConnectionRefusedError):
                return self.ask('GET', '/livez')
            time.sleep(0.01)
        raise AssertionError('the port does not listen')

    def root(self, method, path, body=None):
        return api.Api(self.daemon.socket, judged=False).raw(method, f'/api/v1{path}', body)

    def ask(self, method, path, body=None, headers=None, source='127.0.0.1'):
        connection = http.client.HTTPConnection('127.0.0.1', PORT, 10, (source, 0))
        headers = dict(headers or {})
        if body is not None:
            headers['Content-Type'] = 'application/json'
            body = json.dumps(body)
        try:
            connection.request(method, path, body, headers)
            return api.Answer(connection.getresponse())
        finally:
            connection.close()

    def user(self, name, role):
        self.root('PUT', f'/users/{name}', {'role': role, 'password': PASSWORD}).expect(200, 201)

    def token(self, name, role, **more):
        """(id, headers)"""
        made = self.root('POST', '/tokens', {'name': name, 'role': role, **more}).expect(201).json
        return made['id'], {'Authorization': f'Bearer {made["token"]}'}

    def login(self, name, password=PASSWORD, headers=None, source='127.0.0.1'):
        return self.ask('POST', '/api/v1/auth/login', {'user': name, 'password': password}, headers,
                        source)

    def cookie(self, name):
        return cookie_of(self.login(name).expect(200))

    def crash(self):
        self.daemon.process.kill()
        self.daemon.process.wait(10)
        self._start()


def cookie_of(answer):
    return {'Cookie': answer.headers['Set-Cookie'].partition(';')[0]}


@contextlib.contextmanager
def gate(served):
    opened = Gate(served.build, served.out)
    try:
        yield opened
    finally:
        opened.daemon.dispose()


class Expectations:
    """Statuses that differ from what is expected."""

    def __init__(self):
        self.faults = []

    def status(self, what, answer, status):
        if answer.status != status:
            self.faults.append(f'{what}: {status} is expected: {answer}')


def every_route_lets_in_who_may(served):
    """A parameter that no route knows is refused (400) right after the role: nothing is done, whoever asks."""
    found = Expectations()
    with gate(served) as g:
        known = [('no', 'nobody', {})]
        for role in ROLES[1:]:
            g.user(role, role)
            known.append(('a token', role, g.token(f't-{role}', role)[1]))
            known.append(('a session', role, {**g.cookie(role), **OWN_PAGE}))
        for method, path, operation in served.operations():
            target = served.example_target(method, path).partition('?')[0] + '?no_such_parameter=1'
            for way, role, headers in known:
                may = ROLES.index(role) >= ROLES.index(operation['x-role'])
                status = 400 if may else 401 if role == 'nobody' else 403
                found.status(f'{method} {path} by {way} of {role}',
                             g.ask(method, target, headers=headers), status)
    return found.faults


def tokens_that_are_not_good_are_refused(served):
    found = Expectations()
    where = '/api/v1/zones'
    with gate(served) as g:
        _, short = g.token('short', 'viewer', expires_in='1s')
        gone_id, gone = g.token('gone', 'viewer')
        _, near = g.token('near', 'viewer', sources=['127.0.0.2', '192.0.2.0/24'])
        found.status('a good one', g.ask('GET', where, headers=gone), 200)
        found.status('one that is going to end', g.ask('GET', where, headers=short), 200)
        g.root('DELETE', f'/tokens/{gone_id}').expect(204)
        found.status('revoked', g.ask('GET', where, headers=gone), 401)
        found.status('from elsewhere', g.ask('GET', where, headers=near), 401)
        found.status('from its prefix', g.ask('GET', where, headers=near, source='127.0.0.2'), 200)
        found.status('another scheme', g.ask('GET', where, headers={'Authorization': 'Basic eDp5'}), 401)
        time.sleep(1.1)
        found.status('expired', g.ask('GET', where, headers=short), 401)
        text = gone['Authorization']
        for what, value in (('a guess', text[:-1] + ('0' if text[-1] != '0' else '1')), ('cut', text[:-1]),
                            ('empty', 'Bearer '), ('long', 'Bearer ' + 'x' * 5000)):
            found.status(what, g.ask('GET', where, headers={'Authorization': value}), 401)
    return found.faults


def guesses_make_their_source_wait(served):
    found = Expectations()
    with gate(served) as g:
        _, good = g.token('good', 'viewer')
        g.user('alice', 'admin')
        bad = {'Authorization': 'Bearer zg_' + '0' * 64}
        for _ in range(10):
            found.status('a guess', g.ask('GET', '/api/v1/zones', headers=bad, source='127.0.0.6'), 401)
        late = g.ask('GET', '/api/v1/zones', headers=bad, source='127.0.0.6')
        found.status('after ten', late, 429)
        if int(late.headers['Retry-After'] or 0) < 50:
            found.faults.append(f'Retry-After is {late.headers["Retry-After"]}')
        found.status('a login after ten', g.login('alice', source='127.0.0.6'), 429)
        found.status('a good one', g.ask('GET', '/api/v1/zones', headers=good, source='127.0.0.6'), 200)
        found.status('from elsewhere', g.ask('GET', '/api/v1/zones', headers=bad, source='127.0.0.7'), 401)
    return found.faults


def failed_logins_make_their_source_wait(served):
    found = Expectations()
    with gate(served) as g:
        g.user('alice', 'admin')
        for i in range(10):
            found.status('wrong', g.login('alice' if i % 2 else 'mallory', 'wrong wrong', source='127.0.0.8'), 401)
        late = g.login('alice', source='127.0.0.8')
        found.status('after ten', late, 429)
        if int(late.headers['Retry-After'] or 0) < 50:
            found.faults.append(f'Retry-After is {late.headers["Retry-After"]}')
        found.status('from elsewhere', g.login('alice', source='127.0.0.9'), 200)
        with open(g.daemon.log.name, encoding='utf-8') as file:
            log = file.read()
        if 'auth.login_failed users/alice' not in log or '127.0.0.8' not in log:
            found.faults.append('the log has no failed login')
        if 'mallory' in log or 'wrong wrong' in log:
            found.faults.append('the log has what may be a password')
    return found.faults


def pages_of_others_cannot_use_a_session(served):
    found = Expectations()
    read, write = ('GET', '/api/v1/zones', None), ('PUT', '/api/v1/zones/za', {})
    host = f'127.0.0.1:{PORT}'
    tries = (
        ({}, 200, 403),
        ({'Sec-Fetch-Site': 'same-origin'}, 200, 200),
        ({'Sec-Fetch-Site': 'same-site'}, 200, 403),
        ({'Sec-Fetch-Site': 'none'}, 200, 403),
        ({'Sec-Fetch-Site': 'cross-site'}, 403, 403),
        ({'Sec-Fetch-Site': 'SAME-ORIGIN'}, 403, 403),
        ({'Sec-Fetch-Site': 'cross-site', 'Origin': f'http://{host}'}, 403, 403),
        ({'Origin': f'http://{host}'}, 200, 200),
        ({'Origin': f'https://{host}'}, 200, 200),
        ({'Origin': 'http://evil.example'}, 403, 403),
        ({'Origin': f'http://{host}.evil.example'}, 403, 403),
        ({'Origin': 'null'}, 403, 403),
        ({'Host': 'gate.example', 'Origin': 'https://gate.example'}, 200, 200),
        ({'Host': 'gate.example', 'Origin': f'http://{host}'}, 403, 403),
        ({'Host': 'evil.example', 'Origin': 'http://evil.example'}, 421, 421),
    )
    with gate(served) as g:
        g.user('alice', 'admin')
        cookie = g.cookie('alice')
        g.root('PUT', '/zones/za', {}).expect(201)
        for headers, may_read, may_write in tries:
            for (method, path, body), status in ((read, may_read), (write, may_write)):
                found.status(f'{method} with {headers}',
                             g.ask(method, path, body, {**cookie, **headers}), status)
        for headers, status in (({'Sec-Fetch-Site': 'cross-site'}, 403), ({'Sec-Fetch-Site': 'same-site'}, 403),
                                ({'Origin': 'http://evil.example'}, 403), (OWN_PAGE, 200)):
            found.status(f'login with {headers}', g.login('alice', headers=headers), status)
    return found.faults


def cookies_are_what_browsers_guard(served):
    found = Expectations()
    with gate(served) as g:
        g.user('alice', 'admin')
        answer = g.login('alice').expect(200)
        name, _, rest = answer.headers['Set-Cookie'].partition('=')
        if name != '__Host-zonegate' or rest.partition('; ')[2] != 'Path=/; Secure; HttpOnly; SameSite=Strict':
            found.faults.append(f'Set-Cookie is {answer.headers["Set-Cookie"]}')
        cookie = cookie_of(answer)
        twice = {'Cookie': f'{cookie["Cookie"]}; {cookie["Cookie"]}'}
        found.status('with others beside', g.ask('GET', '/api/v1/zones', headers={
            'Cookie': f'a=b; {cookie["Cookie"]}; c=d'}), 200)
        found.status('twice', g.ask('GET', '/api/v1/zones', headers=twice), 401)
        found.status('logout for another page', g.ask('POST', '/api/v1/auth/logout',
                                                      headers={'Sec-Fetch-Site': 'cross-site'}), 403)
        found.status('logout', g.ask('POST', '/api/v1/auth/logout', headers={**cookie, **OWN_PAGE}), 204)
        found.status('after logout', g.ask('GET', '/api/v1/zones', headers=cookie), 401)
    return found.faults


def a_crash_forgets_nothing(served):
    found = Expectations()
    with gate(served) as g:
        g.user('alice', 'editor')
        _, kept = g.token('kept', 'operator')
        gone_id, gone = g.token('gone', 'viewer')
        session, ended = g.cookie('alice'), g.cookie('alice')
        g.root('DELETE', f'/tokens/{gone_id}').expect(204)
        g.ask('POST', '/api/v1/auth/logout', headers={**ended, **OWN_PAGE}).expect(204)
        g.crash()
        for what, headers, status in (('token', kept, 200), ('session', session, 200), ('revoked', gone, 401),
                                      ('signed out', ended, 401)):
            found.status(what, g.ask('GET', '/api/v1/auth/session', headers=headers), status)
        found.status('password', g.login('alice'), 200)
        roles = [g.ask('GET', '/api/v1/auth/session', headers=h).json['role'] for h in (kept, session)]
        if roles != ['operator', 'editor']:
            found.faults.append(f'the roles are {roles}')
    return found.faults


def changes_of_a_user_end_his_sessions(served):
    found = Expectations()
    with gate(served) as g:
        for what, method, body in (('role', 'PATCH', {'role': 'viewer'}), ('password', 'PATCH', {'password': PASSWORD}),
                                   ('nothing', 'PATCH', {'role': 'viewer'}), ('removal', 'DELETE', None)):
            if what != 'nothing':
                g.user('alice', 'editor')
            else:
                g.root('PATCH', '/users/alice', body).expect(200)
            cookie = g.cookie('alice')
            g.root(method, '/users/alice', body).expect(200, 204)
            found.status(f'after a change of {what}', g.ask('GET', '/api/v1/zones', headers=cookie),
                         200 if what == 'nothing' else 401)
        g.user('bob', 'admin')
        before = g.cookie('bob')
        answer = g.ask('POST', '/api/v1/auth/password',
                       {'current_password': PASSWORD, 'new_password': 'another long sentence'},
                       {**before, **OWN_PAGE}).expect(204)
        found.status('the old session', g.ask('GET', '/api/v1/zones', headers=before), 401)
        found.status('the new one', g.ask('GET', '/api/v1/zones', headers=cookie_of(answer)), 200)
        found.status('the old password', g.login('bob'), 401)
    return found.faults


def sessions_of_others_are_not_shown(served):
    found = Expectations()
    with gate(served) as g:
        g.user('alice', 'viewer')
        g.user('bob', 'viewer')
        g.user('carol', 'admin')
        alice, bob, carol = ({**g.cookie(name), **OWN_PAGE} for name in ('alice', 'bob', 'carol'))
        _, token = g.token('ci', 'editor')
        ids = {}
        for who, headers, users in (('alice', alice, ['alice']), ('bob', bob, ['bob']), ('a token', token, []),
                                    ('carol', carol, ['alice', 'bob', 'carol'])):
            items = g.ask('GET', '/api/v1/sessions', headers=headers).expect(200).json['items']
            ids.update({item['user']: item['id'] for item in items})
            if [item['user'] for item in items] != users:
                found.faults.append(f'{who} sees {items}')
        found.status('of another', g.ask('DELETE', f'/api/v1/sessions/{ids["bob"]}', headers=alice), 404)
        found.status('his own', g.ask('DELETE', f'/api/v1/sessions/{ids["alice"]}', headers=alice), 204)
        found.status('by an admin', g.ask('DELETE', f'/api/v1/sessions/{ids["bob"]}', headers=carol), 204)
        for headers in (alice, bob):
            found.status('after that', g.ask('GET', '/api/v1/sessions', headers=headers), 401)
    return found.faults


def users_are_written_under_conditions(served):
    found = Expectations()
    with gate(served) as g:
        _, admin = g.token('admin', 'admin')
        user = {'role': 'viewer', 'password': PASSWORD}

        def put(body, **headers):
            return g.ask('PUT', '/api/v1/users/alice', body,
                         {**admin, **{name.replace('_', '-'): value for name, value in headers.items()}})
        found.status('to change one that is not there', put(user, If_Match='*'), 412)
        made = put(user, If_None_Match='*')
        found.status('to make one', made, 201)
        found.status('to make it again', put(user, If_None_Match='*'), 412)
        shown = g.ask('GET', '/api/v1/users/alice', headers=admin).expect(200)
        if shown.headers['ETag'] != made.headers['ETag'] or shown.json != made.json:
            found.faults.append(f'{made} is not {shown}')
        same = put(shown.json, If_Match=shown.headers['ETag'])
        found.status('as it is', same, 200)
        if same.headers['ETag'] != shown.headers['ETag'] or same.json != shown.json:
            found.faults.append(f'what was sent back changed it: {same}')
        found.status('with its tag', put({'role': 'editor'}, If_Match=shown.headers['ETag']), 200)
        stale = put({'role': 'viewer'}, If_Match=shown.headers['ETag'])
        found.status('with an old one', stale, 412)
        if stale.json.get('changed', {}).get('who') != 'token:admin' or not stale.json['changed'].get('at'):
            found.faults.append(f'not by whom: {stale.json}')
        if PASSWORD in str(g.ask('GET', '/api/v1/users/alice', headers=admin).body):
            found.faults.append('the password is shown')
    return found.faults


def the_first_user_comes_from_the_host(served):
    found = Expectations()
    with gate(served) as g:
        first = {'user': 'alice', 'password': PASSWORD}
        found.status('without a code', g.ask('POST', '/api/v1/auth/first-user', {**first, 'code': ''}), 401)
        code = g.root('POST', '/auth/setup').expect(200).json['code']
        found.status('a weak password', g.ask('POST', '/api/v1/auth/first-user', {
            'user': 'alice', 'password': 'short', 'code': code}), 422)
        answer = g.ask('POST', '/api/v1/auth/first-user', {**first, 'code': code})
        found.status('with it', answer, 201)
        cookie = {**cookie_of(answer), **OWN_PAGE}
        found.status('signed in', g.ask('GET', '/api/v1/users', headers=cookie), 200)
        found.status('again', g.ask('POST', '/api/v1/auth/first-user', {**first, 'code': code}), 401)
        found.status('a code by TCP', g.ask('POST', '/api/v1/auth/setup', headers=cookie), 403)
        found.status('the last admin', g.ask('DELETE', '/api/v1/users/alice', headers=cookie), 409)
        found.status('demoted', g.ask('PATCH', '/api/v1/users/alice', {'role': 'viewer'}, cookie), 409)
        found.status('by the socket', g.root('DELETE', '/users/alice'), 204)
    return found.faults


RULES = (every_route_lets_in_who_may, tokens_that_are_not_good_are_refused, guesses_make_their_source_wait,
         failed_logins_make_their_source_wait, pages_of_others_cannot_use_a_session,
         cookies_are_what_browsers_guard, a_crash_forgets_nothing, changes_of_a_user_end_his_sessions,
         sessions_of_others_are_not_shown, users_are_written_under_conditions, the_first_user_comes_from_the_host)
