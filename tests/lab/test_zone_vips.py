# SPDX-License-Identifier: GPL-2.0-or-later
"""Zones whose VIP is dead, probed over the network by the gateway of the other zone."""

from zglab import OTHER_VIP4, VIP4, case
from zglab.zones import (
    BOTH, BOTH6, NAME, ONLY_A, ONLY_A6, ONLY_B, answers, cross, dns_settings, reasons, settled,
    start_two, two_gateways, two_zones,
)

LAB_SECONDS = 12


@case
def vips_over_the_network(lab):
    """Cross-zone makes no difference to a VIP; a daemon that is gone withdraws nothing."""
    ask, _ = two_gateways(lab)
    start_two(lab, two_zones(lab))
    there = lab.front_ports["gw2"]
    for on in (True, False):
        cross(lab, on)
        lab.wait(lambda: settled(lab.gw), 1 + lab.margin, "all is well")
        lab.switch.namespace.set_link(there, False)
        answers(lab, ask, ONLY_A)
        lab.switch.namespace.set_link(there, True)
        answers(lab, ask, BOTH)
    lab.gw2.daemon.kill()
    lab.holds(lambda: ask.published(NAME) == BOTH, 0.6, "its kernel serves on, so it stays")


@case
def both_vips_dead(lab):
    """The resolver is a third node, which holds none of them: kernel off, DNS on."""
    ask, _ = two_gateways(lab)
    start_two(lab, two_zones(lab))
    third = lab.gateway("dns")
    lab.switch.plug(third.ns, "front0", "front", ("10.1.0.3/24", "fd01::3/64"))
    lab.switch.plug(third.ns, "back0", "back", ("10.2.0.3/24", "fd02::3/64"))
    third.ns.add_route(f"{VIP4}/32", "10.1.0.1")
    third.ns.add_route(f"{OTHER_VIP4}/32", "10.1.0.2")
    third.daemon.settings["kernel"] = {"ipvs": "off"}
    third.daemon.settings["dns"] = dns_settings("10.1.0.3")
    third.daemon.start()
    third.api.apply(two_zones(lab))
    lab.wait(lambda: settled(third), 4 * lab.slow, "it finds both healthy")
    ask = type(ask)(lab.client, "10.1.0.3")
    for expected, cut in ((ONLY_B, "gw"), (BOTH, "gw2")):
        lab.switch.namespace.set_link(lab.front_ports[cut], False)
        answers(lab, ask, expected)
    assert set(reasons(third).values()) == {"fail_open"}
    lab.switch.namespace.set_link(lab.front_ports["gw2"], True)
    answers(lab, ask, ONLY_B)


@case
def dual_stack(lab):
    """VIP6 of zone 2 dead: AAAA changes, A does not."""
    ask, _ = two_gateways(lab)
    start_two(lab, two_zones(lab, dual=True))
    lab.wait(
        lambda: set(reasons(lab.gw, "AAAA").values()) == {"healthy"}, 3 * lab.slow, "AAAA too"
    )
    assert ask.published(NAME, "AAAA") == BOTH6
    for on in (True, False):
        cross(lab, on)
        lab.wait(
            lambda: set(reasons(lab.gw, "AAAA").values()) == {"healthy"}, 1 + lab.margin, "well"
        )
        lab.gw2.ns.del_address("front0", "fd01::2/64")
        answers(lab, ask, ONLY_A6, "AAAA")
        assert ask.published(NAME) == BOTH
        lab.gw2.ns.add_address("front0", "fd01::2/64")
        answers(lab, ask, BOTH6, "AAAA")


@case
def vip_by_tcp(lab):
    """vip_probe tcp: the service itself must answer, not only its host."""
    ask, _ = two_gateways(lab)
    configuration = two_zones(lab, cross_zone=False)
    probe = configuration["load_balancers"]["shop"]["vip_probe"]
    probe.update(type="tcp", port=80)
    # NAT: the server's answer must come back through its gateway
    lab.gw2.ns.add_route(f"{VIP4}/32", "10.1.0.1")
    start_two(lab, configuration)
    lab.gw2.ipvsadm("-D", "-t", f"{OTHER_VIP4}:80")
    answers(lab, ask, ONLY_A)
    assert reasons(lab.gw)[OTHER_VIP4] == "withdrawn_vip_unhealthy", reasons(lab.gw)
