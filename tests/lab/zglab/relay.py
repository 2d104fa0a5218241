# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries TCP connections from one network namespace into another.

A socket belongs to the namespace in which it was made, whoever holds it: the
listener is made in one, the onward connection in the other.
"""

import socket
import threading

_CHUNK = 65536


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
