# SPDX-License-Identifier: GPL-2.0-or-later
"""A daemon with the small installation of the document's examples."""

import json
import os
import re

from zglab import alone, api, contract

DNS = 'listen = 127.0.0.1:5300\napex = lb.example.net\nns = ns1.example.net, ns2.example.net\n'
# Bodies that are text, not JSON.
TEXTS = '/entries'
# No zone is healthy here: the servers of the examples are not.
NEEDS = {('POST', '/api/v1/zone-shifts'): {'force': True}}


class Served:
    def __init__(self, build, out):
        self.build = build
        self.out = out
        self._daemon = alone.Daemon({'build': build, 'out': out}, DNS)
        self.document = self.contract = None
        self.fixed = {}
        self._needs = {}

    def start(self):
        self._daemon.start()
        self.document = self.call('GET', '/openapi.json').json
        contract.Contract.shelf = contract.Shelf(os.path.join(os.path.dirname(self.build), 'lab/judges'))
        self.contract = contract.Contract(self.document)

    def dispose(self):
        self._daemon.dispose()

    def call(self, method, target, body=None, headers=None):
        if isinstance(body, str) and target.partition('?')[0].endswith(TEXTS):
            headers = {'Content-Type': 'text/plain', **(headers or {})}
        return api.Api(self._daemon.socket, judged=False).raw(method, target, body, headers)

    def judged(self, method, target, body=None, headers=None):
        """(answer, faults by the document)"""
        answer = self.call(method, target, body, headers)
        faults = self.contract.check_answer(method, target, answer)
        if body is not None and not isinstance(body, str) and 200 <= answer.status < 300:
            faults += self.contract.check_request(method, target, json.dumps(body))
        return answer, faults

    @property
    def socket(self):
        return self._daemon.socket

    # ---- examples ---------------------------------------------------------------------------

    def operations(self):
        """(method, path, operation) of the document."""
        for path, item in self.document['paths'].items():
            for verb, operation in item.items():
                yield verb.upper(), path, operation

    def example_body(self, method, path):
        operation = self.document['paths'][path].get(method.lower(), {})
        for media in operation.get('requestBody', {}).get('content', {}).values():
            return media.get('example')
        return None

    def sent_body(self, method, path):
        """The example, and what it needs besides in this installation."""
        body = self.example_body(method, path)
        if not body or isinstance(body, str):
            return body
        return {**body, **NEEDS.get((method, path), {}), **self._needs.get((method, path), {})}

    def example_target(self, method, path, instead=None):
        """The path with the examples of its parameters; required ones of the query, too. The last
        one of the path may be another."""
        query = []
        target = path
        for parameter in self.document['paths'][path][method.lower()]['parameters']:
            name, value = parameter['name'], str(parameter.get('example', f'no-{parameter["name"]}'))
            if parameter['in'] == 'path':
                last = instead and name == re.findall(r'\{(\w+)\}', path)[-1]
                target = target.replace(f'{{{name}}}', instead if last else self.fixed.get(name, value))
            elif parameter['in'] == 'query' and parameter['required']:
                query.append(f'{name}={value}')
        return target + ('?' + '&'.join(query) if query else '')

    def install(self, keep=None):
        """The document's own configuration, or only some of its collections."""
        for shift in self.call('GET', '/api/v1/zone-shifts').json['items']:
            self.call('DELETE', f'/api/v1/zone-shifts/{shift["id"]}')
        body = self.example_body('PUT', '/api/v1/config')
        body = {name: value for name, value in body.items() if not keep or name in keep}
        self.call('POST', '/api/v1/config/confirm')  # what waits would hold the others up
        answer = self.call('PUT', '/api/v1/config', body, {'If-Match': '*'})
        assert answer.status in (200, 201), f'the example of the document is refused: {answer}'
        revisions = self.call('GET', '/api/v1/config/revisions?limit=2').json['items']
        self.fixed['revision'] = str(revisions[-1]['revision'])

    def prepare(self, method, path):
        """What must be there before the example of an operation can be sent."""
        self.install()
        if re.match('/api/v1/(auth|users|tokens|sessions)', path):
            self._prepare_access(path)
        if (method, path) == ('POST', '/api/v1/config/confirm'):
            self.call('PATCH', '/api/v1/zones/zone-a?confirm_within_s=60', {'description': method})
        if method == 'POST':
            return
        item = self.document['paths'][path]
        parent, _, last = path.rpartition('/')
        if method != 'PUT' and 'put' in item and not self._stands(path):
            self.call('PUT', self.example_target('PUT', path), self.sent_body('PUT', path))
        made = re.fullmatch(r'\{(\w+)\}', last)
        if made and 'put' not in item and 'post' in self.document['paths'].get(parent, {}):
            self._make(parent, path, made.group(1))

    def _prepare_access(self, path):
        """The user of the examples, signed in, no tokens; codes are the daemon's to make."""
        for token in self.call('GET', '/api/v1/tokens').json['items']:
            self.call('DELETE', f'/api/v1/tokens/{token["id"]}')
        user, login = '/api/v1/users/{user}', '/api/v1/auth/login'
        self.call('DELETE', self.example_target('DELETE', user))
        if '/users' in path:
            return
        self.call('PUT', self.example_target('PUT', user), self.example_body('PUT', user))
        answer = self.call('POST', login, self.example_body('POST', login))
        self.fixed['session'] = answer.json['id']
        code = self.call('POST', '/api/v1/auth/setup').json['code']
        self._needs['POST', '/api/v1/auth/first-user'] = {'code': code}

    def _stands(self, path):
        item = self.document['paths'][path]
        return 'get' in item and self.call('GET', self.example_target('GET', path)).status == 200

    def _make(self, parent, path, name):
        """An object whose id the daemon gives."""
        answer = self.call('POST', self.example_target('POST', parent),
                           self.sent_body('POST', parent))
        if answer.status == 201:
            self.fixed[name] = answer.json['id']
