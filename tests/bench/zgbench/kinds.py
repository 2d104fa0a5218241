# SPDX-License-Identifier: GPL-2.0-or-later
"""Line 21: CPU of one probe of the kinds that keepalived has not, in the product's scheduler and in a
bare program of the same system calls, in turns. But for the random numbers: the product takes many at once."""

import os
import subprocess

from . import figures, host

# A whole interval, so that each target is probed as often as any other, whenever its turn is.
INTERVAL_MS = 430
SECONDS = float(os.environ.get("SECONDS", str(INTERVAL_MS / 1000)))
WARM = 0.46  # the first round, which is spread over the interval
TIMEOUT_MS = 410  # of the bare programs, too; when a probe of icmp_udp passes
# It asks each host about a closed port, too, and closes those sockets with the verdict.
WARM_ICMP_UDP = WARM + TIMEOUT_MS / 1000
PUNCTUAL = 0.95  # of the probes that are due
TRIES = 3

STREAMS = ("tls", "https", "grpc")  # those that have connections

# kind: (who answers, probes/s, what stands beside it)
KINDS = {
    "udp": ("udp", 5000, ("udp",)),
    "dns": ("udp", 5000, ("dns",)),
    "icmp": (None, 5000, ("icmp",)),
    "icmp_udp": ("udp", 5000, ("icmp_udp",)),
    "half_open": ("accept", 5000, ("half_open", "syn")),
    "tls": ("tls", 300, ("tls",)),
    "https": ("https", 100, ("https",)),
    "grpc": ("grpc", 2000, ("grpc",)),
}


class Responder:
    def __init__(self, what, port):
        self._process = host.spawn(
            [f"{host.PROGRAMS}/responder", str(port), what], host.OTHER, stdout=subprocess.PIPE,
        )
        if not self._process.stdout.readline():
            raise SystemExit(f"responder {what} has ended")

    def close(self):
        self._process.kill()
        self._process.wait()


class Answers:
    """Who answers the probes of each kind, each on a port of its own; where nobody does, the kernel does."""

    def __init__(self):
        self.ports, self._processes = {}, []
        for number, what in enumerate(sorted({x for x, *_ in KINDS.values() if x})):
            self.ports[what] = host.PORT + number
            self._processes.append(Responder(what, host.PORT + number))

    def close(self):
        for process in self._processes:
            process.close()


def _run(program, kind, rate, port):
    """CPU in microseconds a probe; None when it came late or failed: then the machine was busy."""
    warm = WARM_ICMP_UDP if kind == "icmp_udp" else WARM
    values = [kind, rate * INTERVAL_MS // 1000, INTERVAL_MS, SECONDS, port, warm]
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


def cost(program, kind, rate, port):
    for _ in range(TRIES):
        value, seen = _run(program, kind, rate, port)
        if value is not None:
            return value
    raise SystemExit(f"{program} {kind}: {seen}")


def _round(kind, port, values):
    _, rate, peers = KINDS[kind]
    bare = "bare_streams" if kind in STREAMS else "bare_kinds"
    values.setdefault(kind, []).append(cost("probe_bench", kind, rate, port))
    for peer in peers:
        values.setdefault(f"bare {peer}", []).append(cost(bare, peer, rate, port))


def measure():
    """{name: median of the CPU in microseconds a probe}: each kind, and "bare KIND"."""
    host.enter()
    os.makedirs(f"{host.BUILD}/bench", exist_ok=True)
    values = {}
    answers = Answers()
    try:
        with host.others_busy():
            for _ in range(host.ROUNDS):
                for kind, (what, *_) in KINDS.items():
                    _round(kind, answers.ports.get(what, host.PORT), values)
    finally:
        answers.close()
    host.dump("kinds", values)
    return {name: figures.median(x) for name, x in values.items()}
