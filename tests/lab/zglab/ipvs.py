# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's own view: /proc/net/ip_vs parsed, and IPVS messages counted."""

import collections
import ipaddress
import select
import socket
import struct
import time

from . import rtnl

COMMANDS = {
    1: "NEW_SERVICE", 2: "SET_SERVICE", 3: "DEL_SERVICE", 4: "GET_SERVICE",
    5: "NEW_DEST", 6: "SET_DEST", 7: "DEL_DEST", 8: "GET_DEST",
    9: "NEW_DAEMON", 10: "DEL_DAEMON", 11: "GET_DAEMON",
    12: "SET_CONFIG", 13: "GET_CONFIG", 14: "SET_INFO", 15: "GET_INFO",
    16: "ZERO", 17: "FLUSH",
}
READS = {"GET_SERVICE", "GET_DEST", "GET_DAEMON", "GET_CONFIG", "GET_INFO"}

Destination = collections.namedtuple("Destination", "forward weight active inactive")


class Service:
    def __init__(self, scheduler, flags):
        self.scheduler = scheduler
        self.flags = flags
        self.destinations = {}  # (address, port) → Destination

    def weights(self):
        """{address: weight}"""
        return {address: d.weight for (address, _), d in self.destinations.items()}

    def __repr__(self):
        return f"{self.scheduler} {self.flags!r} {self.destinations}"


def _address(text):
    host, _, port = text.rpartition(":")
    if host.startswith("["):
        host = str(ipaddress.ip_address(host[1:-1]))
    else:
        host = str(ipaddress.IPv4Address(int(host, 16)))
    return host, int(port, 16)


def parse_table(text):
    """{(protocol, address, port) or ("FWM", mark): Service} of /proc/net/ip_vs."""
    table = {}
    service = None
    for line in text.splitlines()[3:]:
        words = line.split()
        if words[0] == "->":
            numbers = [int(x) for x in words[3:6]]
            service.destinations[_address(words[1])] = Destination(words[2], *numbers)
            continue
        key = ("FWM", int(words[1], 16)) if words[0] == "FWM" else (words[0], *_address(words[1]))
        service = table[key] = Service(words[2], " ".join(words[3:]))
    return table


NETLINK_NETFILTER = 12
SWAP_SETS = 6 << 8 | 6  # NFNL_SUBSYS_IPSET, IPSET_CMD_SWAP


class Capture:
    """Counts the IPVS messages that user space sends inside one namespace.

    The capture stands on nlmon, outside of what is tested.
    """

    DEVICE = "nlmon0"

    def __init__(self, namespace):
        self._namespace = namespace
        namespace.netlink.link_add(self.DEVICE, "nlmon")
        with namespace:
            self._family = rtnl.generic_family("IPVS")
            namespace.netlink.link_set(self.DEVICE)
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
            self._socket.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
            self._socket.bind((self.DEVICE, 3))  # ETH_P_ALL
        self._counts = collections.Counter()
        self._swaps = 0

    def close(self):
        self._socket.close()
        self._namespace.del_link(self.DEVICE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _take(self, data):
        while len(data) >= 16:
            length, kind, flags, _, _ = struct.unpack_from("=IHHII", data)
            if length < 16:
                return
            # The kernel's answers carry no NLM_F_REQUEST.
            if kind == self._family and flags & rtnl.NLM_F_REQUEST and length >= 20:
                self._counts[COMMANDS.get(data[16], str(data[16]))] += 1
            data = data[(length + 3) & ~3 :]

    def _take_sets(self, data):
        while len(data) >= 16:
            length, kind, flags, _, _ = struct.unpack_from("=IHHII", data)
            if length < 16:
                return
            self._swaps += kind == SWAP_SETS and bool(flags & rtnl.NLM_F_REQUEST)
            data = data[(length + 3) & ~3 :]

    def _drain(self):
        while select.select([self._socket], [], [], 0)[0]:
            data, address = self._socket.recvfrom(1 << 18)
            if address[1] == rtnl.NETLINK_GENERIC:
                self._take(data)
            if address[1] == NETLINK_NETFILTER:
                self._take_sets(data)
        seen, dropped = struct.unpack("=II", self._socket.getsockopt(263, 6, 8))
        if dropped:
            raise RuntimeError(f"the capture lost {dropped} of {seen} messages")

    def counts(self, settle=0.0):
        """All messages so far by name."""
        if settle:
            time.sleep(settle)
        self._drain()
        return dict(self._counts)

    def swaps(self):
        """How many sets of ipset were put in the place of others so far."""
        self._drain()
        return self._swaps

    def changes(self, settle=0.0):
        """Only the messages that change something."""
        counts = self.counts(settle)
        return {name: n for name, n in counts.items() if name not in READS}

    def reset(self):
        self._drain()
        self._counts.clear()
