# SPDX-License-Identifier: GPL-2.0-or-later
"""snat, with packets: servers that do not route back through the gateway, and servers that are clients of their own VIP."""

import json
import socket
import time

from zglab import VIP4, VIP6, case, client
from zglab.documents import group, listener, web
from zglab.filters import NETFILTER, network, rules, sets

LAB_KIND = "uml"
LAB_SECONDS = 35

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
