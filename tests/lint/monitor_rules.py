# SPDX-License-Identifier: GPL-2.0-or-later
"""What is shipped for Prometheus and Grafana against the program's own table of metrics."""
import json
import re

import board_rules
import reference_rules

RULES_FILE = 'conf/prometheus/zonegate.rules.yml'
RULES_TEST = 'tests/prometheus/rules_test.yml'
BOARD_FILE = board_rules.BOARD_FILE
# What Prometheus itself makes of a target.
OF_PROMETHEUS = ('up',)
WORDS = re.compile(r'\b(zonegate_\w+)')
ENDINGS = ('_bucket', '_sum', '_count')


def metric_table(tree):
    """{name: (type, labels)} of every metric."""
    table = {}
    for shown, kind, _ in reference_rules._printed(tree)['metrics']:
        name = shown.split('{')[0]
        labels = set(re.findall(r'(\w+)=', shown)) | table.get(name, ('', set()))[1]
        table[name] = (kind, labels)
    return table


def _known(table, name):
    if name in table:
        return table[name][0] != 'histogram'
    for ending in ENDINGS:
        if name.endswith(ending) and table.get(name[:-len(ending)], ('',))[0] == 'histogram':
            return True
    return False


def _expressions(tree):
    """(place, expression) of all rules and panels."""
    text = tree.read(RULES_FILE)
    for match in re.finditer(r'alert: (\w+)\n\s+expr: (?:\|\n((?:\s{10,}.*\n)+)|(.*)\n)', text):
        yield f'{RULES_FILE}: {match.group(1)}', match.group(2) or match.group(3)
    board = json.loads(tree.read(BOARD_FILE))
    for panel in board_rules.panels_of(board['panels']):
        for target in panel.get('targets', ()):
            yield f'{BOARD_FILE}: {panel["title"]}', target['expr']
    for variable in board['templating']['list']:
        if variable['type'] == 'query':
            yield f'{BOARD_FILE}: ${variable["name"]}', variable['definition']


def _matchers(expression):
    """(metric, label) of every selector."""
    for name, inside in re.findall(r'\b(zonegate_\w+)\{([^}]*)\}', expression):
        for label in re.findall(r'(\w+)\s*(?:=~|!~|!=|=)', re.sub(r'"[^"]*"', '""', inside)):
            yield name, label


def shipped_expressions(tree):
    """Rules and board name metrics and labels that there are, and nothing hides that one is missing."""
    table, faults, count = metric_table(tree), [], 0
    for place, expression in _expressions(tree):
        count += 1
        faults += [f'{place}: there is no metric {name}' for name in set(WORDS.findall(expression))
                   if not _known(table, name)]
        if not WORDS.search(expression) and not any(
                re.search(rf'\b{name}\b', expression) for name in OF_PROMETHEUS):
            faults.append(f'{place}: names no metric')
        if 'vector(' in expression or 'absent(' in expression:
            faults.append(f'{place}: hides a metric that is missing')
        for name, label in _matchers(expression):
            bare = name if name in table else name.rpartition('_')[0]
            if label not in table.get(bare, ('', set()))[1] | {'instance', 'job', 'le'}:
                faults.append(f'{place}: {name} has no label {label}')
    return faults or ([] if count else ['no expressions found'])


def shipped_rules(tree):
    """promtool takes the rules, and its tests of each alert pass."""
    faults = []
    for command in (['promtool', 'check', 'rules', RULES_FILE],
                    ['promtool', 'test', 'rules', RULES_TEST]):
        result = tree.run(command)
        if result.returncode:
            faults.append(f'{" ".join(command)}: {(result.stdout + result.stderr).strip()}')
    alerts = set(re.findall(r'alert: (\w+)', tree.read(RULES_FILE)))
    tested = set(re.findall(r'alertname: (\w+)', tree.read(RULES_TEST)))
    faults += [f'{RULES_TEST}: no test of {name}' for name in sorted(alerts - tested)]
    text = tree.read(RULES_FILE)
    for name in ('summary', 'action'):
        if len(re.findall(rf'^ +{name}: "', text, re.M)) != len(alerts):
            faults.append(f'{RULES_FILE}: not every alert has a {name}')
    return faults


def metric_names(tree):
    """Names are ours, end as their type wants, and carry addresses on _info only."""
    faults = []
    for name, (kind, labels) in metric_table(tree).items():
        if not re.fullmatch(r'zonegate_[a-z0-9_]+', name):
            faults.append(f'{name}: not zonegate_…')
        if (kind == 'counter') != name.endswith('_total'):
            faults.append(f'{name}: a {kind}')
        if labels & {'address', 'port', 'vip'} and not name.endswith('_info'):
            faults.append(f'{name}: an address outside of _info')
    return faults


RULES = (shipped_expressions, shipped_rules, metric_names) + board_rules.RULES
