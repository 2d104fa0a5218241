# SPDX-License-Identifier: GPL-2.0-or-later
"""A removed server drains: weight 0 at once, gone when its flows are, or at the deadline."""

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
    traffic = lab.traffic(connections=6)
    lab.wait(lambda: traffic.opened >= 2, 2, "new connections")
    lab.gw.api.delete("/server-groups/web/servers/s1").expect(202)
    assert lab.gw.weights() == {"10.2.0.11": 0, "10.2.0.12": 100}
    lab.holds(lambda: lab.gw.weights().get("10.2.0.11") == 0, 1.5, "weight 0 while flows live")
    assert not traffic.broken, traffic.broken
    lab.servers[0].close_connections()
    lab.wait(lambda: "10.2.0.11" not in lab.gw.weights(), 4 + lab.margin, "s1 is gone")
    # Only the connections that s1 itself has closed are gone.
    lab.wait(lambda: len(traffic.broken) == traffic.owners()["s1"], 3, "closed ones are seen")
    assert not traffic.refused, traffic.refused


@case
def at_the_deadline_it_goes_with_flows(lab):
    lab.network(2)
    lab.start(web(lab, drain_timeout_ms=1500))
    lab.traffic(connections=4)
    start = time.monotonic()
    lab.gw.api.delete("/server-groups/web/servers/s1").expect(202)
    lab.wait(lambda: "10.2.0.11" not in lab.gw.weights(), 1.5 + lab.margin, "s1 is gone")
    assert time.monotonic() - start >= 1.4


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
    lab.start(web(lab, drain_timeout_ms=2500))
    traffic = lab.traffic(connections=4)
    start = time.monotonic()
    lab.gw.api.delete("/server-groups/web/servers/s1").expect(202)
    lab.gw.daemon.kill()
    lab.gw.daemon.start()
    lab.holds(lambda: lab.gw.weights().get("10.2.0.11") == 0, 0.5, "still draining")
    lab.wait(lambda: "10.2.0.11" not in lab.gw.weights(), 3 + lab.margin, "s1 is gone")
    assert time.monotonic() - start >= 2.3
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
