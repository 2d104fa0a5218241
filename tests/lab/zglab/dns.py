# SPDX-License-Identifier: GPL-2.0-or-later
"""A DNS client of our own: what it shows is what came over the wire, byte for byte."""

import collections
import ipaddress
import itertools
import socket
import struct

TYPES = {
    "A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "HINFO": 13, "TXT": 16, "AAAA": 28, "OPT": 41,
    "AXFR": 252, "ANY": 255,
}
_NAMES = {number: name for name, number in TYPES.items()}
RCODES = {
    0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED",
    16: "BADVERS",
}
CLASS_IN, CLASS_CHAOS = 1, 3
NSID, CLIENT_SUBNET, COOKIE = 3, 8, 10

Record = collections.namedtuple("Record", "name type ttl data")
_ids = itertools.count(1)


def encode_name(name):
    labels = [x.encode() for x in name.rstrip(".").split(".") if x]
    return b"".join(bytes([len(x)]) + x for x in labels) + b"\0"


def client_subnet(prefix):
    """Option of RFC 7871 for a prefix as 198.51.100.0/24."""
    network = ipaddress.ip_network(prefix)
    octets = network.network_address.packed[: (network.prefixlen + 7) // 8]
    family = 1 if network.version == 4 else 2
    return CLIENT_SUBNET, struct.pack("!HBB", family, network.prefixlen, 0) + octets


def query(name, kind="A", **options):
    """A query as bytes. Options: edns (size of answers that are taken, None: no EDNS),
    options [(code, bytes)], class_, flags, version, dnssec."""
    flags = options.get("flags", 0x0100)
    header = struct.pack("!HHHHHH", next(_ids) & 0xFFFF, flags, 1, 0, 0, 0)
    number = TYPES[kind] if isinstance(kind, str) else kind
    question = encode_name(name) + struct.pack("!HH", number, options.get("class_", CLASS_IN))
    size, extra = options.get("edns"), options.get("options", ())
    if size is None and not extra:
        return header + question
    header = header[:10] + b"\0\1"
    data = b"".join(struct.pack("!HH", code, len(value)) + value for code, value in extra)
    rest = struct.pack(
        "!HHBBHH", TYPES["OPT"], size or 1232, 0, options.get("version", 0),
        0x8000 if options.get("dnssec") else 0, len(data),
    )
    return header + question + b"\0" + rest + data


class Reply:
    def __init__(self, data):
        self.data = data
        self.id, flags, questions, *counts = struct.unpack_from("!HHHHHH", data)
        self.authoritative = bool(flags & 0x0400)
        self.truncated = bool(flags & 0x0200)
        self.recursion = bool(flags & 0x0080)
        self.options = None  # {code: bytes}; None without EDNS
        rcode = flags & 0xF
        assert flags & 0x8000, "it is no reply"
        self._at = 12
        for _ in range(questions):
            self._name()
            self._at += 4
        self.answers, self.authority, self.additional = (
            [self._record() for _ in range(count)] for count in counts
        )
        assert self._at == len(data), "something stands behind the last record"
        for record in [x for x in self.additional if x.type == "OPT"]:
            self.options, high = record.data
            rcode |= high << 4
        self.rcode = RCODES.get(rcode, str(rcode))

    def addresses(self):
        """Addresses of the answer, in its order."""
        return [x.data for x in self.answers if x.type in ("A", "AAAA")]

    def ttls(self):
        return {x.ttl for x in self.answers}

    @property
    def serial(self):
        """Of the SOA record, wherever it stands."""
        return next(x.data[2] for x in self.answers + self.authority if x.type == "SOA")

    def _name(self):
        labels, at, jumped = [], self._at, False
        while True:
            length = self.data[at]
            if length >= 0xC0:
                target = struct.unpack_from("!H", self.data, at)[0] & 0x3FFF
                assert target < at, "a pointer points backwards"
                if not jumped:
                    self._at = at + 2
                at, jumped = target, True
                continue
            at += 1
            if not length:
                if not jumped:
                    self._at = at
                return ".".join(labels)
            labels.append(self.data[at : at + length].decode("latin-1"))
            at += length

    def _soa(self):
        return (self._name(), self._name(), *struct.unpack_from("!IIIII", self.data, self._at))

    def _record(self):
        name = self._name()
        kind, klass, ttl, length = struct.unpack_from("!HHIH", self.data, self._at)
        self._at += 10
        end = self._at + length
        raw = self.data[self._at : end]
        assert len(raw) == length, "a record is longer than the packet"
        if kind in (1, 28):
            data = str(ipaddress.ip_address(raw))
        elif kind == 2:
            data = self._name()
        elif kind == 6:
            data = self._soa()
        elif kind == 41:
            data, ttl = (self._take_options(raw), ttl >> 24), klass  # its size for its TTL
        else:
            data = raw
        self._at = end
        return Record(name, _NAMES.get(kind, str(kind)), ttl, data)

    @staticmethod
    def _take_options(raw):
        options = {}
        while raw:
            code, length = struct.unpack_from("!HH", raw)
            assert len(raw) >= 4 + length, "an option is cut"
            options[code] = raw[4 : 4 + length]
            raw = raw[4 + length :]
        return options

    def __repr__(self):
        parts = self.answers, self.authority, self.additional
        return f"<{self.rcode}{' TC' if self.truncated else ''} {parts}>"


class Resolver:
    """Asks one server from one namespace; the reply must come from where it was sent."""

    def __init__(self, namespace, server, source=None, timeout=2.0):
        self._namespace = namespace
        self._server = server
        self._source = source
        self._timeout = timeout
        self._datagrams = self._socket(socket.SOCK_DGRAM)

    def _socket(self, kind):
        family = socket.AF_INET6 if ":" in self._server else socket.AF_INET
        with self._namespace:
            sock = socket.socket(family, kind)
        sock.settimeout(self._timeout)
        if self._source:
            sock.bind((self._source, 0))
        sock.connect((self._server, 53))  # takes datagrams of this address only
        return sock

    def send(self, data):
        """A packet as it stands; the bytes of the reply."""
        self._datagrams.send(data)
        while True:
            reply = self._datagrams.recv(65536)
            if reply[:2] == data[:2]:
                return reply

    def throw(self, data):
        """A packet whose reply nobody waits for."""
        try:
            self._datagrams.send(data)
        except ConnectionRefusedError:
            pass  # of the one before

    def throw_tcp(self, data):
        """Bytes over a connection that is closed behind them."""
        with self._socket(socket.SOCK_STREAM) as sock:
            sock.sendall(data)

    def ask(self, name, kind="A", **options):
        return Reply(self.send(query(name, kind, **options)))

    def ask_tcp(self, *questions):
        """Replies to several (name, type) over one connection, sent in one piece."""
        wanted = [query(*one) for one in questions]
        with self._socket(socket.SOCK_STREAM) as sock:
            sock.sendall(b"".join(struct.pack("!H", len(x)) + x for x in wanted))
            stream = sock.makefile("rb")
            replies = []
            for _ in wanted:
                length = struct.unpack("!H", stream.read(2))[0]
                replies.append(Reply(stream.read(length)))
        assert [x.id for x in replies] == [struct.unpack("!H", x[:2])[0] for x in wanted]
        return replies

    def published(self, name, kind="A"):
        """The set of addresses now."""
        return set(self.ask(name, kind).addresses())

    def close(self):
        self._datagrams.close()
