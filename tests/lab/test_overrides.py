# SPDX-License-Identifier: GPL-2.0-or-later
"""Drains by hand and weights of servers: what clients, kernel and DNS see of them."""

import threading
import time

from zglab import VIP4, case
from zglab.documents import balancer, check, document, group, listener, web
from zglab.zones import BOTH, NAME, ONLY_A, ready

LAB_SECONDS = 30
DRAIN = "/server-groups/web/servers/s1/drain"
WHY = {"comment": "new disk"}


def drained(lab, path=DRAIN):
    return lab.gw.api.get(path).expect(200).json


def two_listeners(lab, **members):
    return document(
        {"web": group(lab.servers, health_check=check(), **members)},
        {"shop": balancer({"http": listener(), "alt": listener(port=8080)})},
    )


@case
def an_open_connection_lives_on(lab):
    lab.network(2)
    lab.start(web(lab))
    lab.gw.ipvsadm("--set", "0", "1", "0")  # FIN_WAIT lasts one second instead of two minutes
    held = lab.traffic(connections=6, pause=60)
    mine = held.owners()["s1"]
    start = time.monotonic()
    lab.gw.api.put(DRAIN, WHY).expect(201)
    assert time.monotonic() - start < 0.1 + lab.margin
    assert lab.gw.weights() == {"10.2.0.11": 0, "10.2.0.12": 100}
    assert lab.who(count=20) == {"s2": 20}, "new ones go elsewhere"
    state = lab.gw.api.get("/server-groups/web/servers/s1/health").json
    assert (state["state"], state["reason_code"]) == ("draining", "drain_requested"), state
    lab.wait(lambda: drained(lab)["connections"] == mine, 2 + lab.margin, "they are counted")
    assert held.exchange_all() == 6, held.broken
    lab.holds(lambda: lab.gw.weights().get("10.2.0.11") == 0, 1.5, "weight 0 while flows live")
    lab.servers[0].close_connections()
    lab.wait(lambda: "10.2.0.11" not in lab.gw.weights(), 4 + lab.margin, "s1 is gone")
    lab.wait(lambda: drained(lab)["state"] == "finished", 1 + lab.margin, "it has ended")
    lab.holds(lambda: "10.2.0.11" not in lab.gw.weights(), 0.5, "it stays out")
    lab.gw.api.delete(DRAIN).expect(204)
    assert lab.gw.weights() == {"10.2.0.11": 100, "10.2.0.12": 100}
    lab.gw.api.get(DRAIN).expect(404)


@case
def one_edit_a_service_and_nothing_else(lab):
    lab.network(2, tcp=(80,))
    lab.start(two_listeners(lab))
    with lab.gw.capture() as seen:
        lab.gw.api.put(DRAIN + "?dry_run=true", WHY).expect(200)
        assert seen.changes(settle=0.2) == {}, seen.counts()
        plan = lab.gw.api.put(DRAIN + "?dry_run=true", WHY).json
        lab.gw.api.put(DRAIN, WHY).expect(201)
        first = seen.changes()
        assert first["SET_DEST"] == 2 and set(first) <= {"SET_DEST", "DEL_DEST"}, first
        assert plan["kernel_ops_total"] == 2, plan
        lab.wait(lambda: seen.changes() == {"SET_DEST": 2, "DEL_DEST": 2}, 3, "both are gone")
        seen.reset()
        lab.gw.api.delete(DRAIN).expect(204)
        assert seen.changes() == {"NEW_DEST": 2}, seen.changes()
        seen.reset()
        weight = {"weight": 7, "comment": "slow"}
        lab.gw.api.put("/server-groups/web/servers/s2/weight-override", weight).expect(201)
        assert seen.changes(settle=0.2) == {"SET_DEST": 2}, seen.changes()
    assert lab.gw.weights()["10.2.0.12"] == 7


@case
def deadlines_cut_and_let_live(lab):
    lab.network(2)
    lab.start(web(lab, on_unhealthy="quiesce"))
    traffic = lab.traffic(connections=6)
    mine = traffic.owners()["s1"]
    lab.gw.api.put(DRAIN, {"timeout_ms": 700, **WHY}).expect(201)
    lab.wait(lambda: drained(lab)["state"] == "finished", 0.7 + lab.margin, "time is over")
    assert drained(lab)["connections"] >= mine and "left" in drained(lab)["detail"]
    before = traffic.exchanges
    lab.wait(lambda: traffic.exchanges >= before + 30, 5, "flows live on")
    assert not traffic.broken and lab.gw.weights()["10.2.0.11"] == 0
    lab.gw.api.put(DRAIN, {"timeout_ms": 0, **WHY}).expect(200)
    assert "10.2.0.11" not in lab.gw.weights()
    lab.wait(lambda: len(traffic.broken) == mine, 12, "its flows are cut")
    lab.gw.api.delete(DRAIN).expect(204)
    lab.gw.api.patch("/server-groups/web", {"on_unhealthy": "terminate"}).expect(200)
    again = lab.traffic(connections=6)
    lab.gw.api.put(DRAIN, {"timeout_ms": 700, **WHY}).expect(201)
    lab.wait(lambda: "10.2.0.11" not in lab.gw.weights(), 0.7 + lab.margin, "s1 is gone")
    lab.wait(lambda: len(again.broken) == again.owners()["s1"], 6, "its flows are cut")


@case
def udp_is_cut_at_the_deadline(lab):
    lab.network(2, udp=(53,))
    lab.start(
        document(
            {"dns": group(lab.servers, protocol="udp", port=53, health_check=check(port=80))},
            {"shop": balancer({"dns": listener("dns", 53, "udp", "rr")})},
        )
    )
    assert lab.who(port=53, count=10, protocol="udp") == {"s1": 5, "s2": 5}
    start = time.monotonic()
    path = "/server-groups/dns/servers/s1/drain"
    lab.gw.api.put(path, {"timeout_ms": 1000, **WHY}).expect(201)
    assert lab.gw.weights("udp", VIP4, 53) == {"10.2.0.11": 0, "10.2.0.12": 100}
    lab.wait(
        lambda: lab.gw.weights("udp", VIP4, 53) == {"10.2.0.12": 100}, 1 + lab.margin, "s1 is gone"
    )
    assert time.monotonic() - start >= 0.9
    assert lab.who(port=53, count=10, protocol="udp") == {"s2": 10}


@case
def kill_9_in_the_middle(lab):
    lab.network(2)
    lab.start(web(lab))
    lab.gw.ipvsadm("--set", "0", "1", "0")
    held = lab.traffic(connections=6, pause=60)
    lab.gw.api.put(DRAIN, WHY).expect(201)
    weight = {"weight": 7, "comment": "slow"}
    lab.gw.api.put("/server-groups/web/servers/s2/weight-override", weight).expect(201)
    before = drained(lab)
    lab.gw.daemon.kill()
    with lab.gw.capture() as seen:
        lab.gw.daemon.start()
        after = drained(lab)
        assert (after["id"], after["deadline_at"][:17]) == (before["id"], before["deadline_at"][:17])
        lab.holds(
            lambda: lab.gw.weights() == {"10.2.0.11": 0, "10.2.0.12": 7}, 1.0, "still draining"
        )
        assert seen.changes() == {}, seen.changes()
    assert held.exchange_all() == 6, held.broken
    lab.servers[0].close_connections()
    lab.wait(lambda: "10.2.0.11" not in lab.gw.weights(), 4 + lab.margin, "s1 is gone")
    lab.wait(lambda: drained(lab)["state"] == "finished", 1 + lab.margin, "it has ended")
    lab.stored()
    lab.gw.daemon.kill()
    lab.gw.daemon.start()
    lab.holds(lambda: lab.gw.weights() == {"10.2.0.12": 7}, 0.5, "it stays out")
    assert drained(lab)["state"] == "finished"


def after_it_began(lab, path, action):
    """ACTION comes a while after the drain stands, however long the command takes until then."""

    def run():
        lab.wait(lambda: lab.gw.api.get(path).status == 200, 10, "the drain stands", pause=0.05)
        time.sleep(1.5)
        action()

    threading.Thread(target=run, daemon=True).start()


@case
def the_command_waits(lab):
    lab.network(2)
    lab.start(web(lab))
    lab.gw.ipvsadm("--set", "0", "1", "0")
    lab.traffic(connections=6, pause=60)
    after_it_began(lab, DRAIN, lab.servers[0].close_connections)
    done = lab.gw.cli("server", "drain", "web/s1", "--comment", "disk", "--wait")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert " connections left" in done.stdout and "finished" in done.stdout, done.stdout
    assert "10.2.0.11" not in lab.gw.weights()
    assert "web/s1, finished" in lab.gw.cli("override", "list").stdout
    path = "/load-balancers/shop/drain"
    after_it_began(lab, path, lambda: lab.gw.api.delete(path))
    done = lab.gw.cli("lb", "drain", "shop", "--comment", "move", "--wait")
    assert done.returncode == 1 and "cancelled" in done.stderr, (done.stdout, done.stderr)
    done = lab.gw.cli("server", "undrain", "web/s1")
    assert done.returncode == 0, done.stderr
    assert lab.gw.weights() == {"10.2.0.11": 100, "10.2.0.12": 100}


@case
def a_drained_zone_leaves_dns(lab):
    ask = ready(lab, cross_zone=False)
    path = "/server-groups/a/zones/zone-b/drain"
    plan = lab.gw.api.put(path + "?dry_run=true", WHY).expect(200).json
    assert NAME in [x["name"] for x in plan["dns_changes"]], plan
    assert ask.published(NAME) == BOTH
    lab.gw.api.put(path, WHY).expect(201)
    assert ask.published(NAME) == ONLY_A
    listed, = lab.gw.api.get("/overrides").json["items"]
    assert listed["object"] == "server_groups/a/zones/zone-b", listed
    lab.gw.api.delete(path).expect(204)
    assert ask.published(NAME) == BOTH
