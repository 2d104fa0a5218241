# SPDX-License-Identifier: GPL-2.0-or-later
"""Which zones a name is answered with: by the servers in scope, and by the document."""

import time

from zglab import OTHER_VIP4, VIP4, case
from zglab.documents import group, listener
from zglab.zones import (
    APEX, BOTH, NAME, ONLY_A, ONLY_B, answers, cross, one_gateway, reasons, settled, start_one,
    two_zones,
)

LAB_SECONDS = 19


def weights(gateway):
    """{address of a server: (weights, one a service)}"""
    found = {}
    for service in gateway.table().values():
        for address, weight in service.weights().items():
            found.setdefault(address, set()).add(weight)
    return found


def set_down(lab, *down):
    """These servers are down and no others; the gateways have seen it."""
    for name, server in lab.named.items():
        if name in down and server.listening():
            server.kill()
        elif name not in down and not server.listening():
            server.start()

    def seen():
        for gateway in lab.gateways:
            for address, found in weights(gateway).items():
                server = next(x for x in lab.servers if x.address4 == address)
                if found != ({0} if server.name in down else {100}):
                    return False
        return True

    lab.wait(seen, 0.5 + lab.margin, f"down are {down}")


# ---- servers ----

WORKED = (
    (False, ("a1",), ONLY_B),
    (False, ("a1", "b2"), BOTH),
    (True, ("a1",), BOTH),
    (True, ("a1", "b2"), BOTH),
    (True, ("b1", "b2"), BOTH),
)


@case
def servers_of_two_zones(lab):
    ask = one_gateway(lab)
    start_one(lab, two_zones(lab))
    lab.wait(lambda: settled(lab.gw), 4 * lab.slow, "both are healthy")
    for on, down, expected in WORKED:
        set_down(lab)
        cross(lab, on)
        lab.wait(lambda: settled(lab.gw), 1 + lab.margin, "both are healthy again")
        set_down(lab, *down)
        answers(lab, ask, expected)
        fails_open = (on, down) in ((False, ("a1", "b2")), (True, ("b1", "b2")))
        assert (set(reasons(lab.gw).values()) == {"fail_open"}) == fails_open, reasons(lab.gw)


@case
def a_share_of_the_servers(lab):
    """dns_min_healthy 50 %, 10 servers a zone, 6 of zone 2 down."""
    ask = one_gateway(lab)
    configuration = two_zones(
        lab, cross_zone=False, groups={"dns_min_healthy": {"count": 1, "percent": 50}}
    )
    ten = configuration["server_groups"]["a"]["servers"] = {}
    for number in range(20):
        host = lab.named["a1" if number < 10 else "a2"]
        host.namespace.add_address("eth0", f"10.2.1.{number + 1}/32")
        ten[f"t{number}"] = {
            "address": f"10.2.1.{number + 1}", "port": 80,
            "zone": "zone-a" if number < 10 else "zone-b",
        }
    lab.gw.ns.add_address("back0", "10.2.1.254/24")
    start_one(lab, configuration)
    lab.wait(lambda: settled(lab.gw), 4 * lab.slow, "both are healthy")
    downs = [f"10.2.1.{n}" for n in range(11, 17)]
    for count, new, expected in ((5, downs[:5], BOTH), (6, downs[5:], ONLY_A)):
        for address in new:
            lab.named["a2"].namespace.del_address("eth0", f"{address}/32")
        lab.wait(
            lambda: all(lab.gw.weights(vip=OTHER_VIP4).get(x) == 0 for x in downs[:count]),
            1 + lab.margin, f"{count} are down",
        )
        answers(lab, ask, expected)
    assert reasons(lab.gw)[OTHER_VIP4] == "withdrawn_group"
    cross(lab, True)
    answers(lab, ask, BOTH)
    assert set(reasons(lab.gw).values()) == {"healthy"}, "14 of 20 are enough"


@case
def a_new_listener_withdraws_nothing(lab):
    """Its servers are still initial; the next listener's verdict stands."""
    ask = one_gateway(lab)
    configuration = two_zones(lab, cross_zone=False)
    start_one(lab, configuration)
    lab.wait(lambda: settled(lab.gw), 4 * lab.slow, "both are healthy")
    slow = {"type": "tcp", "interval_ms": 1000, "timeout_ms": 900, "healthy_threshold": 2,
            "unhealthy_threshold": 2}
    new = group([lab.named["a1"], lab.named["a2"]], port=80, health_check=slow)
    for name, zone in (("a1", "zone-a"), ("a2", "zone-b")):
        new["servers"][name]["zone"] = zone
    lab.named["a1"].kill()
    answers(lab, ask, ONLY_B)
    lab.gw.api.put("/server-groups/new", new).expect(201)
    lab.gw.api.put("/load-balancers/shop/listeners/new", listener("new", port=81)).expect(201)
    lab.holds(lambda: ask.published(NAME) == ONLY_B, 0.7, "as before while they are initial")


# ---- what the document says ----


@case
def disabled_and_published_elsewhere(lab):
    ask = one_gateway(lab)
    configuration = two_zones(lab)
    configuration["load_balancers"]["shop"]["zones"]["zone-b"]["publish4"] = "203.0.113.20"
    start_one(lab, configuration)
    outside = {VIP4, "203.0.113.20"}
    answers(lab, ask, outside)
    assert ask.published(f"zone-b.{NAME}") == {"203.0.113.20"}
    path = "/load-balancers/shop/zones/zone-b"
    lab.gw.api.patch(path, {"enabled": False}).expect(200)
    assert ask.published(NAME) == ONLY_A, "with the answer of the API"
    assert lab.gw.weights(vip=OTHER_VIP4), "out of DNS only"
    lab.gw.api.patch(path, {"enabled": True, "publish4": None}).expect(200)
    lab.wait(lambda: ask.published(NAME) == BOTH, 3 + lab.margin, "both again")
    lab.gw.api.patch("/load-balancers/shop", {"enabled": False}).expect(200)
    empty = ask.ask(NAME)
    assert empty.rcode == "NOERROR" and not empty.answers, empty
    assert empty.authority[0].type == "SOA" and empty.authority[0].name == APEX, empty
    assert lab.gw.table() == {}


@case
def after_kill_9(lab):
    """What was withdrawn stays so: a restart forgets no fault."""
    ask = one_gateway(lab)
    start_one(lab, two_zones(lab, cross_zone=False))
    lab.wait(lambda: settled(lab.gw), 4 * lab.slow, "both are healthy")
    lab.named["b2"].kill()
    answers(lab, ask, ONLY_A)
    lab.stored()
    lab.gw.daemon.kill()
    lab.gw.daemon.start()
    lab.holds(lambda: ask.published(NAME) == ONLY_A, 0.7, "only zone-a")
    lab.named["b2"].start()
    answers(lab, ask, BOTH)


def publications(found):
    """Every one in an answer, at whatever depth."""
    if isinstance(found, list):
        return [x for one in found for x in publications(one)]
    if not isinstance(found, dict):
        return []
    own = [found] if {"reason_code", "fail_open", "published"} <= found.keys() else []
    return own + [x for one in found.values() for x in publications(one)]


def told(lab):
    """The publications of the load balancer, of which each must agree with itself."""
    found = publications(lab.gw.api.get("/load-balancers/shop/status").expect(200).json)
    assert found
    for one in found:
        assert one["fail_open"] == (one["reason_code"] == "fail_open"), one
        assert one["published"] or not one["fail_open"], one
    return found


@case
def a_start_is_no_fail_open(lab):
    """Before the first verdicts all are handed out as undecided; those of before a restart hold."""
    ask = one_gateway(lab)
    start_one(lab, two_zones(lab))
    lab.wait(lambda: settled(lab.gw), 4 * lab.slow, "both are healthy")
    for leave in (lab.gw.daemon.kill, lab.gw.daemon.stop):
        lab.stored()
        leave()
        lab.gw.daemon.start()
        assert settled(lab.gw) and ask.published(NAME) == BOTH, reasons(lab.gw)
        told(lab)
    with open(lab.gw.daemon.log_path, encoding="utf-8") as file:
        log = file.read()
    assert "zone.publish_changed" in log and "undecided" in log, log
    assert "fail_open" not in log, [x for x in log.splitlines() if "fail_open" in x]
    set_down(lab, "a1", "a2")
    lab.wait(lambda: set(reasons(lab.gw).values()) == {"fail_open"}, 1 + lab.margin, "a failure")
    assert all(x["fail_open"] for x in told(lab))


@case
def without_a_name_nothing_is_handed_out(lab):
    one_gateway(lab)
    configuration = two_zones(lab)
    del configuration["load_balancers"]["shop"]["dns_name"]
    start_one(lab, configuration)
    for down in ((), ("a1", "a2")):
        set_down(lab, *down)
        assert not any(x["published"] or x["fail_open"] for x in told(lab))
