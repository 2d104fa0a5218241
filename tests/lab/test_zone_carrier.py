# SPDX-License-Identifier: GPL-2.0-or-later
"""A gateway that is gone, or whose cable is out, seen by itself and by the gateway of the other zone."""

from zglab import OTHER_VIP4, case
from zglab.client import ask_tcp
from zglab.zones import (
    BOTH, NAME, ONLY_A, one_gateway, reasons, settled, start_one, start_two, two_gateways,
    two_zones,
)

LAB_SECONDS = 17


@case
def the_gateway_of_a_zone_is_cut_off(lab):
    """By the defaults: within 3.2 s, and back after three passes."""
    ask, ask2 = two_gateways(lab)
    configuration = two_zones(lab)
    del configuration["load_balancers"]["shop"]["vip_probe"]
    start_two(lab, configuration, node={"vip_link": "front0"})
    assert ask.published(NAME) == BOTH and ask2.published(NAME) == BOTH
    port = lab.front_ports["gw2"]
    lab.switch.namespace.set_link(port, False)
    gone = lab.wait(
        lambda: ask.published(NAME) == ONLY_A, 3.2 + lab.margin, "zone-b is withdrawn"
    )
    assert gone > 0.5, "three failures take longer"
    assert reasons(lab.gw)[OTHER_VIP4] == "withdrawn_vip_unhealthy"
    lab.wait(
        lambda: ask2.published(NAME) == ONLY_A, 3.2 + lab.margin,
        "without carrier it leaves out its own",
    )
    lab.switch.namespace.set_link(port, True)
    back = lab.wait(
        lambda: ask.published(NAME) == BOTH == ask2.published(NAME), 4 + lab.margin, "both again"
    )
    assert back > 1.5, "it had to pass three times"


@case
def the_gateway_of_a_zone_is_gone(lab):
    """The host with its daemon: who asks for the name is elsewhere, by the defaults within 3.2 s."""
    ask, _ = two_gateways(lab)
    configuration = two_zones(lab, cross_zone=False)
    del configuration["load_balancers"]["shop"]["vip_probe"]
    start_two(lab, configuration)
    assert ask.published(NAME) == BOTH
    assert ask_tcp(lab.client, OTHER_VIP4, 80) in ("a2", "b2")
    ports = lab.front_ports["gw2"], lab.back_ports["gw2"]
    lab.gw2.daemon.kill()
    for port in ports:
        lab.switch.namespace.set_link(port, False)
    lab.wait(lambda: ask.published(NAME) == ONLY_A, 3.2 + lab.margin, "zone-b is withdrawn")
    for _ in range(5):
        address, = ask.published(NAME)
        assert ask_tcp(lab.client, address, 80) in ("a1", "b1"), "new connections go to zone-a"
    lab.gw2.daemon.start()
    for port in ports:
        lab.switch.namespace.set_link(port, True)
    lab.wait(lambda: ask.published(NAME) == BOTH, 5 + lab.margin, "both again")


@case
def a_gateway_without_carrier(lab):
    """[node] vip_link: a node that holds both VIPs and is cut off answers both (fail-open)."""
    ask = one_gateway(lab)
    start_one(lab, two_zones(lab), node={"vip_link": "link0"})
    lab.wait(
        lambda: set(reasons(lab.gw).values()) == {"fail_open"}, 3 + lab.margin, "no such link"
    )
    assert ask.published(NAME) == BOTH
    lab.gw.ns.add_link("link0", "dummy")
    lab.wait(lambda: settled(lab.gw), 2 + lab.margin, "the link is there")
    status = lab.gw.api.get("/load-balancers/shop/status").expect(200).json
    assert "self" in str(status), status
