# SPDX-License-Identifier: GPL-2.0-or-later
"""A server that recovers comes back within H·I, and not before it was seen H times."""

import time

from zglab import case
from zglab.documents import check, web

LAB_SECONDS = 20


def recover(lab, fail, mend, **members):
    settings = dict(interval_ms=800, timeout_ms=300, healthy_threshold=3, unhealthy_threshold=1)
    lab.network(2)
    lab.start()
    lab.gw.api.apply(web(lab, health_check=check(**settings, **members)))
    lab.wait_in_service(0.8 * 4)
    fail(lab.servers[0])
    lab.wait_weight(lab.servers[0], 0, 0.8 + 0.3 + lab.margin)
    began = time.monotonic()
    mend(lab.servers[0])
    lab.wait_weight(lab.servers[0], 100, 0.8 + 1.6 + lab.margin)
    seconds = time.monotonic() - began
    # (H−1)·I − T: a probe in flight may have been the first to pass
    assert seconds >= 1.3 - 0.05, f"back after {seconds:.2f} s"
    answers = lab.who(count=20)
    assert answers["s1"] and answers["s1"] + answers["s2"] == 20, answers


@case
def after_a_restart_tcp(lab):
    recover(lab, lambda server: server.kill(), lambda server: server.start(), type="tcp")


@case
def after_a_restart_http(lab):
    recover(lab, lambda server: server.kill(), lambda server: server.start(), type="http")


@case
def after_a_blackhole(lab):
    recover(lab, lambda server: server.blackhole(), lambda server: server.revive(), type="tcp")


@case
def one_failure_between_starts_again(lab):
    """Two passes and a failure are no recovery."""
    lab.network(2)
    lab.start(
        web(lab, health_check=check(
            type="http", interval_ms=400, healthy_threshold=3, unhealthy_threshold=1))
    )
    server = lab.servers[0]
    server.http_status = 500
    lab.wait_weight(server, 0, 1 + lab.margin)
    server.next_statuses = [200, 200, 500, 200, 200, 200]
    server.http_status = 200
    lab.wait_weight(server, 100, 6 * 0.4 + 2 + lab.margin)
    assert not server.next_statuses, f"back before {server.next_statuses} were answered"


@case
def a_stall_of_ours_fails_no_server(lab):
    lab.network(3)
    lab.start(web(lab, health_check=check(interval_ms=200, timeout_ms=150, unhealthy_threshold=1)))
    for _ in range(3):
        lab.gw.daemon.pause()
        time.sleep(0.7)
        lab.gw.daemon.resume()
        lab.holds(lambda: set(lab.gw.weights().values()) == {100}, 0.5, "all weights stay")
    log = lab.gw.daemon.log()
    assert "unhealthy" not in log.replace("unhealthy_threshold", ""), "a server was failed"
