# SPDX-License-Identifier: GPL-2.0-or-later
"""Line 11: how soon a verdict and a shift are in the answers, and what DNS does to the probes.

The daemon has BALANCERS load balancers of two zones, each with a name. The servers of zone-b of the
first NAMED ones answer HTTP checks as they are told: 200, or 503. Who asks sees a name change; the
verdict has fallen when the response that completes it was sent.
"""

import contextlib
import mmap
import os
import signal
import socket
import struct
import threading
import time

from . import configs, figures, host
from . import dns as load_dns
from zglab import dns, rtnl

BALANCERS = 1000
NAMED = 4
SAMPLES = 120  # transitions, of all names together
SHIFTS = 5
PROBES = 1000
LOAD_ROUNDS = 3
THRESHOLD = 2
PORT_DNS = 5300
PORT_HTTP = 8081
NEAR, FAR = "127.2.1.0", "127.2.2.0"  # servers of zone-a and of zone-b
OTHER_VIPS = "10.192.0.0"
CHECK = {
    "type": "http", "interval_ms": 100, "timeout_ms": 100,
    "healthy_threshold": THRESHOLD, "unhealthy_threshold": THRESHOLD,
}
VIP_PROBE = {"interval_ms": 2000, "healthy_threshold": 2}
ROUND_SECONDS = 60


def name_of(number):
    return f"n{number}.bench.example"


def balancer(number, group):
    return {
        "dns_name": name_of(number), "cross_zone": False, "vip_probe": VIP_PROBE,
        "zones": {
            "zone-a": {"vip4": configs.vip(number)},
            "zone-b": {"vip4": configs.address(OTHER_VIPS, number)},
        },
        "listeners": {
            "http": {"protocol": "tcp", "port": 80, "server_group": group, "scheduler": "wrr"},
        },
    }


def group(number, check):
    servers = {
        zone: {"address": configs.address(first, number), "port": PORT_HTTP, "zone": zone}
        for zone, first in (("zone-a", NEAR), ("zone-b", FAR))
    }
    return {"protocol": "tcp", "health_check": check, "servers": servers}


def document():
    groups = {f"g{i}": group(i, CHECK) for i in range(NAMED)}
    groups["rest"] = group(NAMED, configs.OFF)
    return {
        "zones": {"zone-a": {}, "zone-b": {}},
        "server_groups": groups,
        "load_balancers": {
            f"lb{i}": balancer(i, f"g{i}" if i < NAMED else "rest") for i in range(BALANCERS)
        },
    }


class Servers:
    """A process of its own that answers the checks. What it is told and what it tells is shared:
    for each name 16 bytes, whether its server fails, and when the verdict fell."""

    ITEM = struct.Struct("=qd")

    def __init__(self):
        self._shared = mmap.mmap(-1, self.ITEM.size * NAMED)
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("0.0.0.0", PORT_HTTP))
        self._listener.listen(1000)
        self._pid = os.fork()
        if self._pid == 0:
            try:
                self._serve_for_ever()
            finally:
                os._exit(1)

    def _serve(self):
        alike = [(0, 0)] * NAMED  # (failing, responses in a row)
        while True:
            connection, _ = self._listener.accept()
            with connection:
                address = connection.getsockname()[0].split(".")
                number = int(address[3])
                connection.recv(4096)
                failing = 0
                if address[2] == FAR.split(".")[2] and number < NAMED:
                    failing = self.ITEM.unpack_from(self._shared, number * self.ITEM.size)[0]
                    count = alike[number][1] + 1 if alike[number][0] == failing else 1
                    alike[number] = failing, count
                    if count == THRESHOLD:
                        self.ITEM.pack_into(
                            self._shared, number * self.ITEM.size, failing, time.monotonic(),
                        )
                word = b"503 Busy" if failing else b"200 OK"
                connection.sendall(b"HTTP/1.1 " + word + b"\r\nContent-Length: 0\r\n\r\n")

    def _serve_for_ever(self):
        """A probe that was given up in the middle ends no more than its connection."""
        while True:
            with contextlib.suppress(OSError):
                self._serve()

    def tell(self, number, failing):
        self.ITEM.pack_into(self._shared, number * self.ITEM.size, failing, 0.0)

    def fell(self, number):
        return self.ITEM.unpack_from(self._shared, number * self.ITEM.size)[1]

    def close(self):
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        self._listener.close()


class Asker:
    def __init__(self):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.settimeout(5)
        self._socket.connect(("127.0.0.1", PORT_DNS))
        self._queries = [dns.query(name_of(i)) for i in range(BALANCERS)]

    def count(self, number):
        """How many addresses the name has now."""
        query = self._queries[number]
        self._socket.send(query)
        reply = b""
        while reply[:2] != query[:2]:
            reply = self._socket.recv(2048)
        return struct.unpack_from("!H", reply, 6)[0]


def healthy(daemon, number):
    preview = daemon.api.get(f"/dns/preview?name={name_of(number)}").expect(200).json
    return {x["reason_code"] for x in preview["addresses"]} == {"healthy"}


def verdicts(asker, servers):
    """Milliseconds from each verdict to the answer that shows it."""
    late = []
    expected = [1] * NAMED
    for number in range(NAMED):
        servers.tell(number, 1)
    end = time.monotonic() + ROUND_SECONDS
    while len(late) < SAMPLES:
        for number in range(NAMED):
            if asker.count(number) != expected[number]:
                continue
            late.append((time.monotonic() - servers.fell(number)) * 1e3)
            expected[number] = 3 - expected[number]
            servers.tell(number, int(expected[number] == 1))
        if time.monotonic() > end:
            raise SystemExit(f"{len(late)} verdicts in {ROUND_SECONDS} s")
    for number in range(NAMED):
        servers.tell(number, 0)
    host.wait(lambda: all(asker.count(i) == 2 for i in range(NAMED)), 20, "all are healthy again")
    return late


def shift(daemon, asker):
    """Milliseconds from the request, and from its reply, until the names have one address."""
    replied = []
    body = {
        "zone": "zone-b", "load_balancer": "*", "expires_in": "1h", "comment": "bench",
    }

    def ask():
        replied.append(daemon.api.call("POST", "/zone-shifts", body).expect(201).json["id"])
        replied.append(time.monotonic())

    thread = threading.Thread(target=ask)
    begin = time.monotonic()
    thread.start()
    while asker.count(BALANCERS - 1) != 1:
        if time.monotonic() > begin + 10:
            raise SystemExit("a shift is not answered")
    seen = time.monotonic()
    thread.join()
    if any(asker.count(i) != 1 for i in range(BALANCERS)):
        raise SystemExit("a shift is not answered for every name at once")
    daemon.api.delete(f"/zone-shifts/{replied[0]}").expect(204)
    host.wait(lambda: asker.count(BALANCERS - 1) == 2, 10, "the zone is back")
    return (seen - begin) * 1e3, (seen - replied[1]) * 1e3


def _rank_threads(pid):
    """The loop before all that is nice, as the unit has it.

    Those that are nice get the ordinary policy: a kernel that lets FIFO threads starve the others of a
    processor gives these 50 ms of each second, and the loop would be the one that waits. A thread makes
    itself nice only once it runs.
    """
    def nice():
        threads = map(int, os.listdir(f"/proc/{pid}/task"))
        return {thread: os.getpriority(os.PRIO_PROCESS, thread) > 0 for thread in threads}

    host.wait(lambda: any(nice().values()), 5, "the threads of DNS are nice")
    for thread, is_nice in nice().items():
        policy, priority = (os.SCHED_OTHER, 0) if is_nice else (os.SCHED_FIFO, 2)
        os.sched_setscheduler(thread, policy, os.sched_param(priority))


def _late(store, seconds, load):
    """Milliseconds by which the latest probe came after its second, as the listener saw them; and
    the answers a second meanwhile."""
    listener = host.Listener("tcp")
    daemon = host.Zonegate(store, dns={"listen": f"127.0.0.1:{PORT_DNS}", "rrl": 0})
    rate = 0
    try:
        daemon.start()
        _rank_threads(daemon.pids[0])
        time.sleep(host.WARM)
        listener.reset()
        if load:
            seen = load_dns.ask(seconds)
            rate = seen["answers"] / seen["seconds"]
        else:
            time.sleep(seconds)
        numbers = listener.end()
    finally:
        daemon.close()
        listener.close()
    if numbers["connections"] < 0.9 * PROBES * seconds:
        raise SystemExit(f"far fewer probes than {PROBES} a second: {numbers}")
    return (numbers["max"] - 1e6) / 1e3, rate


def measure_load(seconds=4.0):
    """(late without, late with a saturated DNS worker, answers a second): medians, milliseconds."""
    document = host.checked("tcp", PROBES)
    next(iter(document["load_balancers"].values()))["dns_name"] = load_dns.NAME
    store = host.make_store(document)
    rounds = [[_late(store, seconds, load) for load in (False, True)] for _ in range(LOAD_ROUNDS)]
    host.remove_store(store)
    host.dump("dns_load", rounds)
    return (
        figures.median(quiet[0] for quiet, _ in rounds),
        figures.median(loaded[0] for _, loaded in rounds),
        figures.median(loaded[1] for _, loaded in rounds),
    )


def measure():
    """{name: number}: the p99 of the verdicts, and of shifts the slowest, in milliseconds."""
    host.enter()
    rtnl.Netlink().address_add("lo", "10.128.0.1/9")  # all VIPs answer pings
    os.sched_setaffinity(0, host.OTHER)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))  # as the daemon: see host.spawn()
    servers = Servers()
    store = host.make_store(document())
    daemon = host.Zonegate(store, dns={"listen": f"127.0.0.1:{PORT_DNS}", "rrl": 0})
    try:
        daemon.start()
        asker = Asker()
        host.wait(lambda: all(healthy(daemon, i) for i in range(NAMED)), 30, "all are healthy")
        late = sorted(verdicts(asker, servers))
        shifts = [shift(daemon, asker) for _ in range(SHIFTS)]
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))  # a load makes way for a listener
        daemon.close()
        servers.close()
        host.remove_store(store)
    host.dump("verdict", {"late": late, "shifts": shifts})
    return {
        "p50": late[len(late) // 2], "p99": late[int(0.99 * (len(late) - 1))],
        "shift": max(one[0] for one in shifts), "after": max(one[1] for one in shifts),
    }
