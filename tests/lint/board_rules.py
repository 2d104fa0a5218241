# SPDX-License-Identifier: GPL-2.0-or-later
"""The board against what Grafana wants of one that is imported: there is no Grafana to ask."""
import json
import os
import re
import tempfile

BOARD_FILE = 'conf/grafana/zonegate.json'
SOURCE = {'type': 'prometheus', 'uid': '${datasource}'}
COLUMNS = 24
SCHEMA = range(16, 42)  # versions that it brings up to date by itself, from folders and tags on
PANELS = ('stat', 'gauge', 'bargauge', 'timeseries', 'barchart', 'state-timeline', 'status-history', 'table', 'heatmap')
UNITS = ('none', 'short', 'percent', 'percentunit', 's', 'ms', 'bytes', 'bps', 'Bps', 'cps', 'ops', 'reqps', 'pps', 'dateTimeFromNow')
BUILT_IN = {'__rate_interval': '5m', '__interval': '1m', '__range': '1h', '__all': '.*'}


def panels_of(panels):
    """All of them, those in closed rows, too."""
    for panel in panels:
        yield panel
        yield from panels_of(panel.get('panels', ()))


def _head(board):
    faults = []
    if not re.fullmatch(r'[a-zA-Z0-9_-]{1,40}', str(board.get('uid'))):
        faults.append('its uid is none')
    if not board.get('title'):
        faults.append('it has no title')
    if board.get('schemaVersion') not in SCHEMA:
        faults.append(f'schemaVersion {board.get("schemaVersion")}')
    if board.get('id') is not None:
        faults.append('it has an id, which is that of one Grafana')
    if '__inputs' in board:
        faults.append('__inputs beside the variable of the data source')
    return faults


def _variables(board):
    """Faults of the variables; the data source is chosen by the first one."""
    variables = board.get('templating', {}).get('list', [])
    first = variables[0] if variables else {}
    faults = []
    if (first.get('type'), first.get('name'), first.get('query')) != ('datasource', 'datasource', 'prometheus'):
        faults.append('the first variable does not choose a data source of Prometheus')
    for one in variables[1:]:
        if one.get('type') == 'query' and one.get('datasource') != SOURCE:
            faults.append(f'${one["name"]}: asks another data source')
    return faults


def _places(panels):
    """Whether they lie beside each other, within the columns."""
    faults, taken = [], {}
    for panel in panels:
        place = panel.get('gridPos', {})
        x, y, w, h = (place.get(name) for name in 'xywh')
        if not all(isinstance(n, int) and n >= 0 for n in (x, y, w, h)) or not w or not h or x + w > COLUMNS:
            faults.append(f'{panel["title"]}: gridPos {place}')
            continue
        for cell in ((a, b) for a in range(x, x + w) for b in range(y, y + h)):
            if taken.setdefault(cell, panel['title']) != panel['title']:
                faults.append(f'{panel["title"]} lies on {taken[cell]}')
                break
    return faults


def _panel(panel, variables):
    """Faults of one that asks."""
    targets = panel.get('targets', [])
    faults = [] if targets else ['asks nothing']
    if panel['type'] not in PANELS:
        faults.append(f'is a {panel["type"]}')
    if panel.get('datasource') != SOURCE or any(t.get('datasource', SOURCE) != SOURCE for t in targets):
        faults.append('asks another data source')
    if panel.get('fieldConfig', {}).get('defaults', {}).get('unit') not in UNITS:
        faults.append('has no unit')
    if len({t.get('refId') for t in targets}) < len(targets) or not all(t.get('refId') for t in targets):
        faults.append('has no refId for each expression')
    for target in targets:
        text = target['expr'] + target.get('legendFormat', '')
        faults += [f'names ${name}, which is no variable' for name in re.findall(r'\$\{?(\w+)', text)
                   if name not in variables and name not in BUILT_IN]
        kept = re.search(r'\bby \(([^)]*)\)', target['expr'])
        shown = set(re.findall(r'\{\{\s*(\w+)\s*\}\}', target.get('legendFormat', '')))
        if kept and not shown <= set(re.split(r',\s*', kept.group(1))):
            faults.append(f'shows {shown}, and keeps {kept.group(1)}')
    return faults


def _plain(expression):
    """With a value for each variable."""
    return re.sub(r'\$\{?(\w+)\}?', lambda match: BUILT_IN.get(match.group(1), '.*'), expression)


def _unparsable(tree, expressions):
    """What promtool says of all of them as rules."""
    rules = [{'record': f'board:{number}', 'expr': _plain(text)} for number, text in enumerate(expressions)]
    with tempfile.TemporaryDirectory(prefix='zonegate-board-') as folder:
        path = os.path.join(folder, 'rules.yml')
        with open(path, 'w', encoding='utf-8') as file:
            json.dump({'groups': [{'name': 'board', 'rules': rules}]}, file)  # which is YAML, too
        result = tree.run(['promtool', 'check', 'rules', path])
    return (result.stdout + result.stderr).replace(path, 'its expressions').strip() if result.returncode else ''


def shipped_board(tree):
    """Grafana takes the board: a data source to choose, places that do not overlap, units, and expressions that parse."""
    board = json.loads(tree.read(BOARD_FILE))
    found = list(panels_of(board['panels']))
    variables = {one['name'] for one in board.get('templating', {}).get('list', ())}
    faults = _head(board) + _variables(board) + _places(board['panels'])
    for key in ('id', 'title'):
        values = [panel.get(key) for panel in found]
        if None in values or len(set(values)) < len(values):
            faults.append(f'its panels have no {key} each')
    asking = [panel for panel in found if panel.get('type') != 'row']
    for panel in asking:
        faults += [f'{panel["title"]} {fault}' for fault in _panel(panel, variables)]
    unparsable = _unparsable(tree, [target['expr'] for panel in asking for target in panel.get('targets', ())])
    return [f'{BOARD_FILE}: {fault}' for fault in faults + [unparsable] if fault]


RULES = (shipped_board,)
