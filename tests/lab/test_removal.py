# SPDX-License-Identifier: GPL-2.0-or-later
"""A removed server drains: weight 0 at once, gone when its flows are, or at the deadline."""

import threading
import time

from zglab import VIP4, case
from zglab.documents import balancer, check, document, group, listener, web

LAB_SECONDS = 20


@case
def without_flows_it_goes_soon(lab):
    lab.network(2)
    lab.start(web(lab))
    lab.gw.api.delete("/server-groups/web/servers/s1").expect(202, 204)
    lab.wait(lambda: lab.gw.weights() == {"10.2.0.12": 100}, 2 + lab.margin, "s1 is gone")
    lab.gw.api.get("/server-groups/web/servers/s1").expect(404)


@case
def with_flows_it_waits_for_them(lab):
    lab.network(2)
    lab.start(web(lab))
    lab.gw.ipvsadm("--set", "0", "1", "0")  # FIN_WAIT lasts one second instead of two minutes
    held = lab.traffic(connections=6, pause=60)  # only held: each close leaves a TIME_WAIT
    mine = held.owners()["s1"]
    answer = lab.gw.api.delete("/server-groups/web/servers/s1").expect(202)
    assert b"10.2.0.11:80" in answer.body, answer.body
    assert lab.gw.weights() == {"10.2.0.11": 0, "10.2.0.12": 100}
    lab.holds(lambda: lab.gw.weights().get("10.2.0.11") == 0, 1.5, "weight 0 while flows live")
    assert lab.who(count=10) == {"s2": 10}
    assert held.exchange_all() == 6, held.broken
    assert mine and lab.gw.service("tcp", VIP4, 80).destinations["10.2.0.11", 80].active == mine
    lab.servers[0].close_connections()
    lab.wait(lambda: "10.2.0.11" not in lab.gw.weights(), 4 + lab.margin, "s1 is gone")


def close_after_it_began(lab):
    """The connections end a while after the drain began, however long the command takes until then."""
    lab.wait(lambda: lab.gw.weights().get("10.2.0.11") == 0, 10, "the drain began")
    time.sleep(1.5)
    lab.servers[0].close_connections()


@case
def the_command_waits_for_them(lab):
    lab.network(2)
    lab.start(web(lab))
    lab.gw.ipvsadm("--set", "0", "1", "0")
    lab.traffic(connections=6, pause=60)
    threading.Thread(target=close_after_it_began, args=(lab,), daemon=True).start()
    start = time.monotonic()
    done = lab.gw.cli("server", "delete", "web/s1", "--wait")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "may finish: web/s1" in done.stdout and "connections left" in done.stderr, done
    assert time.monotonic() - start >= 1.4 and "10.2.0.11" not in lab.gw.weights()


@case
def at_the_deadline_terminate_cuts(lab):
    lab.network(2)
    lab.start(web(lab, drain_timeout_ms=1500, on_unhealthy="terminate"))
    traffic = lab.traffic(connections=4)
    start = time.monotonic()
    lab.gw.api.delete("/server-groups/web/servers/s1").expect(202)
    lab.wait(lambda: "10.2.0.11" not in lab.gw.weights(), 1.5 + lab.margin, "s1 is gone")
    assert time.monotonic() - start >= 1.4
    lab.wait(lambda: len(traffic.broken) == traffic.owners()["s1"], 6, "its flows are cut")


@case
def at_the_deadline_quiesce_lets_flows_live(lab):
    lab.network(2)
    lab.start(web(lab, drain_timeout_ms=500, on_unhealthy="quiesce"))
    traffic = lab.traffic(connections=4)
    lab.gw.api.delete("/server-groups/web/servers/s1").expect(202)
    lab.holds(lambda: lab.gw.weights().get("10.2.0.11", 0) == 0, 1.5, "weight 0")
    before = traffic.exchanges
    lab.wait(lambda: traffic.exchanges >= before + 20, 5, "twenty more exchanges")
    assert not traffic.broken and not traffic.refused, (traffic.broken, traffic.refused)


@case
def at_the_deadline_udp_is_always_cut(lab):
    lab.network(2, udp=(53,))
    lab.start(
        document(
            {"dns": group(
                lab.servers, protocol="udp", port=53, health_check=check(port=80),
                drain_timeout_ms=1000, on_unhealthy="quiesce",
            )},
            {"shop": balancer({"dns": listener("dns", 53, "udp", "rr")})},
        )
    )
    assert lab.who(port=53, count=10, protocol="udp") == {"s1": 5, "s2": 5}
    start = time.monotonic()
    lab.gw.api.delete("/server-groups/dns/servers/s1").expect(202)
    assert lab.gw.weights("udp", VIP4, 53) == {"10.2.0.11": 0, "10.2.0.12": 100}
    lab.wait(
        lambda: lab.gw.weights("udp", VIP4, 53) == {"10.2.0.12": 100}, 1 + lab.margin, "s1 is gone"
    )
    assert time.monotonic() - start >= 0.9


@case
def timeout_zero_removes_at_once(lab):
    lab.network(2)
    lab.start(web(lab, drain_timeout_ms=0))
    lab.traffic(connections=4)
    lab.gw.api.delete("/server-groups/web/servers/s1").expect(202, 204)
    lab.wait(lambda: lab.gw.weights() == {"10.2.0.12": 100}, 0.3 + lab.margin, "s1 is gone")


@case
def a_drain_outlives_a_restart(lab):
    lab.network(2)
    timeout = 2.5 * lab.slow
    lab.start(web(lab, drain_timeout_ms=int(timeout * 1000), on_unhealthy="terminate"))
    traffic = lab.traffic(connections=4)
    start = time.monotonic()
    lab.gw.api.delete("/server-groups/web/servers/s1").expect(202)
    lab.gw.daemon.kill()
    lab.gw.daemon.start()
    lab.holds(lambda: lab.gw.weights().get("10.2.0.11") == 0, 0.5, "still draining")
    lab.wait(lambda: "10.2.0.11" not in lab.gw.weights(), timeout + lab.margin, "s1 is gone")
    assert time.monotonic() - start >= timeout - 0.2
    traffic.stop()


@case
def a_changed_address_is_a_new_server(lab):
    lab.network(3)
    lab.start(web(lab))
    traffic = lab.traffic(connections=6)
    lab.gw.api.delete("/server-groups/web/servers/s3").expect(202)
    lab.gw.api.patch(
        "/server-groups/web/servers/s1", {"address": lab.servers[2].address4}
    ).expect(200)
    assert lab.gw.weights()["10.2.0.11"] == 0, "the old destination drains"
    lab.wait_weight(lab.servers[2], 100, 1 + lab.margin)
    assert not traffic.broken, traffic.broken


@case
def put_of_a_list_replaces_it(lab):
    lab.network(3)
    configuration = web(lab, drain_timeout_ms=0)
    lab.start(configuration)
    servers = configuration["server_groups"]["web"]["servers"]
    del servers["s1"]
    lab.gw.api.put("/server-groups/web/servers", servers).expect(200)
    lab.wait(
        lambda: lab.gw.weights() == {"10.2.0.12": 100, "10.2.0.13": 100}, 1 + lab.margin,
        "two servers are left",
    )


@case
def a_removed_listener_is_gone(lab):
    lab.network(1)
    lab.start(
        document(
            {"web": group(lab.servers, health_check=check())},
            {"shop": balancer({"http": listener(), "alt": listener(port=8080)})},
        )
    )
    lab.gw.api.delete("/load-balancers/shop/listeners/alt").expect(202, 204)
    lab.wait(
        lambda: sorted(lab.gw.table()) == [("TCP", VIP4, 80)], 1 + lab.margin, "one service is left"
    )
