# SPDX-License-Identifier: GPL-2.0-or-later
"""Writers that remember what was answered, and the question whether it is still there.

A write replaces one server group by another of the same name. All that is in it
follows from one number, so that half of one write and half of another show.
"""

import http.client
import json
import os
import random
import signal
import socket
import threading
import time

WRITES = 500  # a round; the end comes after a random number of them
WRITERS = 4
GROUPS = 3  # of each writer


def group(number, base):
    """The group that the write NUMBER makes of the servers BASE.1 to BASE.4."""
    servers = {
        f"s{n}": {"address": f"{base}.{n}", "port": 80, "weight": number}
        for n in range(1, 2 + number % 4)
    }
    return {
        "protocol": "tcp", "health_check": {"enabled": False, "interval_ms": 1000 + number},
        "drain_timeout_ms": 0, "servers": servers,
    }


def number_of(shown, base):
    """The write that a group is of; an AssertionError when it is of none."""
    number = shown["health_check"]["interval_ms"] - 1000
    wanted = group(number, base)
    for name, server in wanted["servers"].items():
        found = shown["servers"].get(name)
        assert found, f"{name} is missing: {shown}"
        half = {key: found[key] for key in server}
        assert half == server, f"half a write: {half} in write {number}"
    assert len(shown["servers"]) == len(wanted["servers"]), f"too many servers: {shown}"
    return number


class _Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def call(connection, method, path, body=None):
    headers = {"Content-Type": "application/json", "Prefer": "return=minimal"}
    text = None if body is None else json.dumps(body)
    connection.request(method, "/api/v1" + path, text, headers)
    response = connection.getresponse()
    return response.status, response.read()


class Book:
    """What is known of each group: the last write that was answered, and the one under way."""

    def __init__(self):
        self.answered = {}
        self.under_way = {}
        self.count = 0  # answers of this round

    def check(self, path, bases):
        """What is there after a start is what was answered, or one write more."""
        connection = _Connection(path)
        status, body = call(connection, "GET", "/config")
        connection.close()
        assert status == 200, (status, body)
        groups = json.loads(body)["server_groups"]
        more = 0
        for name, base in bases.items():
            found = number_of(groups[name], base) if name in groups else None
            allowed = {self.answered.get(name), self.under_way.get(name, self.answered.get(name))}
            assert found in allowed, (
                f"{name}: write {found} is there, {self.answered.get(name)} was answered, "
                f"{self.under_way.get(name)} was under way"
            )
            more += found != self.answered.get(name)
            self.answered[name] = found
        self.under_way.clear()
        return more


class Writer(threading.Thread):
    def __init__(self, path, book, names, bases, numbers):
        super().__init__(daemon=True)
        self._arguments = path, book, names, bases, numbers
        self.fault = None
        self.start()

    def run(self):
        path, book, names, bases, numbers = self._arguments
        connection = _Connection(path)
        try:
            while True:
                for name in names:
                    number = next(numbers)
                    book.under_way[name] = number
                    status, body = call(
                        connection, "PUT", f"/server-groups/{name}", group(number, bases[name])
                    )
                    if status not in (200, 201, 204):
                        raise AssertionError(f"{name}: {status}: {body[:500]!r}")
                    book.answered[name] = number
                    del book.under_way[name]
                    book.count += 1
        except (OSError, http.client.HTTPException):
            pass  # the end of the daemon
        except AssertionError as fault:
            self.fault = fault
        finally:
            connection.close()


def names():
    """{group: base of its addresses}, and who writes which."""
    bases, shares = {}, []
    for writer in range(WRITERS):
        own = [f"g{writer}-{n}" for n in range(GROUPS)]
        shares.append(own)
        bases.update({name: f"10.{20 + writer}.{n}" for n, name in enumerate(own)})
    return bases, shares


def _numbers(start):
    """1 to 60000, again and again: the range of a weight."""
    number = start
    while True:
        number = number % 60000 + 1
        yield number


def write_until_killed(path, pid, book, bases, shares, chance):
    """One round. Returns the number of answered writes before the end."""
    book.count = 0
    last = chance.randint(1, WRITES)
    start = chance.randint(1, 50000)
    writers = [
        Writer(path, book, own, bases, _numbers(start + 1000 * n)) for n, own in enumerate(shares)
    ]
    deadline = time.monotonic() + 60
    while book.count < last and time.monotonic() < deadline:
        if not any(x.is_alive() for x in writers):
            break
        time.sleep(0.0005)
    time.sleep(chance.random() * 0.003)
    os.kill(pid, signal.SIGKILL)
    for writer in writers:
        writer.join(15)
        if writer.fault:
            raise writer.fault
    assert book.count >= last, f"only {book.count} of {last} writes were answered"
    return book.count


def seeded(name):
    """A generator of its own for each test, the same at each run."""
    return random.Random(f"durability {name}")
