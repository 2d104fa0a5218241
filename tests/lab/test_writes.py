# SPDX-License-Identifier: GPL-2.0-or-later
"""What a write does to the kernel: exactly what it must, counted from outside."""

import threading

from zglab import VIP4, case
from zglab.documents import balancer, check, document, group, listener, web
from zglab.filters import metric

LAB_SECONDS = 13


def shared_group(lab):
    """Group `web` stands in two virtual services, `other` in one."""
    return document(
        {"web": group(lab.servers[:2]), "other": group(lab.servers[2:])},
        {
            "shop": balancer({"http": listener(), "alt": listener(port=8080)}),
            "blog": balancer({"http": listener("other")}, vip4="192.0.2.20"),
        },
    )


@case
def a_weight_is_one_message_a_service(lab):
    lab.network(3)
    lab.start(shared_group(lab))
    with lab.gw.capture() as capture:
        lab.gw.api.patch("/server-groups/web/servers/s1", {"weight": 37}).expect(200)
        # the answer means: it is in the kernel
        assert lab.gw.weights()["10.2.0.11"] == 37
        assert lab.gw.weights(port=8080)["10.2.0.11"] == 37
        assert capture.changes(0.1) == {"SET_DEST": 2}, capture.changes()
        capture.reset()
        lab.gw.api.patch("/server-groups/other/servers/s3", {"weight": 1}).expect(200)
        assert capture.changes(0.1) == {"SET_DEST": 1}, capture.changes()


def configured(value):
    """Without `status`, which is observed and changes by itself."""
    if isinstance(value, dict):
        return {name: configured(x) for name, x in value.items() if name != "status"}
    return value


@case
def put_of_a_get_sends_none(lab):
    lab.network(3)
    lab.start(shared_group(lab))
    api = lab.gw.api
    with lab.gw.capture() as capture:
        for path in (
            "/zones/zone-a", "/server-groups/web", "/server-groups/web/servers/s1",
            "/load-balancers/shop", "/load-balancers/shop/zones/zone-a",
            "/load-balancers/shop/listeners/http", "/settings",
        ):
            had = api.get(path).expect(200)
            api.put(path, had.json).expect(200)
            now = api.get(path).expect(200)
            assert configured(now.json) == configured(had.json), (path, had.json, now.json)
            assert now.etag == had.etag, path
        configuration = api.get("/config").expect(200)
        api.put("/config", configuration.json, {"If-Match": configuration.etag}).expect(200)
        now = api.get("/config").expect(200)
        assert configured(now.json) == configured(configuration.json), now.json
        assert now.etag == configuration.etag
        assert capture.changes(0.1) == {}, capture.changes()


@case
def a_new_server_is_one_message_and_enters_with_weight_zero(lab):
    lab.network(3)
    lab.start(web(lab, health_check={"type": "tcp", "interval_ms": 1000, "healthy_threshold": 3}))
    lab.gw.api.delete("/server-groups/web/servers/s3").expect(202, 204)
    lab.wait(lambda: "10.2.0.13" not in lab.gw.weights(), 3 + lab.margin, "s3 is gone")
    with lab.gw.capture() as capture:
        lab.gw.api.put(
            "/server-groups/web/servers/s3", {"address": "10.2.0.13", "port": 80}
        ).expect(201)
        assert lab.gw.weights()["10.2.0.13"] == 0
        assert capture.changes(0.1) == {"NEW_DEST": 1}, capture.changes()
        lab.wait_weight(lab.servers[2], 100, 3 + lab.margin)
        assert capture.changes(0.1) == {"NEW_DEST": 1, "SET_DEST": 1}, capture.changes()


@case
def a_scheduler_is_edited_in_place(lab):
    lab.network(2)
    lab.start(web(lab))
    traffic = lab.traffic(connections=4)
    with lab.gw.capture() as capture:
        lab.gw.api.patch(
            "/load-balancers/shop/listeners/http", {"scheduler": "rr"}
        ).expect(200)
        assert lab.gw.service("tcp", VIP4, 80).scheduler == "rr"
        assert capture.changes(0.1) == {"SET_SERVICE": 1}, capture.changes()
    traffic.stop()
    assert not traffic.broken and not traffic.refused, (traffic.broken, traffic.refused)


@case
def five_faults_give_five_pointers(lab):
    lab.network(2)
    lab.start(web(lab))
    before = lab.gw.api.get("/config").expect(200)
    bad = web(lab)
    bad["server_groups"]["web"]["servers"]["s1"]["weight"] = 70000
    bad["server_groups"]["web"]["servers"]["s2"]["address"] = "10.2.0.012"
    bad["server_groups"]["web"]["health_check"] = {"type": "tcp", "interval_ms": 5}
    bad["load_balancers"]["shop"]["listeners"]["http"]["server_group"] = "absent"
    bad["load_balancers"]["shop"]["zones"]["zone-a"]["colour"] = "red"
    with lab.gw.capture() as capture:
        answer = lab.gw.api.put("/config", bad, {"If-Match": before.etag}).expect(400, 422)
        assert answer.headers["Content-Type"].startswith("application/problem+json")
        assert answer.pointers() == [
            "/load_balancers/shop/listeners/http/server_group",
            "/load_balancers/shop/zones/zone-a/colour",
            "/server_groups/web/health_check/interval_ms",
            "/server_groups/web/servers/s1/weight",
            "/server_groups/web/servers/s2/address",
        ], answer.body
        assert capture.changes(0.1) == {}, capture.changes()
    after = lab.gw.api.get("/config").expect(200)
    assert after.etag == before.etag
    assert configured(after.json) == configured(before.json)


@case
def of_two_writers_one_wins(lab):
    lab.network(2)
    lab.start(web(lab))
    for turn in range(5):
        etag = lab.gw.api.get("/config").expect(200).etag
        answers = {}

        def write(weight):
            body = web(lab, weights=[weight, 100])
            answers[weight] = lab.gw.api.put("/config", body, {"If-Match": etag})

        pair = (10 + turn, 60 + turn)
        writers = [threading.Thread(target=write, args=(w,)) for w in pair]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert sorted(x.status for x in answers.values()) == [200, 412], answers
        winner = next(w for w, x in answers.items() if x.status == 200)
        assert lab.gw.weights()["10.2.0.11"] == winner


@case
def an_object_with_a_stale_etag_is_refused(lab):
    lab.network(2)
    lab.start(web(lab))
    path = "/server-groups/web/servers/s1"
    had = lab.gw.api.get(path).expect(200)
    lab.gw.api.patch(path, {"weight": 5}, {"If-Match": had.etag}).expect(200)
    lab.gw.api.patch(path, {"weight": 6}, {"If-Match": had.etag}).expect(412)
    assert lab.gw.weights()["10.2.0.11"] == 5


@case
def what_is_in_use_is_not_deleted(lab):
    lab.network(2)
    lab.start(web(lab))
    answer = lab.gw.api.delete("/server-groups/web").expect(409, 422)
    assert b"shop" in answer.body, answer.body
    lab.gw.api.delete("/zones/zone-a").expect(409, 422)
    lab.gw.api.delete("/load-balancers/shop").expect(200, 202, 204)
    lab.gw.api.delete("/server-groups/web").expect(200, 204)
    assert lab.gw.table() == {}


@case
def what_the_kernel_refuses_is_a_warning(lab):
    """Committed, but this kernel has no scheduler of the name."""
    lab.network(2)
    lab.start(web(lab))
    path = "/load-balancers/shop/listeners/http"
    answer = lab.gw.api.patch(path, {"scheduler": "twos"}).expect(200)
    warnings = answer.json["warnings"]
    assert [x["code"] for x in warnings] == ["kernel_apply_failed"], warnings
    assert "twos" in warnings[0]["detail"], warnings
    assert lab.gw.service("tcp", VIP4, 80).scheduler == "wrr"
    assert lab.who(count=10) == {"s1": 5, "s2": 5}, "what was there goes on"
    # Tried after 0, 1 and 2 s more: the next try is 4 s away when a change mends it.
    failed = 'zonegate_kernel_ops_total{subsystem="ipvs",op="edit_service",result="failed"}'
    lab.wait(lambda: metric(lab, failed) >= 4, 4 + lab.margin, "the pauses have grown", pause=0.05)
    assert lab.gw.api.get("/system").json["state"] == "degraded"
    answer = lab.gw.api.patch(path, {"scheduler": "rr"}).expect(200)
    lab.wait(lambda: lab.gw.api.get("/system").json["state"] == "ok", 1 + lab.margin, "in order at once", pause=0.05)
    assert not answer.json.get("warnings"), answer.body
    assert lab.gw.service("tcp", VIP4, 80).scheduler == "rr"


@case
def what_could_not_be_made_is_missing(lab):
    """A slip in the scheduler, then another port: no look at the kernel says that all is well, until it is."""
    lab.network(2)
    lab.start(web(lab))
    path = "/load-balancers/shop/listeners/http"
    told = lab.gw.api.call("PATCH", f"{path}?dry_run=true", {"scheduler": "wrrr"}).expect(200).json["warnings"]
    assert ['did you mean "wrr"?' in x["detail"] for x in told] == [True], told
    warnings = lab.gw.api.patch(path, {"scheduler": "wrrr", "port": 8050}).expect(200).json["warnings"]
    assert len(warnings) == 1 and 'did you mean "wrr"?' in warnings[0]["detail"], warnings
    drift = lab.gw.api.get("/kernel/drift").expect(200).json
    lacking = {x["service"]: x["missing"] for x in drift["not_in_force"]}
    assert not drift["in_sync"] and lacking[f"tcp {VIP4}:8050"], drift
    assert lab.who(count=10) == {"s1": 5, "s2": 5}, "the port before serves until the new one is there"
    refused = lab.gw.cli("kernel", "reconcile")
    assert refused.returncode == 1 and "is missing: Linux has no scheduler" in refused.stdout, refused
    shown = lab.gw.cli("kernel", "show").stdout
    assert f"tcp {VIP4}:8050 (shop/" in shown and "until a load balancer has a listener" not in shown, shown
    lab.gw.api.patch(path, {"scheduler": "wrr"}).expect(200)
    lab.wait(lambda: list(lab.gw.table()) == [("TCP", VIP4, 8050)], 5, "only the new one is there")
    drift = lab.gw.api.get("/kernel/drift").expect(200).json
    assert drift["in_sync"] and drift["not_in_force"] == [], drift


@case
def a_write_that_mends_is_answered_as_that(lab):
    """Back to where the stand-in serves: what failed there before is none of this write."""
    lab.network(2)
    lab.start(web(lab))
    path = "/load-balancers/shop/listeners/http"
    assert lab.gw.api.patch(path, {"scheduler": "wrrr"}).expect(200).json["warnings"]
    assert lab.gw.api.patch(path, {"port": 8050}).expect(200).json["warnings"]
    failed = 'zonegate_kernel_ops_total{subsystem="ipvs",op="edit_service",result="failed"}'
    lab.wait(lambda: metric(lab, failed) >= 4, 10 + lab.margin, "the pauses have grown", pause=0.05)
    answer = lab.gw.api.patch(path, {"scheduler": "wrr", "port": 80}).expect(200)
    assert not answer.json.get("warnings"), answer.body
    lab.wait(lambda: lab.gw.api.get("/system").json["state"] == "ok", 1 + lab.margin, "in order at once", pause=0.05)
    assert list(lab.gw.table()) == [("TCP", VIP4, 80)]


@case
def a_dry_run_changes_nothing(lab):
    lab.network(2)
    lab.start(web(lab))
    before = lab.gw.api.get("/config").expect(200)
    with lab.gw.capture() as capture:
        answer = lab.gw.api.call(
            "PATCH", "/server-groups/web/servers/s1?dry_run=true", {"weight": 3}
        ).expect(200)
        assert "SET_DEST" in str(answer.json["kernel_ops"]), answer.body
        assert capture.changes(0.1) == {}, capture.changes()
    assert lab.gw.api.get("/config").etag == before.etag
    assert lab.gw.weights()["10.2.0.11"] == 100


@case
def sctp_is_programmed(lab):
    lab.network(2)
    lab.start(
        document(
            {"sig": group(lab.servers, protocol="sctp", port=2905, health_check=check(port=80))},
            {"shop": balancer({"sig": listener("sig", 2905, "sctp", "rr")})},
        )
    )
    service = lab.gw.service("sctp", VIP4, 2905)
    assert service.weights() == {"10.2.0.11": 100, "10.2.0.12": 100}
