# SPDX-License-Identifier: GPL-2.0-or-later
"""Line 22: the health checker at scale, on one core, as the listener sees it.

A kept connection takes a descriptor, and the system may not let us have 20,000 of them: then half as
many servers are visited twice as often.

Memory: RssAnon of the daemon with checks on less RssAnon with checks off, over the servers. What is taken
off is the model (objects, their places in groups and services) and in it the place for the evidence of each
server: figures of the last probe and the last 32 results lie in struct engine_server, which is one block
either way. A tcp probe that passes brings no text and no last failure, the parts of the evidence that are
allocated when they come. So what is left is what probing adds: the probe itself, its place in the table and
in time, the event windows of the first minute, and what the first round left free in the heap.
"""

import math
import os
import re
import resource
import time

from . import configs, figures, host
from zglab import rtnl

SECONDS = float(os.environ.get("SECONDS", "5"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))  # of the cost beside the number of servers
MANY = int(os.environ.get("SERVERS", "20000"))
HTTP_SHARE = 0.75  # of MANY, with a fresh connection each
HUGE, HUGE_INTERVAL_MS = 5 * MANY, 10000
FEW = MANY // 20
PROBES = MANY // 2  # a second, for the cost beside the number of servers
COST_SECONDS = 2.0  # whole intervals of both
PIECE = 0.5  # seconds
WARM = 3.0
TIMEOUT_MS = 500  # the daemon refuses what takes more descriptors than it has, should all servers fall silent
DESCRIPTORS = 65536
KEPT_FACTOR = 1.5  # descriptors for each server: a fourth of them is for probes in flight


def allow_descriptors():
    """How many there are at most."""
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    except (PermissionError, ValueError):
        pass  # of the system's own limit
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def enter():
    host.enter()
    rtnl.Netlink().address_add("lo", "10.128.0.1/9")  # the VIPs answer, so that each failure is a server's
    return allow_descriptors()


def document(kind, servers, interval_ms, **members):
    check = configs.check(
        kind, interval_ms=interval_ms, **{"healthy_threshold": 1, **members},
    )
    check["timeout_ms"] = min(TIMEOUT_MS, interval_ms // 2)
    per_service = math.gcd(servers, host.PER_SERVICE)
    return configs.document(
        servers // per_service, per_service, check, first=configs.LOCAL_FIRST, port=host.PORT,
    )


def _bad_results(daemon):
    """Failures and errors of probes until now."""
    text = daemon.api.get("/metrics").expect(200).body.decode()
    found = re.findall(
        r'^zonegate_health_checks_total\{result="(?:fail|prober_error)"\} (\d+)', text, re.M,
    )
    if len(found) != 2:
        raise SystemExit("the daemon has no figures of its probes")
    return sum(int(x) for x in found)


def busiest(pids, end):
    """The highest share of one core in any PIECE until then."""
    peak, last, at = 0, host.cpu_usec(*pids), time.monotonic()
    while at < end:
        time.sleep(max(0, min(PIECE, end - at)))
        used, now = host.cpu_usec(*pids), time.monotonic()
        if now - at > PIECE / 2:
            peak = max(peak, (used - last) / (now - at) / 1e6)
        last, at = used, now
    return peak


class Run:
    """A daemon on one core with its listener."""

    def __init__(self, store, listener, interval_ms):
        self._interval_usec = interval_ms * 1000
        self._listener = host.Listener(listener)
        self._daemon = host.Zonegate(store)

    def measure(self, seconds, warm=WARM):
        """{name: number}: rate, late_ms (p99), failures, cpu_usec a probe, core (share of one), peak."""
        try:
            self._daemon.start()
            time.sleep(warm)
            bad = _bad_results(self._daemon)
            begin, cpu = time.monotonic(), host.cpu_usec(*self._daemon.pids)
            self._listener.reset()
            peak = busiest(self._daemon.pids, begin + seconds)
            took = time.monotonic() - begin
            cpu = host.cpu_usec(*self._daemon.pids) - cpu
            seen = self._listener.reset()
            bad = _bad_results(self._daemon) - bad
            self._daemon.end()
        finally:
            self._daemon.close()
            self._listener.close()
        visits = max(seen["connections"], 1)
        return {
            # By the listener's clock: of the targets seen, each as often as it was visited.
            "rate": seen["targets"] * 1e6 / max(seen["mean"], 1), "late_ms": (seen["p99"] - self._interval_usec) / 1e3,
            "failures": bad, "cpu_usec": cpu / visits, "core": cpu / took / 1e6, "peak": peak,
            "targets": seen["targets"],
        }


def measure(kind, servers, interval_ms, seconds, listener=None, warm=WARM, **members):
    store = host.make_store(document(kind, servers, interval_ms, **members))
    try:
        return Run(store, listener or kind, interval_ms).measure(seconds, warm)
    finally:
        host.remove_store(store)


def kinds(descriptors):
    """{name: (probes/s due, figures)} at an interval of a second, or half of it."""
    servers, interval_ms = MANY, 1000
    if descriptors < KEPT_FACTOR * MANY:
        servers, interval_ms = MANY // 2, 500
    fresh = int(HTTP_SHARE * MANY)
    plans = {
        f"{MANY:,} tcp": (MANY, ("tcp", MANY, 1000), {}),
        f"{MANY:,} half-open": (
            MANY, ("tcp", MANY, 1000), {"listener": "syn", "handshake": "half_open"},
        ),
        f"{servers:,} kept http at {interval_ms} ms": (
            MANY, ("http", servers, interval_ms), {"listener": "kept", "reuse_connection": True},
        ),
        f"{fresh:,} fresh http": (fresh, ("http", fresh, 1000), {}),
    }
    return {
        name: (rate, measure(*plan, SECONDS, **options))
        for name, (rate, plan, options) in plans.items()
    }


def huge():
    """Two whole intervals of many servers that are seldom visited."""
    return measure(
        "tcp", HUGE, HUGE_INTERVAL_MS, 2 * HUGE_INTERVAL_MS / 1e3,
        warm=WARM + HUGE_INTERVAL_MS / 1e3,
    )


def cost_by_number():
    """CPU in microseconds a probe, (few servers, many servers) at the same rate: medians."""
    values = {FEW: [], MANY: []}
    stores = {
        number: host.make_store(document("tcp", number, 1000 * number // PROBES))
        for number in values
    }
    for _ in range(ROUNDS):
        for number, store in stores.items():
            seen = Run(store, "tcp", 1000 * number // PROBES).measure(COST_SECONDS)
            values[number].append(seen["cpu_usec"])
    for store in stores.values():
        host.remove_store(store)
    host.dump("scale-cost", values)
    return figures.median(values[FEW]), figures.median(values[MANY])


def _resident(enabled):
    """Bytes of the daemon with MANY servers; at rest between two probes if they are checked."""
    store = host.make_store(document("tcp", MANY, 2000, enabled=enabled))
    listener = host.Listener("tcp")
    daemon = host.Zonegate(store)
    try:
        daemon.start()
        time.sleep(8)
        used = host.anonymous_kb(*daemon.pids) * 1024
        daemon.end()
    finally:
        daemon.close()
        listener.close()
        host.remove_store(store)
    return used


def memory():
    """(bytes that probing adds to a server, bytes of a server without it)."""
    without, probing = _resident(False), _resident(True)
    return (probing - without) / MANY, without / MANY
