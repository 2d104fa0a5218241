# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries TCP connections and datagrams from one network namespace into another.

A socket belongs to the namespace in which it was made, whoever holds it: the
listener is made in one, the onward connection in the other.
"""

import collections
import select
import socket
import threading

_CHUNK = 65536
_PEERS_MAX = 64  # of datagrams; the eldest is forgotten


def _pump(source, target):
    try:
        while True:
            data = source.recv(_CHUNK)
            if not data:
                break
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for sock in (source, target):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def _carry(inner, connect):
    try:
        outer = connect()
    except OSError:
        inner.close()
        return
    back = threading.Thread(target=_pump, args=(outer, inner), daemon=True)
    back.start()
    _pump(inner, outer)
    back.join()
    inner.close()
    outer.close()


def listen(address, port=0):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((address, port))
    sock.listen(64)
    return sock


def start(listener, handle):
    """Run HANDLE(connection) in a thread for each connection that LISTENER takes."""

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=handle, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def forward(listener, connect):
    """Carry every connection to the socket that CONNECT() returns."""
    start(listener, lambda connection: _carry(connection, connect))


def bind_datagrams(address, port=0):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((address, port))
    return sock


class _Datagrams:
    """Each peer has an onward socket of its own: what comes back on it is the peer's."""

    def __init__(self, sock, connect):
        self._sock = sock
        self._connect = connect
        self._onward = collections.OrderedDict()  # by peer

    def _socket_of(self, peer):
        if peer not in self._onward:
            if len(self._onward) >= _PEERS_MAX:
                self._onward.popitem(last=False)[1].close()
            self._onward[peer] = self._connect()
        return self._onward[peer]

    def _one(self, sock):
        if sock is self._sock:
            data, peer = sock.recvfrom(_CHUNK)
            self._socket_of(peer).send(data)
            return
        peer = next((x for x, onward in self._onward.items() if onward is sock), None)
        if peer:
            self._sock.sendto(sock.recv(_CHUNK), peer)

    def run(self):
        while self._sock.fileno() >= 0:
            for sock in select.select([self._sock, *self._onward.values()], [], [], 1)[0]:
                try:
                    self._one(sock)
                except OSError:
                    pass  # nobody listens there, or no more: datagrams get lost


def forward_datagrams(sock, connect):
    """Carry every datagram that SOCK gets to the socket that CONNECT() returns, and the answers back."""
    threading.Thread(target=_Datagrams(sock, connect).run, daemon=True).start()
