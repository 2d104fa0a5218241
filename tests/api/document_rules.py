# SPDX-License-Identifier: GPL-2.0-or-later
"""The document by itself: valid OpenAPI 3.1, complete, and strict."""

import re

import jsonschema

METHODS = {'get', 'put', 'patch', 'post', 'delete'}
OPERATION = {'operationId', 'summary', 'tags', 'x-role', 'parameters', 'responses', 'requestBody',
             'security', 'description'}
PARAMETER = {'name', 'in', 'required', 'schema', 'description', 'example'}
MEDIA = {'schema', 'example'}
ROLES = {'nobody', 'metrics', 'viewer', 'operator', 'editor', 'admin'}
# Objects and lists that may hold anything, and why.
OPEN = {
    'OpenApi': 'the format has a specification of its own',
    'Event/data': 'facts of the event: which goes by its type',
    'DiffEntry/old': 'members of whatever was changed',
    'DiffEntry/new': 'members of whatever was changed',
}


def _unknown(place, thing, known):
    return [f'{place}: {name} is no member here' for name in set(thing) - known]


def _missing(place, thing, wanted):
    return [f'{place}: {name} is missing' for name in wanted if name not in thing]


def _parameters(place, path, parameters):
    faults, seen = [], set()
    for parameter in parameters:
        name = f'{place} parameter {parameter.get("name")}'
        faults += _unknown(name, parameter, PARAMETER)
        faults += _missing(name, parameter, PARAMETER - {'example'})
        key = parameter['in'], parameter['name']
        if key in seen:
            faults.append(f'{name}: twice')
        seen.add(key)
        if parameter['in'] == 'path' and not parameter['required']:
            faults.append(f'{name}: a part of the path is required')
        if parameter['required'] and 'example' not in parameter:
            faults.append(f'{name}: no example')
        if parameter['in'] not in ('path', 'query', 'header'):
            faults.append(f'{name}: in {parameter["in"]}')
    told = {name for where, name in seen if where == 'path'}
    if told != set(re.findall(r'\{(\w+)\}', path)):
        faults.append(f'{place}: the path has other parameters than the list')
    return faults


def _content(place, content):
    faults = []
    for kind, media in content.items():
        name = f'{place} {kind}'
        if not re.fullmatch(r'[a-z]+/[a-z0-9+.-]+', kind):
            faults.append(f'{name}: no media type')
        faults += _unknown(name, media, MEDIA) + _missing(name, media, {'schema'})
    return faults


def _responses(place, responses):
    faults = [] if any(status.startswith('2') for status in responses) else [f'{place}: no success']
    for status, response in responses.items():
        name = f'{place} {status}'
        if not re.fullmatch(r'[2-5]\d\d', status):
            faults.append(f'{name}: no status')
        faults += _unknown(name, response, {'description', 'content', 'headers'})
        faults += _missing(name, response, {'description'})
        faults += _content(name, response.get('content', {}))
    return faults


def _operation(place, path, operation, schemes):
    faults = _unknown(place, operation, OPERATION)
    faults += _missing(place, operation, OPERATION - {'requestBody', 'security', 'description'})
    faults += _parameters(place, path, operation.get('parameters', []))
    faults += _responses(place, operation.get('responses', {}))
    faults += _content(place, operation.get('requestBody', {}).get('content', {}))
    if operation.get('x-role') not in ROLES:
        faults.append(f'{place}: x-role is {operation.get("x-role")}')
    for need in operation.get('security', ()):
        faults += _missing(f'{place} security', schemes, need)
    return faults


def document_is_openapi_3_1(daemon):
    document, faults, ids = daemon.document, [], set()
    faults += _unknown('document', document,
                       {'openapi', 'info', 'servers', 'paths', 'components', 'security', 'tags'})
    faults += _missing('document', document, {'openapi', 'info', 'paths', 'components', 'security'})
    faults += _missing('info', document['info'], {'title', 'version', 'license'})
    if not re.fullmatch(r'3\.1\.\d+', document['openapi']):
        faults.append(f'openapi is {document["openapi"]}')
    schemes = document['components']['securitySchemes']
    for need in document['security']:
        faults += _missing('security', schemes, need)
    for path, item in document['paths'].items():
        if not path.startswith('/'):
            faults.append(f'{path}: no path')
        faults += _unknown(path, item, METHODS)
        for method, operation in item.items():
            place = f'{method.upper()} {path}'
            faults += _operation(place, path, operation, schemes)
            if operation.get('operationId') in ids:
                faults.append(f'{place}: operationId is not its own')
            ids.add(operation.get('operationId'))
    return faults


def _references(place, thing):
    """(place, reference) of each $ref below."""
    if isinstance(thing, dict):
        if isinstance(thing.get('$ref'), str):
            yield place, thing['$ref']
        for name, value in thing.items():
            if name not in ('example', 'examples'):
                yield from _references(f'{place}/{name}', value)
    elif isinstance(thing, list):
        for i, value in enumerate(thing):
            yield from _references(f'{place}/{i}', value)


def schemas_are_json_schema(daemon):
    faults, schemas = [], daemon.document['components']['schemas']
    for name, schema in schemas.items():
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as problem:
            faults.append(f'{name}: {problem.message}')
    used = set()
    for place, reference in _references('', daemon.document):
        name = reference.removeprefix('#/components/schemas/')
        used.add(name)
        if name not in schemas:
            faults.append(f'{place}: {reference} leads nowhere')
    faults += [f'{name}: nothing uses this schema' for name in set(schemas) - used]
    return faults


def _open(place, schema):
    """Objects and lists that say nothing of what they hold."""
    kinds = schema.get('type', ())
    kinds = {kinds} if isinstance(kinds, str) else set(kinds)
    if 'object' in kinds and schema.get('additionalProperties', True) is True:
        yield place
    if 'array' in kinds and 'items' not in schema:
        yield place
    if not kinds and '$ref' not in schema and 'anyOf' not in schema:
        yield place
    for name, member in schema.get('properties', {}).items():
        yield from _open(f'{place}/{name}', member)
    for name in ('items', 'additionalProperties'):
        if isinstance(schema.get(name), dict):
            yield from _open(f'{place}/{name}', schema[name])
    for one in schema.get('anyOf', ()):
        yield from _open(place, one) if one != {'type': 'null'} else ()


def schemas_are_closed(daemon):
    """An answer with a member that is not in the document is a fault: no schema lets one pass."""
    found = {place for name, schema in daemon.document['components']['schemas'].items()
             for place in _open(name, schema)}
    faults = [f'{place}: says nothing of what it holds' for place in sorted(found - set(OPEN))]
    return faults + [f'{place}: an exception that is not needed' for place in set(OPEN) - found]


def examples_are_of_their_schemas(daemon):
    faults = []
    for method, path, operation in daemon.operations():
        bodies = [('body', operation['requestBody'])] if 'requestBody' in operation else []
        bodies += [(status, response) for status, response in operation['responses'].items()
                   if status.startswith('2') and 'content' in response]
        for what, body in bodies:
            for kind, media in body['content'].items():
                place = f'{method} {path} {what} {kind} example'
                if 'example' not in media:
                    faults.append(f'{place}: there is none')
                    continue
                faults += daemon.contract.check_value(place, media['schema'], media['example'])
    for name, schema in daemon.document['components']['schemas'].items():
        for example in schema.get('examples', ()):
            faults += daemon.contract.check_value(
                f'{name} examples', {'$ref': f'#/components/schemas/{name}'}, example)
    return faults


RULES = (document_is_openapi_3_1, schemas_are_json_schema, schemas_are_closed,
         examples_are_of_their_schemas)
