# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands before IPVS: iptables and ipset of the gateway, and what a client sees of it."""

import os
import pwd
import re
import socket
import struct

NETFILTER = (
    "ip_tables", "iptable_filter", "ip6_tables", "ip6table_filter", "xt_tcpudp", "ipt_REJECT", "ip6t_REJECT",
    "ip_set", "ip_set_hash_ip", "ip_set_hash_ipport", "ip_set_hash_ipportip", "ip_set_hash_net", "xt_set",
)
LOCK = "/run/xtables.lock"

# What a firewall and Docker have there.
FOREIGN = """*filter
:DOCKER - [0:0]
:DOCKER-USER - [0:0]
:OURS-NOT - [0:0]
-A INPUT -p tcp -m tcp --dport 4444 -j OURS-NOT
-A INPUT -i front0 -p tcp -m tcp --dport 5555 -j DROP
-A FORWARD -j DOCKER-USER
-A FORWARD -o nothing0 -j DOCKER
-A DOCKER -d 172.17.0.2/32 ! -i nothing0 -o nothing0 -p tcp -m tcp --dport 80 -j ACCEPT
-A DOCKER-USER -j RETURN
-A OURS-NOT -j ACCEPT
COMMIT
"""


# What a firewall and Docker have in all tables of both families; a set of theirs is in a rule.
FOREIGN_MODULES = ("nf_conntrack", "nf_nat", "iptable_nat", "ip6table_nat", "iptable_mangle", "ip6table_mangle", "iptable_raw",
                   "ip6table_raw", "xt_nat", "xt_MASQUERADE", "xt_addrtype", "xt_mark")
FOREIGN_EVERYWHERE = """*raw
-A PREROUTING -i nothing0 -p udp -j ACCEPT
COMMIT
*mangle
-A PREROUTING -i nothing0 -j MARK --set-mark 0x9
COMMIT
*nat
:DOCKER - [0:0]
-A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER
-A OUTPUT ! -d {loopback} -m addrtype --dst-type LOCAL -j DOCKER
-A POSTROUTING -s {docker} ! -o docker0 -j MASQUERADE
-A DOCKER -i docker0 -j RETURN
-A DOCKER ! -i docker0 -p tcp -m tcp --dport 18080 -j DNAT --to-destination {container}
COMMIT
*filter
:FORWARD DROP [0:0]
:DOCKER - [0:0]
:DOCKER-USER - [0:0]
-A INPUT -m set --match-set {theirs} src -j DROP
-A FORWARD -j DOCKER-USER
-A FORWARD -o docker0 -j DOCKER
-A FORWARD -i back0 -j ACCEPT
-A DOCKER -d {docker} ! -i docker0 -o docker0 -p tcp -m tcp --dport 80 -j ACCEPT
-A DOCKER-USER -j RETURN
COMMIT
"""
FOREIGN_WORDS = {
    4: {"loopback": "127.0.0.0/8", "docker": "172.17.0.0/16", "container": "172.17.0.2:80", "theirs": "theirs"},
    6: {"loopback": "::1/128", "docker": "fd17::/64", "container": "[fd17::2]:80", "theirs": "theirs6"},
}


def make_foreign_everywhere(lab):
    """Rules of somebody else in every table and both families, and sets; gives what foreign() then tells."""
    for name, family, entry in (("theirs", "inet", "10.9.0.0/16"), ("theirs6", "inet6", "fd09::/16")):
        lab.gw.run("ipset", "create", name, "hash:net", "family", family)
        lab.gw.run("ipset", "add", name, entry)
    for number, program in ((4, "iptables-legacy-restore"), (6, "ip6tables-legacy-restore")):
        lab.gw.run(program, stdin=FOREIGN_EVERYWHERE.format(**FOREIGN_WORDS[number]))
    return foreign(lab)


def foreign(lab):
    """Rules and sets that are not ours."""
    return rules(lab)[1], rules(lab, 6)[1], {name: found for name, found in sets(lab).items() if not name.startswith("zg")}


def make_lock():
    """As systemd/zonegate.tmpfiles has it: iptables takes it, as whichever user."""
    with open(LOCK, "a", encoding="ascii"):
        pass
    os.chmod(LOCK, 0o640)
    os.chown(LOCK, 0, pwd.getpwnam("zonegate").pw_gid)


def network(lab, servers=1, **options):
    make_lock()
    lab.network(servers, **options)


class Ports:
    """What listens on the gateway itself, on all of its addresses."""

    def __init__(self, lab, *tcp):
        self.sockets = []
        for port in tcp:
            with lab.gw.ns:
                sock = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(("::", port))
            sock.listen(50)
            self.sockets.append(sock)

    def close(self):
        for sock in self.sockets:
            sock.close()


def knock(lab, address, port, kind=socket.SOCK_STREAM, namespace=None, source=None, protocol=0):
    """"open", "refused" or "silent": what a client sees of a port."""
    with namespace or lab.client:
        sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind, protocol)
    with sock:
        sock.settimeout(0.3 * lab.slow + 0.2)  # a SYN is repeated after 1 s only: silent is silent
        try:
            if source:
                sock.bind((source, 0))
            sock.connect((address, port))
            if kind == socket.SOCK_DGRAM:
                sock.send(b"knock")
                sock.recv(100)
        except socket.timeout:
            return "silent"
        except ConnectionRefusedError:
            return "refused"
        return "open"


def is_open(lab, address, port, kind=socket.SOCK_STREAM, namespace=None, source=None):
    """A late machine is no closed port."""
    return "open" in (knock(lab, address, port, kind, namespace, source) for _ in range(5))


def is_refused(lab, address, port, kind=socket.SOCK_STREAM):
    return "refused" in (knock(lab, address, port, kind) for _ in range(5))


def echo(lab, address, source=None):
    """An echo request is answered."""
    six = ":" in address
    with lab.client:
        sock = socket.socket(*((socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) if six else
                               (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)))
    with sock:
        sock.settimeout(5 * lab.slow)
        if source:
            sock.bind((source, 0))
        sock.connect((address, 0))
        # The checksum of IPv6 is the kernel's work.
        sock.send(struct.pack("!BBHHH", 128 if six else 8, 0, 0 if six else 0xf7ff - 0x1234 - 1, 0x1234, 1))
        while sock.recv(200)[0 if six else 20] != (129 if six else 0):
            pass


def rules(lab, family=4):
    """Our lines of iptables-save, and those of others; without the counters."""
    text = lab.gw.run({4: "iptables-legacy-save", 6: "ip6tables-legacy-save"}[family])
    lines = [re.sub(r"\[\d+:\d+\]", "", x) for x in text.splitlines() if not x.startswith("#")]
    return [x for x in lines if "ZONEGATE" in x], [x for x in lines if "ZONEGATE" not in x]


def sets(lab):
    """{name: sorted entries}; those that are excepted end with "!"."""
    found, name = {}, None
    for line in lab.gw.run("ipset", "save").splitlines():
        words = line.split()
        name = words[1]
        found.setdefault(name, [])
        if words[0] == "add":
            found[name].append(words[2] + ("!" if "nomatch" in words else ""))
    return {name: sorted(entries) for name, entries in found.items()}


def metric(lab, name):
    text = lab.gw.api.get("/metrics").expect(200).body.decode()
    return int(float(next(x for x in text.splitlines() if x.startswith(name + " ")).split()[1]))


def operations(lab, op, subsystem="ipset"):
    """How many operations of the kind the kernel has done."""
    return metric(lab, f'zonegate_kernel_ops_total{{subsystem="{subsystem}",op="{op}",result="ok"}}')
