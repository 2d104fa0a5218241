# SPDX-License-Identifier: GPL-2.0-or-later
"""What a group does when too few of its servers are healthy, and with flows of dead ones."""

from zglab import VIP4, case
from zglab.documents import balancer, check, document, group, listener, web

LAB_SECONDS = 20


def weights_are(lab, *expected):
    """Waits until the weights of s1, s2, ... are these; a server that is not there has 0."""
    addresses = [s.address4 for s in lab.servers]

    def now():
        weights = lab.gw.weights()
        return tuple(weights.get(x, 0) for x in addresses)

    lab.wait(lambda: now() == expected, 1 + lab.margin, f"weights {expected}")


@case
def closed_leaves_none(lab):
    lab.network(2)
    lab.start(web(lab, when_none_healthy="closed"))
    lab.servers[0].kill()
    lab.servers[1].kill()
    weights_are(lab, 0, 0)
    lab.servers[1].start()
    weights_are(lab, 0, 100)


@case
def open_brings_the_unhealthy_back(lab):
    lab.network(3)
    lab.start(
        web(lab, when_none_healthy="open", min_healthy={"count": 2}, weights=[10, 20, 30],
            health_check=check(type="http"))
    )
    lab.servers[0].http_status = 500
    weights_are(lab, 0, 20, 30)
    lab.servers[1].http_status = 500
    weights_are(lab, 10, 20, 30)
    lab.servers[1].http_status = 200
    weights_are(lab, 0, 20, 30)


@case
def percent_counts_too(lab):
    lab.network(4)
    lab.start(
        web(lab, when_none_healthy="open", min_healthy={"percent": 60},
            health_check=check(type="http"))
    )
    lab.servers[0].http_status = 500
    weights_are(lab, 0, 100, 100, 100)
    lab.servers[1].http_status = 500  # 2 of 4: less than 60 % of 4, rounded up to 3
    weights_are(lab, 100, 100, 100, 100)


@case
def backup_takes_over(lab):
    lab.network(3)
    main, spare = lab.servers[:2], lab.servers[2:]
    lab.start()
    lab.gw.api.apply(
        document(
            {
                "web": group(main, when_none_healthy="backup", backup_group="spare"),
                "spare": group(spare),
            },
            {"shop": balancer({"http": listener()})},
        )
    )
    weights_are(lab, 100, 100, 0)
    assert set(lab.who(count=20)) == {"s1", "s2"}
    lab.servers[0].kill()
    lab.servers[1].kill()
    weights_are(lab, 0, 0, 100)
    assert lab.who(count=10) == {"s3": 10}
    lab.servers[0].start()
    weights_are(lab, 100, 0, 0)
    assert lab.who(count=10) == {"s1": 10}


@case
def terminate_cuts_flows(lab):
    lab.network(2)
    lab.start(web(lab, on_unhealthy="terminate", health_check=check(type="http")))
    assert lab.gw.ns.get_sysctl("net.ipv4.vs.expire_nodest_conn") == "1"
    traffic = lab.traffic(connections=6)
    mine = traffic.owners()["s1"]
    assert mine
    lab.servers[0].http_status = 500
    lab.wait(
        lambda: lab.gw.weights() == {"10.2.0.12": 100}, 1 + lab.margin, "the destination is gone"
    )
    lab.wait(lambda: len(traffic.broken) == mine, 6, "its flows are cut")
    assert all(x.startswith("s1:") for x in traffic.broken), traffic.broken
    lab.servers[0].http_status = 200
    weights_are(lab, 100, 100)


@case
def udp_terminates_by_default(lab):
    lab.network(2, udp=(53,))
    lab.start(
        document(
            {"dns": group(lab.servers, protocol="udp", port=53, health_check=check(port=80))},
            {"shop": balancer({"dns": listener("dns", 53, "udp", "rr")})},
        )
    )
    assert lab.who(port=53, count=20, protocol="udp") == {"s1": 10, "s2": 10}
    lab.servers[0].kill_listeners()
    lab.wait(
        lambda: lab.gw.weights("udp", VIP4, 53) == {"10.2.0.12": 100}, 1 + lab.margin,
        "the destination is gone",
    )
    assert lab.who(port=53, count=10, protocol="udp") == {"s2": 10}


@case
def a_disabled_server_gets_weight_zero(lab):
    lab.network(2)
    lab.start(web(lab))
    lab.gw.api.patch("/server-groups/web/servers/s1", {"enabled": False}).expect(200)
    assert lab.gw.weights() == {"10.2.0.11": 0, "10.2.0.12": 100}
    lab.gw.api.patch("/server-groups/web/servers/s1", {"enabled": True}).expect(200)
    weights_are(lab, 100, 100)


@case
def checks_off_counts_as_healthy(lab):
    lab.network(2)
    lab.servers[0].kill()
    lab.start(web(lab, health_check={"enabled": False}))
    weights_are(lab, 100, 100)
    assert lab.servers[1].health_checks == 0


@case
def each_zone_has_its_own_servers(lab):
    """cross_zone off: a VIP takes only the servers of its zone."""
    lab.network(2)
    configuration = document(
        {"web": group(lab.servers)},
        {"shop": balancer({"http": listener()}, cross_zone=False)},
        zones=("zone-a", "zone-b"),
    )
    configuration["load_balancers"]["shop"]["zones"]["zone-b"] = {"vip4": "192.0.2.20"}
    servers = configuration["server_groups"]["web"]["servers"]
    servers["s1"]["zone"], servers["s2"]["zone"] = "zone-a", "zone-b"
    lab.start(configuration)
    assert lab.gw.weights() == {"10.2.0.11": 100}
    assert lab.gw.weights(vip="192.0.2.20") == {"10.2.0.12": 100}
    assert lab.who(count=5) == {"s1": 5}
    assert lab.who("192.0.2.20", count=5) == {"s2": 5}
