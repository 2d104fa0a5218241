# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks over UDP, ICMP, DNS and half-open handshakes against real hosts.

A firewall that drops, one that rejects with each ICMP code, hosts without a
listener, forged and repeated answers: each gives its reason and its sentence.
"""

import os
import socket
import struct
import subprocess
import threading

from zglab import case, sysc
from zglab.documents import check, web

LAB_SECONDS = 40

FIREWALL = (
    "ip_tables", "iptable_filter", "ipt_REJECT", "ip6_tables", "ip6table_filter", "ip6t_REJECT",
)
REJECTS4 = {
    "icmp-net-unreachable": "network unreachable",
    "icmp-host-unreachable": "host unreachable",
    "icmp-proto-unreachable": "protocol unreachable",
    "icmp-port-unreachable": "port unreachable",
    "icmp-net-prohibited": "network prohibited",
    "icmp-host-prohibited": "host prohibited",
    "icmp-admin-prohibited": "administratively prohibited",
}
REJECTS6 = {
    "icmp6-no-route": "no route to destination",
    "icmp6-adm-prohibited": "administratively prohibited",
    "icmp6-addr-unreachable": "address unreachable",
    "icmp6-port-unreachable": "port unreachable",
}
PORT = 5300


def health(lab, server="s1"):
    return lab.gw.api.get(f"/server-groups/web/servers/{server}/health").expect(200).json


def begin(lab, family=4, **members):
    """One server that listens on UDP, probed as MEMBERS say; no verdict is waited for."""
    lab.network(1, udp=(PORT,))
    server = lab.servers[0]
    with server.namespace:
        server.namespace.sysctl("net.ipv4.icmp_ratelimit", 0)
        server.namespace.sysctl("net.ipv6.icmp.ratelimit", 0)
    lab.gw.daemon.start()
    lab.gw.api.apply(web(lab, family=family, health_check=check(port=PORT, **members)))
    return server


def wait_probe(lab, reason, received="", timeout=2.0):
    """Until the last probe ended for REASON ("none": passed); its evidence."""

    def last():
        probe = health(lab)["last_probe"]
        return probe if probe and probe["reason_code"] == reason else None

    lab.wait(last, timeout + lab.margin, f"a probe that ends with {reason}: {health(lab)}")
    probe = last()
    assert probe and received in probe["received"], probe
    return probe


def wait_state(lab, state, timeout=1.0):
    lab.wait(
        lambda: health(lab)["state"] == state, timeout + lab.margin, f"{state}: {health(lab)}"
    )
    return health(lab)


def firewall(lab, server, *rule, family=4):
    command = "iptables-legacy" if family == 4 else "ip6tables-legacy"
    lab.run_in(server.namespace, command, "-F")
    if rule:
        lab.run_in(server.namespace, command, "-A", "INPUT", *rule)


# udp


@case
def udp_reply(lab):
    server = begin(lab, type="udp", request="hello\\0a", expected_reply="s1")
    wait_state(lab, "healthy")
    assert "answered the datagram" in wait_probe(lab, "none", "s1")["detail"]
    server.name = "other"
    found = wait_state(lab, "unhealthy")
    assert found["reason_code"] == "udp_reply_mismatch", found
    assert "other" in found["detail"], found
    server.name = "s1"
    wait_state(lab, "healthy")
    server.silent = True
    assert wait_state(lab, "unhealthy")["reason_code"] == "udp_no_reply"
    server.silent = False
    wait_state(lab, "healthy")
    server.kill()
    found = wait_state(lab, "unhealthy")
    assert found["reason_code"] == "icmp_port_unreachable", found
    assert "nobody listens" in found["detail"], found


@case
def udp_reply_over_ipv6(lab):
    server = begin(lab, family=6, type="udp", expected_reply="s1")
    wait_state(lab, "healthy")
    server.kill()
    assert wait_state(lab, "unhealthy")["reason_code"] == "icmp_port_unreachable"


@case
def udp_reply_from_another_address(lab):
    lab.network(1, udp=())
    server = lab.servers[0]
    server.namespace.add_address("eth0", "10.2.0.211/24")
    with server.namespace:
        here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    here.bind((server.address4, PORT))
    there.bind(("10.2.0.211", PORT))
    answers = [there]

    def serve():
        while True:
            _, peer = here.recvfrom(2048)
            answers[0].sendto(b"s1", peer)

    threading.Thread(target=serve, daemon=True).start()
    lab.gw.daemon.start()
    lab.gw.api.apply(web(lab, health_check=check(type="udp", port=PORT)))
    found = wait_state(lab, "unhealthy")
    assert found["reason_code"] == "udp_no_reply", found
    assert "10.2.0.11:5300 did not answer the datagram within" in found["detail"], found
    answers[0] = here
    wait_state(lab, "healthy")


@case(load=FIREWALL)
def udp_rejected_with_each_code(lab):
    server = begin(lab, type="udp")
    wait_state(lab, "healthy")
    for code, text in REJECTS4.items():
        firewall(lab, server, "-p", "udp", "-j", "REJECT", "--reject-with", code)
        reason = "icmp_port_unreachable" if "port" in code else "connect_unreachable"
        probe = wait_probe(lab, reason)
        lab.wait(
            lambda text=text: text in health(lab)["last_probe"]["received"], 1 + lab.margin, text
        )
        assert "10.2.0.11:5300" in probe["detail"], probe
    firewall(lab, server, "-p", "udp", "-j", "DROP")
    wait_probe(lab, "udp_no_reply")
    firewall(lab, server)
    wait_state(lab, "healthy")


@case(load=FIREWALL)
def udp_rejected_with_each_code_over_ipv6(lab):
    server = begin(lab, family=6, type="udp")
    wait_state(lab, "healthy")
    for code, text in REJECTS6.items():
        firewall(lab, server, "-p", "udp", "-j", "REJECT", "--reject-with", code, family=6)
        wait_probe(lab, "icmp_port_unreachable" if "port" in code else "connect_unreachable")
        lab.wait(
            lambda text=text: text in health(lab)["last_probe"]["received"], 1 + lab.margin, text
        )
    firewall(lab, server, family=6)
    wait_state(lab, "healthy")


@case
def host_that_is_gone(lab):
    """Nobody answers for its address: the way that traffic would take too."""
    server = begin(lab, type="udp", timeout_ms=1000)
    with lab.gw.ns:
        lab.gw.ns.sysctl("net.ipv4.neigh.back0.retrans_time_ms", 100)
    wait_state(lab, "healthy")
    server.namespace.set_link("eth0", up=False)
    lab.run_in(lab.gw.ns, "ip", "neigh", "flush", "all")
    probe = wait_probe(lab, "connect_unreachable", "host unreachable", timeout=4)
    assert "is unreachable" in probe["detail"], probe


# What rests on silence


@case(load=FIREWALL)
def silence(lab):
    server = begin(lab, type="udp", expect="no_unreachable")
    server.silent = True
    lab.wait(
        lambda: "the verdict rests on silence" in health(lab)["detail"], 2 + lab.margin, "silence"
    )
    found = health(lab)
    assert found["state"] == "healthy", found
    assert found["advice"] == "", found
    assert found["rests_on_silence"] is True, found
    server.kill()
    found = wait_state(lab, "unhealthy")
    assert found["reason_code"] == "icmp_port_unreachable", found
    assert found["rests_on_silence"] is False, found


@case(load=FIREWALL)
def silence_that_proves_nothing(lab):
    lab.network(1)
    server = lab.servers[0]
    firewall(lab, server, "-p", "udp", "-j", "DROP")
    lab.gw.daemon.start()
    lab.gw.api.apply(
        web(lab, health_check=check(type="udp", port=PORT, expect="no_unreachable"))
    )
    wait_state(lab, "healthy")
    found = health(lab)
    assert "its silence proves nothing" in found["detail"], found
    assert "nobody knows" in found["advice"], found
    assert found["rests_on_silence"] is True, found


@case
def icmp_udp(lab):
    server = begin(lab, type="icmp_udp", timeout_ms=60)
    wait_state(lab, "healthy")
    probe = wait_probe(lab, "none")
    assert probe["duration_ms"] >= 60, probe  # at the end of T, not before
    with server.namespace:
        server.namespace.sysctl("net.ipv4.icmp_echo_ignore_all", 1)
    assert wait_state(lab, "unhealthy")["reason_code"] == "icmp_no_reply"
    with server.namespace:
        server.namespace.sysctl("net.ipv4.icmp_echo_ignore_all", 0)
    wait_state(lab, "healthy")
    server.kill()
    assert wait_state(lab, "unhealthy")["reason_code"] == "icmp_port_unreachable"


# icmp


def ping_check(**members):
    return {name: value for name, value in check(type="icmp", **members).items() if name != "port"}


@case(load=FIREWALL)
def icmp(lab):
    lab.network(1)
    server = lab.servers[0]
    with server.namespace:
        server.namespace.sysctl("net.ipv4.icmp_ratelimit", 0)
    lab.start(web(lab, health_check=ping_check()))
    assert "answered the echo request" in wait_probe(lab, "none")["detail"]
    firewall(lab, server, "-p", "icmp", "-j", "DROP")
    assert wait_state(lab, "unhealthy")["reason_code"] == "icmp_no_reply"
    for code, text in REJECTS4.items():
        firewall(lab, server, "-p", "icmp", "-j", "REJECT", "--reject-with", code)
        lab.wait(
            lambda text=text: text in health(lab)["last_probe"]["received"], 1 + lab.margin, text
        )
    firewall(lab, server)
    wait_state(lab, "healthy")


@case
def icmp_over_ipv6(lab):
    lab.network(1)
    server = lab.servers[0]
    lab.gw.daemon.start()
    lab.gw.api.apply(web(lab, family=6, health_check=ping_check()))
    wait_state(lab, "healthy")
    with server.namespace:
        server.namespace.sysctl("net.ipv6.icmp.echo_ignore_all", 1)
    assert wait_state(lab, "unhealthy")["reason_code"] == "icmp_no_reply"


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Pinger:
    """Answers echo requests in the place of the kernel, wrongly or more than once."""

    def __init__(self, server):
        with server.namespace:
            server.namespace.sysctl("net.ipv4.icmp_echo_ignore_all", 1)
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        self.times, self.spoil = 1, None
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            packet, peer = self._socket.recvfrom(2048)
            message = bytearray(packet[20:])
            if message[0] != 8:
                continue
            message[0] = 0
            if self.spoil is not None:
                message[self.spoil] ^= 1
            message[2:4] = b"\0\0"
            message[2:4] = struct.pack("!H", checksum(bytes(message)))
            for _ in range(self.times):
                self._socket.sendto(message, peer)


@case
def icmp_replies_that_are_forged_or_repeated(lab):
    lab.network(1)
    pinger = Pinger(lab.servers[0])
    pinger.times = 3
    lab.start(web(lab, health_check=ping_check()))
    lab.holds(lambda: health(lab)["state"] == "healthy", 0.5, "repeated replies harm nobody")
    for octet in (5, 7, 10):  # id, sequence, token
        pinger.spoil = octet
        found = wait_state(lab, "unhealthy")
        assert found["reason_code"] == "icmp_no_reply", found
        assert "the host of 10.2.0.11:80 did not answer the echo request within" in found["detail"], found
        pinger.spoil = None
        wait_state(lab, "healthy")


# tcp, half-open


@case(load=FIREWALL)
def half_open(lab):
    lab.network(1, tcp=())
    server = lab.servers[0]
    with server.namespace:
        server.namespace.sysctl("net.ipv4.icmp_ratelimit", 0)
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind((server.address4, PORT))
    listener.listen(5)
    listener.setblocking(False)
    lab.start(web(lab, health_check=check(type="tcp", handshake="half_open", port=PORT)))
    assert "accepted the connection" in wait_probe(lab, "none")["detail"]
    lab.holds(lambda: health(lab)["state"] == "healthy", 1.0, "it stays healthy")
    try:
        listener.accept()
    except BlockingIOError:
        pass
    else:
        raise AssertionError("a probe became a connection")
    # The kernel has reset every one of them: no handshake is left half done.
    state = lab.run_in(server.namespace, "ss", "-Htn", "state", "syn-recv")
    assert state.count("\n") <= 1, state
    firewall(lab, server, "-p", "tcp", "-j", "DROP")
    assert wait_state(lab, "unhealthy")["reason_code"] == "connect_timeout"
    firewall(lab, server, "-p", "tcp", "-j", "REJECT", "--reject-with", "tcp-reset")
    wait_probe(lab, "connect_refused")
    for code, text in REJECTS4.items():
        firewall(lab, server, "-p", "tcp", "-j", "REJECT", "--reject-with", code)
        lab.wait(
            lambda text=text: text in health(lab)["last_probe"]["received"], 1 + lab.margin, text
        )
    firewall(lab, server)
    wait_state(lab, "healthy")
    listener.close()
    assert wait_state(lab, "unhealthy")["reason_code"] == "connect_refused"


@case
def half_open_over_ipv6(lab):
    lab.network(1, tcp=(PORT,))
    lab.gw.daemon.start()
    lab.gw.api.apply(
        web(lab, family=6, health_check=check(type="tcp", handshake="half_open", port=PORT))
    )
    wait_state(lab, "healthy")
    lab.servers[0].kill_listeners()
    assert wait_state(lab, "unhealthy")["reason_code"] == "connect_refused"


# dns

KNOT = """
server:
  rundir: {folder}
  listen: {address}@{port}
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
database:
  storage: {folder}
zone:
  - domain: example.com
    storage: {folder}
    file: zone
"""
ZONE = """
$ORIGIN example.com.
@ 60 SOA ns hostmaster 1 60 60 60 60
@ 60 NS ns
ns 60 A 192.0.2.53
@ 60 A 192.0.2.1
"""


@case
def dns(lab):
    lab.network(1)
    server = lab.servers[0]
    folder = "/run/zglab/knot"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/zone", "w", encoding="ascii") as file:
        file.write(ZONE)
    with open(f"{folder}/knot.conf", "w", encoding="ascii") as file:
        file.write(KNOT.format(folder=folder, address=server.address4, port=PORT))
    knot = subprocess.Popen(
        ["knotd", "-c", f"{folder}/knot.conf"],
        preexec_fn=lambda: sysc.setns(server.namespace.descriptor),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    try:
        lab.gw.daemon.start()
        lab.gw.api.apply(web(lab, health_check=check(type="dns", port=PORT, timeout_ms=500)))
        wait_state(lab, "healthy", timeout=10)
        assert "NOERROR, 1 record" in wait_probe(lab, "none")["received"]
        lab.gw.api.patch(
            "/server-groups/web", {"health_check": {"name": "example.net"}}
        ).expect(200)
        found = wait_state(lab, "unhealthy")
        assert found["reason_code"] == "dns_error", found
        assert "REFUSED" in found["detail"], found
        lab.gw.api.patch(
            "/server-groups/web", {"health_check": {"accepted_rcodes": ["NOERROR", "REFUSED"]}}
        ).expect(200)
        wait_state(lab, "healthy")
    finally:
        knot.terminate()
        knot.wait(10)
    assert wait_state(lab, "unhealthy")["reason_code"] == "icmp_port_unreachable"
