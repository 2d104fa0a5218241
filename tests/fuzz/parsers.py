# SPDX-License-Identifier: GPL-2.0-or-later
"""Which source files each fuzz target is there for: what its corpus must cover."""

PARSERS = {
    'addr': ['base/addr.c'],
    'body': ['api/body.c'],
    'change': ['model/change.c', 'model/change_document.c', 'model/change_entries.c', 'model/etag.c',
               'model/fields_check.c', 'model/fields_decode.c', 'model/fields_entries.c', 'model/fields_group.c',
               'model/fields_prefixes.c', 'model/fields_table.c', 'model/fields_unknown.c',
               'model/fields_values.c', 'model/status_list.c', 'model/validate.c',
               'model/validate_dns.c', 'model/validate_listener.c', 'model/validate_server.c',
               'model/validate_users.c'],
    'credentials': ['api/credentials.c'],
    'diff': ['plan/diff.c'],
    'dns_answer': ['dns/answer.c', 'dns/preview.c'],
    'dns_question': ['probe/dns_question.c'],
    'dns_wire': ['dns/wire.c', 'dns/wire_reply.c', 'dns/dns_name.c'],
    'entries': ['model/entries_read.c', 'model/entries_text.c'],
    'escape': ['model/escape.c'],
    'grpc_call': ['probe/grpc_call.c', 'probe/grpc_message.c'],
    'http_parse': ['probe/http_parse.c', 'probe/http_body.c'],
    'ipvs_parse': ['kernel/ipvs_parse.c'],
    'link_watch': [],  # what reads stands beside the I/O, in a file with it
    'packet_parse': ['probe/packet_parse.c'],
    'set_parse': ['kernel/set_parse.c'],
    'settings': ['settings.c'],
    'shift_json': [],  # beside the encoding, in a file with it
    'uri': ['api/uri.c'],
}
