# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands before IPVS, seen from outside: which ports are open, rules without their counters, sets."""

import os
import pwd
import re
import socket

NETFILTER = (
    "ip_tables", "iptable_filter", "ip6_tables", "ip6table_filter", "xt_tcpudp", "ipt_REJECT", "ip6t_REJECT",
    "ip_set", "ip_set_hash_ip", "ip_set_hash_ipport", "xt_set",
)
GATEWAY4, GATEWAY6 = "10.1.0.1", "fd01::1"
LOCK = "/run/xtables.lock"


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


def knock(lab, address, port, kind=socket.SOCK_STREAM, namespace=None):
    """"open", "refused" or "silent": what a client sees of a port."""
    with namespace or lab.client:
        sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind)
    with sock:
        sock.settimeout(0.3 * lab.slow + 0.2)  # a SYN is repeated after 1 s only: silent is silent
        try:
            sock.connect((address, port))
            if kind == socket.SOCK_DGRAM:
                sock.send(b"knock")
                sock.recv(100)
        except socket.timeout:
            return "silent"
        except ConnectionRefusedError:
            return "refused"
        return "open"


def is_open(lab, address, port, kind=socket.SOCK_STREAM, namespace=None):
    """A late machine is no closed port."""
    return "open" in (knock(lab, address, port, kind, namespace) for _ in range(5))


def is_refused(lab, address, port, kind=socket.SOCK_STREAM):
    return "refused" in (knock(lab, address, port, kind) for _ in range(5))


def rules(lab, family=4):
    """Our lines of iptables-save, and those of others; without the counters."""
    text = lab.gw.run({4: "iptables-legacy-save", 6: "ip6tables-legacy-save"}[family])
    lines = [re.sub(r"\[\d+:\d+\]", "", x) for x in text.splitlines() if not x.startswith("#")]
    return [x for x in lines if "ZONEGATE" in x], [x for x in lines if "ZONEGATE" not in x]


def sets(lab):
    """{name: sorted entries}"""
    found, name = {}, None
    for line in lab.gw.run("ipset", "save").splitlines():
        words = line.split()
        name = words[1]
        found.setdefault(name, [])
        if words[0] == "add":
            found[name].append(words[2])
    return {name: sorted(entries) for name, entries in found.items()}
