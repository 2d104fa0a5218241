# SPDX-License-Identifier: GPL-2.0-or-later
"""Configurations that tests send."""

from .lab import VIP4, VIP6

# One pass or two failures decide, a tenth of a second apart. Who is busy has a quarter of one to answer.
QUICK = {
    "type": "tcp", "interval_ms": 100, "timeout_ms": 250,
    "healthy_threshold": 1, "unhealthy_threshold": 2,
}


def check(**members):
    """A health check of the given members over the quick ones."""
    return {**QUICK, **members}


def group(servers, *, port=80, family=4, weights=None, health_check=None, **members):
    """A server group of lab servers; WEIGHTS go to them in order."""
    listed = {}
    for number, server in enumerate(servers):
        one = {"address": server.address4 if family == 4 else server.address6}
        if port:
            one["port"] = port
        one["weight"] = weights[number] if weights else 100
        listed[server.name] = one
    return {
        "protocol": members.pop("protocol", "tcp"),
        "health_check": health_check or QUICK,
        "servers": listed,
        **members,
    }


def listener(server_group="web", port=80, protocol="tcp", scheduler="wrr", **members):
    return {
        "protocol": protocol, "port": port, "server_group": server_group,
        "scheduler": scheduler, **members,
    }


def both(servers, **members):
    """A group of servers with their addresses of both families."""
    made = group(servers, **members)
    six = group(servers, family=6, **members)
    made["servers"].update({f"{name}-6": one for name, one in six["servers"].items()})
    return made


def ranged(first, last, server_group="web", protocol="tcp", **members):
    """A listener with a range of ports."""
    made = listener(server_group, None, protocol, **members)
    del made["port"]
    return {**made, "port_range": [first, last]}


def balancer(listeners, *, vip4=VIP4, vip6=None, zone="zone-a", **members):
    vips = {"vip4": vip4, "vip6": vip6}
    vips = {name: vip for name, vip in vips.items() if vip}
    return {"zones": {zone: vips}, "listeners": listeners, **members}


def document(groups, balancers, zones=("zone-a",)):
    return {
        "zones": {zone: {} for zone in zones},
        "server_groups": groups,
        "load_balancers": balancers,
    }


def web(lab, *, scheduler="wrr", family=4, **members):
    """One group `web` of all servers behind one listener `http` of `shop`."""
    vips = {"vip4": VIP4} if family == 4 else {"vip4": None, "vip6": VIP6}
    return document(
        {"web": group(lab.servers, family=family, **members)},
        {"shop": balancer({"http": listener(scheduler=scheduler)}, **vips)},
    )
