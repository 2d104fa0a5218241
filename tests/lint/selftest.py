# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows of every rule that it passes a small clean tree and that it can fail."""
import json
import os
import shutil
import subprocess
import tempfile

import build_rules
import monitor_rules
import reference_rules
import source_rules
import tables
from tree import Tree

SPDX = '/* SPDX-License-Identifier: GPL-2.0-or-later */\n'
LINE = '// SPDX-License-Identifier: GPL-2.0-or-later\n'

CLEAN = {
    'Makefile': '# SPDX-License-Identifier: GPL-2.0-or-later\nsyntax:\n'
                '\t@for f in controller/*/*.c; do $(CLANG) -Icontroller -Wall -Werror '
                '-fsyntax-only $$f || exit 1; done\n'
                'install:\n\tinstall -D Makefile $(DESTDIR)$(PREFIX)/bin/z\n'
                'uninstall:\n\trm -f $(DESTDIR)$(PREFIX)/bin/z\n',
    'build/default/webui/sizes.json': '{"app.js": {"gzip": 70000}}',
    'webui/package-lock.json': '{"packages": {"node_modules/a": {"engines": {"node": "^18.17 || >= 20"}}, "node_modules/b": {}}}',
    'controller/base/cup.h': SPDX + '#pragma once\nint cup_fill_once(int amount);\n',
    'controller/base/cup.c': LINE + '#include "base/cup.h"\n\nint cup_fill_once(int amount)\n{\n'
                                    '\tif (amount > 0)\n\t\treturn amount;\n\treturn 0;\n}\n',
    'controller/plan/pot.h': SPDX + '#pragma once\nenum pot { POT_A, POT_B };\n'
                                    'int pot_get_size(enum pot pot);\n',
    'controller/plan/pot.c': LINE + '#include "plan/pot.h"\n#include "base/cup.h"\n\n'
                                    'int pot_get_size(enum pot pot)\n{\n\tswitch (pot) {\n'
                                    '\tcase POT_A:\n\t\treturn cup_fill_once(1);\n\tcase POT_B:\n'
                                    '\t\tbreak;\n\t}\n\treturn 0;\n}\n',
    'tests/unit/cup_test.c': LINE + '#include "base/cup.h"\n\nint main(void)\n{\n'
                                    '\treturn cup_fill_once(0);\n}\n',
    'tests/unit/pot_test.c': LINE + '#include "plan/pot.h"\n\nint main(void)\n{\n'
                                    '\treturn pot_get_size(POT_B);\n}\n',
}

PAGE = ('.TH Z 8\n.SH METRICS\n.\\" reference: metrics\n.TP\n.BR z_total " (counter)"\n'
        'What\\-ever.\n.\\" end of reference\n')
# For the rules over documents: programs that say what ours would.
DOCUMENTS = {
    'build/default/tests/lint/reference': "#!/bin/sh\nprintf 'metrics\\tz_total\\tcounter\\tWhat-ever\\n'\n"
                                          "printf 'settings\\tnode\\tname\\t-\\tIts name\\n'\n",
    'build/default/zonegated': '#!/bin/sh\n! grep -q "^[^#].*wrong" "$3"\n',
    'controller/man/z.8': PAGE,
    'controller/man/zonegate.conf.5': '.TH Z 5\n.SH S\n.\\" reference: settings\n.SS [node]\n.TP\n'
                                      '.B name\nIts name\n.\\" end of reference\n',
    'conf/zonegate.conf': '[node]\n# Its name.\n#name = a\n',
}
# For those over rules and boards.
METRICS = 'build/default/tests/lint/reference'
ALERT = (LINE.replace('//', '#') + 'groups:\n  - name: z\n    rules:\n      - alert: Down\n        expr: {}\n'
         '        for: 1m\n        annotations:\n          summary: "It is down"\n          action: "Up"\n')
SOURCE = {'type': 'prometheus', 'uid': '${datasource}'}
PANEL = {'id': 1, 'type': 'stat', 'title': 'Ups', 'datasource': SOURCE, 'gridPos': {'x': 0, 'y': 0, 'w': 12, 'h': 8},
         'fieldConfig': {'defaults': {'unit': 'short'}},
         'targets': [{'refId': 'A', 'expr': 'rate(zonegate_y_bucket[5m])', 'legendFormat': '{{le}}'}]}
OTHER = {**PANEL, 'id': 2, 'title': 'Downs', 'gridPos': {'x': 12, 'y': 0, 'w': 12, 'h': 8}}
CHOICE = {'type': 'datasource', 'name': 'datasource', 'query': 'prometheus'}


def _board(*panels, **members):
    return json.dumps({'uid': 'z', 'title': 'Z', 'schemaVersion': 36, 'panels': panels or (PANEL, OTHER),
                       'templating': {'list': [CHOICE]}, **members})


def _asking(expression, **members):
    return _board({**PANEL, 'targets': [{'refId': 'A', 'expr': expression, **members}]})


PROMTOOL = ('rule_files: [../../conf/prometheus/zonegate.rules.yml]\ntests:\n  - interval: 1m\n'
            '    input_series: [{series: "zonegate_x_total{to=\\"y\\"}", values: "0x9"}]\n    alert_rule_test:\n'
            '      - eval_time: 5m\n        alertname: Down\n        exp_alerts:\n'
            '          - {exp_labels: {to: y}, exp_annotations: {summary: It is down, action: Up}}\n')


def _says(*rows):
    return '#!/bin/sh\n' + ''.join(f"printf 'metrics\\t{name}\\t{kind}\\tWhat\\n'\n" for name, kind in rows)


MONITORS = {
    METRICS: _says(('zonegate_x_total{to="y"}', 'counter'), ('zonegate_y', 'histogram')),
    monitor_rules.RULES_FILE: ALERT.format('zonegate_x_total{to="y"} == 0'),
    monitor_rules.RULES_TEST: PROMTOOL,
    monitor_rules.BOARD_FILE: _board(),
}


def _body(lines):
    return LINE + 'int cup_big(void);\nint cup_big(void)\n{\n' + lines + '\treturn 0;\n}\n'


# rule -> what is wrong, one tree each: {path: text}; None removes the file.
BROKEN = {
    'shipped_expressions': [
        {monitor_rules.RULES_FILE: ALERT.format('zonegate_z == 0')},
        {monitor_rules.RULES_FILE: ALERT.format('zonegate_x_total{from="y"} == 0')},
        {monitor_rules.RULES_FILE: ALERT.format('1 == 0')},
        {monitor_rules.BOARD_FILE: _asking('zonegate_y')},
        {monitor_rules.BOARD_FILE: _asking('zonegate_x_total or vector(0)')},
    ],
    'shipped_board': [{monitor_rules.BOARD_FILE: text} for text in (
        _board(uid='a b'), _board(title=''), _board(schemaVersion=3), _board(id=7), _board(__inputs=[]),
        _board(templating={'list': []}),
        _board(templating={'list': [CHOICE, {'type': 'query', 'name': 'lb', 'datasource': 'Prometheus'}]}),
        _board({**PANEL, 'gridPos': {'x': 13, 'y': 0, 'w': 12, 'h': 8}}),
        _board(PANEL, {**OTHER, 'gridPos': {'x': 11, 'y': 7, 'w': 12, 'h': 8}}),
        _board(PANEL, {**OTHER, 'id': 1}), _board(PANEL, {**OTHER, 'title': 'Ups'}),
        _board({**PANEL, 'type': 'graph'}), _board({**PANEL, 'datasource': None}), _board({**PANEL, 'fieldConfig': {}}),
        _board({**PANEL, 'targets': []}), _board({**PANEL, 'targets': PANEL['targets'] * 2}),
        _asking('rate(zonegate_x_total[5m]'), _asking('zonegate_x_total{to="$to"}'),
        _asking('sum by (to) (zonegate_x_total)', legendFormat='{{from}}'))],
    'shipped_rules': [
        {monitor_rules.RULES_FILE: ALERT.format('zonegate_x_total{to="y"} == == 0')},
        {monitor_rules.RULES_FILE: ALERT.format('zonegate_x_total{to="y"} == 1')},
        {monitor_rules.RULES_TEST: PROMTOOL[:PROMTOOL.index('tests:')] + 'tests: []\n'},
    ],
    'metric_names': [
        {METRICS: _says(('x_total', 'counter'))}, {METRICS: _says(('zonegate_x', 'counter'))},
        {METRICS: _says(('zonegate_x_total', 'gauge'))},
        {METRICS: _says(('zonegate_x{address="1"}', 'gauge'))},
    ],
    'layers': [
        {'controller/base/cup.c': LINE + '#include "base/cup.h"\n#include "plan/pot.h"\n'},
        {'controller/store/s.c': LINE + '#include "api/a.h"\n', 'controller/api/a.h': SPDX},
        {'controller/cli/c.c': LINE + '#include "plan/pot.h"\n'},
        {'controller/odd/o.c': LINE},
        {'controller/plan/pot.c': LINE + '#include "pot.h"\n'},
    ],
    'own_header_first': [{'controller/plan/pot.c': LINE + '#include "base/cup.h"\n'
                                                          '#include "plan/pot.h"\n'}],
    'spdx': [{'controller/base/cup.c': 'int x;\n'}, {'tests/tool.py': 'print()\n'}],
    'unique_names': [{'controller/plan/cup.h': SPDX}],
    'no_conditionals': [{'controller/base/cup.c': LINE + '#ifdef X\n#endif\n'}],
    'no_struct_typedef': [{'controller/base/cup.h': SPDX + 'typedef struct cup cup_t;\n'}],
    'enum_switch_default': [{'controller/plan/pot.c': LINE + '#include "plan/pot.h"\n\nint f(int p)'
                             '\n{\n\tswitch (p) {\n\tcase POT_A:\n\t\treturn 1;\n\tdefault:\n'
                             '\t\treturn 0;\n\t}\n}\n'}],
    'mirrors': [{'controller/base/cup_lid.c': LINE, 'tests/unit/cup_test.c': None,
                 'controller/base/cup.c': None},
                {'tests/unit/cup_test.c': None}, {'tests/unit/ghost_test.c': LINE}],
    'budgets': [
        {'controller/base/cup.c': LINE * (tables.BUDGETS['file'][1] + 1)},
        {'controller/base/cup.h': SPDX * (tables.BUDGETS['header'][1] + 1)},
        {'controller/base/cup.c': _body('\tcup_big();\n' * tables.BUDGETS['function'][1])},
        {'controller/base/cup.c': LINE + 'int f(' + ', '.join(
            f'int a{n}' for n in range(tables.BUDGETS['parameters'][1] + 1)) + ')\n{\n}\n'},
        {'controller/base/cup.c': _body(''.join(
            '\t' * (n + 1) + 'if (cup_big())\n' for n in range(tables.BUDGETS['nesting'][1] + 1))
            + '\t' * 9 + 'cup_big();\n')},
        {'controller/base/cup.c': _body('\tvec_each(a, b) {\n\t\tdo {\n\t\t\tfor (;;) {\n\t\t\t\t'
            'while (1) {\n\t\t\t\t\tswitch (a) {\n\t\t\t\t\tcase 1: break;\n\t\t\t\t\t}\n'
            '\t\t\t\t}\n\t\t\t}\n\t\t} while (1);\n\t}\n')},
    ],
    'words': [{'README.md': 'see /work/main\n'}, {'a.json': '"https://registry.npmjs.org/x"\n'},
              {'controller/base/cup.c': LINE + '/* TODO: pour */\n'}],
    'format_is_clang_format': [{'controller/base/cup.c': LINE + 'int  x;\n'}],
    'clang_is_content': [{'controller/base/cup.c': LINE + 'static int unused;\n'}],
    'no_mutable_file_scope': [
        {'controller/base/cup.c': LINE + 'int cup_count;\n'},
        {'controller/base/cup.c': LINE + 'int cup_next(void);\nint cup_next(void)\n{\n'
                                         '\tstatic int n = 3;\n\treturn n++;\n}\n'},
    ],
    'pure_layers': [{'controller/plan/pot.c': LINE + '#include <time.h>\nlong pot_now(void);\n'
                     'long pot_now(void)\n{\n\treturn (long)time(0);\n}\n'}],
    'names_carry_their_file': [{'controller/base/cup.c': LINE + 'void fill(void);\n'
                                'void fill(void)\n{\n}\n'}],
    'uninstall_takes_what_install_put': [
        {'Makefile': f'install:\n\tinstall -D Makefile $(DESTDIR)$(PREFIX)/bin/z\nuninstall:\n\t{wrong}\n'}
        for wrong in ('true', 'rm $(DESTDIR)$(PREFIX)/bin/z', 'rm -rf $(DESTDIR)/etc $(DESTDIR)$(PREFIX)/bin/z',
                      'rm -rf $(DESTDIR)$(PREFIX)', 'rm -rf $(DESTDIR)$(PREFIX)/bin/z $(DESTDIR)/var')
    ] + [{'Makefile': 'install:\n\ttrue\nuninstall:\n\ttrue\n'},
         {'Makefile': 'install:\n\tinstall -D Makefile $(DESTDIR)$(PREFIX)/share/zonegate/a/z\n'
                      'uninstall:\n\trm -f $(DESTDIR)$(PREFIX)/share/zonegate/a/z\n'}],
    'daemon_libraries': [{'link': 'ssl'}],
    'web_ui_is_small': [{'build/default/webui/sizes.json': '{"app.js": {"gzip": 100000}, "app.css": {"gzip": 30000}}'},
                        {'build/default/webui/sizes.json': '{}'}],
    'node_of_debian_is_enough': [
        {'webui/package-lock.json': '{"packages": {"node_modules/a": {"engines": {"node": ">=20"}}}}'},
        {'webui/package-lock.json': '{"packages": {"node_modules/a": {"engines": {"node": "^18.21.0"}}}}'},
        {'webui/package-lock.json': None}],
    'references': [
        {'controller/man/z.8': PAGE.replace('ever', 'so')},
        {'controller/man/z.8': '.TH Z 8\n'},
        {'controller/man/z.8': PAGE.replace('e: m', 'e: ghosts')},
    ],
    'man_pages': [{'controller/man/z.8': '.TH Z 8\n.SH A\n.XY wrong\n'},
                  {'controller/man/z.8': None, 'controller/man/zonegate.conf.5': None}],
    'settings_example': [
        {'conf/zonegate.conf': '[node]\n#name = wrong\n'},
        {'conf/zonegate.conf': '[node]\nname = wrong\n'},
        {'conf/zonegate.conf': '[node]\n#name = a\n#zones = b\n'},
        {'conf/zonegate.conf': '[node]\n'},
    ],
}


def _write(root, files):
    for path, text in files.items():
        full = os.path.join(root, path)
        if text is None:
            os.remove(full)
            continue
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, 'w', encoding='utf-8') as file:
            file.write(text)
        if text.startswith('#!'):
            os.chmod(full, 0o755)


def _must(root, *argv):
    subprocess.run(argv, cwd=root, check=True, capture_output=True, timeout=60)


def _compile(root, link):
    """What the build would have left: objects, and a daemon that loads libssl if `link`."""
    out = os.path.join(root, 'build/default')
    for folder in ('base', 'plan', 'store', 'cli', 'odd'):
        source = os.path.join(root, 'controller', folder)
        for name in os.listdir(source) if os.path.isdir(source) else ():
            if name.endswith('.c'):
                os.makedirs(f'{out}/controller/{folder}', exist_ok=True)
                subprocess.run(['gcc', '-w', '-Icontroller', '-c', '-fPIE', '-o',
                                f'{out}/controller/{folder}/{name[:-1]}o',
                                f'controller/{folder}/{name}'],
                               cwd=root, check=False, capture_output=True, timeout=60)
    os.makedirs(out, exist_ok=True)
    _write(root, {'d/lib.c': 'int ssl_fake(void){return 0;}',
                  'd/main.c': 'int ssl_fake(void);int main(void){return ssl_fake();}',
                  'd/plain.c': 'int main(void){return 0;}'})
    if link:
        _must(root, 'gcc', '-shared', '-fPIC', '-o', 'd/libssl.so', 'd/lib.c')
        _must(root, 'gcc', '-o', f'{out}/zonegated', 'd/main.c', '-Ld', '-lssl',
              f'-Wl,-rpath,{root}/d')
    else:
        _must(root, 'gcc', '-o', f'{out}/zonegated', 'd/plain.c')
    shutil.copy(os.path.join(os.path.dirname(__file__), '../../.clang-format'), root)


def _judge(rule, change):
    needs_objects = rule in build_rules.RULES
    with tempfile.TemporaryDirectory(prefix='zonegate-lint-') as root:
        _write(root, CLEAN)
        if rule in reference_rules.RULES:
            _write(root, DOCUMENTS)
        if rule in monitor_rules.RULES:
            _write(root, MONITORS)
        change = dict(change)
        link = change.pop('link', None)
        _write(root, change)
        _must(root, 'git', 'init', '-q')
        _must(root, 'git', 'add', '.')
        if needs_objects:
            _compile(root, link)
        return rule(Tree(root))


def self_test(tree):
    """Every rule passes a clean tree and fails each broken one."""
    faults, exempt = [], tables.NO_UNIT_TEST
    tables.NO_UNIT_TEST = {}
    for rule in (source_rules.RULES + build_rules.RULES + reference_rules.RULES
                 + monitor_rules.RULES):
        name = rule.__name__
        if name not in BROKEN:
            faults.append(f'{name}: no broken tree shows that it can fail')
            continue
        for fault in _judge(rule, {}):
            faults.append(f'{name}: refuses the clean tree: {fault}')
        for number, change in enumerate(BROKEN[name]):
            if not _judge(rule, change):
                faults.append(f'{name}: does not see broken tree {number}')
    tables.NO_UNIT_TEST = exempt
    tree.summary('self_test', f'{sum(len(trees) for trees in BROKEN.values())} broken trees')
    return faults
