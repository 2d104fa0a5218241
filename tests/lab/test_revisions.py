# SPDX-License-Identifier: GPL-2.0-or-later
"""History: going back under traffic, changes that undo themselves, plans that are kept, many writers at once."""

import collections
import random
import threading
import time

from zglab import case
from zglab.dns import Resolver
from zglab.documents import balancer, document, group, listener, web
from zglab.ipvs import COMMANDS
from zglab.zones import APEX, dns_settings

LAB_SECONDS = 70
RANDOM_DOCUMENTS = 100
UNPROBED = {"enabled": False}


def post(lab, path, body=None, **headers):
    return lab.gw.api.call("POST", path, body, {k.replace("_", "-"): v for k, v in headers.items()})


def rollback(lab, revision, **members):
    etag = lab.gw.api.get("/config").expect(200).etag
    return post(lab, f"/config/revisions/{revision}/rollback",
                {"comment": "lab", **members}, If_Match=etag)


@case
def going_back_breaks_no_connection(lab):
    lab.network(3)
    lab.start(web(lab))
    traffic = lab.traffic(connections=8, pause=0.02)
    had = lab.gw.api.get("/config?view=config").json
    lab.gw.api.patch("/server-groups/web/servers/s1", {"weight": 7}).expect(200)
    lab.gw.api.patch("/server-groups/web", {"drain_timeout_ms": 1000}).expect(200)
    lab.gw.api.put("/zones/zone-b", {}).expect(201)
    with lab.gw.capture() as capture:
        answer = rollback(lab, 1).expect(200).json
        assert answer["changed"] and answer["revision"] == 5, answer
        assert lab.gw.weights()["10.2.0.11"] == 100
        assert capture.changes(0.1) == {"SET_DEST": 1}, capture.changes()
    assert lab.gw.api.get("/config?view=config").json == had
    diff = lab.gw.api.get("/config/revisions/1/diff").expect(200).json
    assert diff["diff"] == [] and diff["to"] == 5, diff
    newest = lab.gw.api.get("/config/revisions?limit=1").json["items"][0]
    assert newest["comment"] == "lab" and newest["who"] == "root", newest
    time.sleep(0.3)
    traffic.stop()
    assert not traffic.broken and not traffic.refused, (traffic.broken, traffic.refused)
    assert traffic.exchanges > 50


def weigh(lab, weight, seconds):
    lab.gw.api.patch(f"/server-groups/web/servers/s1?confirm_within_s={seconds}",
                     {"weight": weight}).expect(200)
    assert lab.gw.weights()["10.2.0.11"] == weight


@case
def what_is_not_confirmed_undoes_itself_after_a_crash_too(lab):
    lab.network(2)
    lab.start(web(lab))
    traffic = lab.traffic(connections=4, pause=0.02)
    weigh(lab, 7, 5)
    started = time.monotonic()
    lab.gw.api.put("/zones/zone-b", {}).expect(409)
    lab.gw.daemon.kill()
    lab.gw.daemon.start()
    pending = lab.gw.api.get("/config/confirm").expect(200).json["pending"]
    assert pending["revision"] == 2 and pending["left_s"] <= 5, pending
    assert lab.gw.weights()["10.2.0.11"] == 7
    lab.wait(lambda: lab.gw.weights()["10.2.0.11"] == 100, 5 + lab.margin, "it was undone")
    assert time.monotonic() - started > 4.5, "not before its time"
    # Its time runs out while nobody runs: the table is adopted, then only what differs is changed.
    weigh(lab, 7, 1)
    lab.gw.daemon.kill()
    time.sleep(1.5)
    assert lab.gw.weights()["10.2.0.11"] == 7
    with lab.gw.capture() as capture:
        lab.gw.daemon.start()
        lab.wait(lambda: lab.gw.weights()["10.2.0.11"] == 100, 2 + lab.margin, "undone at the start")
        assert capture.changes(0.1) == {"SET_DEST": 1}, capture.changes()
    made = [x["who"] for x in lab.gw.api.get("/config/revisions").json["items"]]
    assert made == ["confirm timer", "root", "confirm timer", "root", "root"], made
    # Confirmed, it stays.
    weigh(lab, 9, 1)
    post(lab, "/config/confirm").expect(200)
    time.sleep(1.5)
    assert lab.gw.weights()["10.2.0.11"] == 9
    post(lab, "/config/confirm").expect(409)
    traffic.stop()
    assert not traffic.broken and not traffic.refused, (traffic.broken, traffic.refused)


def timeouts(lab):
    text = lab.gw.ipvsadm("-Ln", "--timeout")
    return [int(x) for x in text.split(":")[1].split()]


@case
def timeouts_are_set_mended_and_put_back(lab):
    lab.network(2)
    before = timeouts(lab)
    lab.start(web(lab), kernel={"audit_interval_s": 1})
    assert timeouts(lab) == before, "what is not set is left alone"
    with lab.gw.capture() as capture:
        lab.gw.api.patch("/settings", {"timeouts": {"udp_s": 60}}).expect(200)
        assert timeouts(lab) == [before[0], before[1], 60]
        assert capture.changes(0.1) == {"SET_CONFIG": 1}, capture.changes()
    lab.gw.ipvsadm("--set", "0", "0", "77")
    mended = post(lab, "/kernel/reconcile").expect(200).json
    assert timeouts(lab) == [before[0], before[1], 60], mended
    lab.gw.daemon.kill()
    lab.gw.daemon.start()
    rollback(lab, 1).expect(200)
    assert timeouts(lab) == before


@case
def what_is_read_can_be_sent_back(lab):
    """GET, then PUT of the same body: no revision and no operation of the kernel, for every object."""
    lab.network(3)
    lab.start(web(lab))
    post(lab, "/config/validate", lab.gw.api.get("/config?view=config").json).expect(200)
    lab.gw.api.patch("/settings", {"timeouts": {"udp_s": 60}}).expect(200)
    balancers = lab.gw.api.get("/load-balancers").json["items"]
    paths = ["/settings"] + [f"/zones/{z['name']}" for z in lab.gw.api.get("/zones").json["items"]]
    for one in balancers:
        path = f"/load-balancers/{one['name']}"
        paths += [path, *(f"{path}/{kind}/{name}" for kind in ("zones", "listeners") for name in one[kind])]
    for one in lab.gw.api.get("/server-groups").json["items"]:
        path = f"/server-groups/{one['name']}"
        paths += [path, f"{path}/servers", *(f"{path}/servers/{name}" for name in one["servers"])]
    assert len(paths) >= 8, paths
    before = lab.gw.api.get("/config").etag
    with lab.gw.capture() as capture:
        for path in paths:
            for query in ("", "?view=config"):
                lab.gw.api.put(path, lab.gw.api.get(path + query).expect(200).json).expect(200)
        for query in ("", "?view=config"):
            lab.gw.api.put("/config", lab.gw.api.get("/config" + query).json, {"If-Match": before}).expect(200)
        assert capture.changes(0.1) == {}, capture.changes()
    assert lab.gw.api.get("/config").etag == before


@case
def fifty_writers_at_once(lab):
    lab.network(2)
    servers = {f"w{n}": {"address": f"10.2.1.{n + 1}", "port": 80, "weight": 1} for n in range(50)}
    lab.start()
    lab.gw.api.apply(document(
        {"web": {"protocol": "tcp", "health_check": UNPROBED, "servers": servers}},
        {"shop": balancer({"http": listener()})},
    ))
    answers = collections.Counter()

    def write(name, weight):
        answer = lab.gw.api.patch(f"/server-groups/web/servers/{name}", {"weight": weight})
        answers[answer.status] += 1

    threads = [threading.Thread(target=write, args=(f"w{n}", n + 2)) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {200: 50}, answers
    assert sorted(lab.gw.weights().values()) == list(range(2, 52))
    items = lab.gw.api.get("/config/revisions?limit=100").json["items"]
    assert [x["revision"] for x in items] == list(range(51, 0, -1)), items


# ---- what a plan lists is what the apply then does ----


def random_group(dice, lab):
    servers = {
        s.name: {"address": s.address4, "port": dice.choice((80, 81)), "weight": dice.randint(0, 3)}
        for s in lab.servers if dice.random() < 0.7
    }
    return {
        "protocol": "tcp", "health_check": UNPROBED, "drain_timeout_ms": 0, "servers": servers,
    }


def random_balancer(dice, number, groups):
    listeners = {
        name: listener(dice.choice(groups), port=port, scheduler=dice.choice(("wrr", "rr", "lc")),
                       persistence_s=dice.choice((0, 0, 60)))
        for name, port in (("one", 80), ("two", 8080)) if dice.random() < 0.7
    }
    lb = balancer(listeners, vip4=f"192.0.2.{10 + number}", dns_name=f"lb{number}.{APEX}",
                  dns_ttl_s=dice.choice((60, 30)),
                  vip_probe={"interval_ms": 500, "timeout_ms": 450, "healthy_threshold": 2,
                             "unhealthy_threshold": 20})
    if dice.random() < 0.5:
        lb["zones"]["zone-b"] = {"vip4": f"192.0.2.{20 + number}",
                                 "enabled": dice.random() < 0.8}
    return lb


def random_document(dice, lab):
    groups = {name: random_group(dice, lab) for name in ("a", "b") if dice.random() < 0.9}
    groups.setdefault("a", group([]))
    lbs = {f"lb{n}": random_balancer(dice, n, sorted(groups)) for n in range(3)
           if dice.random() < 0.8}
    made = document(groups, lbs, zones=("zone-a", "zone-b"))
    if dice.random() < 0.5:
        made["settings"] = {"timeouts": {"udp_s": dice.choice((60, 70))}}
    return made


NAMES = [f"{zone}lb{n}.{APEX}" for n in range(3) for zone in ("", "zone-a.", "zone-b.")]


def asked(resolver):
    """{name: (addresses, TTL)} of all names that have an address."""
    found = {}
    for name in NAMES:
        reply = resolver.ask(name)
        if reply.answers:
            found[name] = frozenset(reply.addresses()), reply.answers[0].ttl
    return found


def planned(before, plan):
    """What DNS shall answer."""
    found = dict(before)
    for change in plan["dns_changes"]:
        if change["type"] != "A":
            continue
        had = before.get(change["name"], (frozenset(), None))[0]
        assert had == set(change["before"]), (change, had)
        found.pop(change["name"], None)
        if change["after"]:
            found[change["name"]] = frozenset(change["after"]), change["ttl_after_s"]
    return found


def verdicts_of(lab):
    """How many verdicts there were of VIPs and servers, as the daemon logs them."""
    log = lab.gw.daemon.log()
    return log.count("zone.vip_changed") + log.count("server.health_changed")


@case
def a_plan_is_what_is_done(lab):
    dice = random.Random(7)
    lab.network(3)
    lab.start(dns=dns_settings("10.1.0.1"))
    resolver = Resolver(lab.client, "10.1.0.1")
    operations, names, judged = 0, 0, 0
    with lab.gw.capture() as capture:
        for number in range(RANDOM_DOCUMENTS):
            wanted = random_document(dice, lab)
            verdicts, before = verdicts_of(lab), asked(resolver)
            plan = post(lab, "/config/plan", wanted).expect(200).json
            assert capture.changes() == {}, "a plan changes nothing"
            lab.gw.api.apply(wanted)
            after = asked(resolver)
            words = [x.split()[0] for x in plan["kernel_ops"]]
            told = collections.Counter(x for x in words if x in COMMANDS.values())
            done = capture.changes(0.02)
            assert done == told, (number, done, plan["kernel_ops"])
            # A verdict that came meanwhile is in the answers, and the plan could not know it.
            if verdicts_of(lab) == verdicts:
                assert after == planned(before, plan), (number, before, after, plan["dns_changes"])
                judged += 1
            operations += sum(done.values())
            names += len(plan["dns_changes"])
            if number % 5 == 0:
                time.sleep(1.2)  # until VIPs that are new have their verdict
            assert capture.changes() == done, "nothing follows by itself"
            capture.reset()
            again = post(lab, "/config/plan", wanted).expect(200).json
            assert not again["diff"] and not again["kernel_ops"] and not again["dns_changes"], again
    assert operations > 300 and names > 50, (operations, names)
    assert judged > RANDOM_DOCUMENTS // 3, judged
