# SPDX-License-Identifier: GPL-2.0-or-later
"""Line 10: CPU of the server an answer; ours, gdnsd, Knot, NSD and the bare echo, in turns.

Each has one worker and one A record, and answers the same client, which always has WINDOW queries
on their way. All are asked for NAME.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time

from . import BUILD, figures, host

NAME = "www.bench.example"
ZONE = "bench.example"
ADDRESS = "127.0.0.1"
PORT = 5300
WINDOW = 100  # as many as dnsperf has
RECORDS = """$TTL 60
@ SOA ns1 hostmaster 1 3600 600 604800 5
@ NS ns1
ns1 A 192.0.2.53
www A 192.0.2.1
"""

GDNSD = """options => {{
  listen => {address}
  dns_port => {port}
  udp_threads => 1
  tcp_threads => 1
  run_dir => {folder}/run
  state_dir => {folder}/state
  zones_default_ttl => 60
}}
"""

KNOT = """server:
    rundir: {folder}
    listen: {address}@{port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: {folder}/db
log:
  - target: stderr
    any: warning
zone:
  - domain: {zone}
    file: {folder}/zone
    zonefile-sync: -1
    journal-content: none
"""

NSD = """server:
    server-count: 1
    ip-address: {address}@{port}
    do-ip6: no
    username: ""
    chroot: ""
    zonesdir: {folder}
    zonelistfile: {folder}/zone.list
    xfrdfile: {folder}/xfrd.state
    pidfile: {folder}/nsd.pid
    logfile: {folder}/nsd.log
    rrl-ratelimit: 0
remote-control:
    control-enable: no
zone:
    name: {zone}
    zonefile: {folder}/zone
"""


def _descendants(pid):
    pids = []
    for child in host.children(pid):
        pids += [child, *_descendants(child)]
    return pids


class Server:
    """A name server in the foreground. COMMAND takes {folder}, {address}, {port} and {name};
    FILES are written before, likewise."""

    def __init__(self, name, command, files=(), folders=()):
        self.name = name
        self.folder = tempfile.mkdtemp(prefix="zgbench-dns-")
        self._process = None
        values = {
            "folder": self.folder, "address": ADDRESS, "port": PORT, "name": NAME, "zone": ZONE,
        }
        for path in folders:
            os.makedirs(f"{self.folder}/{path}")
        for path, text in files:
            with open(f"{self.folder}/{path}", "w", encoding="utf-8") as file:
                file.write(text if text is RECORDS else text.format(**values))
        self._command = [word.format(**values) for word in command]

    def start(self):
        os.makedirs(f"{BUILD}/bench", exist_ok=True)
        with open(f"{BUILD}/bench/dns.log", "ab") as log:
            self._process = host.spawn(self._command, host.MEASURED, stdout=log, stderr=log)
        host.wait(lambda: self._answers() or self._gone(), 20, f"{self.name} answers")
        return self

    def _gone(self):
        if self._process.poll() is not None:
            raise SystemExit(f"{self.name} has ended: see {BUILD}/bench/dns.log")
        return False

    @staticmethod
    def _answers():
        return ask(0.05, 1)["answers"] > 0

    @property
    def pids(self):
        return [self._process.pid, *_descendants(self._process.pid)]

    def close(self):
        for pid in reversed(self.pids if self._process.poll() is None else []):
            os.kill(pid, signal.SIGKILL)
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def ask(seconds, window=WINDOW):
    """{name: number} of what the client saw."""
    run = subprocess.run(
        [f"{host.PROGRAMS}/dns_bench", ADDRESS, str(PORT), str(seconds), str(window), NAME],
        stdout=subprocess.PIPE, text=True, check=True, timeout=seconds + 30,
        preexec_fn=lambda: os.sched_setaffinity(0, host.OTHER),
    )
    words = run.stdout.split()
    return {name: float(value) for name, value in zip(words[::2], words[1::2])}


MAKERS = {
    "ours": lambda: Server("ours", [f"{host.PROGRAMS}/dns_alone", "{address}", "{port}", "{name}"]),
    "bare": lambda: Server("bare", [f"{host.PROGRAMS}/bare_dns_echo", "{address}", "{port}"]),
    "gdnsd": lambda: Server(
        "gdnsd", ["/usr/sbin/gdnsd", "-c", "{folder}", "start"],
        [("config", GDNSD), (f"zones/{ZONE}", RECORDS)], ["zones", "run", "state"],
    ),
    "knot": lambda: Server(
        "knot", ["/usr/sbin/knotd", "-c", "{folder}/knot.conf"],
        [("knot.conf", KNOT), ("zone", RECORDS)], ["db"],
    ),
    "nsd": lambda: Server(
        "nsd", ["/usr/sbin/nsd", "-d", "-c", "{folder}/nsd.conf"],
        [("nsd.conf", NSD), ("zone", RECORDS)],
    ),
}


def cost(server, seconds):
    """CPU in microseconds of one answer."""
    ask(0.3)
    begin = host.cpu_usec(*server.pids)
    seen = ask(seconds)
    used = host.cpu_usec(*server.pids) - begin
    if seen["wrong"] or seen["answers"] < 10000 * seconds:
        raise SystemExit(f"{server.name}: {seen}")
    return used / seen["answers"]


def measure(names=tuple(MAKERS), seconds=2.0):
    """{name: median of the CPU in microseconds an answer}"""
    host.enter()
    values = {}
    for _ in range(host.ROUNDS):
        for name in names:
            server = MAKERS[name]()
            try:
                server.start()
                values.setdefault(name, []).append(cost(server, seconds))
            finally:
                server.close()
            time.sleep(0.1)
    host.dump("dns", values)
    return {name: figures.median(x) for name, x in values.items()}
