# SPDX-License-Identifier: GPL-2.0-or-later
"""Line 23: what watching costs, while 10,000 TCP checks a second are due on one core.

Scrapes: the slowest at the client and the latest probe at the listener in each round, in turns with times without scrapes.
Events: a group of servers that take every other connection; the number of an event is the moment of the decision in
microseconds, so that what is counted is settling, the commit and the stream. The store lies in memory: fsync costs nothing there.
"""

import multiprocessing
import os
import tempfile
import time

from . import configs, host
from zglab import streams

SERVERS, PER_SERVICE = 10000, 1000
FLAPPING, FLAP_PORT = 20, 7000
PAUSE = 0.25  # four times a second, where Prometheus comes once in 15 s
WARM = 5
SECONDS = 4


def document():
    """10,000 servers that are healthy, and some that never stay so."""
    made = host.checked("tcp", SERVERS, PER_SERVICE)
    check = configs.check("http", 300, timeout_ms=250, healthy_threshold=1, unhealthy_threshold=1)
    servers = {f"f{n}": {"address": f"127.0.1.{n + 1}", "port": FLAP_PORT} for n in range(FLAPPING)}
    made["server_groups"]["flap"] = {"protocol": "tcp", "health_check": check, "servers": servers}
    made["load_balancers"]["flap"] = {"zones": {"zone-a": {"vip4": configs.vip(SERVERS)}},
                                       "listeners": {"http": {"protocol": "tcp", "port": 80, "server_group": "flap",
                                                              "scheduler": "wrr"}}}
    return made


def late_ms(seen):
    return (seen["max"] - 1e6) / 1e3


def _flap():
    """In a process of its own, which the one that listens does not wait for."""
    os.sched_setaffinity(0, host.OTHER)
    streams.Flapper(FLAPPING, FLAP_PORT).thread.join()


def _events(daemon):
    """Milliseconds from the decision to the client, of each change."""
    stream = streams.Stream(f"{daemon.folder}/api.sock", "?type=server.*")
    stream.read(0.5)
    stream.events.clear()
    flapping = multiprocessing.get_context("fork").Process(target=_flap, daemon=True)
    flapping.start()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        stream.read(0.05)
    flapping.kill()
    stream.close()
    return [(came - int(number) / 1e6) * 1e3 for number, kind, _, came in stream.events if kind == "server.health_changed"]


def _scrapes(daemon):
    took, end = [], time.monotonic() + SECONDS
    while time.monotonic() < end:
        begin = time.monotonic()
        body = daemon.api.get("/metrics").expect(200).body
        took.append((time.monotonic() - begin) * 1e3)
        if body.count(b"\nzonegate_server_up{") < SERVERS:
            raise SystemExit("a scrape without all servers")
        time.sleep(PAUSE)
    return took


def measure():
    """{figure: [values]}"""
    host.enter()
    tempfile.tempdir = "/dev/shm"
    seen = {"scrape": [], "late": [], "quiet": [], "wire": []}
    store = host.make_store(document())
    listener, daemon = host.Listener("tcp"), host.Zonegate(store)
    try:
        daemon.start()
        time.sleep(WARM)
        os.sched_setaffinity(0, host.OTHER)  # the client, too, has priority: what it waits for is the daemon, not the machine
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        listener.go_first()  # ... and takes no time of the clock that it is measured by
        for _ in range(host.ROUNDS):
            listener.reset()
            time.sleep(SECONDS)
            seen["quiet"].append(late_ms(listener.reset()))
            seen["scrape"].append(max(_scrapes(daemon)))
            seen["late"].append(late_ms(listener.reset()))
        seen["wire"] = _events(daemon)
        daemon.end()
    finally:
        daemon.close()
        listener.close()
    host.remove_store(store)
    host.dump("observe", seen)
    return seen
