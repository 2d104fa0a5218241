# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile clients of the API: others are served meanwhile, probes keep their time, memory stays flat."""

import re
import resource
import socket
import time

from zglab import case
from zglab.documents import web

LAB_SECONDS = 20
SLOW = 200
CONNECTIONS = 10_000
KEPT = 1000
HEAD = b"PUT /api/v1/zones/za HTTP/1.1\r\nHost: localhost\r\n"


def memory_kib(lab):
    with open(f"/proc/{lab.gw.daemon.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+) kB", file.read()).group(1))


def connect(lab, timeout=5.0):
    """Blocks while the queue of the socket is full, as a client does that has no time limit of its own."""
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(lab.gw.daemon.socket)
    sock.settimeout(timeout * lab.config["slow"])
    return sock


def status(sock):
    """Of the answer, read to the end of the connection."""
    text = b""
    while piece := sock.recv(65536):
        text += piece
    return int(text.split(b" ", 2)[1])


def is_served(lab):
    start = time.monotonic()
    with connect(lab) as sock:
        sock.send(b"GET /api/v1/system HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert status(sock) == 200
    took = time.monotonic() - start
    assert took < 1 + lab.margin, f"an answer took {took:.2f} s"


@case(timeout=120.0)
def slow_clients_and_floods_hold_up_nobody(lab):
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    lab.network(2)
    lab.start(web(lab))
    lab.wait_in_service()
    slow = [connect(lab) for _ in range(SLOW)]
    for sock in slow:
        sock.send(b"G")
    for round_ in range(3):  # one byte a second from each
        time.sleep(1)
        for sock in slow:
            try:
                sock.send(b"E")
            except OSError:
                pass
        is_served(lab)
    memory = memory_kib(lab)
    kept = []
    for number in range(CONNECTIONS):
        kept.append(connect(lab))
        if len(kept) > KEPT:
            kept.pop(0).close()
        if number % 1000 == 0:
            is_served(lab)
    is_served(lab)
    if not lab.config["valgrind"]:
        grown = memory_kib(lab) - memory
        assert grown < 8192, f"{CONNECTIONS} connections have cost {grown} KiB"
    lab.wait_in_service()  # and no server has suffered
    for sock in kept + slow:
        sock.close()
    is_served(lab)


@case
def large_and_broken_bodies_are_refused(lab):
    lab.network(1)
    lab.start(web(lab))
    start = time.monotonic()
    with connect(lab) as sock:  # not one byte of the body was sent
        sock.send(HEAD + b"Content-Length: 9437184\r\n\r\n")
        assert status(sock) == 413
    assert time.monotonic() - start < 1 + lab.margin
    with connect(lab) as sock:  # all of it is sent before the answer is read
        sock.send(HEAD + b"Content-Type: text/plain\r\nContent-Length: 60000\r\n\r\n")
        for _ in range(6):
            time.sleep(0.05)
            sock.sendall(b" " * 10000)
        sock.shutdown(socket.SHUT_WR)
        assert status(sock) == 415
    for head in (b"Host: evil.example\r\n", b"X: a\r\n b\r\n", b"X: a\0b\r\n",
                 b"Content-Length: 2\r\nContent-Length: 3\r\n"):
        with connect(lab) as sock:
            sock.send(HEAD + head + b"\r\n")
            assert status(sock) == 400, head
    deep = b'{"description":' + b"[" * 32 + b"]" * 32 + b"}"
    for body in (b"\xff\xfe\x00", deep, b'{"description":"a","description":"b"}',
                 b'{"description":99999999999999999999999}', b'{"description":"\\u0000"}'):
        lab.gw.api.put("/zones/zx", body).expect(400, 422)
    is_served(lab)


WHOLE = 100 * 1024  # above 64 KiB a body is read on the worker


@case
def garbage_is_refused_whatever_reads_it(lab):
    """The same of small bodies, which the loop reads, and of large ones; and what is all but the same is taken."""
    lab.network(1)
    lab.start(web(lab))
    nested = lambda depth: b'{"zones":{"zq":{}},"x":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"
    zone = lambda text: b'{"zones":{"zq":{"description":"' + text + b'"}}}'
    bodies = {
        "garbage": bytes(range(256)), "half of it": b'{"zones":{"zq":', "two": b"{}{}", "nothing": b"",
        "depth 33": nested(33), "depth 5000": nested(5000),
        "a name twice": b'{"zones":{"zq":{},"zq":{}}}',
        "NUL": zone(b"a\0b"), "NUL, escaped": zone(b"a\\u0000b"), "NUL behind it": b"{}\0",
        "no UTF-8": zone(b"\xc3\x28"), "an overlong slash": zone(b"\xc0\xaf"),
        "a surrogate": zone(b"\xed\xa0\x80"), "half of a pair": zone(b"\\ud800"),
    }
    revision = lab.gw.api.get("/config").expect(200).etag
    for what, body in bodies.items():
        for text in (body, b" " * WHOLE + body):
            answer = lab.gw.api.put("/config", text, {"If-Match": revision})
            assert answer.status in (400, 422), (what, len(text), answer)
    for text in (nested(32), b" " * WHOLE + nested(32)):  # read, and only its member is not known
        answer = lab.gw.api.put("/config", text, {"If-Match": revision}).expect(422)
        assert answer.pointers() == ["/x"], answer.body
    assert lab.gw.api.get("/config").etag == revision
    lab.gw.api.put("/zones/zq", b'{"description":"\xc3\xa9"}').expect(201)
    lab.wait_in_service()
    is_served(lab)
