# SPDX-License-Identifier: GPL-2.0-or-later
"""snat, with packets: servers that do not route back through the gateway, and servers that are clients of their own VIP."""

from zglab import VIP4, VIP6, case, client
from zglab.documents import web
from zglab.filters import NETFILTER, network, rules, sets

LAB_KIND = "uml"
LAB_SECONDS = 25

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
