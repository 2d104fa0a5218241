# SPDX-License-Identifier: GPL-2.0-or-later
"""snat, with packets: servers that do not route back through the gateway, and servers that are clients of their own VIP."""

import json
import socket
import time

from zglab import CLIENT4, CLIENT6, OTHER_VIP4, VIP4, VIP6, case, client
from zglab.documents import balancer, both, document, group, listener, ranged, web
from zglab.filters import NETFILTER, network, rules, sets

LAB_KIND = "uml"
LAB_SECONDS = 65

NAT = (
    *NETFILTER, "nf_conntrack", "nf_nat", "iptable_nat", "ip6table_nat", "xt_MASQUERADE", "xt_ipvs",
)
CONNTRACK = "/proc/sys/net/ipv4/vs/conntrack"
FOREIGN = """*nat
:THEIRS - [0:0]
-A POSTROUTING -o nothing0 -j THEIRS
-A THEIRS -j MASQUERADE
COMMIT
"""


def with_snat(lab, **members):
    configuration = web(lab, **members)
    configuration["load_balancers"]["shop"]["snat"] = "on"
    return configuration


def answers(lab, **options):
    """Whether anybody answers."""
    return set(lab.who(count=2, **options)) & {server.name for server in lab.servers}


@case(load=NAT)
def servers_that_route_elsewhere_answer_through_the_gateway(lab):
    network(lab, 2, direct=True)
    lab.gw.run("iptables-legacy-restore", "--noflush", stdin=FOREIGN)
    lab.gw.run("iptables-legacy", "-S")  # an unused table is not listed
    _, before = rules(lab)
    lab.start(web(lab), kernel={"audit_interval_s": 1})
    assert not answers(lab), "they answer past the gateway, from an address that the client does not know"
    assert lab.gw.run("cat", CONNTRACK).strip() == "0"
    lab.gw.api.patch("/load-balancers/shop", {"snat": "on"}).expect(200)
    assert lab.gw.run("cat", CONNTRACK).strip() == "1"
    assert sorted(lab.who(count=20)) == ["s1", "s2"]
    own, others = rules(lab)
    assert others == before and "-A POSTROUTING -j ZONEGATE" in own, (own, others)
    assert len(sets(lab)["zg4-snat"]) == 2
    looks = lab.gw.api.get("/system").expect(200).json["drift"]["last_audit"]
    lab.wait(lambda: lab.gw.api.get("/system").expect(200).json["drift"]["last_audit"] > looks, 5 + lab.margin,
             "it was looked at", pause=0.1)
    assert rules(lab) == (own, before)
    assert lab.gw.api.get("/system").expect(200).json["drift"]["repaired_since_start"] == 0
    lab.gw.api.patch("/load-balancers/shop", {"snat": "off"}).expect(200)
    assert rules(lab) == ([], before) and sets(lab) == {}
    assert lab.gw.daemon.stop() == 0


@case(load=NAT)
def the_same_over_ipv6(lab):
    network(lab, 1, direct=True)
    lab.start(with_snat(lab, family=6))
    assert lab.who(vip=VIP6, count=5) == {"s1": 5}
    lab.gw.api.patch("/load-balancers/shop", {"snat": "off"}).expect(200)
    assert not answers(lab, vip=VIP6)


@case(load=NAT)
def a_server_is_a_client_of_its_own_vip(lab):
    network(lab, 2)
    lab.start(with_snat(lab))
    with_it = client.who(lab.servers[0].namespace, VIP4, 80, 20, "tcp", 2.0 * lab.slow, None)
    assert sorted(with_it) == ["s1", "s2"] and sum(with_it.values()) == 20, with_it
    lab.gw.api.patch("/load-balancers/shop", {"snat": "off"}).expect(200)
    without = client.who(lab.servers[0].namespace, VIP4, 80, 2, "tcp", 1.0 * lab.slow, None)
    assert not set(without) & {"s1", "s2"}, without


@case(load=NAT)
def a_killed_daemon_and_a_flush(lab):
    network(lab, 1, direct=True)
    lab.start(with_snat(lab))
    lab.gw.daemon.kill()
    done = lab.gw.cli("flush", lab.gw.daemon.settings_path)
    assert done.returncode == 0, done
    assert rules(lab)[0] == [] and sets(lab) == {}
    assert lab.gw.run("cat", CONNTRACK).strip() == "0"


@case(load=NAT)
def who_does_not_ask_for_it_has_no_tracking(lab):
    network(lab)
    configuration = web(lab)
    configuration["load_balancers"]["shop"]["vip_guard"] = "drop"
    lab.start(configuration, kernel={"audit_interval_s": 1})
    looks = lab.gw.api.get("/system").expect(200).json["drift"]["last_audit"]
    lab.wait(lambda: lab.gw.api.get("/system").expect(200).json["drift"]["last_audit"] > looks, 5 + lab.margin,
             "it was looked at", pause=0.1)
    assert lab.gw.run("cat", "/proc/net/ip_tables_names").split() == ["filter"], "nat is not even looked at"


def hears_after_silence(lab, listening, seconds):
    """Whether a client hears a server that speaks after a silence."""
    with lab.client:
        sock = socket.create_connection((VIP4, 81), timeout=5 * lab.slow)
    with sock, listening.accept()[0] as served:
        sock.send(b"hello")
        assert served.recv(10) == b"hello"
        time.sleep(seconds)
        served.send(b"news")
        sock.settimeout(1.0 * lab.slow)
        try:
            return sock.recv(10) == b"news"
        except OSError:
            return False


@case(load=NAT)
def tracking_that_forgets_first_loses_answers(lab):
    """What the doctor warns of, and its mend."""
    network(lab, 1)
    configuration = with_snat(lab)
    configuration["server_groups"]["talk"] = group(lab.servers, port=8099, protocol="tcp", health_check={"enabled": False})
    configuration["load_balancers"]["shop"]["listeners"]["talk"] = listener("talk", 81)
    lab.start(configuration)
    lab.wait_in_service()
    with lab.servers[0].namespace:
        listening = socket.create_server(("", 8099))
    listening.settimeout(5 * lab.slow)
    lab.gw.ns.set_sysctl("net.netfilter.nf_conntrack_tcp_timeout_established", 2)
    with listening:
        assert hears_after_silence(lab, listening, 0.5)
        assert not hears_after_silence(lab, listening, 4)
        findings = json.loads(lab.gw.cli("-o", "json", "doctor").stdout)["findings"]
        found = next(x for x in findings if x["code"] == "conntrack_forgets_first")
        assert "nf_conntrack_tcp_timeout_established is 2 s (IPVS: tcp_s 900)" in found["what"], found
        lab.gw.run("sh", "-c", found["mend"])
        assert hears_after_silence(lab, listening, 4)


UNCHECKED = {"enabled": False}


def seen_from(lab, listening, namespace, vip, source=None, port=81):
    """Whom a server takes for its client, when NAMESPACE connects to the port of the VIP; None: nobody answers."""
    with namespace:
        sock = socket.socket(socket.AF_INET6 if ":" in vip else socket.AF_INET, socket.SOCK_STREAM)
    with sock:
        sock.settimeout(1.5 * lab.slow)
        if source:
            sock.bind((source, 0))
        try:
            sock.connect((vip, port))
        except OSError:
            return None
        with listening.accept()[0] as served:
            return served.getpeername()[0].removeprefix("::ffff:")


def listens(lab, server):
    with server.namespace:
        listening = socket.create_server(("::", 8099), family=socket.AF_INET6, dualstack_ipv6=True)
    listening.settimeout(5 * lab.slow)
    return listening


def snat_of_both(lab, mode):
    for name in ("four", "six"):
        lab.gw.api.patch(f"/load-balancers/{name}", {"snat": mode}).expect(200)


@case(load=NAT)
def auto_is_for_clients_that_are_too_near(lab):
    network(lab, 2)
    one, other = lab.servers
    lab.start(document(
        {f"talk{family}": group([one], port=8099, family=family, health_check=UNCHECKED) for family in (4, 6)},
        {"four": balancer({"talk": listener("talk4", 81)}, snat="auto"),
         "six": balancer({"talk": listener("talk6", 81)}, vip4=None, vip6=VIP6, snat="auto")},
    ))
    families = ((VIP4, CLIENT4, "10.2.0.1"), (VIP6, CLIENT6, "fd02::1"))
    with listens(lab, one) as listening:
        for vip, far, gateway in families:
            assert seen_from(lab, listening, lab.client, vip) == far, "its answers come back through the gateway"
            assert seen_from(lab, listening, other.namespace, vip) == gateway, "on the server's network"
            assert seen_from(lab, listening, one.namespace, vip) == gateway, "the server itself"
        before = rules(lab), rules(lab, 6)
        assert "-A ZONEGATE -s 10.2.0.0/24 -d 10.2.0.0/24 -m ipvs --ipvs -j MASQUERADE" in before[0][0], before
        snat_of_both(lab, "on")
        for vip, _, gateway in families:
            assert seen_from(lab, listening, lab.client, vip) == gateway
            assert seen_from(lab, listening, one.namespace, vip) == gateway
        snat_of_both(lab, "off")
        assert rules(lab)[0] == [] and rules(lab, 6)[0] == [] and sets(lab) == {}
        for vip, far, _ in families:
            assert seen_from(lab, listening, lab.client, vip) == far
            assert seen_from(lab, listening, other.namespace, vip) is None
            assert seen_from(lab, listening, one.namespace, vip) is None
        snat_of_both(lab, "auto")
        assert (rules(lab), rules(lab, 6)) == before


def asked_from(lab, bound, namespace, vip, port):
    """Whom a server takes for the sender of a datagram, if the sender hears of it; else None."""
    with namespace:
        sock = socket.socket(socket.AF_INET6 if ":" in vip else socket.AF_INET, socket.SOCK_DGRAM)
    with sock:
        sock.settimeout(1.0 * lab.slow)
        sock.connect((vip, port))
        sock.send(b"hello")
        try:
            sender = bound.recvfrom(100)[1]
            bound.sendto(b"heard", sender)
            return sender[0].removeprefix("::ffff:") if sock.recv(100) == b"heard" else None
        except OSError:
            return None


@case(load=(*NAT, "xt_mark"))
def servers_that_keep_the_port_of_a_range(lab):
    """The port is not known before: they are told by the address and the mark of ours."""
    network(lab, 2)
    one, other = lab.servers
    keep = {"port": 0, "health_check": UNCHECKED}
    lab.start(document(
        {"talk": both([one], **keep), "datagrams": both([one], protocol="udp", **keep), "fixed": group([one], port=8099, health_check=UNCHECKED)},
        {"shop": balancer({"talk": ranged(8099, 8100, "talk"), "udp": ranged(8099, 8100, "datagrams", "udp")}, vip6=VIP6),
         "plain": balancer({"fixed": listener("fixed", 81)}, vip4=OTHER_VIP4)},
    ), kernel={"audit_interval_s": 1})
    lab.wait_in_service()
    with one.namespace:
        bound = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    bound.settimeout(1.0 * lab.slow)
    bound.bind(("::", 8099))
    families = ((VIP4, CLIENT4, "10.2.0.1"), (VIP6, CLIENT6, "fd02::1"))
    with bound, listens(lab, one) as listening:
        def seen(namespace, vip):
            return seen_from(lab, listening, namespace, vip, port=8099), asked_from(lab, bound, namespace, vip, 8099)

        for mode, far_is_gateway, near in (("off", False, False), ("auto", False, True), ("on", True, True), ("auto", False, True)):
            lab.gw.api.patch("/load-balancers/shop", {"snat": mode}).expect(200)
            for vip, far, gateway in families:
                assert seen(lab.client, vip) == ((gateway, gateway) if far_is_gateway else (far, far)), (mode, vip)
                for namespace in (other.namespace, one.namespace) if near else ():
                    assert seen(namespace, vip) == (gateway, gateway), (mode, vip)
            # Another balancer's connections to the same address have no mark, and are left as they are.
            assert seen_from(lab, listening, lab.client, OTHER_VIP4) == CLIENT4, mode
            if mode == "off":  # else they are too near, or servers themselves
                assert seen_from(lab, listening, other.namespace, VIP4, port=8099) is None
                assert asked_from(lab, bound, one.namespace, VIP6, 8099) is None
        assert seen_from(lab, listening, other.namespace, OTHER_VIP4) is None
        looks = lab.gw.api.get("/system").expect(200).json["drift"]["last_audit"]
        lab.wait(lambda: lab.gw.api.get("/system").expect(200).json["drift"]["last_audit"] > looks, 5 + lab.margin,
                 "it was looked at", pause=0.1)
        assert lab.gw.api.get("/system").expect(200).json["drift"]["repaired_since_start"] == 0
    lab.gw.daemon.kill()
    assert lab.gw.cli("flush", lab.gw.daemon.settings_path).returncode == 0
    assert rules(lab)[0] == [] and rules(lab, 6)[0] == [] and sets(lab) == {}


@case(load=NAT)
def auto_knows_servers_behind_a_router_as_clients(lab):
    """What network they share cannot be known there; that they are servers of the group is."""
    network(lab, 2)
    for number, (server, other) in enumerate((lab.servers, reversed(lab.servers)), 1):
        run = lambda *words: lab.run_in(server.namespace, "ip", *words)  # noqa: E731
        run("addr", "add", f"10.9.0.{number}/32", "dev", "lo")
        run("route", "add", f"10.9.0.{3 - number}/32", "via", other.address4)
        lab.gw.run("ip", "route", "add", f"10.9.0.{number}/32", "via", server.address4)
    talk = group(lab.servers, port=8099, health_check=UNCHECKED, weights=(0, 100))
    talk["servers"]["s1"]["address"], talk["servers"]["s2"]["address"] = "10.9.0.1", "10.9.0.2"
    lab.start(kernel={"audit_interval_s": 1})
    lab.gw.api.apply(document({"talk": talk}, {"shop": balancer({"talk": listener("talk", 81)})}))
    lab.wait(lambda: lab.gw.weights(port=81).get("10.9.0.2") == 100, 5 + lab.margin, "it is in service")
    first = lab.servers[0].namespace
    with listens(lab, lab.servers[1]) as listening:
        assert seen_from(lab, listening, first, VIP4, "10.9.0.1") is None
        lab.gw.api.patch("/load-balancers/shop", {"snat": "auto"}).expect(200)
        assert seen_from(lab, listening, first, VIP4, "10.9.0.1") == "10.2.0.1"
        assert seen_from(lab, listening, lab.client, VIP4) == CLIENT4
    # The gateway comes to be on their network, and goes from it.
    line = "-A ZONEGATE -s 10.9.0.0/24 -d 10.9.0.0/24 -m ipvs --ipvs -j MASQUERADE"
    assert line not in rules(lab)[0]
    lab.gw.run("ip", "addr", "add", "10.9.0.254/24", "dev", "back0")
    lab.wait(lambda: line in rules(lab)[0], 5 + lab.margin, "the network is known", pause=0.1)
    lab.gw.run("ip", "addr", "del", "10.9.0.254/24", "dev", "back0")
    lab.wait(lambda: line not in rules(lab)[0], 5 + lab.margin, "it is no more", pause=0.1)
    assert lab.gw.api.get("/system").expect(200).json["drift"]["repaired_since_start"] == 0
