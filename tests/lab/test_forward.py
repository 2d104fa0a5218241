# SPDX-License-Identifier: GPL-2.0-or-later
"""100 requests are spread over the servers: v4 and v6, TCP and UDP, by every way to forward."""

from zglab import VIP4, VIP6, case, receive
from zglab.documents import balancer, check, document, group, listener

LAB_SECONDS = 12
SHOWN = {"nat": "Masq", "direct": "Route", "tunnel": "Tunnel"}


def spread(lab, forward, prepare, **members):
    """PREPARE(server) makes a server ready for what the gateway sends it."""
    lab.network(4, direct=forward != "nat", tcp=(80,))
    for server in lab.servers:
        prepare(server)
        own = (server.address4, server.address6)
        server.listen_udp(53, *(own if forward == "nat" else (VIP4, VIP6)))
    groups, listeners = {}, {4: {}, 6: {}}
    for family in (4, 6):
        for name, protocol, port in (("web", "tcp", 80), ("dns", "udp", 53)):
            groups[f"{name}{family}"] = group(
                lab.servers, protocol=protocol, port=port if forward == "nat" else 0,
                family=family, health_check=check(type="tcp", port=80),
                forward_method=forward, **members,
            )
            listeners[family][name] = listener(f"{name}{family}", port, protocol, "rr")
    lab.start(
        document(groups, {
            "four": balancer(listeners[4]),
            "six": balancer(listeners[6], vip4=None, vip6=VIP6),
        })
    )
    for vip in (VIP4, VIP6):
        for protocol, port in (("tcp", 80), ("udp", 53)):
            service = lab.gw.service(protocol, vip, port)
            assert {d.forward for d in service.destinations.values()} == {SHOWN[forward]}
            answers = lab.who(vip, port, 100, protocol)
            assert answers == {f"s{n}": 25 for n in (1, 2, 3, 4)}, (vip, protocol, answers)


@case
def nat(lab):
    spread(lab, "nat", lambda server: None)


@case
def direct(lab):
    spread(lab, "direct", receive.direct)


@case(load=receive.TUNNEL_MODULES)
def tunnel_ipip(lab):
    spread(lab, "tunnel", receive.ipip, tunnel={"type": "ipip"})


@case(load=receive.TUNNEL_MODULES)
def tunnel_gre(lab):
    spread(lab, "tunnel", receive.gre, tunnel={"type": "gre"})


@case(load=receive.TUNNEL_MODULES)
def tunnel_gue(lab):
    spread(lab, "tunnel", receive.gue, tunnel={"type": "gue", "port": receive.GUE_PORT})


@case(load=receive.TUNNEL_MODULES)
def tunnel_between_families(lab):
    """A v4 VIP whose servers have v6 addresses only."""
    lab.network(2, direct=True)
    for server in lab.servers:
        receive.ipip_over_v6(server)
    lab.start(
        document(
            {"web": group(
                lab.servers, port=0, family=6, health_check=check(port=80),
                forward_method="tunnel", tunnel={"type": "ipip"},
            )},
            {"shop": balancer({"http": listener(scheduler="rr")})},
        )
    )
    assert lab.gw.weights() == {"fd02::11": 100, "fd02::12": 100}
    assert lab.who(count=10) == {"s1": 5, "s2": 5}
