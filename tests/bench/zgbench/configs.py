# SPDX-License-Identifier: GPL-2.0-or-later
"""The same table for everybody: our document, ipvsadm's rules, keepalived's configuration.

Service i is VIP + i port 80; its servers are FIRST + i * SERVERS + j, as in the bare programs.
"""

import ipaddress

VIP = int(ipaddress.IPv4Address("10.128.0.0"))
LAB_FIRST, LAB_PORT = "10.0.0.0", 8080  # nobody is there
LOCAL_FIRST = "127.1.0.0"  # the listener takes them all
WEIGHT = 100
OFF = {"enabled": False}


def address(first, number):
    return str(ipaddress.IPv4Address(first) + number)


def vip(number):
    return str(ipaddress.IPv4Address(VIP + number))


def check(kind, interval_ms=1000, **members):
    """A check as a person would write it; the closing stays the default of the product."""
    return {
        "type": kind, "interval_ms": interval_ms, "timeout_ms": 1000,
        "healthy_threshold": 3, "unhealthy_threshold": 3, **members,
    }


def _listener(group):
    return {"protocol": "tcp", "port": 80, "server_group": group, "scheduler": "wrr"}


def _balancer(number, group):
    return {"zones": {"zone-a": {"vip4": vip(number)}}, "listeners": {"http": _listener(group)}}


def group(first, start, count, port, health_check, weight=WEIGHT):
    servers = {
        f"s{start + j}": {"address": address(first, start + j), "port": port, "weight": weight}
        for j in range(count)
    }
    return {"protocol": "tcp", "health_check": health_check, "servers": servers}


def document(services, servers, health_check, first=LAB_FIRST, port=LAB_PORT):
    groups, balancers = {}, {}
    for i in range(services):
        groups[f"g{i}"] = group(first, i * servers, servers, port, health_check)
        balancers[f"lb{i}"] = _balancer(i, f"g{i}")
    return {"zones": {"zone-a": {}}, "server_groups": groups, "load_balancers": balancers}


def shared(services, servers, health_check, first=LAB_FIRST, port=LAB_PORT):
    """One group in all services: a weight changed once is changed in each of them."""
    return {
        "zones": {"zone-a": {}},
        "server_groups": {"all": group(first, 0, servers, port, health_check)},
        "load_balancers": {f"lb{i}": _balancer(i, "all") for i in range(services)},
    }


def ipvsadm_rules(services, servers, first=LAB_FIRST, port=LAB_PORT):
    lines = []
    for i in range(services):
        service = f"{vip(i)}:80"
        lines.append(f"-A -t {service} -s wrr")
        for j in range(servers):
            server = address(first, i * servers + j)
            lines.append(f"-a -t {service} -r {server}:{port} -m -w {WEIGHT}")
    return "\n".join(lines) + "\n"


CHECKS = {
    None: "",
    "tcp": "TCP_CHECK {\n connect_timeout 1\n}\n",
    "http": "HTTP_GET {\n url {\n path /\n }\n connect_timeout 1\n}\n",
    # keepalived's own limits and retries
    "tcp-defaults": "TCP_CHECK {\n}\n",
    "http-defaults": "HTTP_GET {\n url {\n path /\n }\n}\n",
}


def keepalived(services, servers, kind=None, first=LAB_FIRST, port=LAB_PORT):
    lines = ["global_defs {\n router_id bench\n}\n"]
    for i in range(services):
        lines.append(
            f"virtual_server {vip(i)} 80 {{\n delay_loop 1\n lb_algo wrr\n lb_kind NAT\n"
            " protocol TCP\n"
        )
        for j in range(servers):
            server = address(first, i * servers + j)
            lines.append(f"real_server {server} {port} {{\nweight {WEIGHT}\n{CHECKS[kind]}}}\n")
        lines.append("}\n")
    return "".join(lines)
