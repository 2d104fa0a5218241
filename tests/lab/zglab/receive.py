# SPDX-License-Identifier: GPL-2.0-or-later
"""What a server needs to take packets that the gateway forwards without NAT.

The VIP on its loopback, and a device that unpacks the tunnel.
"""

from .lab import VIP4, VIP6, run_in

GUE_PORT = 6080
TUNNEL_MODULES = ["ipip", "ip6_tunnel", "ip_gre", "ip6_gre", "sit", "fou", "fou6"]


def _devices(server, *devices):
    for device in devices:
        server.namespace.set_link(device)
    server.hold_vip(VIP4, VIP6)


def direct(server):
    _devices(server)


def ipip(server):
    _devices(server, "tunl0", "ip6tnl0")


def ipip_over_v6(server):
    _devices(server)
    run_in(
        server.namespace, "ip", "-batch", "-",
        stdin=f"link add t6 type ip6tnl mode any local {server.address6} remote fd02::1\n"
        "link set t6 up\n",
    )


def gre(server):
    _devices(server)
    run_in(
        server.namespace, "ip", "-batch", "-",
        stdin=f"link add g4 type gre local {server.address4} remote 10.2.0.1\n"
        f"link add g6 type ip6gre local {server.address6} remote fd02::1\n"
        "link set g4 up\nlink set g6 up\n",
    )


def gue(server):
    _devices(server, "tunl0", "ip6tnl0")
    run_in(
        server.namespace, "ip", "-batch", "-",
        stdin=f"fou add port {GUE_PORT} gue\nfou add port {GUE_PORT} gue -6\n",
    )
