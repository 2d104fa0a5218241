# SPDX-License-Identifier: GPL-2.0-or-later
"""Line 21: CPU of one probe of the kinds that keepalived has not, in the product's scheduler and in a
bare program of the same system calls, in turns."""

import os
import subprocess
import time

from . import figures, host

SECONDS = float(os.environ.get("SECONDS", "0.8"))
WARM = 1.2  # the first round, which is spread over a second
# It asks each host about a closed port, too, and closes those sockets with the verdict.
WARM_ICMP_UDP = WARM + 0.5
INTERVAL_MS = 1000
TIMEOUT_MS = 500  # when a probe of icmp_udp passes
PUNCTUAL = 0.95  # of the probes that are due
TRIES = 3

STREAMS = ("tls", "https", "grpc")  # those that have connections

# kind: (who answers, probes/s, what stands beside it)
KINDS = {
    "udp": ("udp", 5000, ("udp",)),
    "dns": ("udp", 5000, ("dns",)),
    "icmp": (None, 5000, ("icmp",)),
    "icmp_udp": ("udp", 5000, ("icmp_udp",)),
    "half_open": ("tcp", 5000, ("half_open", "syn")),
    "tls": ("tls", 300, ("tls",)),
    "https": ("https", 100, ("https",)),
    "grpc": ("grpc", 2000, ("grpc",)),
}


class Responder:
    def __init__(self, what):
        self._process = host.spawn([f"{host.PROGRAMS}/responder", str(host.PORT), what], host.OTHER)
        time.sleep(0.2)
        if self._process.poll() is not None:
            raise SystemExit(f"responder {what} has ended")

    def close(self):
        self._process.kill()
        self._process.wait()


def answer(what):
    """Who answers the probes, or None: the kernel does."""
    if what == "tcp":
        return host.Listener("tcp")
    return Responder(what) if what else None


def _run(program, kind, rate):
    """CPU in microseconds a probe; None when it came late or failed: then the machine was busy."""
    warm = WARM_ICMP_UDP if kind == "icmp_udp" else WARM
    values = [kind, rate * INTERVAL_MS // 1000, INTERVAL_MS, SECONDS, host.PORT, warm]
    if program == "probe_bench":
        values.append(TIMEOUT_MS)
    process = host.spawn(
        [f"{host.PROGRAMS}/{program}", *(str(x) for x in values)], host.MEASURED,
        stdout=subprocess.PIPE, text=True,
    )
    seen = host.read_numbers(process.communicate(timeout=60)[0])
    if seen["failures"] or seen["probes"] < PUNCTUAL * rate * SECONDS:
        return None, seen
    return seen["cpu_usec"], seen


def cost(program, kind, rate):
    for _ in range(TRIES):
        value, seen = _run(program, kind, rate)
        if value is not None:
            return value
    raise SystemExit(f"{program} {kind}: {seen}")


def _round(kind, values):
    what, rate, peers = KINDS[kind]
    server = answer(what)
    try:
        values.setdefault(kind, []).append(cost("probe_bench", kind, rate))
        for peer in peers:
            values.setdefault(f"bare {peer}", []).append(cost("bare_streams" if kind in STREAMS else "bare_kinds", peer, rate))
    finally:
        if server:
            server.close()


def measure():
    """{name: median of the CPU in microseconds a probe}: each kind, and "bare KIND"."""
    host.enter()
    os.makedirs(f"{host.BUILD}/bench", exist_ok=True)
    values = {}
    for _ in range(host.ROUNDS):
        for kind in KINDS:
            _round(kind, values)
    host.dump("kinds", values)
    return {name: figures.median(x) for name, x in values.items()}
