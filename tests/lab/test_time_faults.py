# SPDX-License-Identifier: GPL-2.0-or-later
"""Time goes wrong: the clock is set, the daemon is stopped for ten seconds, nobody reads its log."""

import fcntl
import os
import re
import socket
import threading
import time

from zglab import case
from zglab.documents import balancer, check, document, group, listener, web

# The clock that is set must not be the host's.
LAB_KIND = "uml"
LAB_SECONDS = 32
HOUR = 3600.0


def transitions(lab):
    return lab.gw.daemon.log().count("server.health_changed")


# ---- the clock ----


def set_clock(seconds):
    """By so much from now; the lab's kernel has a clock of its own."""
    time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME) + seconds)


def undisturbed(lab, jump):
    """Probes keep their pace, no state changes, a drain ends when it would have ended."""
    lab.network(3)
    configuration = web(
        lab, health_check=check(type="http", timeout_ms=1000), drain_timeout_ms=2500, on_unhealthy="terminate"
    )
    lab.start(configuration)
    traffic = lab.traffic(connections=6, pause=0.02)
    time.sleep(0.3)
    before = transitions(lab)
    began = time.monotonic()
    lab.gw.api.delete("/server-groups/web/servers/s3").expect(200, 202, 204)
    assert lab.gw.weights()["10.2.0.13"] == 0
    try:
        set_clock(jump)
        probes = lab.servers[0].health_checks
        lab.holds(
            lambda: lab.gw.weights().get("10.2.0.11") == 100
            and ("10.2.0.13" in lab.gw.weights() or time.monotonic() - began > 2.4),
            1.5, "weights stay, and so does the drain",
        )
        probes = lab.servers[0].health_checks - probes
        # None where the clock that was set counts, or all of an hour at once.
        assert 2 <= probes <= 15 * 1.5, f"{probes} probes in 1.5 s"
        lab.wait(
            lambda: "10.2.0.13" not in lab.gw.weights(), 2.5 - 1.5 + lab.margin, "the drain ended"
        )
        assert time.monotonic() - began > 2.3, "the drain was cut short"
        assert transitions(lab) == before
        lab.servers[1].kill()
        lab.wait(
            lambda: not lab.gw.weights().get("10.2.0.12"), 0.5 + lab.margin, "s2 is out of service"
        )
        lasted = re.findall(r"s2: healthy -> unhealthy after ([0-9.]+) s", lab.gw.daemon.log())
        assert 2 < float(lasted[-1]) < 30, "by the clock that is not set"
        lab.servers[1].start()
        lab.wait_weight(lab.servers[1], 100, 0.5 + lab.margin)
        lab.gw.api.patch("/server-groups/web/servers/s1", {"weight": 77}).expect(200)
        lab.gw.daemon.kill()
        lab.gw.daemon.start()
        lab.holds(lambda: lab.gw.weights().get("10.2.0.11") == 77, 0.5, "a restart sees no harm")
    finally:
        set_clock(-jump)
    lab.holds(lambda: lab.gw.weights().get("10.2.0.11") == 77, 0.7, "the way back")
    traffic.stop()


@case
def the_clock_jumps_forward(lab):
    undisturbed(lab, HOUR)


@case
def the_clock_jumps_back(lab):
    undisturbed(lab, -HOUR)


# ---- ten seconds of absence ----

COUNT = 1000
INTERVAL = 3.0


class ManyAddresses:
    """COUNT addresses of one host behind one socket; counts the connections by address."""

    def __init__(self, namespace, port=80):
        self.seen = {}
        with namespace:
            self._sock = socket.socket()
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._sock.bind(("0.0.0.0", port))
        self._sock.listen(4096)
        self._stopping = False
        self._sock.settimeout(0.2)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stopping:
            try:
                connection, _ = self._sock.accept()
            except socket.timeout:
                continue
            except OSError:
                return
            try:
                address = connection.getsockname()[0]
                self.seen[address] = self.seen.get(address, 0) + 1
            except OSError:
                pass
            connection.close()

    def stop(self):
        self._stopping = True
        self._thread.join(2)
        self._sock.close()


def many(lab):
    """A document of COUNT healthy servers, and the host they are on."""
    namespace = lab.servers[0].namespace
    addresses = [f"10.2.{4 + n // 250}.{1 + n % 250}" for n in range(COUNT)]
    with namespace:
        for address in addresses:
            namespace.netlink.address_add("eth0", f"{address}/32")
    lab.gw.ns.add_route("10.2.4.0/22", "10.2.0.11")
    slow = check(
        interval_ms=int(INTERVAL * 1000), timeout_ms=1000, healthy_threshold=1,
        unhealthy_threshold=3,
    )
    big = group(lab.servers[1:], health_check=slow, initial_state="healthy")
    for n, address in enumerate(addresses):
        big["servers"][f"a{n}"] = {"address": address, "port": 80}
    return addresses, document({"web": big}, {"shop": balancer({"http": listener()})})


@case(timeout=120.0)
def stopped_for_ten_seconds_under_a_thousand_servers(lab):
    lab.network(2, tcp=())
    lab.servers[1].listen_tcp(80)
    host = ManyAddresses(lab.servers[0].namespace)
    addresses, configuration = many(lab)
    lab.start()
    lab.gw.api.apply(configuration)

    lab.wait(
        lambda: len(host.seen) == COUNT, 20 * lab.slow, "each was probed once", pause=0.1
    )
    lab.wait(
        lambda: all(w == 100 for w in lab.gw.weights().values()), 10 * lab.slow,
        "all in service", pause=0.2,
    )
    quiet = transitions(lab)
    lab.gw.daemon.pause()
    lab.servers[1].kill()
    time.sleep(10)
    host.seen.clear()
    lab.gw.daemon.resume()
    began = time.monotonic()
    lab.wait_weight(lab.servers[1], 0, INTERVAL + 0.5 + lab.margin)  # refused three times
    lab.wait(
        lambda: len(host.seen) == COUNT, INTERVAL + lab.margin - (time.monotonic() - began),
        "each was probed again within I", pause=0.05,
    )
    time.sleep(INTERVAL)
    changed = transitions(lab) - quiet
    assert changed == 1, f"{changed} transitions: {lab.gw.daemon.log()[-3000:]}"
    weights = lab.gw.weights()
    assert weights.pop("10.2.0.12") == 0 and set(weights.values()) == {100}
    host.stop()


# ---- the log ----


def full_pipe():
    """Both ends of a pipe that takes nothing more."""
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, 1031, 4096)  # F_SETPIPE_SZ
    os.set_blocking(write_end, False)
    try:
        while True:
            os.write(write_end, b"x" * 4096)
    except BlockingIOError:
        pass
    os.set_blocking(write_end, True)  # as a service manager would hand it over
    return read_end, write_end


class Reader(threading.Thread):
    def __init__(self, descriptor):
        super().__init__(daemon=True)
        self._descriptor = descriptor
        self.text = b""
        self.start()

    def run(self):
        while True:
            data = os.read(self._descriptor, 65536)
            if not data:
                return
            self.text += data


def dropped(lab):
    text = lab.gw.api.get("/metrics").body.decode()
    return int(re.search(r"^zonegate_log_lines_dropped_total (\d+)", text, re.M).group(1))


@case
def nobody_reads_the_log(lab):
    lab.network(2)
    read_end, write_end = full_pipe()
    lab.gw.daemon.sink = write_end
    lab.start(web(lab))
    for server in lab.servers:
        server.kill()
        lab.wait_weight(server, 0, 0.5 + lab.margin)
        server.start()
        lab.wait_weight(server, 100, 0.5 + lab.margin)
    assert dropped(lab) >= 4
    lab.gw.api.patch("/server-groups/web/servers/s1", {"weight": 5}).expect(200)
    assert lab.gw.weights()["10.2.0.11"] == 5
    reader = Reader(read_end)
    lab.servers[0].kill()
    lab.wait_weight(lab.servers[0], 0, 0.5 + lab.margin)
    lab.wait(
        lambda: b"server.health_changed" in reader.text, lab.margin, "it is written again"
    )
    assert lab.gw.daemon.stop() == 0
    os.close(write_end)
    reader.join()
    os.close(read_end)


@case
def the_reader_of_the_log_goes_away(lab):
    lab.network(2)
    read_end, write_end = os.pipe()
    lab.gw.daemon.sink = write_end
    lab.start(web(lab))
    os.close(read_end)
    lab.servers[0].kill()
    lab.wait_weight(lab.servers[0], 0, 0.5 + lab.margin)
    assert lab.gw.daemon.running() and dropped(lab) >= 1
    os.close(write_end)
