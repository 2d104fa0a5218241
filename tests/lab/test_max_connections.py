# SPDX-License-Identifier: GPL-2.0-or-later
"""max_connections of a listener, with packets: what one source has open, not what it opens."""

import socket
import time

from zglab import CLIENT4, CLIENT6, VIP4, VIP6, case
from zglab.documents import QUICK, balancer, both, check, document, group, listener, ranged, web
from zglab.filters import NETFILTER, network, rules, sets

LAB_KIND = "uml"
LAB_SECONDS = 45

CEILINGS = (*NETFILTER, "xt_connlimit", "nf_conncount", "xt_conntrack", "nf_conntrack")
OTHER4, OTHER6 = "10.1.0.77", "fd01:0:0:1::77"  # of another /64 than CLIENT6


class Open:
    """Connections of one source; those that were let in stay open."""

    def __init__(self, lab, source, vip=VIP4, port=80):
        self.lab, self.source, self.vip, self.port = lab, source, vip, port
        self.socks = []

    def more(self, count):
        """How many of COUNT at once are let in, before a SYN is sent again."""
        pending, ports = [], self.port if isinstance(self.port, tuple) else (self.port,)
        for number in range(count):
            with self.lab.client:
                sock = socket.socket(socket.AF_INET6 if ":" in self.vip else socket.AF_INET, socket.SOCK_STREAM)
            sock.bind((self.source, 0))
            sock.setblocking(False)
            sock.connect_ex((self.vip, ports[number % len(ports)]))
            pending.append(sock)
        time.sleep(0.6)
        before = len(self.socks)
        for sock in pending:
            try:
                sock.getpeername()
                self.socks.append(sock)
            except OSError:
                sock.close()
        return len(self.socks) - before

    def close(self, count):
        for sock in self.socks[:count]:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            sock.close()
        del self.socks[:count]


def bounded(lab, most, **members):
    configuration = web(lab, **members)
    configuration["load_balancers"]["shop"]["listeners"]["http"]["max_connections"] = most
    return configuration


def more_sources(lab):
    lab.run_in(lab.client, "ip", "addr", "add", f"{OTHER4}/32", "dev", "eth0")
    lab.run_in(lab.client, "ip", "addr", "add", f"{OTHER6}/128", "dev", "eth0", "nodad")
    lab.gw.run("ip", "route", "add", f"{OTHER4}/32", "via", CLIENT4)
    lab.gw.run("ip", "-6", "route", "add", f"{OTHER6}/128", "via", CLIENT6)


def status(lab):
    return lab.gw.api.get("/load-balancers/shop/listeners/http").expect(200).json["status"]


@case(load=CEILINGS)
def one_source_has_so_many_open(lab):
    network(lab)
    more_sources(lab)
    lab.start(bounded(lab, 5), kernel={"audit_interval_s": 1})
    assert lab.gw.ns.get_sysctl("net.ipv4.vs.conntrack") == "1"
    mine, other = Open(lab, CLIENT4), Open(lab, OTHER4)
    assert mine.more(8) == 5
    assert other.more(5) == 5, "another source has its own"
    for sock in mine.socks:
        sock.setblocking(True)
        sock.settimeout(5 * lab.slow)
        sock.send(b"who\n")
        assert sock.recv(10) == b"s1\n", "open ones are not touched"
    lab.wait(lambda: (status(lab).get("max_connections_dropped") or 0) >= 3, 3 + lab.margin, "they are counted", pause=0.1)
    mine.close(2)
    lab.wait(lambda: mine.more(1) == 1, 5 + lab.margin, "what has ended makes room", pause=0.2)
    assert mine.more(3) <= 1 and len(mine.socks) <= 5
    lab.gw.api.patch("/load-balancers/shop/listeners/http", {"max_connections": 0}).expect(200)
    assert mine.more(10) == 10
    assert rules(lab)[0] == [] and sets(lab) == {} and "max_connections_dropped" not in status(lab)


@case(load=CEILINGS)
def over_ipv6_a_network_is_one_source(lab):
    network(lab)
    more_sources(lab)
    lab.run_in(lab.client, "ip", "addr", "add", "fd01::a/64", "dev", "eth0", "nodad")
    lab.start(bounded(lab, 5, family=6))
    mine, neighbour, other = (Open(lab, source, VIP6) for source in (CLIENT6, "fd01::a", OTHER6))
    assert mine.more(3) == 3
    assert neighbour.more(5) == 2, "they share it"
    assert other.more(5) == 5


@case(load=CEILINGS)
def listeners_count_for_themselves(lab):
    network(lab, tcp=(80, 81))
    lab.start(bounded(lab, 5), kernel={"audit_interval_s": 1})
    lab.gw.api.put("/load-balancers/shop/listeners/more", listener(port=81, max_connections=5)).expect(201)
    lab.wait_in_service()
    assert Open(lab, CLIENT4).more(6) == 5 and Open(lab, CLIENT4, port=81).more(6) == 5
    before, looks = rules(lab), lab.gw.api.get("/system").expect(200).json["drift"]["last_audit"]
    lab.wait(lambda: lab.gw.api.get("/system").expect(200).json["drift"]["last_audit"] > looks, 5 + lab.margin,
             "it was looked at", pause=0.1)
    drift = lab.gw.api.get("/system").expect(200).json["drift"]
    assert rules(lab) == before and drift["repaired_since_start"] == 0, drift


@case(load=CEILINGS)
def a_foreign_rule_makes_it_count_anew(lab):
    """As the manual has it of iptables-legacy, which makes a table as a whole: nobody is shut out by that, and nothing is cut."""
    network(lab)
    lab.start(bounded(lab, 5))
    mine = Open(lab, CLIENT4)
    assert mine.more(6) == 5
    lab.gw.run("iptables-legacy", "-A", "FORWARD", "-s", "203.0.113.1", "-j", "DROP")
    assert mine.more(6) == 5 and len(mine.socks) == 10


def flows_answered(lab, vip, ports):
    """Of nine flows of UDP that stay open, to the ports in turn."""
    socks, answered = [], 0
    for number in range(9):
        with lab.client:
            sock = socket.socket(socket.AF_INET6 if ":" in vip else socket.AF_INET, socket.SOCK_DGRAM)
        sock.connect((vip, ports[number % len(ports)]))
        sock.settimeout(0.5 * lab.slow)
        socks.append(sock)
        for _ in range(3):  # datagrams of a flow are one
            sock.send(b"hello")
        try:
            sock.recv(100)
            answered += 1
        except socket.timeout:
            pass
    return answered


@case(load=CEILINGS)
def udp_counts_flows(lab):
    network(lab, udp=(53,))
    lab.start(document(
        {"dns": group(lab.servers, port=53, protocol="udp", health_check={**QUICK, "enabled": False})},
        {"shop": balancer({"dns": listener("dns", 53, "udp", max_connections=5)})},
    ))
    assert flows_answered(lab, VIP4, (53,)) == 5


@case(load=(*CEILINGS, "xt_mark"))
def the_ports_of_a_range_count_together(lab):
    ports = (8000, 8050)
    network(lab, tcp=(80, *ports), udp=ports)
    more_sources(lab)
    keep = {"port": 0, "health_check": check(port=80)}
    lab.start(document(
        {"web": both(lab.servers, **keep), "datagrams": both(lab.servers, protocol="udp", **keep)},
        {"shop": balancer({
            "http": ranged(8000, 8100, max_connections=5),
            "udp": ranged(8000, 8100, "datagrams", "udp", max_connections=5)}, vip6=VIP6)},
    ), kernel={"audit_interval_s": 1})
    assert lab.gw.ns.get_sysctl("net.ipv4.vs.conntrack") == "1"
    for vip, mine, other in ((VIP4, CLIENT4, OTHER4), (VIP6, CLIENT6, OTHER6)):
        one = Open(lab, mine, vip, ports)
        assert one.more(9) == 5, vip
        assert Open(lab, other, vip, ports).more(5) == 5, vip
        for sock in one.socks:
            sock.setblocking(True)
            sock.settimeout(5 * lab.slow)
            sock.send(b"who\n")
            assert sock.recv(10) == b"s1\n", "open ones are not touched"
        one.close(2)
        lab.wait(lambda o=one: o.more(1) == 1, 5 + lab.margin, "what has ended makes room", pause=0.2)
        assert flows_answered(lab, vip, ports) == 5, vip
    lab.wait(lambda: (status(lab).get("max_connections_dropped") or 0) >= 8, 3 + lab.margin, "they are counted", pause=0.1)
    lab.gw.api.patch("/load-balancers/shop/listeners/http", {"max_connections": 0}).expect(200)
    assert Open(lab, OTHER4, VIP4, ports).more(10) == 10
    lab.gw.api.patch("/load-balancers/shop/listeners/udp", {"max_connections": 0}).expect(200)
    assert not [x for x in sets(lab) if x.endswith("-mr")] and "connlimit" not in str(rules(lab))


@case(load=CEILINGS)
def where_it_may_not_be_counted_it_is_refused(lab):
    network(lab)
    lab.start(web(lab), kernel={"manage_sysctls": "no"})
    path = "/load-balancers/shop/listeners/http"
    refused = lab.gw.api.patch(path, {"max_connections": 5})
    assert refused.status == 422 and "net.ipv4.vs.conntrack" in str(refused.json), refused.json
    lab.gw.ns.set_sysctl("net.ipv4.vs.conntrack", 1)
    lab.gw.api.patch(path, {"max_connections": 5}).expect(200)
    refused = lab.gw.api.patch("/server-groups/web", {"forward_method": "direct"})
    assert refused.status == 422 and "max_connections" in str(refused.json), refused.json
