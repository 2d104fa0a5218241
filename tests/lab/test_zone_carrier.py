# SPDX-License-Identifier: GPL-2.0-or-later
"""A gateway whose cable is out, seen by itself and by the gateway of the other zone."""

from zglab import OTHER_VIP4, case
from zglab.zones import (
    BOTH, NAME, ONLY_A, one_gateway, reasons, settled, start_one, start_two, two_gateways,
    two_zones,
)

LAB_SECONDS = 10


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
