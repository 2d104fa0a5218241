# SPDX-License-Identifier: GPL-2.0-or-later
"""The share of a core that the daemon takes while it does nothing but read what the kernel counts, every second."""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from contest import Contest, Daemon, configs, wait_table  # noqa: E402
from zglab import case  # noqa: E402
from zglab.lab import run_in  # noqa: E402

SERVICES, SERVERS = 10, 1000
SECONDS = 3


def cpu(pid):
    """Seconds of a processor of all threads. The kernel's own clock is finer than that of stat."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e9


@case(timeout=120.0)
def statistics(lab):
    contest = Contest(lab)
    store = contest.store("store", configs.document(SERVICES, SERVERS, configs.OFF))
    with contest.arena() as namespace:
        daemon = Daemon(contest, namespace, "ours", store, kernel={"audit_interval_s": 3600}, log={"level": "warning"})
        daemon.start()
        wait_table(namespace, SERVICES, SERVERS)
        time.sleep(3)
        pid = daemon.process.pid
        for _ in contest.rounds():
            begin, used = time.monotonic(), cpu(pid)
            time.sleep(SECONDS)
            contest.note("ours", (cpu(pid) - used) / (time.monotonic() - begin))
            # The cheapest that another program can do: all of it, once.
            begin = time.monotonic()
            run_in(namespace, "ipvsadm", "-Ln", "--stats")
            contest.note("ipvsadm", time.monotonic() - begin)
        daemon.end()
    contest.write()
