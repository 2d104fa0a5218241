# SPDX-License-Identifier: GPL-2.0-or-later
"""The same document again, and again, while its 10,000 servers are checked."""

import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from contest import Contest, Daemon, configs, wait_table  # noqa: E402
from zglab import case, sysc  # noqa: E402

SERVICES, SERVERS = 1000, 10
INTERVAL_MS = 5000  # this machine has no more than that in it
PORT = 8080
WARM, QUIET = 8.0, 12.0


class Listener:
    def __init__(self, contest, namespace):
        self._process = subprocess.Popen(
            [contest.program("listener"), str(PORT), "tcp"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda: sysc.setns(namespace.descriptor),
        )

    def reset(self):
        self._process.send_signal(signal.SIGUSR1)

    def end(self):
        self._process.send_signal(signal.SIGTERM)
        words = self._process.communicate(timeout=60)[0].split()
        return {name: float(value) for name, value in zip(words[::2], words[1::2])}


def put_again(daemon, text):
    """Seconds from the request to its answer."""
    begin = time.monotonic()
    headers = {"If-Match": "*", "Prefer": "return=minimal"}
    daemon.api.put("/config", text, headers).expect(200, 204)
    return time.monotonic() - begin


@case(timeout=120.0)
def unchanged(lab):
    contest = Contest(lab)
    document = configs.document(
        SERVICES, SERVERS, configs.check("tcp", INTERVAL_MS), first=configs.LOCAL_FIRST, port=PORT
    )
    text = json.dumps(document)
    store = contest.store("store", document)
    with contest.arena() as namespace:
        namespace.set_sysctl("net.core.somaxconn", 65535)
        listener = Listener(contest, namespace)
        daemon = Daemon(contest, namespace, "ours", store, log={"level": "warning"})
        daemon.start()
        wait_table(namespace, SERVICES, SERVERS)
        time.sleep(WARM + 2 * INTERVAL_MS / 1000)
        weights = namespace.proc_net("ip_vs").count(f" {configs.WEIGHT} ")
        assert weights >= SERVICES * SERVERS, f"only {weights} servers are in service"
        put_again(daemon, text)
        listener.reset()
        with contest.trace(namespace) as trace:
            time.sleep(QUIET)
            for _ in range(lab.config["rounds"]):
                contest.note("ours", put_again(daemon, text))
                time.sleep(1)
            contest.note("operations", sum(trace.changes(0.2).values()))
        seen = listener.end()
        daemon.end()
    contest.note("late", seen["max"] / 1e6 - INTERVAL_MS / 1000)
    contest.note("intervals", seen["intervals"])
    contest.write()
