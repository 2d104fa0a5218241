# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents against the program: what the tables say is what the manual says."""
import os
import re
import subprocess
import tempfile

import tables

BEGIN = r'.\" reference: {}'
END = r'.\" end of reference'


def roff(text):
    text = text.replace('\\', r'\e').replace('-', r'\-').replace('"', r'\(dq')
    return re.sub(r"^([.'])", r'\\&\1', text)


def _metrics(rows):
    """One entry a metric name; several series of one name differ in their labels only."""
    seen, out = set(), []
    for name, kind, about in rows:
        bare = name.split('{')[0]
        if bare in seen:
            continue
        seen.add(bare)
        labels = re.findall(r'(\w+)=', name)
        shown = f' {{{", ".join(labels)}}}' if labels else ''
        out += ['.TP', rf'.BR {roff(bare)} "{shown} ({kind})"', roff(about) + '.']
    return out


def _sentence(text):
    """With a capital in front, but where it starts with a name that is written small."""
    first = text.split(' ', 1)[0]
    if '_' in first or first == 'zonegate':
        return text
    return text[:1].upper() + text[1:]


def _codes(rows):
    """One entry a code: what it means, and what to do about it if there is anything."""
    out = []
    for name, meaning, remedy in rows:
        out += ['.TP', rf'.B {roff(name)}', roff(_sentence(meaning)) + '.']
        if remedy:
            end = '' if remedy.endswith('?') else '.'
            out.append(roff(_sentence(remedy)) + end)
    return out


def _events(rows):
    return _codes([(name, meaning, remedy) for name, _, meaning, remedy in rows])


def _reasons(rows):
    return _codes([row for row in rows if row[0] != 'none'])


def _path(text):
    """A long one may be broken before its last word."""
    front, _, last = text.rpartition('/')
    return roff(text) if len(text) < 60 else rf'{roff(front)}/\:{roff(last)}'


def _routes(rows):
    return [line for method, path, role, about in rows
            for line in ('.TP', rf'.BR "{method} {_path(path)}" " ({role})"', roff(about))]


def _settings_keys(rows):
    out, section = [], None
    for name, key, initial, about in rows:
        if name != section:
            section = name
            out.append(f'.SS [{name}]')
        default = '' if initial == '-' else f' " (default {roff(initial)})"'
        out += ['.TP', f'.B{"R" if default else ""} {key}{default}', roff(about)]
    return out


def _members(rows):
    """One entry a member; what no write can set is left to the page's own words."""
    out = []
    for member, kind, bounds, default, about in rows:
        if kind == 'read-only':
            continue
        if default not in ('', 'required'):
            default = f'default {default}'
        facts = ', '.join(part for part in (kind, bounds, default) if part)
        out += ['.TP', rf'.BR {roff(member)} " ({roff(facts)})"', roff(about)]
    return out


def _commands(rows):
    return [line for usage, about in rows
            for line in ('.TP', rf'.B {roff(usage)}', *[roff(text) for text in about])]


RENDER = {'commands': _commands, 'metrics': _metrics, 'events': _events,
          'reasons': _reasons, 'routes': _routes,
          'settings': _settings_keys, 'options': _commands}


def sections(text):
    """The program's rows by section, in its order."""
    found = {}
    for line in text.split('\n'):
        if line:
            name, *columns = line.split('\t')
            found.setdefault(name, []).append(columns)
    return found


def rewritten(document, found):
    """The document with its reference sections as the program has them now, and their names."""
    names = []

    def replace(match):
        name = match.group(1)
        names.append(name)
        if name not in found:
            return match.group(0) + f'\n(no such section: {name})'
        render = RENDER.get(name, _members)
        return '\n'.join([BEGIN.format(match.group(1)), *render(found[name]), END])

    pattern = re.escape(BEGIN).replace(r'\{\}', r'(\w+)') + r'\n.*?' + re.escape(END)
    return re.sub(pattern, replace, document, flags=re.S), names


def _printed(tree):
    result = tree.run([os.path.join(tree.build, 'default/tests/lint/reference')])
    if result.returncode:
        raise ValueError('tests/lint/reference failed')
    found = sections(result.stdout)
    found.update(_helped(tree))
    return found


def _helped(tree):
    """What the CLI says of its commands and options."""
    program = os.path.join(tree.build, 'default/zonegate')
    if not os.path.exists(os.path.join(tree.root, program)):
        return {}
    commands, options = [], []
    for line in tree.run([program, '--help']).stdout.split('\n'):
        match = re.match(r'  (\w[\w-]*)(?: +(\w[\w-]*))? {2,}\S', line)
        if match:
            words = [word for word in match.groups() if word]
            usage, _, *about = tree.run([program, *words, '--help']).stdout.split('\n')
            usage = usage.replace(' [OPTIONS] ', ' ', 1)  # the manual says that once
            if not usage.startswith(f'Usage: {os.path.basename(program)} {words[0]}') or not about:
                raise ValueError(f'{" ".join(words)} --help is not about it: {usage}')
            first = about[0].partition(': ')[2]
            about[0] = first[:1].upper() + first[1:] + '.'
            about = about[:about.index('')]
            commands.append((usage.removeprefix('Usage: '), about))
        match = re.match(r'  (-.*?)(?: {2,}(.*))?$', line)
        if match:
            options.append((match.group(1), [match.group(2)] if match.group(2) else []))
    return {'commands': commands, 'options': options}


def write(tree):
    """`make reference`: brings the documents up to the program."""
    found = _printed(tree)
    for path in tree.files('controller/man', *tables.MAN_ENDINGS):
        text, _ = rewritten(tree.read(path), found)
        if text != tree.read(path):
            with open(os.path.join(tree.root, path), 'w', encoding='utf-8') as file:
                file.write(text)
            print(f'wrote {path}')


def references(tree):
    """The reference sections of the man pages are what the program's tables print."""
    found, faults, shown = _printed(tree), [], set()
    for path in tree.files('controller/man', *tables.MAN_ENDINGS):
        text, names = rewritten(tree.read(path), found)
        shown.update(names)
        if text != tree.read(path):
            faults.append(f'{path}: differs from the tables (make reference writes it)')
    faults += [f'{name}: printed by the program and in no man page'
               for name in found if name not in shown]
    return faults


def man_pages(tree):
    """groff has nothing to say about any man page."""
    pages = tree.files('controller/man', *tables.MAN_ENDINGS)
    faults = [] if pages else ['no man page in controller/man']
    for path in pages:
        result = tree.run(['groff', '-man', '-k', '-ww', '-z', '-Tutf8', path])
        faults += [line for line in result.stderr.split('\n') if line]
    return faults


def _settings(text):
    """[(section, key)] of a settings file, commented examples too."""
    section, found = '', []
    for line in text.split('\n'):
        match = re.match(r'\[(\w+)\]$', line)
        if match:
            section = match.group(1)
        match = re.match(r'#?(\w+) = ', line)
        if match:
            found.append((section, match.group(1)))
    return found


def settings_example(tree):
    """conf/zonegate.conf shows every setting and the daemon takes each example as written."""
    text = tree.read('conf/zonegate.conf')
    shown = _settings(text)
    known = [(row[0], row[1]) for row in _printed(tree).get('settings', ())]
    faults = [f'[{s}] {k}: shown, but no setting' for s, k in shown if (s, k) not in known]
    faults += [f'[{s}] {k}: not shown' for s, k in known if (s, k) not in shown]
    with tempfile.TemporaryDirectory(prefix='zonegate-lint-') as folder:
        for name, body in (('as shipped', text), ('all set', re.sub(r'(?m)^#(\w+ = )', r'\1', text))):
            path = os.path.join(folder, 'zonegate.conf')
            with open(path, 'w', encoding='utf-8') as file:
                file.write(body)
            result = subprocess.run([os.path.join(tree.root, tree.build, 'default/zonegated'),
                                     '--check', '-c', path], cwd=tree.root, capture_output=True,
                                    text=True, timeout=20, check=False)
            if result.returncode:
                faults.append(f'conf/zonegate.conf, {name}: {result.stderr.strip()}')
    return faults


RULES = (references, man_pages, settings_example)
