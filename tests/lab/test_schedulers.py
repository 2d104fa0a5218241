# SPDX-License-Identifier: GPL-2.0-or-later
"""The spread is what the scheduler of the listener says."""

from zglab import VIP4, case, receive
from zglab.documents import balancer, check, document, group, listener

LAB_SECONDS = 10
SOURCES = [f"10.1.0.{n}" for n in range(100, 140)]


def schedule(lab, scheduler, weights=(100, 100, 100), flags=None):
    lab.network(len(weights))
    for source in SOURCES:
        lab.client.add_address("eth0", f"{source}/24")
    members = {"scheduler_flags": flags} if flags else {}
    lab.start(
        document(
            {"web": group(lab.servers, weights=list(weights))},
            {"shop": balancer({"http": listener(scheduler=scheduler, **members)})},
        )
    )
    assert lab.gw.service("tcp", VIP4, 80).scheduler == scheduler


def by_source(lab):
    """{source: server}; each source is asked for twice and must keep its server."""
    owners = {}
    for source in SOURCES:
        answers = lab.who(count=2, source=source)
        assert len(answers) == 1, (source, answers)
        owners[source] = next(iter(answers))
    return owners


@case
def rr(lab):
    schedule(lab, "rr")
    assert lab.who(count=99) == {"s1": 33, "s2": 33, "s3": 33}


@case
def wrr(lab):
    schedule(lab, "wrr", (50, 30, 20))
    answers = lab.who(count=100)
    assert abs(answers["s1"] - 50) <= 1 and abs(answers["s2"] - 30) <= 1, answers
    assert abs(answers["s3"] - 20) <= 1, answers


@case
def wlc_and_lc_fill_up(lab):
    """With connections that stay, least-connection schedulers even them out by weight."""
    schedule(lab, "wlc", (20, 10, 10))
    traffic = lab.traffic(connections=40, pause=5)
    assert abs(traffic.owners()["s1"] - 20) <= 2, traffic.owners()
    traffic.stop()


@case
def sh(lab):
    schedule(lab, "sh")
    owners = by_source(lab)
    assert set(owners.values()) == {"s1", "s2", "s3"}, owners


@case
def sh_falls_back(lab):
    """Without the fallback flag a dead server's share of the clients is refused."""
    schedule(lab, "sh")
    before = by_source(lab)
    lab.servers[0].kill()
    lab.wait_weight(lab.servers[0], 0, 1 + lab.margin)
    after = by_source(lab)
    assert set(after.values()) == {"s2", "s3"}, after
    assert all(after[x] == before[x] for x in SOURCES if before[x] != "s1"), (before, after)


@case
def mh(lab):
    schedule(lab, "mh")
    before = by_source(lab)
    assert set(before.values()) == {"s1", "s2", "s3"}, before
    lab.servers[2].kill()
    lab.wait_weight(lab.servers[2], 0, 1 + lab.margin)
    after = by_source(lab)
    assert set(after.values()) == {"s1", "s2"}, after


@case
def fo(lab):
    """Failover: the server with the highest weight gets all."""
    schedule(lab, "fo", (10, 30, 20))
    assert lab.who(count=20) == {"s2": 20}
    lab.servers[1].kill()
    lab.wait_weight(lab.servers[1], 0, 1 + lab.margin)
    assert lab.who(count=20) == {"s3": 20}


@case
def persistence(lab):
    lab.network(3)
    lab.client.add_address("eth0", "10.1.0.100/24")
    lab.start(
        document(
            {"web": group(lab.servers)},
            {"shop": balancer({"http": listener(scheduler="rr", persistence_s=300)})},
        )
    )
    assert "persistent 300" in lab.gw.service("tcp", VIP4, 80).flags
    assert sorted(lab.who(count=10).values()) == [10]
    assert sorted(lab.who(count=10, source="10.1.0.100").values()) == [10]


@case
def weight_zero_gets_nothing(lab):
    lab.network(2)
    lab.start()
    lab.gw.api.apply(
        document(
            {"web": group(lab.servers, weights=[0, 5])},
            {"shop": balancer({"http": listener(scheduler="wrr")})},
        )
    )
    lab.wait(
        lambda: lab.gw.weights() == {"10.2.0.11": 0, "10.2.0.12": 5}, 2 + lab.margin, "weights"
    )
    assert lab.who(count=20) == {"s2": 20}


@case
def every_other_scheduler_is_programmed(lab):
    lab.network(2)
    names = ["lc", "lblc", "lblcr", "dh", "sed", "nq", "ovf", "wlc"]
    lab.start(
        document(
            {"web": group(lab.servers)},
            {"shop": balancer({
                name: listener(port=8000 + n, scheduler=name) for n, name in enumerate(names)
            })},
        )
    )
    for number, name in enumerate(names):
        assert lab.gw.service("tcp", VIP4, 8000 + number).scheduler == name
        answers = lab.who(port=8000 + number, count=10)
        assert set(answers) <= {"s1", "s2"}, (name, answers)


@case
def one_packet(lab):
    """Each datagram of one flow is scheduled for itself."""
    lab.network(2, direct=True)
    for server in lab.servers:
        receive.direct(server)
        server.listen_udp(53, VIP4)
    lab.start(
        document(
            {"dns": group(
                lab.servers, protocol="udp", port=0, forward_method="direct",
                health_check=check(port=80),
            )},
            {"shop": balancer({"dns": listener("dns", 53, "udp", "rr", one_packet=True)})},
        )
    )
    assert "ops" in lab.gw.service("udp", VIP4, 53).flags
    assert lab.who(port=53, count=10, protocol="udp", flow=True) == {"s1": 5, "s2": 5}


@case
def a_flow_without_one_packet_stays(lab):
    lab.network(2, udp=(53,))
    lab.start(
        document(
            {"dns": group(lab.servers, protocol="udp", port=53, health_check=check(port=80))},
            {"shop": balancer({"dns": listener("dns", 53, "udp", "rr")})},
        )
    )
    assert list(lab.who(port=53, count=10, protocol="udp", flow=True).values()) == [10]


@case
def connection_thresholds(lab):
    """A server with its upper number of connections gets no more."""
    lab.network(2)
    configuration = document(
        {"web": group(lab.servers)}, {"shop": balancer({"http": listener(scheduler="rr")})}
    )
    servers = configuration["server_groups"]["web"]["servers"]
    servers["s1"]["max_connections"] = {"upper": 3, "lower": 1}
    lab.start(configuration)
    held = lab.traffic(connections=12, pause=60)
    assert held.owners() == {"s1": 3, "s2": 9}, held.owners()


@case
def slow_start(lab):
    """A server that comes back climbs to its weight in steps."""
    lab.network(2)
    lab.start(
        document(
            {"web": group(
                lab.servers, slow_start_ms=2000, health_check=check(type="http"), weights=[50, 100]
            )},
            {"shop": balancer({"http": listener()})},
        )
    )
    full = 10  # the factor that lets small weights climb
    lab.wait(
        lambda: lab.gw.weights() == {"10.2.0.11": 50 * full, "10.2.0.12": 100 * full},
        2 + lab.margin, "full weights",
    )
    lab.servers[0].http_status = 500
    lab.wait_weight(lab.servers[0], 0, 1 + lab.margin)
    lab.servers[0].http_status = 200
    seen = [0]

    def climb():
        weight = lab.gw.weights()["10.2.0.11"]
        if weight != seen[-1]:
            seen.append(weight)
        return weight == 50 * full

    lab.wait(climb, 0.1 + 2 + lab.margin, "the full weight")
    assert seen == sorted(seen) and len(seen) >= 8, seen
    assert lab.gw.weights()["10.2.0.12"] == 100 * full
