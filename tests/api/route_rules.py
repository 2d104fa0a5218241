# SPDX-License-Identifier: GPL-2.0-or-later
"""The daemon serves what is in the document, and nothing else."""

import os
import subprocess

METHODS = ('GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECTS')
# What a route might be called that somebody forgot to write down.
GUESSES = ('zones', 'server-groups', 'servers', 'load-balancers', 'listeners', 'config', 'status',
           'health', 'history', 'probe', 'drain', 'weight-override', 'zone-shifts', 'overrides',
           'dns', 'preview', 'records', 'tools', 'kernel', 'drift', 'reconcile', 'system', 'doctor',
           'diagnostics', 'events', 'audit', 'stats', 'users', 'tokens', 'sessions', 'auth', 'login',
           'logout', 'session', 'settings', 'access', 'access-lists', 'entries', 'revisions', 'diff',
           'rollback', 'confirm', 'plan', 'validate', 'metrics', 'debug', 'admin', 'test', 'v1', 'ui')


def routes_are_those_of_the_table(daemon):
    printed = subprocess.run([os.path.join(daemon.build, 'tests/lint/reference')], check=True,
                             capture_output=True, text=True).stdout
    rows = [line.split('\t') for line in printed.split('\n') if line.startswith('routes\t')]
    table = {(row[1], row[2], row[3]) for row in rows}
    told = {(method, path, operation['x-role']) for method, path, operation in daemon.operations()}
    return [f'{row}: in the table only' for row in table - told] + \
        [f'{row}: in the document only' for row in told - table]


def paths_know_the_methods_of_the_document(daemon):
    """Each method on each path: served if it is in the document, else 405, and Allow says which are."""
    faults = []
    for path, item in daemon.document['paths'].items():
        daemon.prepare('GET', path)
        served = {verb.upper() for verb in item} | ({'HEAD'} if 'get' in item else set())
        for method in METHODS:
            target = daemon.example_target(next(iter(item)).upper(), path)
            answer = daemon.call(method, target)
            allowed = {name.strip() for name in (answer.headers['Allow'] or '').split(',')}
            if method in served and answer.status == 405:
                faults.append(f'{method} {path}: in the document and not served')
            elif method not in served and answer.status != 405:
                faults.append(f'{method} {path}: not in the document and answered: {answer}')
            elif method not in served and allowed != served:
                faults.append(f'{method} {path}: Allow is {sorted(allowed)}, not {sorted(served)}')
    return faults


def _neighbours(daemon):
    """Paths that begin like those of the document and are none of it."""
    found = {f'{base}/{guess}' for base in ('', '/api', '/api/v1', '/api/v2') for guess in GUESSES}
    found |= {'/', '/api', '/api/v1', '/favicon.ico', '/index.html', '/robots.txt'}
    for path, item in daemon.document['paths'].items():
        target = daemon.example_target(next(iter(item)).upper(), path).partition('?')[0]
        parts = target.split('/')
        found |= {'/'.join(parts[:i]) or '/' for i in range(1, len(parts))}
        found |= {f'{target}/{guess}' for guess in GUESSES}
        found |= {f'{target}/', f'{target.rpartition("/")[0]}/', f'{target}s', target[:-1], target.upper(), f'{target}.json', f'{target}//x'}
    return sorted(path for path in found if not daemon.contract.find(path))


# Ways to the page, which is no part of the API.
PAGES = ('/', '/ui')


def pages_lead_to_the_page(daemon):
    faults = []
    for path in PAGES:
        answer = daemon.call('GET', path)
        if answer.status != 308 or answer.headers['Location'] != '/ui/':
            faults.append(f'GET {path}: {answer} {answer.headers["Location"]}')
        for method in ('POST', 'PUT', 'DELETE'):
            answer = daemon.call(method, path)
            if answer.status != 405 or answer.headers['Allow'] != 'GET, HEAD':
                faults.append(f'{method} {path}: {answer}')
    return faults


def nothing_else_is_served(daemon):
    """Guessed neighbours of each path, with each method: 404."""
    daemon.install()
    faults = []
    for path in set(_neighbours(daemon)) - set(PAGES):
        for method in ('GET', 'POST', 'PUT', 'DELETE'):
            answer = daemon.call(method, path)
            if answer.status not in (404, 400):
                faults.append(f'{method} {path}: {answer}')
            elif method != 'HEAD':
                faults += daemon.contract.check_answer(method, path, answer)
    return faults


RULES = (routes_are_those_of_the_table, paths_know_the_methods_of_the_document,
         pages_lead_to_the_page, nothing_else_is_served)
