# SPDX-License-Identifier: GPL-2.0-or-later
"""Speaks to the control port of a running demo."""

import os
import socket
import sys


def build_folder():
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.abspath(os.environ.get("BUILD") or os.path.join(here, "../../build"))


def folder(port):
    """Where the demo with this control port keeps its files."""
    return os.path.join(build_folder(), "demo", str(port))


def send(port, verb, name, connect=None):
    """CONNECT() opens the connection of those who are not on the host's loopback."""
    connect = connect or (lambda: socket.create_connection(("127.0.0.1", port), 5))
    try:
        with open(f"{folder(port)}/token", encoding="ascii") as file:
            token = file.read().strip()
        with connect() as sock:
            sock.sendall(f"{token} {verb} {name}\n".encode())
            answer = sock.makefile(encoding="utf-8").readline().strip()
    except OSError as error:
        print(f"no demo answers on control port {port}: {error}", file=sys.stderr)
        return 7
    print(answer)
    return 1 if answer.startswith("error") or not answer else 0
