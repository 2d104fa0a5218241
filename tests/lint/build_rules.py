# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules that need the compilers or what they made."""
import json
import os
import re
import tempfile

import tables


def format_is_clang_format(tree):
    """clang-format would change nothing."""
    paths = tree.c_files()
    if not paths:
        return ['no C file found']
    result = tree.run(['clang-format', '--dry-run', '-Werror', '--ferror-limit=1', *paths])
    faults = sorted({line.split(': error')[0] for line in result.stderr.split('\n')
                     if 'clang-format-violations' in line})
    if result.returncode and not faults:
        faults = [result.stderr.strip() or 'clang-format failed']
    return [f'{fault}: not as clang-format writes it' for fault in faults]


def clang_is_content(tree):
    """The other compiler has no warning for any file."""
    result = tree.run([*tree.make, '-s', '--no-print-directory', f'CLANG={tree.clang}',
                       f'BUILD={tree.build}', 'VARIANT=asan', 'syntax'])
    if result.returncode == 0:
        return []
    lines = [line for line in (result.stdout + result.stderr).split('\n')
             if re.search(r'error|Error', line)]
    return lines[:20] or ['clang build failed']


def _objects(tree):
    for path in tree.files('controller', '.c'):
        built = f'{tree.build}/default/{path[:-2]}.o'
        if os.path.exists(os.path.join(tree.root, built)):
            yield path[len('controller/'):], built
        else:
            yield path[len('controller/'):], None


def no_mutable_file_scope(tree):
    """No variable at file scope changes, but for the log and the metrics."""
    faults = []
    for inside, built in _objects(tree):
        if inside in tables.MUTABLE_ALLOWED:
            continue
        if built is None:
            faults.append(f'controller/{inside}: not built')
            continue
        for line in tree.run(['objdump', '-t', built]).stdout.split('\n'):
            match = re.search(r'\s(?:l|g)\s+O\s+(\.t?(?:data|bss)\S*|\*COM\*)\s+\S+\s+(\S+)$', line)
            if match and not match.group(1).startswith('.data.rel.ro'):
                faults.append(f'controller/{inside}: {match.group(2)} is mutable')
    return faults


def pure_layers(tree):
    """Layers 1 to 3 call nothing that does I/O, tells the time or logs."""
    faults = []
    for inside, built in _objects(tree):
        if inside.split('/')[0] not in tables.PURE_DIRECTORIES:
            continue
        if built is None:
            faults.append(f'controller/{inside}: not built')
            continue
        for line in tree.run(['nm', '-u', built]).stdout.split('\n'):
            symbol = line.split()[-1].split('@')[0] if line.split() else ''
            if symbol in tables.IMPURE_SYMBOLS:
                faults.append(f'controller/{inside}: calls {symbol}')
    return faults


def _prefixes(tree, inside):
    """What a function of the file may begin with: the file's name or a leading part of it, its
    directory's, or that of a header beside it, which then shows the function."""
    folder, name = inside.rsplit('/', 1) if '/' in inside else ('', inside)
    parts = name[:-2].split('_')
    found = ['_'.join(parts[:n]) for n in range(1, len(parts) + 1)] + [folder]
    found += [path.rsplit('/', 1)[-1][:-2] for path in tree.files(f'controller/{folder}', '.h')]
    return tuple(f'{prefix}_' for prefix in found if prefix) + tables.NAME_PREFIXES.get(inside, ())


def names_carry_their_file(tree):
    """A function that others can call begins with the name of its file, header or directory."""
    faults = []
    for inside, built in _objects(tree):
        if built is None or inside == 'main.c':
            continue
        for line in tree.run(['nm', '-g', '--defined-only', built]).stdout.split('\n'):
            parts = line.split()
            if len(parts) == 3 and parts[1] == 'T' and parts[2] != 'main' \
                    and not parts[2].startswith(_prefixes(tree, inside)):
                faults.append(f'controller/{inside}: {parts[2]} does not name where it lives')
    return faults


def daemon_libraries(tree):
    """The daemon loads no library whose licence forbids it, not even through another one; and those that controller/late
    loads later are in it as names only."""
    program = f'{tree.build}/default/zonegated'
    result = tree.run(['ldd', program])
    if result.returncode:
        return [f'{program}: not built']
    faults = [f'{program}: is linked with {name}, which controller/late loads' for name in tables.LATE_LIBRARIES
              if f'{name}.so' in result.stdout]
    loaded = result.stdout
    for name in tables.LATE_LIBRARIES:
        loaded += tree.run(['ldd', tree.run(['gcc', f'-print-file-name={name}.so']).stdout.strip()]).stdout
    return faults + [f'{program}: loads {line.split()[0]}' for line in loaded.split('\n')
                     if line.strip().startswith(tables.FORBIDDEN_LIBRARIES)]


def _installed(top):
    """{path below top: what is in it}"""
    return {os.path.relpath(os.path.join(folder, name), top): open(os.path.join(folder, name), 'rb').read()
            for folder, _, names in os.walk(top) for name in names}


def web_ui_is_small(tree):
    """What a browser loads of the web UI has less than WEB_UI_MAX bytes, compressed, in all."""
    path = f'{tree.build}/default/webui/sizes.json'
    if not tree.exists(path):
        return [f'{path}: the web UI was not built']
    sizes = json.loads(tree.read(path))
    total = sum(file['gzip'] for file in sizes.values())
    tree.summary('web_ui_is_small', f'{total} of {tables.WEB_UI_MAX} bytes')
    return [f'webui: {total} bytes, {tables.WEB_UI_MAX} are allowed'] if not 0 < total <= tables.WEB_UI_MAX else []


def node_of_debian_is_enough(tree):
    """No npm package that the UI is built or tested with wants a node newer than Debian's."""
    if not tree.exists('webui/package-lock.json'):
        return ['webui/package-lock.json: not there']
    faults = []
    for path, package in json.loads(tree.read('webui/package-lock.json'))['packages'].items():
        engines = package.get('engines') or {}
        wanted = engines.get('node', '') if isinstance(engines, dict) else ''
        least = [tuple(map(int, found.split('.'))) for found in re.findall(r'(?:>=|\^|~)\s*(\d+(?:\.\d+)*)', wanted)]
        if least and min(least) > tables.NODE_OF_DEBIAN:
            faults.append(f'webui/package-lock.json: {path or "the UI itself"} wants node {wanted}')
    return faults


def uninstall_takes_what_install_put(tree):
    """`make uninstall` leaves the settings, with what the user made of them, and nothing else of ours."""
    with tempfile.TemporaryDirectory(prefix='zonegate-lint-') as top:
        settings = {'etc/zonegate/zonegate.conf': b'# mine\n', 'etc/zonegate/conf.d/own.conf': b'\n'}
        foreign = {'opt/z/bin/other': b'', 'var/lib/zonegate/zonegate.db': b'kept'}
        for path, text in {**settings, **foreign}.items():
            os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
            with open(os.path.join(top, path), 'wb') as file:
                file.write(text)
        argv = [*tree.make, '-s', '--no-print-directory', f'BUILD={tree.build}', f'DESTDIR={top}', 'PREFIX=/opt/z']
        installed = tree.run([*argv, 'install'])
        if installed.returncode:
            return [f'make install: {installed.stderr.strip()}']
        faults = [] if set(_installed(top)) - set(settings) - set(foreign) else ['make install: put nothing']
        for times in ('once', 'twice'):
            removed = tree.run([*argv, 'uninstall'])
            if removed.returncode:
                faults.append(f'make uninstall, {times}: {removed.stderr.strip()}')
        left, kept = _installed(top), {**settings, **foreign}
        faults += [f'make uninstall: leaves {path}' for path in sorted(set(left) - set(kept))]
        own = os.path.join(top, 'opt/z/share/zonegate')
        faults += [f'make uninstall: leaves the folder {own}'] if os.path.isdir(own) else []
        faults += [f'make install or uninstall: {path} is not as it was'
                   for path in kept if left.get(path) != kept[path]]
        return faults


RULES = (format_is_clang_format, clang_is_content, no_mutable_file_scope, pure_layers,
         names_carry_their_file, daemon_libraries, web_ui_is_small, node_of_debian_is_enough,
         uninstall_takes_what_install_put)
