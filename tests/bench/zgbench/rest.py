# SPDX-License-Identifier: GPL-2.0-or-later
"""Line 12: the API with 10,000 servers, none of them checked.

The store lies in memory: fsync costs nothing there. The client of the GETs is `api_bench`; what is
counted is the CPU time of the daemon's threads, so that the rate of a core does not depend on the client. Writes and
whole documents are timed at a client in Python, one after the other on one connection.
"""

import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

from . import configs, host

SERVERS, GROUPS = 10_000, 10
WRITES = 1000
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SECONDS = float(os.environ.get("SECONDS", "2"))
TOKEN = "a-token-of-the-bench-0123456789"
PORT = 7480
OBJECT = "/api/v1/server-groups/g3/servers/s3500"


class _Kept(http.client.HTTPConnection):
    """A connection that stays, over the unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self._path)

    def call(self, method, path, body=None, **headers):
        kind = "merge-patch+json" if method == "PATCH" else "json"
        if body is not None:
            headers["Content-Type"] = f"application/{kind}"
        begin = time.monotonic()
        self.request(method, path, body, headers)
        answer = self.getresponse()
        text = answer.read()
        took = time.monotonic() - begin
        if answer.status not in (200, 201, 204):
            raise SystemExit(f"{method} {path}: {answer.status} {text[:500]!r}")
        return took, answer, text


@contextlib.contextmanager
def _undisturbed():
    """The client, too, has priority: what it waits for is the daemon, not the machine."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, host.OTHER)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, before)


def document():
    return configs.document(GROUPS, SERVERS // GROUPS, configs.OFF)


class Subject:
    """The daemon with its document."""

    def __init__(self):
        host.enter()
        os.makedirs(f"{host.BUILD}/bench", exist_ok=True)
        self.state = tempfile.mkdtemp(prefix="zgbench-rest-", dir="/dev/shm")
        token = f"{self.state}/token"
        with open(token, "w", encoding="ascii") as file:
            file.write(TOKEN + "\n")
        os.chmod(token, 0o600)
        self.daemon = self._make(token)
        self.daemon.start()
        self.daemon.api.apply(document())
        self.kept = _Kept(f"{self.daemon.folder}/api.sock")

    def _make(self, token):
        one = host.Zonegate(api={"listen": f"127.0.0.1:{PORT}", "token_file": token})
        path = f"{one.folder}/zonegate.conf"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(f"path = {one.state}", f"path = {self.state}"))
        return one

    def close(self):
        self.daemon.end()
        shutil.rmtree(self.state, ignore_errors=True)

    def write_ms(self):
        """p99 of a write of one server, from the request to the whole answer."""
        took = []
        with _undisturbed():
            for number in range(WRITES):
                body = json.dumps({"weight": 1 + number % 200})
                took.append(self.kept.call("PATCH", OBJECT, body)[0] * 1e3)
        return sorted(took)[int(0.99 * len(took))]

    def gets(self, address, *token):
        """GETs of one server that a core of the daemon serves in a second."""
        cpu = host.cpu_usec(*self.daemon.pids)
        out = subprocess.run(
            [f"{host.PROGRAMS}/api_bench", address, OBJECT, str(SECONDS), *token], check=True,
            capture_output=True, text=True, timeout=60,
            preexec_fn=lambda: os.sched_setaffinity(0, host.OTHER),
        ).stdout
        seen = host.read_numbers(out)
        return seen["requests"] * 1e6 / (host.cpu_usec(*self.daemon.pids) - cpu)

    def whole(self):
        """Seconds of GET /config, and of PUT /config with another weight."""
        got, answer, text = self.kept.call("GET", "/api/v1/config")
        etag = answer.headers["ETag"]
        changed = json.loads(text)
        server = changed["server_groups"]["g7"]["servers"]["s7500"]
        server["weight"] = server.get("weight", 1) % 200 + 1
        for name in ("revision", "updated", "etag"):
            changed.pop(name, None)
        put, _, _ = self.kept.call("PUT", "/api/v1/config", json.dumps(changed), **{"If-Match": etag})
        return got, put


def measure():
    """{figure: [values of the rounds]}"""
    seen = {"write": [], "unix": [], "token": [], "get": [], "put": []}
    subject = Subject()
    try:
        for _ in range(ROUNDS):
            seen["write"].append(subject.write_ms())
            seen["unix"].append(subject.gets(f"{subject.daemon.folder}/api.sock"))
            seen["token"].append(subject.gets(str(PORT), TOKEN))
            got, put = subject.whole()
            seen["get"].append(got)
            seen["put"].append(put)
    finally:
        subject.close()
    host.dump("rest", seen)
    return seen
