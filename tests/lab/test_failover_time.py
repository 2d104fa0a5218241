# SPDX-License-Identifier: GPL-2.0-or-later
"""The number that `failover-time` tells, against a client that keeps answers as long as it may."""

import time

from zglab import OTHER_VIP4, case
from zglab.client import ask_tcp
from zglab.zones import BOTH, NAME, start_two, two_gateways, two_zones

LAB_SECONDS = 8


class StubbornClient:
    """Goes to zone-b as long as the answer that it holds has it."""

    def __init__(self, namespace, ask):
        self._namespace = namespace
        self._ask = ask
        self.look()

    def look(self):
        reply = self._ask.ask(NAME)
        self._addresses = reply.addresses()
        self._until = time.monotonic() + min(reply.ttls())

    def reach(self):
        """Whether a new connection is answered."""
        if time.monotonic() >= self._until:
            self.look()
        zone_b = OTHER_VIP4 in self._addresses
        try:
            ask_tcp(self._namespace, OTHER_VIP4 if zone_b else self._addresses[0], 80, 0.1)
        except OSError:
            return False
        return True


@case
def the_number_holds(lab):
    ask, _ = two_gateways(lab)
    probe = {"interval_ms": 600, "timeout_ms": 300}
    configuration = two_zones(lab, dns_ttl_s=2)
    configuration["load_balancers"]["shop"]["vip_probe"] = probe
    start_two(lab, configuration)
    told = lab.gw.api.get("/load-balancers/shop/failover-time").expect(200).json
    worst = {x["part"]: x["worst_ms"] for x in told["parts"] if x["counted"]}
    assert worst == {"vip_probe": 1500, "publication": 10, "dns_ttl": 2000}, told
    assert told["total_ms"] == 3510 and told["dominant"] == "dns_ttl", told
    shown = lab.gw.cli("failover-time", "shop")
    assert shown.returncode == 0 and "elsewhere after 3.51 s at worst" in shown.stdout, shown

    client = StubbornClient(lab.client, ask)
    assert ask.published(NAME) == BOTH and client.reach()
    lab.switch.namespace.set_link(lab.front_ports["gw2"], False)
    client.look()
    took = lab.wait(client.reach, 3.51 + lab.margin, "the client is elsewhere")
    assert took > 1.5, "it held an answer of two seconds"
