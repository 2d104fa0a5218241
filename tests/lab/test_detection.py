# SPDX-License-Identifier: GPL-2.0-or-later
"""A dead server gets weight 0 within its window, and not before.

The settings are chosen so that a daemon without fast retry, or with one
failure more or less, falls out of the window plus the lab's margin.
"""

import time

from zglab import case
from zglab.documents import check, web

LAB_SECONDS = 30


def detect(lab, fail, not_before, not_after, **members):
    """FAIL(server) takes s1 away; checks when its weight fell to 0."""
    lab.network(2)
    lab.start(web(lab, health_check=check(unhealthy_threshold=3, **members)))
    began = time.monotonic()
    fail(lab.servers[0])
    lab.wait_weight(lab.servers[0], 0, not_after + lab.margin)
    seconds = time.monotonic() - began
    assert seconds >= not_before - 0.05, f"weight 0 after {seconds:.2f} s, before {not_before}"
    assert lab.gw.weights()[lab.servers[1].address4] == 100
    assert lab.who(count=10) == {"s2": 10}


@case
def killed_tcp(lab):
    detect(
        lab, lambda server: server.kill(), 0.4, 1.5 + 0.4,
        type="tcp", interval_ms=1500, timeout_ms=1000,
    )


@case
def killed_http(lab):
    detect(
        lab, lambda server: server.kill(), 0.4, 1.5 + 0.4,
        type="http", interval_ms=1500, timeout_ms=1000,
    )


@case
def killed_without_fast_retry(lab):
    detect(
        lab, lambda server: server.kill(), 1.6, 2.4,
        type="tcp", interval_ms=800, timeout_ms=500, fast_retry=False,
    )


@case
def blackholed_tcp(lab):
    detect(
        lab, lambda server: server.blackhole(), 1.4, 1.2 + 2.1,
        type="tcp", interval_ms=1200, timeout_ms=700,
    )


@case
def blackholed_http(lab):
    detect(
        lab, lambda server: server.blackhole(), 1.4, 1.2 + 2.1,
        type="http", interval_ms=1200, timeout_ms=700,
    )


@case
def accepts_but_never_answers(lab):
    def hang(server):
        server.silent = True

    lab.network(2)
    lab.start(
        web(lab, health_check=check(
            type="http", interval_ms=500, timeout_ms=400, unhealthy_threshold=2))
    )
    hang(lab.servers[0])
    seconds = lab.wait_weight(lab.servers[0], 0, 0.5 + 0.8 + lab.margin)
    assert seconds >= 0.4 - 0.05, seconds
    health = lab.gw.api.get("/server-groups/web/servers/s1/health").expect(200).json
    assert health["state"] == "unhealthy" and health["reason_code"] == "recv_timeout", health


@case
def blackholed_without_fast_retry(lab):
    detect(
        lab, lambda server: server.blackhole(), 1.6, 0.8 + 1.6 + 0.4,
        type="tcp", interval_ms=800, timeout_ms=400, fast_retry=False,
    )


@case
def wrong_status(lab):
    def break_it(server):
        server.http_status = 503

    lab.network(2)
    lab.start(web(lab, health_check=check(type="http", unhealthy_threshold=3)))
    break_it(lab.servers[0])
    lab.wait_weight(lab.servers[0], 0, 0.1 + 0.2 + lab.margin)
    health = lab.gw.api.get("/server-groups/web/servers/s1/health").expect(200).json
    assert health["state"] == "unhealthy", health
    assert health["reason_code"] == "http_status_mismatch", health
    assert "503" in str(health), health


@case
def fails_every_other_probe(lab):
    """What is never out by failures in a row: advice says so when it is configured, and a window takes it out."""
    lab.network(2)
    rare = check(
        type="http", interval_ms=50000, timeout_ms=5000, healthy_threshold=1, unhealthy_threshold=3,
    )
    lab.start(web(lab, health_check=rare))
    advice = {a["code"]: a for a in lab.gw.api.get("/server-groups/web/health").expect(200).json["advice"]}
    assert advice["intermittent_failure_unseen"]["pointer"].endswith("health_check/window"), advice
    lab.servers[0].next_statuses = [200, 503] * 500
    quick = {"interval_ms": 100, "timeout_ms": 80}
    lab.gw.api.patch("/server-groups/web", {"health_check": quick}).expect(200)
    seen = lab.servers[0].health_checks
    lab.wait(lambda: lab.servers[0].health_checks >= seen + 10, 3 + lab.margin, "ten probes")
    lab.holds(lambda: lab.gw.weights()[lab.servers[0].address4] == 100, 1.0, "without a window it stays")
    lab.gw.api.patch(
        "/server-groups/web", {"health_check": {"window": {"failures": 5, "of": 10}}}
    ).expect(200)
    lab.wait_weight(lab.servers[0], 0, 1 + lab.margin)
    found = lab.gw.api.get("/server-groups/web/servers/s1/health").expect(200).json
    assert found["reason_code"] == "failing_intermittently", found
    assert "5 of the last 10 probes failed" in found["detail"], found
    assert lab.gw.weights()[lab.servers[1].address4] == 100


@case
def established_flows_live_on(lab):
    """quiesce: a listener that dies takes no established connection with it."""
    lab.network(2)
    lab.start(web(lab))
    traffic = lab.traffic(connections=4)
    lab.servers[0].kill_listeners()
    lab.wait_weight(lab.servers[0], 0, 0.5 + lab.margin)
    before = traffic.exchanges
    lab.wait(lambda: traffic.exchanges >= before + 20, 5, "twenty more exchanges")
    assert not traffic.broken, traffic.broken
