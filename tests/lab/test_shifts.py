# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual failover: a zone is taken out of DNS, and nothing else."""

import time

from zglab import OTHER_VIP4, VIP4, case
from zglab.documents import balancer, listener
from zglab.zones import (
    APEX, BOTH, NAME, ONLY_A, ONLY_B, VIP_PROBE, answers, cancel, ready, reasons, shift, shifted,
    start_two, two_gateways, two_zones,
)

LAB_SECONDS = 11


# ---- what it does, and what it leaves alone ----


@case
def takes_a_zone_out_of_dns_only(lab):
    probe = {**VIP_PROBE, "interval_ms": 300, "healthy_threshold": 3}
    ask = ready(lab, vip_probe=probe)
    assert ask.ask(NAME).ttls() == {60}
    traffic = lab.traffic(vip=OTHER_VIP4, connections=6, pause=0.02)
    time.sleep(0.1)
    table, addresses = lab.gw.ipvsadm("-Sn"), lab.gw.addresses()
    with lab.gw.capture() as capture:
        began = time.monotonic()
        name = shifted(lab)
        first = ask.ask(NAME)
        assert time.monotonic() - began < 0.1 + lab.margin
        assert set(first.addresses()) == ONLY_A, "the answer of the API means that it is in force"
        assert first.ttls() == {30}, first
        assert reasons(lab.gw) == {VIP4: "healthy", OTHER_VIP4: "withdrawn_manual"}
        assert ask.published(f"zone-b.{NAME}") == {OTHER_VIP4}
        lab.holds(lambda: ask.published(NAME) == ONLY_A, 0.4, "it stays so")
        assert capture.changes() == {}, capture.changes()
        began = time.monotonic()
        cancel(lab, name)
        lab.holds(
            lambda: ask.published(NAME) == ONLY_A, 0.45 - (time.monotonic() - began),
            "three passes first",
        )
        lab.wait(lambda: ask.published(NAME) == BOTH, 0.2 + lab.margin, "then it is back")
        assert capture.changes() == {}, capture.changes()
    assert ask.ask(NAME).ttls() == {60}
    assert lab.gw.ipvsadm("-Sn") == table and lab.gw.addresses() == addresses
    traffic.stop()
    assert not traffic.broken and not traffic.refused, (traffic.broken, traffic.refused)
    assert traffic.opened > 10


def echoes(gateway):
    """Echo requests that reached a host."""
    names, numbers = [
        x.split()[1:] for x in gateway.ns.proc_net("snmp").splitlines() if x.startswith("Icmp:")
    ]
    return int(dict(zip(names, numbers))["InEchos"])


@case
def a_zone_that_is_away_is_not_probed(lab):
    ask, _ = two_gateways(lab)
    start_two(lab, two_zones(lab))
    before = echoes(lab.gw2)
    lab.wait(lambda: echoes(lab.gw2) >= before + 3, 1 + lab.margin, "gw probes the VIP of zone-b")
    name = shifted(lab)
    assert ask.published(NAME) == ONLY_A
    time.sleep(0.15)
    before = echoes(lab.gw2)
    time.sleep(0.5)
    assert echoes(lab.gw2) == before, "not while it is away"
    cancel(lab, name)
    answers(lab, ask, BOTH)
    assert echoes(lab.gw2) > before


@case
def servers_are_evacuated(lab):
    ask = ready(lab)
    servers = {x: lab.named[x].address4 for x in ("a1", "a2", "b1", "b2")}
    traffic = lab.traffic(connections=6, pause=0.02)  # through zone-a, to servers of both zones
    assert set(traffic.owners()) == {"a1", "a2"}, traffic.owners()
    name = shifted(lab, evacuate_servers=True)
    assert lab.gw.weights() == {servers["a1"]: 100, servers["a2"]: 0}
    assert lab.gw.weights(port=8080) == {servers["b1"]: 100, servers["b2"]: 0}
    other = lab.gw.weights(vip=OTHER_VIP4)
    assert other == {servers["a1"]: 100, servers["a2"]: 100}, "the zone's own services stay"
    assert lab.who(count=10) == {"a1": 10}
    assert ask.published(NAME) == ONLY_A
    # without them nobody is left, and fail-open does not bring them back
    lab.gw.api.patch("/server-groups/a", {"when_none_healthy": "open"}).expect(200)
    lab.named["a1"].kill()
    lab.wait(
        lambda: reasons(lab.gw)[VIP4] == "fail_open", 0.5 + lab.margin, "only an unhealthy one"
    )
    assert lab.gw.weights()[servers["a2"]] == 0
    lab.named["a1"].start()
    lab.wait(lambda: reasons(lab.gw)[VIP4] == "healthy", 0.5 + lab.margin, "a1 is back")
    cancel(lab, name)
    assert lab.gw.weights() == {servers["a1"]: 100, servers["a2"]: 100}
    traffic.stop()
    assert not [x for x in traffic.broken if "a2" in x], traffic.broken


# ---- what is refused ----


@case
def the_last_zone_and_the_healthy_one(lab):
    # What returns needs a while until it counts as healthy: meanwhile the answer of fail-open is looked at.
    ask = ready(lab, cross_zone=False, vip_probe={**VIP_PROBE, "interval_ms": 400, "healthy_threshold": 3})
    first = shifted(lab)
    assert shift(lab).expect(409).json["errors"], "the same once more"
    refused = shift(lab, "zone-a").expect(409).json
    assert "no zone left" in str(refused), refused
    assert ask.published(NAME) == ONLY_A
    second = shifted(lab, "zone-a", force=True)
    nothing = ask.ask(NAME)
    assert nothing.rcode == "NOERROR" and not nothing.answers, "a wish: fail-open is none"
    assert nothing.authority[0].type == "SOA" and nothing.authority[0].name == APEX
    lab.holds(lambda: not ask.published(NAME), 0.3, "it stays so")
    cancel(lab, second)
    lab.wait(lambda: ask.published(NAME) == ONLY_A, 1.5 + lab.margin, "zone-a is back")
    # zone-a is unhealthy: fail-open without the shifted zone
    lab.named["a1"].kill()
    lab.wait(lambda: reasons(lab.gw)[VIP4] == "fail_open", 0.5 + lab.margin, "zone-a fails")
    assert ask.published(NAME) == ONLY_A
    cancel(lab, first)
    assert ask.published(NAME) == BOTH, "what returns counts for fail-open at once"
    lab.wait(lambda: ask.published(NAME) == ONLY_B, 1.5 + lab.margin, "zone-b is healthy")
    refused = shift(lab).expect(409).json
    assert "only unhealthy" in str(refused), refused
    shifted(lab, force=True)
    assert ask.published(NAME) == ONLY_A


@case
def what_is_missing_or_too_much(lab):
    ready(lab)
    wrong = {
        "/comment": {"comment": ""}, "/expires_in": {"expires_in": "4d"},
        "/zone": {"zone": "zone-x"}, "/load_balancer": {"load_balancer": "shoe"},
        "/forse": {"forse": True},
    }
    for pointer, members in wrong.items():
        answer = shift(lab, **{"zone": "zone-b", **members})
        assert answer.status in (400, 422) and answer.pointers() == [pointer], (pointer, answer)
    assert lab.gw.api.get("/zone-shifts").json["items"] == []


@case
def evacuation_that_leaves_nobody(lab):
    """With cross-zone on zone-a lives by the servers of zone-b only."""
    ready(lab)
    lab.named["a1"].kill()
    lab.wait_weight(lab.named["a1"], 0, 0.5 + lab.margin)
    rehearsed = shift(lab, query="?dry_run=true", evacuate_servers=True).expect(200).json
    assert "only unhealthy" in str(rehearsed["refusals"]), rehearsed
    assert set(reasons(lab.gw).values()) == {"healthy"}, "nothing was changed"
    shift(lab, evacuate_servers=True).expect(409)
    shift(lab).expect(201)


@case
def a_rehearsal(lab):
    ask = ready(lab, cross_zone=False)
    serial = ask.ask(APEX, "SOA").serial
    answer = shift(lab, query="?dry_run=true").expect(200).json
    effect, = answer["effects"]
    assert answer["refusals"] == [] and effect["load_balancer"] == "shop", answer
    assert set(effect["answers_before"]) == BOTH and set(effect["answers_after"]) == ONLY_A, effect
    assert effect["zones_left"] == 1 and effect["servers_moved"] == 2, effect
    assert effect["share_percent"] == 50, effect
    assert ask.published(NAME) == BOTH and ask.ask(APEX, "SOA").serial == serial
    assert lab.gw.api.get("/overrides").json["items"] == []


# ---- all load balancers ----


@case
def all_load_balancers_later_ones_too(lab):
    ask = ready(lab)
    everywhere = shifted(lab, load_balancer="*")
    assert ask.published(NAME) == ONLY_A
    late = balancer(
        {"one": listener("a", port=81)}, vip4="192.0.2.30", dns_name=f"late.{APEX}",
        vip_probe=VIP_PROBE,
    )
    late["zones"]["zone-b"] = {"vip4": "192.0.2.40"}
    lab.gw.api.put("/load-balancers/late", late).expect(201)
    assert ask.published(f"late.{APEX}") == {"192.0.2.30"}
    here = shifted(lab)
    cancel(lab, everywhere)
    lab.wait(
        lambda: ask.published(f"late.{APEX}") == {"192.0.2.30", "192.0.2.40"}, 1 + lab.margin,
        "late has both",
    )
    assert ask.published(NAME) == ONLY_A, "while any shift covers it"
    cancel(lab, here)
    answers(lab, ask, BOTH)
