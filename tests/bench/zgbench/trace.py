# SPDX-License-Identifier: GPL-2.0-or-later
"""IPVS messages of one namespace with the kernel's own time stamps, taken from nlmon."""

import collections
import ctypes
import socket
import struct

from zglab import ipvs, rtnl

SO_ATTACH_FILTER = 26
SO_TIMESTAMPNS = 35
READ = 1 << 18
NETLINK_NETFILTER = 12

Part = collections.namedtuple("Part", "begin end counts")  # REALTIME, ns


def _leave_out_dumps(sock):
    """The kernel keeps no part of a dump (NLM_F_MULTI) for us. The daemon's statistics are a thousand a second, and each
    counts as 64 KiB of the buffer, however little is in it."""
    load_flags, test, drop, keep = (0x30, 0, 0, 6), (0x45, 0, 1, 2), (0x06, 0, 0, 0), (0x06, 0, 0, READ)
    code = b"".join(struct.pack("=HBBI", *x) for x in (load_flags, test, drop, keep))
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(code) // 8, ctypes.addressof(held))
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)


class Trace(ipvs.Capture):
    """Keeps when the first change was sent and when the last one was answered."""

    DUMPS = False

    def __init__(self, namespace):
        super().__init__(namespace)
        self._socket.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        if not self.DUMPS:
            _leave_out_dumps(self._socket)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._begin = self._end = self._port = None

    def _stamp(self, ancillary):
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                seconds, nanoseconds = struct.unpack("=qq", data[:16])
                return seconds * 1_000_000_000 + nanoseconds
        raise RuntimeError("a message of nlmon without a time stamp")

    def _look(self, data, stamp):
        before = self._changes()
        self._take(data)
        if self._changes() != before:
            self._begin = self._begin or stamp
        elif self._begin and struct.unpack_from("=H", data, 4)[0] == rtnl.NLMSG_ERROR:
            self._answered(struct.unpack_from("=I", data, 12)[0], stamp)

    def _answered(self, port, stamp):
        """The first answer goes to who makes the changes; what others ask meanwhile does not count."""
        self._port = self._port or port
        if port == self._port:
            self._end = stamp

    def _changes(self):
        return sum(n for name, n in self._counts.items() if name not in ipvs.READS)

    def _watch(self, data, protocol, stamp):
        if protocol == rtnl.NETLINK_GENERIC:
            self._look(data, stamp())

    def _drain(self):
        self._socket.setblocking(False)
        while True:
            try:
                data, ancillary, _, sender = self._socket.recvmsg(READ, 256)
            except BlockingIOError:
                break
            if len(data) >= 16:
                self._watch(data, sender[1], lambda given=ancillary: self._stamp(given))
        seen, dropped = struct.unpack("=II", self._socket.getsockopt(263, 6, 8))
        if dropped:
            raise RuntimeError(f"the capture lost {dropped} of {seen} messages")

    def reset(self):
        super().reset()
        self._begin = self._end = self._port = None

    def part(self):
        """From the first change to its last answer."""
        changes = self.changes()
        return Part(self._begin, self._end, changes)


class SetTrace(Trace):
    """From the first message of ipset to the last one, answers too."""

    DUMPS = True

    def _watch(self, data, protocol, stamp):
        if protocol == NETLINK_NETFILTER:
            self._end = stamp()
            self._begin = self._begin or self._end

    def seconds(self):
        self._drain()
        return (self._end - self._begin) / 1e9
