# SPDX-License-Identifier: GPL-2.0-or-later
"""VIP addresses stand on zonegate0; only what the daemon added is ever removed."""

from zglab import VIP4, VIP6, case
from zglab.documents import QUICK, balancer, document, group, listener, web

LAB_SECONDS = 8


@case
def addresses_come_and_go(lab):
    lab.network(2)
    configuration = web(lab)
    configuration["load_balancers"]["shop"]["zones"]["zone-a"]["vip6"] = VIP6
    lab.start(configuration)
    assert lab.gw.addresses() == [f"{VIP4}/32", f"{VIP6}/128"], lab.gw.addresses()
    lab.gw.ns.add_address("zonegate0", "192.0.2.77/32")
    lab.gw.api.patch(
        "/load-balancers/shop/zones/zone-a", {"vip4": "192.0.2.11"}
    ).expect(200)
    assert lab.gw.addresses() == ["192.0.2.11/32", "192.0.2.77/32", f"{VIP6}/128"]
    lab.gw.api.delete("/load-balancers/shop").expect(200, 202, 204)
    lab.wait(lambda: lab.gw.addresses() == ["192.0.2.77/32"], 1 + lab.margin, "only the foreign address")


@case
def an_address_that_was_there_is_not_ours(lab):
    lab.network(1)
    lab.gw.ns.add_link("zonegate0", "dummy")
    lab.gw.ns.add_address("zonegate0", f"{VIP4}/32")
    lab.start(web(lab))
    assert lab.who(count=2) == {"s1": 2}
    lab.gw.api.delete("/load-balancers/shop").expect(200, 202, 204)
    assert lab.gw.addresses() == [f"{VIP4}/32"]


@case
def own_addresses_are_known_after_a_restart(lab):
    lab.network(1)
    lab.start(web(lab))
    lab.gw.daemon.kill()
    lab.gw.daemon.start()
    lab.gw.api.delete("/load-balancers/shop").expect(200, 202, 204)
    lab.wait(lambda: lab.gw.addresses() == [], 1 + lab.margin, "no address is left")


@case
def a_lost_address_is_put_back(lab):
    lab.network(1)
    lab.start(web(lab), kernel={"audit_interval_s": 1})
    lab.gw.ns.del_address("zonegate0", f"{VIP4}/32")
    lab.wait(
        lambda: lab.gw.addresses() == [f"{VIP4}/32"], 1 + lab.margin, "the VIP is back", pause=0.1
    )


@case
def vip_device_none(lab):
    lab.network(1)
    lab.gw.ns.add_address("front0", f"{VIP4}/32")
    lab.start(web(lab), kernel={"vip_device": "none"})
    assert lab.who(count=2) == {"s1": 2}
    assert "zonegate0" not in lab.gw.run("ip", "-o", "link")
    lab.gw.api.delete("/load-balancers/shop").expect(200, 202, 204)
    assert f"{VIP4}/32" in lab.gw.addresses("front0")


@case
def a_disabled_load_balancer_has_nothing(lab):
    lab.network(1)
    lab.start(web(lab))
    lab.gw.api.patch("/load-balancers/shop", {"enabled": False}).expect(200)
    assert lab.gw.table() == {} and lab.gw.addresses() == []
    lab.gw.api.patch("/load-balancers/shop", {"enabled": True}).expect(200)
    lab.wait_in_service()
    assert lab.who(count=2) == {"s1": 2}


@case
def only_the_zones_of_the_node(lab):
    lab.network(2)
    configuration = document(
        {"web": group(lab.servers, health_check=QUICK)},
        {"shop": balancer({"http": listener()})},
        zones=("zone-a", "zone-b"),
    )
    configuration["load_balancers"]["shop"]["zones"]["zone-b"] = {"vip4": "192.0.2.20"}
    lab.start(configuration, node={"zones": "zone-b"})
    assert lab.gw.addresses() == ["192.0.2.20/32"]
    assert sorted(lab.gw.table()) == [("TCP", "192.0.2.20", 80)]
