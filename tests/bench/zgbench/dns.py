# SPDX-License-Identifier: GPL-2.0-or-later
"""Line 10: CPU of the server an answer; ours, gdnsd, Knot, NSD and the bare echo, in turns.

Each has one worker and one A record, and answers the same client, which always has WINDOW queries
on their way. All are asked for NAME. They stand side by side and are asked in turns, SLICE seconds each and
SLICES times a round: what the machine does beside it, or its memory, meets them all alike. "probing" is ours
once more, with PROBES probes a second and without, in turns too. The listener of the probes shares a processor
with the client, so that one is kept busy in both: where it was idle without probes, to wake the client cost the
server 180 ns an answer, with them 400; all else together was not dearer.
"""

import json
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
PORT = 5300  # of the first; the next ones have the next ones
SLICE = 0.3
SLICES = 6
WINDOW = 100  # as many as dnsperf has
PROBES = 5000
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

    def __init__(self, name, port, command, files=(), folders=()):
        self.name, self.port = name, port
        self.folder = tempfile.mkdtemp(prefix="zgbench-dns-")
        self._process = None
        values = {
            "folder": self.folder, "address": ADDRESS, "port": port, "name": NAME, "zone": ZONE,
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

    def _answers(self):
        return ask(0.05, 1, self.port)["answers"] > 0

    @property
    def pids(self):
        return [self._process.pid, *_descendants(self._process.pid)]

    def close(self):
        for pid in reversed(self.pids if self._process.poll() is None else []):
            os.kill(pid, signal.SIGKILL)
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Daemon:
    """Ours as it is: one load balancer with the name, and servers that are probed or not."""

    def __init__(self, name, port, probes):
        self.name, self.port = name, port
        self._probes = probes
        self._store = host.make_store(self._document(False))
        self._listener = host.Listener("tcp") if probes else None
        self._daemon = host.Zonegate(self._store, dns={"listen": f"{ADDRESS}:{port}", "rrl": 0})

    def _document(self, probing):
        members = {} if probing else {"enabled": False}
        document = host.checked("tcp", self._probes or host.PER_SERVICE, **members)
        next(iter(document["load_balancers"].values()))["dns_name"] = NAME
        return document

    def start(self):
        self._daemon.start()
        host.wait(lambda: ask(0.05, 1, self.port)["answers"] > 0, 20, f"{self.name} answers")
        return self

    def probe(self, probing):
        """The health checks on or off; returns when the first round of them is over."""
        self._daemon.api.put(
            "/config", json.dumps(self._document(probing)), {"If-Match": "*"},
        ).expect(200, 204)
        time.sleep(host.WARM if probing else 0.2)

    @property
    def pids(self):
        return self._daemon.pids

    def close(self):
        self._daemon.close()
        if self._listener:
            self._listener.close()
        host.remove_store(self._store)


def ask(seconds, window=WINDOW, port=PORT):
    """{name: number} of what the client saw."""
    run = subprocess.run(
        [f"{host.PROGRAMS}/dns_bench", ADDRESS, str(port), str(seconds), str(window), NAME],
        stdout=subprocess.PIPE, text=True, check=True, timeout=seconds + 30,
        preexec_fn=lambda: os.sched_setaffinity(0, host.OTHER),
    )
    words = run.stdout.split()
    return {name: float(value) for name, value in zip(words[::2], words[1::2])}


MAKERS = {
    "ours": lambda port: Daemon("ours", port, 0),
    "bare": lambda port: Server(
        "bare", port, [f"{host.PROGRAMS}/bare_dns_echo", "{address}", "{port}"],
    ),
    "gdnsd": lambda port: Server(
        "gdnsd", port, ["/usr/sbin/gdnsd", "-c", "{folder}", "start"],
        [("config", GDNSD), (f"zones/{ZONE}", RECORDS)], ["zones", "run", "state"],
    ),
    "knot": lambda port: Server(
        "knot", port, ["/usr/sbin/knotd", "-c", "{folder}/knot.conf"],
        [("knot.conf", KNOT), ("zone", RECORDS)], ["db"],
    ),
    "nsd": lambda port: Server(
        "nsd", port, ["/usr/sbin/nsd", "-d", "-c", "{folder}/nsd.conf"],
        [("nsd.conf", NSD), ("zone", RECORDS)],
    ),
}


def threads_usec(pid, prefix):
    """CPU time of the threads whose names begin so."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/comm", encoding="ascii") as file:
            if not file.read().startswith(prefix):
                continue
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1000


class Account:
    """What a server has used and answered in the slices of one round."""

    def __init__(self):
        self.usec, self.threads, self.answers = 0.0, 0.0, 0.0

    def slice(self, server, seconds=SLICE):
        ask(0.05, port=server.port)
        begin = host.cpu_usec(*server.pids), threads_usec(server.pids[0], "dns-")
        seen = ask(seconds, port=server.port)
        end = host.cpu_usec(*server.pids), threads_usec(server.pids[0], "dns-")
        if seen["wrong"] or seen["answers"] < 10000 * seconds:
            raise SystemExit(f"{server.name}: {seen}")
        self.usec += end[0] - begin[0]
        self.threads += end[1] - begin[1]
        self.answers += seen["answers"]


def _beside_each_other(values):
    servers = []
    try:
        for number, make in enumerate(MAKERS.values()):
            servers.append(make(PORT + number))
            servers[-1].start()
        for _ in range(host.ROUNDS):
            accounts = {server.name: Account() for server in servers}
            for _ in range(SLICES):
                for server in servers:
                    accounts[server.name].slice(server)
            for name, account in accounts.items():
                values.setdefault(name, []).append(account.usec / account.answers)
    finally:
        for server in servers:
            server.close()


def _while_probing(values):
    daemon = Daemon("probing", PORT, PROBES)
    try:
        daemon.start()
        for name, probing in (("quiet", False), ("probing", True)) * host.ROUNDS:
            daemon.probe(probing)
            account = Account()
            with host.others_busy():
                for _ in range(SLICES):
                    account.slice(daemon)
            values.setdefault(name, []).append(account.threads / account.answers)
    finally:
        daemon.close()


def measure():
    """{name: median of the CPU in microseconds an answer}; "quiet" and "probing" are those of the
    threads that answer, of one daemon without probes and with them."""
    host.enter()
    values = {}
    _beside_each_other(values)
    _while_probing(values)
    host.dump("dns", values)
    return {name: figures.median(x) for name, x in values.items()}
