# SPDX-License-Identifier: GPL-2.0-or-later
"""100 requests are spread over the servers: v4 and v6, TCP and UDP, by every way to forward."""

from zglab import VIP4, VIP6, case
from zglab.documents import balancer, check, document, group, listener

LAB_SECONDS = 12
SHOWN = {"nat": "Masq", "direct": "Route", "tunnel": "Tunnel"}


def spread(lab, forward, receive, **members):
    """RECEIVE(server) prepares a server for what the gateway sends it."""
    lab.network(4, direct=forward != "nat", tcp=(80,))
    for server in lab.servers:
        receive(server)
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
    spread(lab, "direct", lambda server: server.hold_vip(VIP4, VIP6))


def decapsulate(server, *devices):
    for device in devices:
        server.namespace.set_link(device)
    server.namespace.set_sysctl("net.ipv4.conf.all.rp_filter", 0)
    server.hold_vip(VIP4, VIP6)


@case(load=["ipip", "ip6_tunnel"])
def tunnel_ipip(lab):
    spread(
        lab, "tunnel", lambda server: decapsulate(server, "tunl0", "ip6tnl0"),
        tunnel={"type": "ipip"},
    )


@case(load=["ip_gre", "ip6_gre"])
def tunnel_gre(lab):
    def receive(server):
        decapsulate(server)
        lab.run_in(
            server.namespace, "ip", "-batch", "-",
            stdin=f"link add g4 type gre local {server.address4} remote 10.2.0.1\n"
            f"link add g6 type ip6gre local {server.address6} remote fd02::1\n"
            "link set g4 up\nlink set g6 up\n",
        )

    spread(lab, "tunnel", receive, tunnel={"type": "gre"})


@case(load=["ipip", "ip6_tunnel", "sit", "fou", "fou6"])
def tunnel_gue(lab):
    def receive(server):
        decapsulate(server, "tunl0", "ip6tnl0", "sit0")
        lab.run_in(
            server.namespace, "ip", "-batch", "-",
            stdin="fou add port 6080 gue\nfou add port 6080 gue -6\n",
        )

    spread(lab, "tunnel", receive, tunnel={"type": "gue", "port": 6080})
