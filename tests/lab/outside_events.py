# SPDX-License-Identifier: GPL-2.0-or-later
"""Floods of events, on the host itself in a network of its own."""

import contextlib
import os
import time

from zglab import api, case, rtnl, sysc
from zglab.alone import Daemon
from zglab.dns import Resolver
from zglab.documents import balancer, check, document, listener
from zglab.streams import Flapper
from zglab.zones import NAME

LAB_SECONDS = 20
# 60 flaps of each server are six times what is told of them one by one. LAB_FULL=1: a hundred thousand in a minute.
FLAPPING, FLAPS, FLAP_SECONDS = (240, 100_000, 75) if os.environ.get("LAB_FULL") else (240, 15_000, 40)
EVENTS_A_MINUTE = 10  # of each server, and a summary
STORE_KIB = FLAPPING * 1000  # the history of a server has 1,000 entries, of a KiB at most
# Beside a flood: the middle, which the daemon answers for, and the p99, in which a machine that does other things has its part.
LATE_MS = {"dns": (25, 500), "api": (100, 1500)}


def enter():
    sysc.unshare(sysc.CLONE_NEWNET)
    rtnl.Netlink().link_set("lo")


def changes(one):
    text = api.Api(one.socket, judged=False).raw("GET", "/metrics").body.decode()
    return sum(float(line.split()[1]) for line in text.splitlines() if line.startswith("zonegate_health_transitions_total{"))


def middle_and_p99(took):
    """In milliseconds."""
    return tuple(round(sorted(took)[int(part * len(took))] * 1e3, 2) for part in (0.5, 0.99))


class Asking:
    """DNS and the API, one question after the other."""

    def __init__(self, one):
        self._api = api.Api(one.socket, judged=False)
        self._resolver = Resolver(contextlib.nullcontext(), "127.0.0.1", timeout=5)
        self.took = {"dns": [], "api": []}

    def ask(self):
        begin = time.monotonic()
        assert self._resolver.ask(NAME).addresses(), "no address"
        between = time.monotonic()
        self._api.get("/system").expect(200)
        self.took["dns"].append(between - begin)
        self.took["api"].append(time.monotonic() - between)
        time.sleep(0.02)

    def figures(self):
        """Of each what it took since the last time."""
        found = {name: middle_and_p99(values) for name, values in self.took.items()}
        for values in self.took.values():
            values.clear()
        return found


def flood(flapper):
    probe = check(type="http", interval_ms=100, timeout_ms=90, healthy_threshold=1, unhealthy_threshold=1, fast_retry=False)
    servers = {f"f{n}": {"address": a, "port": flapper.port} for n, a in enumerate(flapper.addresses)}
    still = {"protocol": "tcp", "health_check": {"enabled": False}, "servers": {"s": {"address": "127.0.0.1", "port": 80}}}
    made = {"flood": {"protocol": "tcp", "health_check": probe, "servers": servers}, "still": still}
    shop = balancer({"one": listener("still")}, dns_name=NAME)
    return document(made, {"shop": shop, "flood": balancer({"one": listener("flood")}, vip4="192.0.2.77")})


def store_kib(one):
    return sum(os.path.getsize(f"{base}/{name}") for base, _, names in os.walk(f"{one.folder}/state") for name in names) >> 10


@case(timeout=220)
def very_many_flaps(config):
    """Events, log and store are bounded; DNS and the API answer as before."""
    enter()
    flapper = Flapper(FLAPPING)
    one = Daemon(config, "listen = 127.0.0.1:53\napex = lb.example.net\nns = ns1.example.net\n", level="notice")
    try:
        one.start()
        asking = Asking(one)
        api.Api(one.socket, judged=False).apply({**flood(flapper), "server_groups": {
            name: {**group, "health_check": {"enabled": False}} for name, group in flood(flapper)["server_groups"].items()}})
        for _ in range(100):
            asking.ask()
        before = asking.figures()
        api.Api(one.socket, judged=False).apply(flood(flapper))
        begin = time.monotonic()
        while changes(one) < FLAPS and time.monotonic() - begin < FLAP_SECONDS:
            for _ in range(20):
                asking.ask()
        took, meanwhile, count = time.monotonic() - begin, asking.figures(), changes(one)
        flapper.stop()
        assert count > FLAPS / 5, f"only {count} flaps in {took:.0f} s, which even a slow machine has time for"
        size, events = store_kib(one), int(listed(one))
        print(f"{count:.0f} flaps in {took:.0f} s; middle and p99 in ms before {before}, meanwhile {meanwhile}; {events} events, store {size} KiB")
        minutes = took // 60 + 1
        assert events <= FLAPPING * (EVENTS_A_MINUTE + 1) * minutes + 20, events
        with open(one.log.name, "rb") as log:
            lines = log.read().count(b"server.health_changed")
        assert 0 < lines <= FLAPPING * (EVENTS_A_MINUTE + 1) * minutes, lines
        assert size < STORE_KIB, size
        for name, limit in LATE_MS.items():
            assert all(now < then + more for now, then, more in zip(meanwhile[name], before[name], limit)), (before, meanwhile)
    finally:
        one.dispose()


def listed(one):
    """How many events are stored."""
    count, cursor = 0, ""
    while True:
        page = api.Api(one.socket, judged=False).get(f"/events?limit=1000{cursor}").expect(200).json
        count += len(page["items"])
        if not page["next_cursor"]:
            return count
        cursor = f"&cursor={page['next_cursor']}"
