# SPDX-License-Identifier: GPL-2.0-or-later
"""The client: asks a VIP and counts who answered."""

import collections
import itertools
import socket
import threading
import time


def _family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def _connect(namespace, address, port, timeout, source=None):
    with namespace:
        sock = socket.socket(_family(address), socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout)
        if source:
            sock.bind((source, 0))
        sock.connect((address, port))
    except OSError:
        sock.close()
        raise
    return sock


def _read_line(sock):
    data = b""
    while not data.endswith(b"\n"):
        more = sock.recv(4096)
        if not more:
            raise ConnectionError("closed before the answer")
        data += more
    return data.decode().strip()


def ask_tcp(namespace, address, port, timeout=2.0, source=None):
    """Name of the server that answered one new connection."""
    with _connect(namespace, address, port, timeout, source) as sock:
        sock.sendall(b"who\n")
        return _read_line(sock)


# Random ports collide now and then, and a port that comes again belongs to a flow that
# IPVS still knows.
_ports = itertools.cycle(range(20000, 60000))


def ask_udp(namespace, address, port, timeout=2.0, source=None):
    with namespace:
        sock = socket.socket(_family(address), socket.SOCK_DGRAM)
    with sock:
        sock.settimeout(timeout)
        sock.bind((source or "", next(_ports)))
        sock.connect((address, port))
        sock.send(b"who")
        return sock.recv(4096).decode()


def ask_flow(namespace, address, port, count, timeout=2.0):
    """Counter of names over COUNT datagrams of one flow."""
    with namespace:
        sock = socket.socket(_family(address), socket.SOCK_DGRAM)
    answers = collections.Counter()
    with sock:
        sock.settimeout(timeout)
        sock.connect((address, port))
        for _ in range(count):
            sock.send(b"who")
            answers[sock.recv(4096).decode()] += 1
    return answers


_ASK = {"tcp": ask_tcp, "udp": ask_udp}


def who(namespace, address, port, count=100, protocol="tcp", timeout=2.0, source=None):
    """Counter of names over COUNT requests; failures count by their error's name."""
    answers = collections.Counter()
    for _ in range(count):
        try:
            name = _ASK[protocol](namespace, address, port, timeout, source)
        except OSError as error:
            name = type(error).__name__
        answers[name] += 1
    return answers


class Traffic:
    """Established connections that keep talking, beside a stream of new ones.

    `broken` lists every connection that was cut, reset or left unanswered, and
    `refused` every new connection that got no answer.
    """

    def __init__(self, namespace, address, port, connections=8, pause=0.05):
        self._where = (namespace, address, port)
        self._pause = pause
        self.broken = []
        self.refused = []
        self.exchanges = 0
        self.opened = 0
        self.names = collections.Counter()
        self._stopping = threading.Event()
        self._sockets = [_connect(namespace, address, port, 2.0) for _ in range(connections)]
        self._owners = [self._exchange(sock) for sock in self._sockets]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @staticmethod
    def _exchange(sock):
        sock.sendall(b"ping\n")
        return _read_line(sock)

    def _one_round(self):
        for position, sock in enumerate(self._sockets):
            if sock is None:
                continue
            try:
                name = self._exchange(sock)
                if name != self._owners[position]:
                    raise ConnectionError(f"{name} answered for {self._owners[position]}")
                self.exchanges += 1
            except OSError as error:
                self.broken.append(f"{self._owners[position]}: {error!r}")
                sock.close()
                self._sockets[position] = None

    def _one_new(self):
        try:
            self.names[ask_tcp(*self._where)] += 1
            self.opened += 1
        except OSError as error:
            self.refused.append(f"{time.monotonic():.3f}: {error!r}")

    def _run(self):
        while not self._stopping.wait(self._pause):
            self._one_round()
            self._one_new()

    def exchange_all(self):
        """One exchange on every connection now (only with a long pause). How many worked."""
        before = self.exchanges
        self._one_round()
        return self.exchanges - before

    def owners(self):
        return collections.Counter(self._owners)

    def stop(self):
        if self._stopping.is_set():
            return self
        self._stopping.set()
        self._thread.join(10)
        for sock in self._sockets:
            if sock is not None:
                sock.close()
        return self
