# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers die three ways while ours and keepalived watch the same ones.

The moments of death lie evenly in the interval between two of our probes, so that few servers show
the median of many.
"""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from contest import Contest, configs, end_tree  # noqa: E402
from zglab import case, servers  # noqa: E402
from zglab.documents import balancer, document, listener  # noqa: E402

KINDS = ("refused", "http", "dropped")
FIRST_PORT = 9000
VIPS = {kind: f"192.0.2.{10 + number}" for number, kind in enumerate(KINDS)}
INTERVAL = 1.0
LIMIT = 25.0
LOOK = 0.005
OURS = "10.2.0.1"


def break_it(server):
    """A real server that answers, but with an error."""
    server.http_status = 500


DEATHS = {
    "refused": lambda server: server.kill(),
    "http": break_it,
    "dropped": lambda server: server.blackhole(),
}


class Watched(servers.Server):
    """Knows when our gateway asked it last."""

    asked = 0.0

    def _accept(self, listener):
        for _ in range(64):
            try:
                sock, peer = listener.accept()
            except OSError:
                return
            if peer[0].endswith(OURS):
                self.asked = time.monotonic()
            sock.setblocking(False)
            self._connections[sock] = b""
            self._loop.add(sock, self._read)


class Fleet:
    """COUNT servers a kind, all in one namespace, each on a port of its own."""

    def __init__(self, lab, count):
        self.lab = lab
        self.host = lab.servers[0]
        self.ports = {}
        self._loop = servers.ServerLoop()
        self.servers = {}
        for number in range(len(KINDS) * count):
            kind, port = KINDS[number // count], FIRST_PORT + number
            server = Watched(
                self._loop, self.host.namespace, f"{kind}{number}", self.host.address4,
                self.host.address6,
            )
            server.listen_tcp(port)
            self.ports.setdefault(kind, []).append(port)
            self.servers[port] = (kind, server)

    def close(self):
        self._loop.stop()


def our_document(fleet):
    groups, balancers = {}, {}
    for kind, ports in fleet.ports.items():
        groups[kind] = {
            "protocol": "tcp",
            "health_check": configs.check(
                "http" if kind == "http" else "tcp", unhealthy_threshold=2, healthy_threshold=1
            ),
            "servers": {
                f"s{port}": {"address": fleet.host.address4, "port": port} for port in ports
            },
        }
        balancers[kind] = balancer({"http": listener(kind)}, vip4=VIPS[kind])
    return document(groups, balancers)


def keepalived_configuration(fleet):
    text = "global_defs {\n router_id bench\n}\n"
    for kind, ports in fleet.ports.items():
        check = configs.CHECKS["http-defaults" if kind == "http" else "tcp-defaults"]
        text += f"virtual_server {VIPS[kind]} 80 {{\n delay_loop 1\n lb_algo wrr\n lb_kind NAT\n"
        text += " protocol TCP\n"
        for port in ports:
            text += f"real_server {fleet.host.address4} {port} {{\nweight 100\n{check}}}\n"
        text += "}\n"
    return text


def in_service(gateway):
    """The ports that this gateway sends connections to."""
    return {
        port
        for service in gateway.table().values()
        for (_, port), destination in service.destinations.items()
        if destination.weight > 0
    }


def deaths(fleet):
    """[(when, port)]: a second and a bit from now, at a phase of its own after a probe of ours."""
    due = []
    for ports in fleet.ports.values():
        for number, port in enumerate(ports):
            phase = (number + 0.5) / len(ports) * INTERVAL
            due.append((fleet.servers[port][1].asked + 2 * INTERVAL + phase, port))
    return sorted(due)


def watch(contest, fleet, gateways):
    """Kills each server at its moment and notes when each gateway took it out."""
    begin = time.monotonic()
    due = deaths(fleet)
    died, waiting = {}, {name: set() for name in gateways}
    while due or any(waiting.values()):
        now = time.monotonic()
        assert now < begin + LIMIT, f"still in service: {waiting}"
        while due and due[0][0] <= now:
            _, port = due.pop(0)
            kind, server = fleet.servers[port]
            died[port] = time.monotonic()
            DEATHS[kind](server)
            for ports in waiting.values():
                ports.add(port)
        for name, gateway in gateways.items():
            gone = waiting[name] - in_service(gateway)
            for port in gone:
                seconds = time.monotonic() - died[port]
                contest.note(f"{name} {fleet.servers[port][0]}", seconds)
            waiting[name] -= gone
        time.sleep(LOOK)


@case(timeout=100.0)
def detection(lab):
    contest = Contest(lab)
    lab.network(1, tcp=())
    fleet = Fleet(lab, lab.config["rounds"])
    peer = lab.gateway("peer")
    lab.switch.plug(peer.ns, "back0", "back", ("10.2.0.2/24",))
    configuration = contest.file("keepalived.conf", keepalived_configuration(fleet))
    keepalived, _ = contest.keepalived(peer.ns, configuration)
    lab.gw.daemon.settings["log"]["level"] = "notice"
    lab.start(our_document(fleet))
    everything = set(fleet.servers)
    for gateway in (lab.gw, peer):
        lab.wait(lambda: in_service(gateway) == everything, 10, "all are in service")
    time.sleep(2)
    watch(contest, fleet, {"ours": lab.gw, "keepalived": peer})
    end_tree(keepalived)
    fleet.close()
    contest.write()
