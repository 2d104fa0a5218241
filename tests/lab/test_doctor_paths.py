# SPDX-License-Identifier: GPL-2.0-or-later
"""The doctor of the ways to servers and back: what servers do wrong is seen from the gateway, and mended on them."""

from zglab import VIP4, case
from zglab.doctor import mend, visit
from zglab.documents import web

LAB_KIND = "uml"
LAB_SECONDS = 20


def direct(lab):
    return web(lab, port=0, forward_method="direct", health_check={"enabled": False})


@case
def a_server_answers_arp_for_the_vip(lab):
    lab.network(2, direct=True)
    for server in lab.servers:
        server.namespace.add_address("lo", f"{VIP4}/32")
    lab.servers[1].hold_vip()
    lab.start(direct(lab))
    assert lab.who(count=4) == {"s1": 2, "s2": 2}
    found = visit(lab)
    assert found["vip_answered_elsewhere"]["where"] == "servers"
    assert "the server web/s1 (" in found["vip_answered_elsewhere"]["what"], found
    assert f"answers for the VIP {VIP4} on back0" in found["vip_answered_elsewhere"]["what"], found
    assert found["direct_servers_unseen"]["what"].startswith(f"ARP was asked who has the VIP {VIP4}"), found
    mend(lab, "vip_answered_elsewhere", where=lab.servers[0].namespace)
    assert lab.who(count=4) == {"s1": 2, "s2": 2}


@case
def a_server_lacks_the_vip(lab):
    """Not seen from the gateway; what is told is what to do on the server."""
    lab.network(1, direct=True)
    lab.start(direct(lab))
    assert not lab.who(count=1).get("s1")
    found = visit(lab)
    assert "vip_answered_elsewhere" not in found, found
    lab.run_in(lab.servers[0].namespace, "sh", "-c", found["direct_servers_unseen"]["mend"])
    assert lab.who(count=2) == {"s1": 2}
    assert "vip_answered_elsewhere" not in visit(lab), "it keeps silent"


@case
def the_gateway_itself_answers_on_another_link(lab):
    """Two links in one segment: what is asked on one of them is heard, and answered, on the other."""
    lab.network(1, direct=True)
    lab.switch.plug(lab.gw.ns, "back1", "back", ())
    lab.servers[0].hold_vip()
    lab.start(direct(lab))
    found = visit(lab)
    assert found["direct_servers_unseen"]["what"].startswith(f"ARP was asked who has the VIP {VIP4}"), found
    assert "vip_answered_elsewhere" not in found, found


@case
def answers_go_another_way(lab):
    lab.network(2)
    first = lab.servers[0].namespace
    lab.run_in(first, "ip", "route", "replace", "default", "via", "10.2.0.9")
    lab.start(web(lab))
    assert "nat_answers_lost" not in visit(lab), "nobody has come yet"
    assert lab.who(count=6).get("s1") is None
    # The kernel sums its counters up every two seconds.
    lab.wait(lambda: "nat_answers_lost" in visit(lab), 4 + lab.margin, "it is seen", pause=0.2)
    found = visit(lab)
    assert found["nat_answers_lost"]["object"] == "/server_groups/web/servers/s1", found
    assert found["nat_answers_lost"]["mend"] == "ip route replace default via 10.2.0.1"
    lab.run_in(first, "sh", "-c", found["nat_answers_lost"]["mend"])
    assert lab.who(count=4) == {"s1": 2, "s2": 2}
    lab.wait(lambda: "nat_answers_lost" not in visit(lab), 4 + lab.margin, "it is gone", pause=0.2)
    found = visit(lab)
    assert "to clients, through this gateway since its services were made" in found["nat_return_unseen"]["what"], found


@case
def arp_may_not_be_asked(lab):
    lab.network(1, direct=True)
    lab.servers[0].hold_vip(VIP4)
    lab.gw.daemon.capabilities = lab.gw.daemon.capabilities[:2]
    lab.start(direct(lab))
    found = visit(lab)
    assert found["arp_unasked"]["mend"] == f"arping -D -c 2 -I back0 {VIP4}", found
    assert "ARP was asked" not in found["direct_servers_unseen"]["what"], found
