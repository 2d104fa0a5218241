# SPDX-License-Identifier: GPL-2.0-or-later
"""rate_limit, with packets: one source that opens too many connections is held to it, others are not."""

import re
import socket
import time

from zglab import CLIENT4, CLIENT6, VIP4, VIP6, case
from zglab.documents import QUICK, balancer, both, check, document, group, listener, ranged, web
from zglab.filters import NETFILTER, network, rules, sets

LAB_KIND = "uml"
LAB_SECONDS = 40

LIMITS = (*NETFILTER, "xt_hashlimit", "xt_conntrack", "nf_conntrack")
OTHER4, OTHER6 = "10.1.0.77", "fd01:0:0:1::77"  # of another /64 than CLIENT6


def more_sources(lab):
    """Other addresses of the client; the way back to them."""
    lab.run_in(lab.client, "ip", "addr", "add", f"{OTHER4}/32", "dev", "eth0")
    lab.run_in(lab.client, "ip", "addr", "add", f"{OTHER6}/128", "dev", "eth0", "nodad")
    lab.gw.run("ip", "route", "add", f"{OTHER4}/32", "via", CLIENT4)
    lab.gw.run("ip", "-6", "route", "add", f"{OTHER6}/128", "via", CLIENT6)


def connects(lab, source, count, vip=VIP4, port=80):
    """How many of COUNT connections at once, to PORT or to several in turn, are accepted, before a SYN is sent again."""
    pending, ports = [], port if isinstance(port, tuple) else (port,)
    for number in range(count):
        with lab.client:
            sock = socket.socket(socket.AF_INET6 if ":" in vip else socket.AF_INET, socket.SOCK_STREAM)
        sock.bind((source, 0))
        sock.setblocking(False)
        sock.connect_ex((vip, ports[number % len(ports)]))
        pending.append(sock)
    time.sleep(0.5)  # less than until a SYN is sent again
    open_ones = 0
    for sock in pending:
        try:
            sock.getpeername()
            open_ones += 1
        except OSError:
            pass
        sock.close()
    return open_ones


def limited(lab, rate, **members):
    configuration = web(lab, **members)
    configuration["load_balancers"]["shop"]["listeners"]["http"]["rate_limit"] = rate
    return configuration


def dropped(lab, name="http"):
    return lab.gw.api.get(f"/load-balancers/shop/listeners/{name}").expect(200).json["status"]["rate_limit_dropped"]


def drift(lab):
    return lab.gw.api.get("/system").expect(200).json["drift"]


@case(load=LIMITS)
def one_source_is_held_to_it_and_another_is_not(lab):
    network(lab)
    more_sources(lab)
    lab.start(limited(lab, 10), kernel={"audit_interval_s": 1})
    # Ten at once, and one more each tenth of a second.
    taken = connects(lab, CLIENT4, 60)
    assert 10 <= taken < 40, taken
    assert connects(lab, OTHER4, 10) == 10, "another source has its own"
    lab.wait(lambda: (dropped(lab) or 0) >= 60 - taken, 3 + lab.margin, "they are counted", pause=0.1)
    told = lab.gw.api.get("/metrics").expect(200).body.decode()
    assert re.search(r'zonegate_listener_dropped_total\{lb="shop",listener="http",reason="rate_limit"\} [1-9]', told), told
    assert lab.gw.api.get("/load-balancers/shop").expect(200).json["status"]["dropped"] >= 60 - taken
    # What is open goes on, and who waits may come again.
    lab.wait(lambda: connects(lab, CLIENT4, 3) == 3, 5 + lab.margin, "a slow client is let in", pause=0.5)
    lab.gw.api.patch("/load-balancers/shop/listeners/http", {"rate_limit": 0}).expect(200)
    assert connects(lab, CLIENT4, 60) == 60
    assert rules(lab)[0] == [] and sets(lab) == {}
    assert "rate_limit_dropped" not in lab.gw.api.get("/load-balancers/shop/listeners/http").expect(200).json["status"]


@case(load=LIMITS)
def over_ipv6_a_network_is_one_source(lab):
    network(lab)
    more_sources(lab)
    lab.run_in(lab.client, "ip", "addr", "add", "fd01::a/64", "dev", "eth0", "nodad")
    lab.start(limited(lab, 10, family=6))
    assert 10 <= connects(lab, CLIENT6, 60, VIP6) < 40
    assert connects(lab, "fd01::a", 10, VIP6) < 10, "its neighbour shares it"
    assert connects(lab, OTHER6, 10, VIP6) == 10


@case(load=LIMITS)
def a_listener_of_a_known_rate_is_no_rule(lab):
    network(lab, tcp=(80, 81))
    lab.start(limited(lab, 10), kernel={"audit_interval_s": 1})
    before = rules(lab)
    lab.gw.api.put("/load-balancers/shop/listeners/more", listener(port=81, rate_limit=10)).expect(201)
    assert rules(lab) == before and len(sets(lab)["zg4-a-lt"]) == 2, (rules(lab), sets(lab))
    lab.wait_in_service()
    # Each listener counts for itself.
    assert connects(lab, CLIENT4, 10) == 10 and connects(lab, CLIENT4, 10, port=81) == 10
    looks = drift(lab)["last_audit"]
    lab.wait(lambda: drift(lab)["last_audit"] > looks, 5 + lab.margin, "it was looked at", pause=0.1)
    assert rules(lab) == before and drift(lab)["repaired_since_start"] == 0


def datagrams(lab, source, flows, each, vip=VIP4, ports=(53,)):
    """Of how many flows, to each of the ports in turn, something comes back, EACH datagrams sent in it."""
    socks = []
    for number in range(flows):
        with lab.client:
            sock = socket.socket(socket.AF_INET6 if ":" in vip else socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind((source, 0))
        sock.connect((vip, ports[number % len(ports)]))
        for _ in range(each):
            sock.send(b"hello")
        socks.append(sock)
    time.sleep(0.5)
    answered = 0
    for sock in socks:
        try:
            sock.recv(100, socket.MSG_DONTWAIT)
            answered += 1
        except BlockingIOError:
            pass
        sock.close()
    return answered


@case(load=LIMITS)
def udp_needs_tracking_and_counts_flows(lab):
    network(lab, udp=(53,))
    more_sources(lab)
    unchecked = {**QUICK, "enabled": False}
    configuration = document(
        {"dns": group(lab.servers, port=53, protocol="udp", health_check=unchecked)},
        {"shop": balancer({"dns": listener("dns", 53, "udp", rate_limit=10)})},
    )
    lab.gw.ns.set_sysctl("net.ipv4.vs.expire_nodest_conn", 1)
    lab.start(kernel={"manage_sysctls": "no"})
    refused = lab.gw.api.put("/config", configuration, {"If-Match": "*"})
    assert refused.status == 422 and "net.ipv4.vs.conntrack" in str(refused.json), refused.json
    assert lab.gw.daemon.stop() == 0
    lab.start(configuration, kernel={"manage_sysctls": "yes"})
    assert lab.gw.ns.get_sysctl("net.ipv4.vs.conntrack") == "1"
    assert datagrams(lab, CLIENT4, 5, 20) == 5, "datagrams of a flow are not limited"
    assert 10 <= datagrams(lab, OTHER4, 60, 1) < 50


@case(load=(*LIMITS, "xt_mark"))
def the_ports_of_a_range_count_together(lab):
    ports = (8000, 8050)
    network(lab, tcp=(80, *ports), udp=(80, *ports))
    more_sources(lab)
    keep = {"port": 0, "health_check": check(port=80)}
    lab.start(document(
        {"web": both(lab.servers, **keep), "datagrams": both(lab.servers, protocol="udp", **keep)},
        {"shop": balancer({
            "http": ranged(8000, 8100, rate_limit=10), "udp": ranged(8000, 8100, "datagrams", "udp", rate_limit=10),
            "one": listener(port=8000 + 80)}, vip6=VIP6)},
    ), kernel={"audit_interval_s": 1})
    lab.gw.api.patch("/load-balancers/shop/listeners/one", {"port": 8050}).expect(200)
    lab.wait_in_service()
    assert connects(lab, CLIENT4, 60, port=8050) == 60, "a port of its own in the range has no limit"
    lab.gw.api.patch("/load-balancers/shop/listeners/one", {"port": 80}).expect(200)
    lab.wait_in_service()
    taken = connects(lab, CLIENT4, 60, port=ports)
    assert 10 <= taken < 40, taken
    assert connects(lab, OTHER4, 10, port=ports) == 10, "another source has its own"
    lab.wait(lambda: (dropped(lab) or 0) >= 60 - taken, 3 + lab.margin, "they are counted", pause=0.1)
    assert 10 <= connects(lab, CLIENT6, 60, VIP6, ports) < 40
    assert connects(lab, OTHER6, 10, VIP6, ports) == 10
    for source, other, vip in ((CLIENT4, OTHER4, VIP4), (CLIENT6, OTHER6, VIP6)):
        assert 10 <= datagrams(lab, source, 60, 1, vip, ports) < 50, vip
        assert datagrams(lab, other, 8, 20, vip, ports) == 8, "datagrams of a flow are not limited"
    # Another rate is in force with the answer: the kernel's table of sources does not keep the old one.
    lab.gw.api.patch("/load-balancers/shop/listeners/http", {"rate_limit": 40}).expect(200)
    taken = connects(lab, CLIENT4, 90, port=ports)
    assert 40 <= taken < 80, taken
    before, looks = rules(lab), drift(lab)["last_audit"]
    lab.wait(lambda: drift(lab)["last_audit"] > looks, 5 + lab.margin, "it was looked at", pause=0.1)
    assert rules(lab) == before and drift(lab)["repaired_since_start"] == 0, drift(lab)
    for name in ("http", "udp"):
        lab.gw.api.patch(f"/load-balancers/shop/listeners/{name}", {"rate_limit": 0}).expect(200)
    assert connects(lab, CLIENT4, 60, port=ports) == 60
    assert not [x for x in sets(lab) if x.endswith("-lr")] and "hashlimit" not in str(rules(lab))
