# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lint allows. Each table is the whole rule; a new exception needs its reason here."""

# Directory of controller/ -> directories whose headers it may include. The arrow points down only.
# '' is controller/ itself: named by file.
PURE = ('base', 'model', 'health', 'zone', 'plan', 'dns')
CORE = PURE + ('engine',)
LAYERS = {
    'base': ('base',),
    # Libraries that are loaded when they are first used.
    'late': ('late',),
    'model': ('base', 'model'),
    'health': ('base', 'model', 'health'),
    'zone': ('base', 'model', 'health', 'zone'),
    'dns': ('base', 'model', 'zone', 'dns'),
    'plan': ('base', 'model', 'health', 'zone', 'plan'),
    # Names and places of the document, and what the kernel counts in them; the engine needs none of it.
    'stats': ('base', 'model', 'health', 'zone', 'plan', 'stats'),
    'engine': CORE,
    # Who may: mutable state beside the engine's, which knows nothing of the configuration.
    'access': ('base', 'model', 'late', 'access'),
    # Edges: they never include each other.
    'store': CORE + ('store',),
    'probe': CORE + ('late', 'probe'),
    # Rules are set by the programs of iptables: there is no other interface to both of its backends.
    'kernel': CORE + ('child', 'kernel'),
    # Programs that are run beside the loop: what edges share.
    'child': ('base', 'child'),
    # What the host is like, read for the doctor: blocks, so only workers call it.
    'host': PURE + ('host',),
    'dnsio': CORE + ('child', 'dnsio'),
    'webhook': CORE + ('child', 'late', 'webhook'),
    'api': CORE + ('access', 'stats', 'host', 'late', 'api'),
    'loop.c': CORE + ('loop.h',),
    'loop.h': CORE,
    # The names of zones are those of the model.
    'settings.c': ('base', 'model', 'settings.h'),
    'settings.h': ('base', 'settings.h'),
    'wiring.h': ('base',),
    'wiring.c': CORE + ('access', 'late', 'stats', 'store', 'probe', 'kernel', 'dnsio', 'api', 'webhook', 'loop.h', 'settings.h',
                        'wiring.h'),
    'main.c': ('base', 'settings.h', 'wiring.h'),
    # The CLI is its own program: nothing of the daemon but base.
    'cli': ('base', 'cli'),
}

# What layers 1 to 3 may not call: they do no I/O, know no clock and do not log.
PURE_DIRECTORIES = ('model', 'health', 'zone', 'plan', 'dns', 'engine', 'access', 'stats')
IMPURE_SYMBOLS = (
    'log_write', 'log_write_fields', 'time_monotonic', 'time_wall', 'clock_gettime', 'gettimeofday', 'time',
    'socket', 'connect', 'send', 'sendto', 'sendmsg', 'recv', 'recvfrom', 'recvmsg', 'open',
    'open64', 'openat', 'read', 'write', 'fopen', 'fopen64', 'fread', 'fwrite', 'printf',
    'puts', 'fprintf', '__printf_chk', '__fprintf_chk', 'getenv', 'sleep', 'usleep',
    'nanosleep', 'fork', 'execve', 'system', 'popen', 'pthread_create',
)

# name: (aim, hard limit). Over the aim is counted and printed, over the hard limit fails.
BUDGETS = {
    'file': (400, 700),
    'header': (100, 250),
    'function': (40, 100),
    'parameters': (5, 6),
    'nesting': (3, 4),
}

# (file, function): the budgets that do not hold for it. Only where somebody else sets the shape.
BUDGET_EXEMPT = {
    ('controller/api/httpd.c', 'httpd_on_access'): ('parameters',),  # libmicrohttpd's callback
    ('controller/api/httpd.c', 'httpd_on_handshake'): ('parameters',),  # GnuTLS's callback
    # Callbacks of nghttp2.
    ('controller/probe/grpc_call.c', 'call_on_header'): ('parameters',),
    ('controller/probe/grpc_call.c', 'call_on_read'): ('parameters',),
    ('tests/unit/grpc_fixture.h', 'grpc_on_header'): ('parameters',),
    ('tests/unit/grpc_fixture.h', 'grpc_on_read'): ('parameters',),
    ('tests/bench/bare_streams.c', 'on_read'): ('parameters',),
}

# Where file-scope variables may change.
MUTABLE_ALLOWED = ('base/log.c', 'base/metrics.c', 'late/late.c')

# File -> further prefixes that its functions may have, where one file holds several small things.
NAME_PREFIXES = {
    'base/mem.c': ('arena_',),
    'base/vec.c': ('table_', 'hash_'),
    'model/snapshot.c': ('batch_',),
    'model/validate.c': ('validation_',),
}

# controller/ files without tests/unit/X_test.c, and what exercises them instead; a folder stands for
# all its files.
NO_UNIT_TEST = {
    'engine/': 'tests/sim: the engine with fake kernel, clock, store and probes',
    'main.c': 'options, then wiring: every lab test starts it',
    'wiring.c': 'joins, decides nothing: every lab test runs through it',
    'wiring_ports.c': 'joins, decides nothing: every lab test runs through it',
    'wiring_edges.c': 'joins, decides nothing: every lab test runs through it',
    'wiring_engine.c': 'joins, decides nothing: every lab test runs through it',
    'wiring_access.c': 'joins, decides nothing: tests/api/access_rules.py',
    'wiring_stats.c': 'joins, decides nothing: tests/lab/test_statistics.py',
    'kernel/stats_reader.c': 'asks a real kernel: tests/lab/test_statistics.py',
    'host/host_arp.c': 'asks a real link: tests/lab/test_doctor_paths.py',
    'kernel/fib_rules.c': 'asks a real kernel: tests/lab/test_ranges.py',
    'api/stats_json.c': 'handlers_stats_test.c',
    'api/metrics_servers.c': 'handlers_metrics_test.c',
    'api/metrics_zones.c': 'handlers_metrics_test.c',
    'api/metrics_process.c': 'handlers_metrics_test.c',
    'wiring_notify.c': 'joins, decides nothing: test_notify.py runs through it',
    'wiring_api.c': 'joins, decides nothing: every lab test runs through it',
    'loop.c': 'libev and signals: start, reload and stop are lab tests',
    'api/access_call.c': 'from bodies to wishes and back: tests/api/access_rules.py',
    'api/handlers_auth.c': 'tests/api/access_rules.py',
    'api/handlers_users.c': 'tests/api/access_rules.py',
    'api/handlers_tokens.c': 'tests/api/access_rules.py',
    'api/filters.c': 'handlers_audit_test.c, handlers_events_test.c: over HTTP, as they are used',
    'api/handlers_notify.c': 'cli_notify_test.c: over HTTP, as it is used',
    'api/sse.c': 'handlers_events_test.c: over HTTP, as it is used',
    'api/reply.c': 'encodes what routes show: handlers_object_test.c',
    'api/netfilter_json.c': 'handlers_kernel_test.c',
    'api/handlers_drift.c': 'handlers_kernel_test.c',
    'engine/drift.c': 'handlers_kernel_test.c',
    'api/status_json.c': 'handlers_status_test.c, handlers_object_test.c',
    'api/health_json.c': 'handlers_status_test.c',
    'probe/http_body.c': 'the second half of http_parse.c: http_parse_test.c',
    'probe/probe_turn.c': 'what probe_sched.c does when its time comes: probe_sched_test.c',
    'probe/probe_report.c': 'the end of each of its probes: probe_sched_test.c',
    'cli/zonegate.c': 'table of commands, then one call: lab tests run the program',
}

# tests/unit/X_test.c that mirror no one file, and what they test instead.
UNIT_TESTS_OF_MANY = {
    'handlers_stop': 'what all handlers have on the worker when the API stops',
    'rules_nft': 'rules.c, setlib.c, set_work.c and kernel_guard.c in the kernel of the host, through nft',
    'answer_edns': 'answer.c: EDNS and its options',
    'desired_drains': 'desired.c: what is taken out by hand',
    'probe_hold_watch': 'probe_hold.c: watched connections',
    'probe_spare_hostile': 'probe_spare.c: servers of every temper on the same sockets',
    'probe_tls_https': 'probe_http.c over probe_tls.c: the kind https',
    'desired_entries': 'desired.c: settings of listener and group in the service',
    'probe_descriptors': 'all probe kinds together leave no descriptor behind',
    'probe_limits': 'probe_sched.c: probes in flight, single probes',
    'probe_pace': 'probe_sched.c: pace and stalls',
}

# Of all files of the web UI together, compressed.
WEB_UI_MAX = 120 * 1024

# The node of Debian 12, with which the UI is built and tested.
NODE_OF_DEBIAN = (18, 20, 4)

# Libraries that the daemon may not load: libipset is GPL-2-only.
FORBIDDEN_LIBRARIES = ('libssl', 'libcrypto', 'libcurl', 'libknot')
# Loaded by controller/late at their first call: not at the start.
LATE_LIBRARIES = ('libgnutls', 'libmicrohttpd')

MAN_ENDINGS = ('.1', '.5', '.7', '.8')

# (what, pattern, files it is looked for in; None is every tracked text file)
FORBIDDEN_WORDS = (
    ('a package registry', r'registry\.npmjs\.org|registry\.yarnpkg\.com|deb\.debian\.org|pypi\.org'
                           r'|files\.pythonhosted\.org|crates\.io|proxy\.golang\.org', None),
    ('a path of one machine', r'(?<![\w.$}*)])/work/|/tmp/zg\b|/home/\w+/', None),
    ('the way it was made', r'(?i)session tool|language model|\bsub-?agent\b|\bchatbot\b', None),
    ('unfinished work', r'\b(?:TODO|FIXME|XXX|HACK)\b', r'\.(?:c|h|py|sh|tsx?)$|/run$'),
)
WORDS_EXEMPT = ('LICENSE', 'tests/lint/tables.py', 'tests/lint/selftest.py')
