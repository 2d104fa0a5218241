# SPDX-License-Identifier: GPL-2.0-or-later
"""Completion in the shells themselves: what `zonegate completion` prints, with live names of the daemon."""

import concurrent.futures
import os
import pty
import re
import select
import subprocess
import time

DEADLINE = 20  # seconds for one question to a shell

# A command line, and what is offered behind it.
OFFERED = (('zonegate lb sh', ['show']),
           ('zonegate lb show sh', ['shop']),
           ('zonegate group show ', ['web']),
           ('zonegate server show we', ['web/']),
           ('zonegate server show web/web-1', ['web/web-1']),
           ('zonegate config ro', ['rollback']),
           ('zonegate lb show nothing-of-that', []))


def _environment(daemon, folder):
    """`zonegate` is a program of the path that asks this daemon."""
    program = os.path.join(folder, 'zonegate')
    with open(program, 'w', encoding='ascii') as file:
        file.write(f'#!/bin/sh\nexec {os.path.join(daemon.build, "zonegate")} --socket {daemon.socket} "$@"\n')
    os.chmod(program, 0o755)
    return {**os.environ, 'PATH': f'{folder}:{os.environ["PATH"]}', 'LC_ALL': 'C.UTF-8', 'TERM': 'dumb',
            'HOME': folder, 'XDG_CONFIG_HOME': folder, 'XDG_DATA_HOME': folder}


def _run(words, environment):
    return subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE, check=False, env=environment,
                          stdin=subprocess.DEVNULL)


def _bash(line, environment, _folder):
    words = line.split(' ')
    result = _run(['bash', '--norc', '--noprofile', '-c',
                   'source <(zonegate completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _zonegate 2>&1;'
                   ' for word in "${COMPREPLY[@]}"; do echo "$word"; done', 'bash', *words], environment)
    # Outside of a completion it cannot set an option of one, and says so.
    return [one for one in result.stdout.split('\n') if one and 'compopt' not in one]


def _fish(line, environment, _folder):
    result = _run(['fish', '--no-config', '-c', 'zonegate completion fish | source; complete --do-complete $argv[1]',
                   line], environment)
    return [one.partition('\t')[0] for one in result.stdout.split('\n') if one]


def _read_until(handle, mark):
    text = b''
    end = time.monotonic() + DEADLINE
    while mark not in text and time.monotonic() < end:
        if select.select([handle], [], [], 0.2)[0]:
            try:
                text += os.read(handle, 65536)
            except OSError:
                break
    return text


ZSH_START = r'''
PS1='READY> '
fpath=({folder} $fpath)
autoload -Uz compinit
compinit -u -d {folder}/dump
_files() {{ :; }}
compadd() {{
    local -a found
    builtin compadd -O found "$@"
    print -rl -- ${{found/#/OFFER:}} >>{folder}/offers
    builtin compadd "$@"
}}
bindkey '^T' complete-word
'''


def _zsh(line, environment, folder):
    """A shell on a terminal of its own: only there it completes."""
    offers = os.path.join(folder, 'offers')
    with open(os.path.join(folder, '_zonegate'), 'w', encoding='utf-8') as file:
        file.write(_run(['zonegate', 'completion', 'zsh'], environment).stdout)
    with open(os.path.join(folder, '.zshrc'), 'w', encoding='ascii') as file:
        file.write(ZSH_START.format(folder=folder))
    with open(offers, 'w', encoding='ascii'):
        pass
    child, handle = pty.fork()
    if child == 0:
        os.execvpe('zsh', ['zsh', '-d', '-i'], {**environment, 'ZDOTDIR': folder})
    try:
        _read_until(handle, b'READY> ')
        os.write(handle, line.encode() + b'\x14\x15print DONE$((2 + 2))\n')
        _read_until(handle, b'DONE4')
        with open(offers, encoding='utf-8') as file:
            return sorted(set(re.findall(r'^OFFER:(.+)$', file.read(), re.M)))
    finally:
        os.close(handle)
        os.waitpid(child, 0)


def _judge(name, ask, environment, folder):
    faults = []
    for line, expected in OFFERED:
        offered = ask(line, environment, folder)
        if sorted(offered) != expected:
            faults.append(f'{name}: {line!r} is completed with {offered}, not {expected}')
    return faults


def shells_complete_with_live_names(daemon):
    daemon.install()
    folder = os.path.join(daemon.out, 'shells')
    os.makedirs(folder, exist_ok=True)
    environment = _environment(daemon, folder)
    shells = (('bash', _bash), ('fish', _fish), ('zsh', _zsh))
    with concurrent.futures.ThreadPoolExecutor(len(shells)) as pool:
        judged = [pool.submit(_judge, name, ask, environment, folder) for name, ask in shells]
        return [fault for one in judged for fault in one.result()]


RULES = (shells_complete_with_live_names,)
