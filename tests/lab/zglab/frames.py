# SPDX-License-Identifier: GPL-2.0-or-later
"""What the hosts of a link see: announcements of addresses, and the tables of neighbours."""

import collections
import ipaddress
import select
import socket
import struct
import time

from .lab import run_in

_ETH_P_ALL, _ETH_P_ARP, _ETH_P_IPV6 = 3, 0x0806, 0x86DD
_SO_TIMESTAMPNS = 35

# time: monotonic seconds at which the kernel had it, however late it is read; mac: who the address is said to be at; flags: of an advertisement
Announcement = collections.namedtuple("Announcement", "time address mac flags")


def mac_of(namespace, device):
    words = run_in(namespace, "ip", "-o", "link", "show", "dev", device).split()
    return words[words.index("link/ether") + 1]


def neighbour(namespace, address):
    """Hardware address that a host has in its table for ADDRESS, or None."""
    words = run_in(namespace, "ip", "neigh", "show", address).split()
    return words[words.index("lladdr") + 1] if "lladdr" in words else None


def _text(mac):
    return mac.hex(":")


class Announcements:
    """Collects ARP announcements and unsolicited advertisements that reach DEVICE."""

    def __init__(self, namespace, device):
        with namespace:
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
            self._socket.bind((device, _ETH_P_ALL))
        self._found = []

    def close(self):
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @staticmethod
    def _when(stamps):
        seconds, nanoseconds = next(
            struct.unpack("qq", data) for level, kind, data in stamps
            if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS)
        )
        return seconds + nanoseconds / 1e9 - time.time() + time.monotonic()

    def _take_arp(self, frame, came):
        operation, sender, source, _, target = struct.unpack_from("!H6s4s6s4s", frame, 20)
        if operation == 1 and source == target and frame[:6] == b"\xff" * 6:
            assert sender == frame[6:12], "ARP and Ethernet name different senders"
            address = str(ipaddress.IPv4Address(source))
            self._found.append(Announcement(came, address, _text(sender), 0))

    def _take_ipv6(self, frame, came):
        packet = frame[14:]
        if packet[6] != 58 or packet[40] != 136:
            return
        if ipaddress.IPv6Address(packet[24:40]) != ipaddress.IPv6Address("ff02::1"):
            return
        assert packet[7] == 255, "a router would have passed it on"
        assert frame[:6] == bytes.fromhex("333300000001"), frame[:6]
        assert packet[64:66] == b"\x02\x01", "no target link-layer address"
        address = str(ipaddress.IPv6Address(packet[48:64]))
        self._found.append(Announcement(came, address, _text(packet[66:72]), packet[44]))

    def all(self, address=None):
        """Those so far, of one address or of all."""
        while select.select([self._socket], [], [], 0)[0]:
            frame, stamps, _, _ = self._socket.recvmsg(2048, 128)
            came = self._when(stamps)
            kind = struct.unpack_from("!H", frame, 12)[0]
            if kind == _ETH_P_ARP:
                self._take_arp(frame, came)
            elif kind == _ETH_P_IPV6:
                self._take_ipv6(frame, came)
        return [x for x in self._found if address in (None, x.address)]
