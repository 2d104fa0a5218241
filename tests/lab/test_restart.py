# SPDX-License-Identifier: GPL-2.0-or-later
"""The daemon goes and comes back; the kernel's table and its flows do not notice."""

import re
import time

from zglab import VIP4, case
from zglab.documents import balancer, check, document, group, listener, web

LAB_SECONDS = 25


def rules(lab):
    return lab.gw.ipvsadm("-Sn")


def counters(lab):
    """{service or server: (connections, packets in)} of ipvsadm, exact."""
    found = {}
    for line in lab.gw.ipvsadm("-Ln", "--stats", "--exact").splitlines()[3:]:
        words = line.replace("->", "").split()
        numbers = [int(x) for x in words if re.fullmatch(r"\d+", x)]
        found[words[0] + (words[1] if words[0] in ("TCP", "UDP") else "")] = numbers[:2]
    return found


COUNTED = 2.0  # so often the kernel sums up what its processors have counted: ip_vs_est.c


def packets(lab):
    return counters(lab)[f"TCP{VIP4}:80"][1]


def two_services(lab):
    return document(
        {"web": group(lab.servers, weights=[100, 50, 100],
                      health_check=check(type="http", timeout_ms=2000))},
        {"shop": balancer({"http": listener(), "alt": listener(port=8080, scheduler="rr")})},
    )


def through(lab, leave):
    """LEAVE(daemon) ends it; all that must hold over an absence is checked."""
    lab.network(3)
    lab.start(two_services(lab))
    traffic = lab.traffic(connections=8, pause=0.02)
    lab.wait(lambda: packets(lab) > 0, COUNTED + lab.margin, "packets are counted", pause=0.1)
    before_rules, before = rules(lab), counters(lab)
    addresses = lab.gw.addresses()
    with lab.gw.capture() as capture:
        leave(lab.gw.daemon)
        time.sleep(0.3)
        assert rules(lab) == before_rules, "the table outlives the daemon"
        lab.gw.daemon.start()
        lab.holds(lambda: set(lab.gw.weights().values()) == {100, 50}, 1.0, "weights stay")
        assert capture.changes() == {}, capture.counts()
        assert capture.counts()["GET_SERVICE"] >= 1, "the table was read"
    assert rules(lab) == before_rules
    assert lab.gw.addresses() == addresses
    after = counters(lab)
    assert after.keys() == before.keys(), (before, after)
    for key, numbers in before.items():
        assert all(new >= old for old, new in zip(numbers, after[key])), (key, numbers, after[key])
    lab.wait(
        lambda: packets(lab) > before[f"TCP{VIP4}:80"][1], COUNTED + lab.margin, "they go on", pause=0.1,
    )
    traffic.stop()
    assert not traffic.broken and not traffic.refused, (traffic.broken, traffic.refused)
    assert traffic.exchanges > 100


@case
def sigterm(lab):
    through(lab, lambda daemon: daemon.stop())


@case
def kill_9(lab):
    through(lab, lambda daemon: daemon.kill())


@case
def a_weight_edited_meanwhile_is_mended(lab):
    lab.network(3)
    lab.start(two_services(lab))
    before = rules(lab)
    traffic = lab.traffic(connections=4)
    lab.gw.daemon.kill()
    lab.gw.ipvsadm("-e", "-t", f"{VIP4}:80", "-r", "10.2.0.12:80", "-m", "-w", "7")
    with lab.gw.capture() as capture:
        lab.gw.daemon.start()
        lab.wait(lambda: rules(lab) == before, 1 + lab.margin, "the weight is mended", pause=0.1)
        assert capture.changes() == {"SET_DEST": 1}, capture.changes()
    traffic.stop()
    assert not traffic.broken and not traffic.refused, (traffic.broken, traffic.refused)


@case
def states_outlive_a_restart(lab):
    """An unhealthy server does not come back with a restart, nor does it have to prove itself anew."""
    lab.network(2)
    lab.start(web(lab, health_check=check(interval_ms=300, healthy_threshold=3)))
    lab.servers[0].kill()
    lab.wait_weight(lab.servers[0], 0, 1 + lab.margin)
    lab.stored()
    with lab.gw.capture() as capture:
        lab.gw.daemon.kill()
        lab.gw.daemon.start()
        lab.holds(
            lambda: lab.gw.weights() == {"10.2.0.11": 0, "10.2.0.12": 100}, 1.5, "weights stay"
        )
        assert capture.changes() == {}, capture.changes()
    health = lab.gw.api.get("/server-groups/web/servers/s1/health").expect(200).json
    assert health["state"] == "unhealthy", health


@case
def an_answered_write_survives_kill_9(lab):
    lab.network(2)
    lab.start(web(lab))
    for weight in (11, 12, 13):
        lab.gw.api.patch("/server-groups/web/servers/s1", {"weight": weight}).expect(200)
        lab.gw.daemon.kill()
        lab.gw.daemon.start()
        server = lab.gw.api.get("/server-groups/web/servers/s1").expect(200).json
        assert server["weight"] == weight, server
        assert lab.gw.weights()["10.2.0.11"] == weight


@case
def a_server_that_died_meanwhile_is_found(lab):
    lab.network(2)
    lab.start(web(lab))
    lab.gw.daemon.stop()
    lab.servers[0].kill()
    lab.gw.daemon.start()
    lab.wait_weight(lab.servers[0], 0, 1 + lab.margin)
    assert lab.who(count=10) == {"s2": 10}


@case
def on_stop_flush_removes_its_own(lab):
    lab.network(2)
    lab.start(web(lab), kernel={"on_stop": "flush"})
    lab.gw.ipvsadm("-A", "-t", "192.0.2.99:80", "-s", "rr")
    assert lab.gw.daemon.stop() == 0
    assert sorted(lab.gw.table()) == [("TCP", "192.0.2.99", 80)], lab.gw.table()
    assert lab.gw.addresses() == []


@case
def says_what_the_service_manager_wants(lab):
    lab.network(1)
    lab.gw.daemon.environment["WATCHDOG_USEC"] = "600000"
    lab.gw.daemon.start()
    told = []

    def often():
        told.extend(lab.gw.daemon.notifications())
        return told.count("WATCHDOG=1") >= 3

    lab.wait(often, 1.2, "the watchdog is told three times")
    assert lab.gw.daemon.stop() == 0
    assert "STOPPING=1" in lab.gw.daemon.notifications()
