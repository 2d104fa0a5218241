# SPDX-License-Identifier: GPL-2.0-or-later
"""Random and mutated packets, on the host itself: still answering, memory and descriptors as before. LAB_FULL=1: a million.

The daemon has a network of its own, without IPVS. What is thrown comes from fixtures/dns_noise.c,
always the same.
"""

import contextlib
import os
import re
import subprocess
import threading

from zglab import OTHER_VIP4, VIP4, api, case, rtnl, sysc
from zglab.alone import Daemon
from zglab.dns import Resolver
from zglab.documents import balancer, document, listener
from zglab.zones import APEX, BOTH, NAME

LAB_SECONDS = 10
PACKETS, STREAMS = (1_000_000, 20_000) if os.environ.get("LAB_FULL") else (200_000, 5_000)
WARM = 50_000
SEED = "5"
GROWN_KIB = 256
EDNS_MAX = 1232
ADDRESS = "127.0.0.1"


def alone():
    """A network with nobody else, for this process and those that it starts."""
    if os.geteuid():
        owner = os.geteuid()
        sysc.unshare(sysc.CLONE_NEWUSER | sysc.CLONE_NEWNET)
        with open("/proc/self/uid_map", "w", encoding="ascii") as file:
            file.write(f"0 {owner} 1")
    else:
        sysc.unshare(sysc.CLONE_NEWNET)
    rtnl.Netlink().link_set("lo")


def two_zones():
    group = {
        "protocol": "tcp", "health_check": {"enabled": False},
        "servers": {"s1": {"address": "127.0.0.1", "port": 80}},
    }
    shop = balancer({"one": listener()}, dns_name=NAME)
    shop["zones"]["zone-b"] = {"vip4": OTHER_VIP4}
    assert {x["vip4"] for x in shop["zones"].values()} == {VIP4, OTHER_VIP4}
    return document({"web": group}, {"shop": shop}, zones=("zone-a", "zone-b"))


def resident_kib(daemon):
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"RssAnon:\s+(\d+) kB", file.read()).group(1))


def descriptors(daemon):
    return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))


class Asking(threading.Thread):
    """Asks on and on; every answer must be right."""

    def __init__(self):
        super().__init__()
        self.answers, self.fault = 0, None
        self._over = threading.Event()
        self.start()

    def run(self):
        ask = Resolver(contextlib.nullcontext(), ADDRESS, timeout=0.5)
        missed = 0
        while not self._over.wait(0.02):
            try:
                found = set(ask.ask(NAME).addresses())
            except TimeoutError:
                missed += 1  # a full queue of packets drops ours, too
                continue
            if found != BOTH:
                self.fault = f"answered {found}"
            self.answers += 1
        if missed > self.answers:
            self.fault = f"{missed} not answered, {self.answers} answered"

    def end(self):
        self._over.set()
        self.join()
        assert not self.fault, self.fault
        return self.answers


def throw(program, kind, count):
    """{word: number} of what it tells."""
    done = subprocess.run(
        [program, kind, ADDRESS, str(count), SEED], capture_output=True, text=True, timeout=100,
        check=True,
    )
    words = done.stdout.split()
    return dict(zip(words[::2], map(int, words[1::2])))


def undisturbed(daemon):
    ask = Resolver(contextlib.nullcontext(), ADDRESS)
    assert set(ask.ask(NAME).addresses()) == BOTH
    assert set(ask.ask_tcp((NAME, "A"))[0].addresses()) == BOTH
    assert ask.ask(f"nobody.{APEX}").rcode == "NXDOMAIN"
    assert daemon.process.poll() is None, "the daemon ended"


@case(timeout=150.0)
def very_many_packets(config):
    program = f"{config['out']}/dns_noise"
    source = f"{os.path.dirname(os.path.abspath(__file__))}/fixtures/dns_noise.c"
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", program, source], check=True)
    alone()
    daemon = Daemon(config, dns=f"listen = {ADDRESS}\napex = {APEX}\nrrl = 0\n")
    try:
        daemon.start()
        api.Api(daemon.socket, 15.0).apply(two_zones())
        throw(program, "udp", WARM)  # every buffer is as long as it becomes
        throw(program, "tcp", STREAMS // 10)
        undisturbed(daemon)
        memory, open_ones = resident_kib(daemon), descriptors(daemon)
        asking = Asking()
        datagrams = throw(program, "udp", PACKETS)
        streams = throw(program, "tcp", STREAMS)
        answers = asking.end()
        print(datagrams, streams, answers, resident_kib(daemon) - memory, flush=True)
        undisturbed(daemon)
        assert datagrams["sent"] == PACKETS and datagrams["replies"] > PACKETS / 4, datagrams
        assert datagrams["lost"] < PACKETS / 64 / 20, datagrams
        assert datagrams["bad"] == 0 and datagrams["longest"] <= EDNS_MAX, datagrams
        assert streams["sent"] == STREAMS and streams["replies"] > STREAMS / 100, streams
        assert streams["bad"] == 0, streams
        assert answers > 10, answers
        grown = resident_kib(daemon) - memory
        assert grown <= GROWN_KIB, f"{grown} KiB more than before"
        assert descriptors(daemon) <= open_ones, f"{descriptors(daemon)}, before {open_ones}"
    finally:
        daemon.dispose()
