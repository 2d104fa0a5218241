# SPDX-License-Identifier: GPL-2.0-or-later
"""The same document again, and again, between two rounds of checks of its 10,000 servers.

This machine cannot check 10,000 servers a second; whether probes come late is seen on the host.
"""

import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from contest import Contest, Daemon, configs, wait_table  # noqa: E402
from zglab import case, sysc  # noqa: E402

SERVICES, SERVERS = 1000, 10
PORT = 8080
CHECK = configs.check("tcp", 60000, healthy_threshold=1)


def listener(contest, namespace):
    return subprocess.Popen(
        [contest.program("listener"), str(PORT), "tcp"], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, preexec_fn=lambda: sysc.setns(namespace.descriptor),
    )


def wait_healthy(namespace):
    """Until every server has been checked and has its weight."""
    end = time.monotonic() + 40
    while namespace.proc_net("ip_vs").count(f" {configs.WEIGHT} ") < SERVICES * SERVERS:
        assert time.monotonic() < end, "not every server came into service"
        time.sleep(1)


def put_again(daemon, text):
    """Seconds from the request to its answer."""
    begin = time.monotonic()
    headers = {"If-Match": "*", "Prefer": "return=minimal"}
    daemon.api.put("/config", text, headers).expect(204)
    return time.monotonic() - begin


@case(timeout=120.0)
def unchanged(lab):
    contest = Contest(lab)
    document = configs.document(
        SERVICES, SERVERS, CHECK, first=configs.LOCAL_FIRST, port=PORT
    )
    text = json.dumps(document)
    store = contest.store("store", document)
    with contest.arena() as namespace:
        namespace.set_sysctl("net.core.somaxconn", 65535)
        servers = listener(contest, namespace)
        daemon = Daemon(contest, namespace, "ours", store, log={"level": "warning"})
        daemon.start()
        wait_table(namespace, SERVICES, SERVERS)
        wait_healthy(namespace)
        time.sleep(2)
        with contest.trace(namespace) as trace:
            for _ in contest.rounds():
                contest.note("ours", put_again(daemon, text))
                trace.changes(0.2)
            contest.note("operations", sum(trace.changes(0.2).values()))
        daemon.end()
        servers.kill()
    contest.write()
