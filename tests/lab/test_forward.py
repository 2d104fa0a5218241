# SPDX-License-Identifier: GPL-2.0-or-later
"""100 requests are spread over the servers: v4 and v6, TCP and UDP, by every way to forward."""

from zglab import VIP4, VIP6, case, receive
from zglab.documents import balancer, check, document, group, listener, web

LAB_SECONDS = 20
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


FORWARD4, FORWARD6 = "net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"


@case
def the_gateway_is_made_a_router(lab):
    """For each family when its first servers behind NAT come; the way that the gateway itself knows by advertisements stays."""
    lab.network(1)
    gw = lab.gw.ns
    for name, value in ((FORWARD4, 0), (FORWARD6, 0), ("net.ipv6.conf.front0.accept_ra", 1), ("net.ipv6.conf.back0.accept_ra", 0)):
        gw.set_sysctl(name, value)
    lab.start(web(lab))
    assert gw.get_sysctl(FORWARD4) == "1" and gw.get_sysctl(FORWARD6) == "0"
    assert lab.who(count=2) == {"s1": 2}
    lab.gw.api.apply(web(lab, family=6))
    lab.wait_in_service()
    assert gw.get_sysctl(FORWARD6) == "1"
    assert gw.get_sysctl("net.ipv6.conf.front0.accept_ra") == "2" and gw.get_sysctl("net.ipv6.conf.back0.accept_ra") == "0"
    assert lab.who(vip=VIP6, count=2) == {"s1": 2}
    assert lab.gw.daemon.stop() == 0
    assert lab.gw.cli("flush", lab.gw.daemon.settings_path).returncode == 0
    assert gw.get_sysctl(FORWARD4) == "0" and gw.get_sysctl(FORWARD6) == "0"


@case
def the_gateway_may_not_be_made_a_router(lab):
    lab.network(1)
    lab.gw.ns.set_sysctl(FORWARD4, 0)
    lab.start(web(lab), kernel={"manage_sysctls": "no"})
    assert lab.gw.ns.get_sysctl(FORWARD4) == "0"
    told = lab.gw.cli("doctor").stdout
    assert "forwarding_off" in told and "sysctl -w net.ipv4.ip_forward=1" in told, told
    assert not set(lab.who(count=1)) & {"s1"}
