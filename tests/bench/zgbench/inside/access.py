# SPDX-License-Identifier: GPL-2.0-or-later
"""A list of 100,000 entries put and changed, beside `ipset restore` of the same; how often rules are written."""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from contest import FOLDER, Contest, Daemon  # noqa: E402
from zgbench import trace  # noqa: E402
from zglab import case  # noqa: E402
from zglab.filters import NETFILTER, make_lock  # noqa: E402
from zglab.lab import run_in  # noqa: E402

ENTRIES = 100_000
CHANGES = 50
ROUNDS = 3  # `ipset restore` takes a minute each
DOCUMENT = {
    "zones": {"zone-a": {}},
    "server_groups": {"web": {
        "protocol": "tcp", "health_check": {"enabled": False},
        "servers": {"web-1": {"address": "127.0.0.1", "port": 80}}}},
    "load_balancers": {"shop": {
        "zones": {"zone-a": {"vip4": "192.0.2.10"}},
        "listeners": {"http": {"protocol": "tcp", "port": 80, "server_group": "web", "access_list": "office"}}}},
    "access_lists": {"office": {"default_action": "deny", "entries": []}},
}


def entries(first):
    """Other ones for each round: all of the set is new."""
    return [f"{10 + first}.{i >> 16}.{i >> 8 & 255}.{i & 255}" for i in range(ENTRIES)]


def counted_restore(contest):
    """A folder for PATH in which iptables-restore notes that it was called."""
    folder, log = f"{FOLDER}/shim", f"{FOLDER}/restores"
    os.makedirs(folder, exist_ok=True)
    contest.file("restores", "")
    os.chmod(log, 0o666)
    path = f"{folder}/iptables-restore"
    with open(path, "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\necho >>{log}\nexec /usr/sbin/iptables-legacy-restore "$@"\n')
    os.chmod(path, 0o755)
    return folder, lambda: os.path.getsize(log)


def timed(contest, watch, name, request):
    """Seconds of the request, and of it what the kernel was spoken to."""
    watch.reset()
    begin = time.monotonic()
    request().expect(200)
    contest.note(name, time.monotonic() - begin)
    contest.note(f"{name}_kernel", watch.seconds())


def put_list(daemon, number):
    text = "".join(f"{x}/32 allow\n" for x in entries(number))
    return daemon.api.raw("PUT", "/api/v1/access-lists/office/entries", text, {"Content-Type": "text/plain"})


def restore(contest, namespace, number):
    lines = [f"create theirs{number} hash:net family inet hashsize 32768 maxelem 262144 counters"]
    lines += [f"add theirs{number} {x}" for x in entries(number)]
    path = contest.file("restore.txt", "\n".join(lines) + "\n")
    return contest.run(namespace, "/usr/sbin/ipset", "restore", "-f", path)


def change_one(daemon, number):
    body = {"add": [{"cidr": f"172.16.{number}.1/32", "action": "allow"}]}
    return daemon.api.raw("PATCH", "/api/v1/access-lists/office/entries", body)


def length(namespace):
    text = run_in(namespace, "ipset", "list", "-t")
    return max(int(x.split(":")[1]) for x in text.splitlines() if x.startswith("Number of entries"))


@case(load=NETFILTER, timeout=270.0)
def access(lab):
    contest = Contest(lab)
    make_lock()
    folder, restores = counted_restore(contest)
    with contest.arena() as namespace:
        daemon = Daemon(contest, namespace, "ours", log={"level": "warning"}, kernel={"iptables": "auto"})
        daemon.environment["PATH"] = f"{folder}:/usr/sbin:/usr/bin:/sbin:/bin"
        daemon.start()
        daemon.api.apply(DOCUMENT)
        contest.note("restores", restores())
        watch = trace.SetTrace(namespace)
        for number in range(ROUNDS):
            timed(contest, watch, "ours", lambda n=number: put_list(daemon, n))
            assert length(namespace) == ENTRIES + 2, "the answer means that all of it is in the kernel"
            contest.note("theirs", restore(contest, namespace, number))
            run_in(namespace, "ipset", "destroy", f"theirs{number}")
        for number in range(CHANGES):
            timed(contest, watch, "change", lambda n=number: change_one(daemon, n))
        assert length(namespace) == ENTRIES + CHANGES + 2
        contest.note("restores", restores())
        watch.close()
        daemon.end()
    contest.write()
