# SPDX-License-Identifier: GPL-2.0-or-later
"""What the demo balances: a name, two zones, four servers."""

from zglab import documents
from zglab.lab import OTHER_VIP4, VIP4

APEX = "lb.example.net"
NAME = f"shop.{APEX}"
NAME_SERVER = "10.1.0.1"  # the gateway, on the client's side
ZONES = {"zone-a": VIP4, "zone-b": OTHER_VIP4}

DNS_SETTINGS = {
    "listen": f"{NAME_SERVER}, 127.0.0.1", "apex": APEX,
    "ns": "ns1.example.net, ns2.example.net",
}


def configuration(servers):
    check = {
        "type": "http", "path": "/healthz", "interval_ms": 1000, "timeout_ms": 500,
        "healthy_threshold": 2, "unhealthy_threshold": 3,
    }
    group = documents.group(servers, health_check=check, drain_timeout_ms=10000)
    group["servers"] = {
        server.name: {**group["servers"][server.name], "zone": list(ZONES)[number // 2]}
        for number, server in enumerate(servers)
    }
    balancer = documents.balancer(
        {"http": documents.listener()}, dns_name=NAME, dns_ttl_s=10,
        vip_probe={"interval_ms": 200, "timeout_ms": 200},
    )
    balancer["zones"] = {zone: {"vip4": vip} for zone, vip in ZONES.items()}
    document = documents.document({"web": group}, {"shop": balancer}, list(ZONES))
    for number, zone in enumerate(ZONES, 1):
        document["zones"][zone] = {"description": f"Hall {number}"}
    return document
