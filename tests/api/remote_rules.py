# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line from elsewhere: over TLS with a token, from options and from the environment; and completion in bash."""

import os
import socket
import subprocess
import time

from zglab import alone

PORT = 7443
URL = f'https://127.0.0.1:{PORT}'


class _Remote:
    """A daemon that listens for TLS with a certificate of its own making, and a token for it."""

    def __init__(self, served):
        self._program = os.path.join(served.build, 'zonegate')
        self.daemon = alone.Daemon({'build': served.build, 'out': served.out})
        with open(self.daemon._settings, 'a', encoding='ascii') as file:
            file.write(f'[api]\ntls_listen = 127.0.0.1:{PORT}\n')
        self.token = os.path.join(self.daemon.folder, 'token')
        self.ca = os.path.join(self.daemon.folder, 'tls-cert.pem')

    def __enter__(self):
        self.daemon.start()
        for _ in range(1000):  # its socket listens a moment before the port does
            with socket.socket() as tcp:
                if tcp.connect_ex(('127.0.0.1', PORT)) == 0:
                    break
            time.sleep(0.01)
        made = self.run(['--socket', self.daemon.socket, 'token', 'create', 'ci', '--role', 'editor'])
        with open(self.token, 'w', encoding='ascii') as file:
            file.write(made.stdout)
        for folder, _, names in os.walk(self.daemon.folder):
            if 'tls-cert.pem' in names:
                self.ca = os.path.join(folder, 'tls-cert.pem')
        return self

    def __exit__(self, *_):
        self.daemon.dispose()

    def run(self, words, **environment):
        return subprocess.run([self._program, *words], capture_output=True, text=True, timeout=20,
                              check=False, stdin=subprocess.DEVNULL,
                              env={'PATH': os.environ['PATH'], **environment})


def the_command_line_works_from_elsewhere(served):
    faults = []

    def expect(what, result, status, text=''):
        if result.returncode != status or text not in result.stdout + result.stderr:
            faults.append(f'{what}: {result.returncode} {result.stdout!r} {result.stderr!r}, '
                          f'not {status} and {text!r}')

    with _Remote(served) as remote:
        said = {'ZONEGATE_SERVER': URL, 'ZONEGATE_TOKEN_FILE': remote.token, 'ZONEGATE_CA': remote.ca}
        options = ['--server', URL, '--token-file', remote.token, '--ca', remote.ca]
        expect('by options', remote.run([*options, 'zone', 'set', 'zone-a', 'description=x']), 0)
        expect('by environment', remote.run(['zone', 'list', '-o', 'name'], **said), 0, 'zone-a\n')
        expect('the socket goes before', remote.run(['--socket', '/none', 'zone', 'list'], **said), 7)
        expect('no --ca', remote.run(options[:4] + ['zone', 'list']), 7, '--ca')
        expect('a --ca that is not there', remote.run([*options[:5], '/none', 'zone', 'list']), 7, '--ca')
        expect('no token', remote.run(['--server', URL, '--ca', remote.ca, 'zone', 'list']), 5)
        expect('a role that may not', remote.run([*options, 'user', 'list']), 5)
    return faults


# What bash would hold when Tab is pressed, and what it must offer.
LINES = (
    ('zonegate zon', ['zone']),
    ('zonegate lb sh', ['show']),
    ('zonegate server show ', ['web/']),
    ('zonegate server show web/web-', ['web/web-1', 'web/web-2']),
    ('zonegate zone shift zone-a --lb ', ['shop']),
    ('zonegate lb list -o js', ['json', 'jsonl']),
    ('zonegate lb delete shop --dr', ['--dry-run']),
    ('zonegate server show no-such-group/', []),
)
SCRIPT = r'''
zonegate() { "$ZONEGATE" "$@"; }
source <(zonegate completion bash)
read -r -a COMP_WORDS <<<"$1"
case $1 in *' ') COMP_WORDS+=('') ;; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
_zonegate
printf '%s\n' "${COMPREPLY[@]}"
'''


def bash_completes_words_and_names(served):
    faults = []
    served.install()
    for line, expected in LINES:
        result = subprocess.run(
            ['bash', '-c', SCRIPT, 'bash', line], capture_output=True, text=True, timeout=20, check=False,
            env={'PATH': os.environ['PATH'], 'ZONEGATE_SOCKET': served.socket,
                 'ZONEGATE': os.path.join(served.build, 'zonegate')})
        found = [word for word in result.stdout.split('\n') if word]
        if found != expected or result.stderr:
            faults.append(f'{line!r}: {found} {result.stderr!r}, not {expected}')
    return faults


def completion_is_quiet_without_a_daemon(served):
    result = subprocess.run(
        [os.path.join(served.build, 'zonegate'), '--socket', '/none', 'complete', '--', 'lb', 'show', ''],
        capture_output=True, text=True, timeout=5, check=False)
    return [f'it says {result!r}'] if result.stdout or result.stderr or result.returncode else []


RULES = (the_command_line_works_from_elsewhere, bash_completes_words_and_names,
         completion_is_quiet_without_a_daemon)
