# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules over the text of the tree. A rule takes the tree and returns its faults."""
import re

import ctext
import tables


def _owner(inside):
    """The row of a table that holds for a file: its directory; at the top of controller/ its name
    up to the first underscore (wiring_dns.c is part of wiring.c)."""
    first, _, rest = inside.partition('/')
    if rest:
        return first
    stem, dot, ending = first.rpartition('.')
    return stem.split('_')[0] + dot + ending


def layers(tree):
    """Every include in controller/ is allowed by the table of layers."""
    faults = []
    for path in tree.files('controller', '.c', '.h'):
        inside = path[len('controller/'):]
        owner = _owner(inside)
        allowed = tables.LAYERS.get(owner)
        if allowed is None:
            faults.append(f'{path}: {owner} is in no layer of tests/lint/tables.py')
            continue
        for line, name, quoted in ctext.includes(tree.read(path)):
            if not quoted:
                continue
            target = _owner(name)
            if not tree.exists('controller/' + name):
                faults.append(f'{path}:{line}: "{name}" is not a file below controller/')
            elif target not in allowed:
                faults.append(f'{path}:{line}: {owner} may not include "{name}"')
    return faults


def own_header_first(tree):
    """A .c with a header of its name includes that one first."""
    faults = []
    for path in tree.files('controller', '.c'):
        header = path[:-1] + 'h'
        if not tree.exists(header):
            continue
        first = next(ctext.includes(tree.read(path)), None)
        if first is None or first[1] != header[len('controller/'):]:
            faults.append(f'{path}: includes something before its own header')
    return faults


def spdx(tree):
    """Every source file names its licence in the first three lines."""
    faults = []
    for path in tree.sources():
        head = tree.read(path).split('\n')[:3]
        if not any('SPDX-License-Identifier: GPL-2.0-or-later' in line for line in head):
            faults.append(f'{path}: no SPDX line')
    return faults


def unique_names(tree):
    """A file name is found once in the tree."""
    seen, faults = {}, []
    for path in tree.files('controller', '.c', '.h', '.def') + tree.files('tests', '.c', '.h'):
        name = path.rsplit('/', 1)[-1]
        if name in seen:
            faults.append(f'{path}: the same name as {seen[name]}')
        seen.setdefault(name, path)
    return faults


def no_conditionals(tree):
    """No #if in a .c file: choose by file, or probe at run time."""
    faults = []
    for path in tree.c_files():
        if path.endswith('.c'):
            for number, line in enumerate(ctext.blank(tree.read(path)).split('\n'), 1):
                if re.match(r'\s*#\s*(?:if|ifdef|ifndef|elif)\b', line):
                    faults.append(f'{path}:{number}: {line.strip()}')
    return faults


def no_struct_typedef(tree):
    """Structs and unions have no typedef."""
    faults = []
    for path in tree.c_files():
        for number, line in enumerate(ctext.blank(tree.read(path)).split('\n'), 1):
            if re.match(r'\s*typedef\s+(?:struct|union)\b', line):
                faults.append(f'{path}:{number}: {line.strip()}')
    return faults


def enum_switch_default(tree):
    """A switch over names of an enum has no default, so that a new name is noticed."""
    faults = []
    for path in tree.files('controller', '.c'):
        text = ctext.blank(tree.read(path))
        for match in re.finditer(r'^(\t+)switch \(.*?^\1}', text, re.M | re.S):
            indent, body = match.group(1), match.group(0)
            labels = re.findall(rf'^{indent}case (.+?)(?: \.\.\.[^:]*)?:', body, re.M)
            if labels and all(re.match(r'[A-Z][A-Z0-9_]+$', name) for name in labels) \
                    and re.search(rf'^{indent}default:', body, re.M) \
                    and any(tree.is_enum_name(name) for name in labels):
                line = text.count('\n', 0, match.start()) + 1
                faults.append(f'{path}:{line}: default in a switch over an enum')
    return faults


def _mirror(tree, path):
    """The unit test of a file: its own, or that of the file it was split from (fields_decode.c from
    fields.c)."""
    folder, stem = path[:-2].rsplit('/', 1)
    parts = stem.split('_')
    for count in range(len(parts), 0, -1):
        shorter = '_'.join(parts[:count])
        test = f'tests/unit/{shorter}_test.c'
        if tree.exists(test) and tree.exists(f'{folder}/{shorter}.c'):
            return test
    return f'tests/unit/{stem}_test.c'


def mirrors(tree):
    """controller/X/Y.c has tests/unit/Y_test.c, or its reason in NO_UNIT_TEST."""
    faults, exempt = [], dict(tables.NO_UNIT_TEST)
    for path in tree.files('controller', '.c'):
        inside = path[len('controller/'):]
        test = _mirror(tree, path)
        if _owner(inside) + '/' in exempt:
            continue
        own = exempt.pop(inside, None)
        if not tree.exists(test) and not own and _owner(inside) not in tables.NO_UNIT_TEST:
            faults.append(f'{path}: no {test}')
        if tree.exists(test) and own:
            faults.append(f'{path}: has a unit test, so its exemption can go')
    faults += [f'{path}: exempted, but there is no such file' for path in exempt
               if not tree.exists(f'controller/{path}')]
    stems = {path.rsplit('/', 1)[-1][:-2] for path in tree.files('controller', '.c')}
    stems |= set(tables.UNIT_TESTS_OF_MANY)
    for path in tree.files('tests/unit', '_test.c'):
        if path[len('tests/unit/'):-len('_test.c')] not in stems:
            faults.append(f'{path}: mirrors no file of controller/')
    return faults


def budgets(tree):
    """Sizes of files, headers, functions, parameter lists and nesting."""
    faults, over = [], dict.fromkeys(tables.BUDGETS, 0)

    def judge(kind, value, where):
        aim, hard = tables.BUDGETS[kind]
        if value > hard:
            faults.append(f'{where}: {kind} {value}, at most {hard}')
        elif value > aim:
            over[kind] += 1
            tree.note(f'{where}: {kind} {value}, the aim is {aim}')

    for path in tree.c_files():
        text = tree.read(path)
        kind = 'header' if path.endswith('.h') and path.startswith('controller/') else 'file'
        judge(kind, text.count('\n'), path)
        for f in ctext.functions(text):
            where = f'{path}:{f.line}: {f.name}'
            exempt = tables.BUDGET_EXEMPT.get((path, f.name), ())
            for budget, value in (('function', f.length), ('parameters', f.parameters),
                                  ('nesting', f.nesting)):
                if budget not in exempt:
                    judge(budget, value, where)
    counts = ', '.join(f'{kind} {over[kind]} over {tables.BUDGETS[kind][0]}' for kind in over)
    tree.summary('budgets', counts)
    return faults


def words(tree):
    """No registry, no path of one machine, no unfinished work in tracked text."""
    faults = []
    for path in tree.tracked():
        if path in tables.WORDS_EXEMPT:
            continue
        text = tree.read(path)
        if '\0' in text:
            continue
        for what, pattern, only in tables.FORBIDDEN_WORDS:
            if only and not re.search(only, path):
                continue
            for match in re.finditer(pattern, text):
                line = text.count('\n', 0, match.start()) + 1
                faults.append(f'{path}:{line}: {what}: {match.group(0)}')
    return faults


RULES = (layers, own_header_first, spdx, unique_names, no_conditionals, no_struct_typedef,
         enum_switch_default, mirrors, budgets, words)
