# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of every kind behind a firewall that drops, and one that rejects with each ICMP code."""

from zglab import VIP6, case
from zglab.documents import balancer, check, document, group, listener

LAB_SECONDS = 8

FIREWALL = (
    "ip_tables", "iptable_filter", "ipt_REJECT", "ip6_tables", "ip6table_filter", "ip6t_REJECT",
)
STREAMS = ("tcp", "http", "https", "tls", "grpc")
DATAGRAMS = ("dns", "icmp_udp")
REJECTS4 = {
    "icmp-net-unreachable": "unreachable",
    "icmp-host-unreachable": "unreachable",
    "icmp-proto-unreachable": "unreachable",
    "icmp-port-unreachable": "refused",
    "icmp-net-prohibited": "unreachable",
    "icmp-host-prohibited": "unreachable",
    "icmp-admin-prohibited": "unreachable",
}
REJECTS6 = {
    "icmp6-no-route": "unreachable",
    "icmp6-adm-prohibited": "unreachable",
    "icmp6-addr-unreachable": "unreachable",
    "icmp6-port-unreachable": "refused",
}
# Of the kinds that connect, and of those that send a datagram: reason, and a part of the sentence
REASONS = {
    "unreachable": (
        ("connect_unreachable", "is unreachable, or a firewall rejects: "),
        ("connect_unreachable", "is unreachable: ICMP "),
    ),
    "refused": (
        ("connect_refused", "refused the connection after"),
        ("icmp_port_unreachable", "nobody listens at "),
    ),
}
NO_CONNECTION = "connect_timeout", "did not answer the connection attempt within "
SILENCE = {
    **dict.fromkeys(STREAMS, NO_CONNECTION),
    "dns": ("udp_no_reply", "did not answer the datagram within "),
    "icmp_udp": ("icmp_no_reply", "did not answer the echo request within "),
}

SENT = {
    "tcp": "connect", "http": "HEAD / HTTP/1.1", "https": "HEAD / HTTP/1.1",
    "tls": "TLS handshake", "grpc": "grpc.health.v1.Health/Check",
    "dns": "DNS query example.com A", "icmp_udp": "echo request, DNS query example.com A",
}


def name(kind):
    """Of the group that is checked so."""
    return kind.replace("_", "-")


def begin(lab, family):
    lab.network(1)
    server = lab.servers[0]
    with server.namespace:
        server.namespace.sysctl("net.ipv4.icmp_ratelimit", 0)
        server.namespace.sysctl("net.ipv6.icmp.ratelimit", 0)
    kinds = STREAMS + DATAGRAMS
    groups = {
        name(kind): group(lab.servers, family=family, health_check=check(type=kind))
        for kind in kinds
    }
    listeners = {name(kind): listener(name(kind), port=1000 + n) for n, kind in enumerate(kinds)}
    lab.gw.daemon.start()
    vips = {} if family == 4 else {"vip4": None, "vip6": VIP6}
    lab.gw.api.apply(document(groups, {"shop": balancer(listeners, **vips)}))
    return server


def firewall(lab, server, family, *target, protocols=("tcp", "udp")):
    """TARGET is for the probes only: without neighbour discovery the host would be gone."""
    command = "iptables-legacy" if family == 4 else "ip6tables-legacy"
    lab.run_in(server.namespace, command, "-F")
    for protocol in protocols if target else ():
        lab.run_in(server.namespace, command, "-A", "INPUT", "-p", protocol, *target)


def expect(lab, kind, state, reason, sentence):
    def found():
        path = f"/server-groups/{name(kind)}/servers/s1/health"
        return lab.gw.api.get(path).expect(200).json

    def as_expected():
        now = found()
        probe = now["last_probe"] or {"reason_code": "", "detail": ""}
        return (
            now["state"] == state and now["reason_code"] == probe["reason_code"] == reason
            and sentence in probe["detail"] and sentence in now["detail"]
        )

    lab.wait(as_expected, 2 + lab.margin, f"{kind} is {state} for {reason}: {found()}")


def every_kind(lab, family, rejects):
    server = begin(lab, family)
    expect(lab, "tcp", "healthy", "none", "")
    for code, what in rejects.items():
        firewall(lab, server, family, "-j", "REJECT", "--reject-with", code)
        for kind in STREAMS + DATAGRAMS:
            expect(lab, kind, "unhealthy", *REASONS[what][kind in DATAGRAMS])
    firewall(lab, server, family)
    expect(lab, "tcp", "healthy", "none", "")


@case(load=FIREWALL)
def rejected_over_ipv4(lab):
    every_kind(lab, 4, REJECTS4)


@case(load=FIREWALL)
def rejected_over_ipv6(lab):
    every_kind(lab, 6, REJECTS6)


@case(load=FIREWALL)
def dropped(lab):
    server = begin(lab, 4)
    firewall(lab, server, 4, "-j", "DROP", protocols=("all",))
    for kind, (reason, sentence) in SILENCE.items():
        expect(lab, kind, "unhealthy", reason, sentence)
        path = f"/server-groups/{name(kind)}/servers/s1/health"
        found = lab.gw.api.get(path).expect(200).json
        assert found["last_probe"]["sent"] == found["last_failure"]["sent"] == SENT[kind], found
