# SPDX-License-Identifier: GPL-2.0-or-later
"""After much work the daemon has the descriptors of before, and about the memory of before."""

import os
import re
import socket

from zglab import VIP6, case
from zglab.documents import balancer, document, group, listener, web

LAB_SECONDS = 12
ROUNDS = 8
REQUEST = b"PUT /api/v1/config HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n{"


def descriptors(lab):
    """What each is, sorted; the numbers of sockets are left out."""
    folder = f"/proc/{lab.gw.daemon.process.pid}/fd"
    found = []
    for name in os.listdir(folder):
        try:
            found.append(re.sub(r"\[\d+\]", "", os.readlink(f"{folder}/{name}")))
        except FileNotFoundError:
            pass  # of a connection that just ended
    return sorted(found)


def memory_kib(lab):
    with open(f"/proc/{lab.gw.daemon.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+) kB", file.read()).group(1))


def all_is_open(lab):
    """The reader of the kernel's numbers opens its socket when there is a service to look at, and keeps it."""
    lab.wait(lambda: b"zonegate_listener_connections_total{" in lab.gw.api.get("/metrics").body, 4 + lab.margin,
             "the kernel's numbers", pause=0.1)


def at_rest(lab):
    """What it has when nothing comes and goes any more: probes under way may take their time."""
    seen = [descriptors(lab)]

    def still():
        seen.append(descriptors(lab))
        return len(seen) > 10 and all(one == seen[-1] for one in seen[-10:])

    lab.wait(still, 3 + lab.margin, "nothing is under way", pause=0.05)
    return seen[-1]


def rests(lab, before):
    try:
        lab.wait(lambda: descriptors(lab) == before, 5 + lab.margin, "the descriptors of before", pause=0.1)
    except AssertionError as late:
        raise AssertionError(f"{late}: {before}, now {descriptors(lab)}") from None


def much(lab, number):
    """A document with probes of both kinds, drains, both families; then changed and emptied."""
    groups = {
        "web": group(lab.servers), "slow": group(lab.servers, port=81),
        "six": group(lab.servers, family=6, weights=[number + 1] * len(lab.servers)),
    }
    groups["slow"]["health_check"] = {"type": "http", "interval_ms": 200, "timeout_ms": 150}
    balancers = {
        "shop": balancer({"a": listener(), "b": listener("slow", 81)}),
        "six": balancer({"a": listener("six")}, vip4=None, vip6=VIP6),
    }
    lab.gw.api.apply(document(groups, balancers))
    lab.wait_in_service()
    lab.gw.api.get("/server-groups/web/health").expect(200)
    lab.gw.api.get("/kernel").expect(200)
    lab.gw.api.get("/nothing").expect(404)
    lab.gw.api.put("/server-groups/web", {"protocol": "none"}).expect(400, 415, 422)
    lab.servers[0].kill()
    lab.wait(lambda: not lab.gw.weights().get("10.2.0.11"), 1 + lab.margin, "s1 is down")
    lab.servers[0].start()
    lab.gw.api.delete("/server-groups/web/servers/s2").expect(200, 202, 204)
    lab.gw.api.apply({"zones": {}, "server_groups": {}, "load_balancers": {}})


@case(timeout=120.0)
def as_before_after_much_work(lab):
    lab.network(2, tcp=(80, 81))
    lab.start(web(lab), kernel={"audit_interval_s": 1})
    all_is_open(lab)
    much(lab, 0)
    before = at_rest(lab)
    for number in range(2):
        much(lab, number)
    memory = memory_kib(lab)
    for number in range(ROUNDS):
        much(lab, number)
    rests(lab, before)
    if not lab.config["valgrind"]:
        grown = memory_kib(lab) - memory
        assert grown < 1024, f"{ROUNDS} rounds have cost {grown} KiB"


@case
def as_before_after_connections_that_end_badly(lab):
    """Clients of the API that go away in the middle, servers that never answer."""
    lab.network(2)
    lab.start(web(lab))
    all_is_open(lab)
    lab.gw.api.apply({"zones": {}, "server_groups": {}, "load_balancers": {}})
    before = at_rest(lab)
    lab.gw.api.apply(web(lab))
    lab.servers[1].blackhole()
    for number in range(60):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(lab.gw.daemon.socket)
            sock.send(REQUEST[: 10 + number])
    lab.wait_weight(lab.servers[1], 0, 0.5 + lab.margin)
    lab.gw.api.apply({"zones": {}, "server_groups": {}, "load_balancers": {}})
    rests(lab, before)
