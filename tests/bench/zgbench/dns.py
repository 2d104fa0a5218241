# SPDX-License-Identifier: GPL-2.0-or-later
"""Line 10: CPU of the server an answer; ours, gdnsd, Knot, NSD and the bare echo, in turns.

Each has one worker and one A record, and answers the same client, which always has WINDOW queries
on their way. All are asked for NAME. "probing" is ours too, while it runs PROBES probes a second.
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


class Daemon:
    """Ours as it is: one load balancer with the name, and servers that are probed or not."""

    def __init__(self, name, store, probes):
        self.name = name
        self._listener = host.Listener("tcp") if probes else None
        self._daemon = host.Zonegate(
            store, dns={"listen": f"{ADDRESS}:{PORT}", "rrl": 0},
        )

    @staticmethod
    def store(probes):
        """A store with the document, for as many as take part."""
        members = {} if probes else {"enabled": False}
        document = host.checked("tcp", probes or host.PER_SERVICE, **members)
        next(iter(document["load_balancers"].values()))["dns_name"] = NAME
        return host.make_store(document)

    def start(self):
        self._daemon.start()
        host.wait(lambda: ask(0.05, 1)["answers"] > 0, 20, f"{self.name} answers")
        if self._listener:
            time.sleep(2.5)  # the first round is spread over a second
        return self

    @property
    def pids(self):
        return self._daemon.pids

    def close(self):
        self._daemon.close()
        if self._listener:
            self._listener.close()


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
    "ours": lambda stores: Daemon("ours", stores[0], 0),
    "probing": lambda stores: Daemon("probing", stores[PROBES], PROBES),
    "bare": lambda _: Server("bare", [f"{host.PROGRAMS}/bare_dns_echo", "{address}", "{port}"]),
    "gdnsd": lambda _: Server(
        "gdnsd", ["/usr/sbin/gdnsd", "-c", "{folder}", "start"],
        [("config", GDNSD), (f"zones/{ZONE}", RECORDS)], ["zones", "run", "state"],
    ),
    "knot": lambda _: Server(
        "knot", ["/usr/sbin/knotd", "-c", "{folder}/knot.conf"],
        [("knot.conf", KNOT), ("zone", RECORDS)], ["db"],
    ),
    "nsd": lambda _: Server(
        "nsd", ["/usr/sbin/nsd", "-d", "-c", "{folder}/nsd.conf"],
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


def cost(server, seconds):
    """CPU in microseconds of one answer: of all threads, and of those for DNS in ours."""
    ask(0.3)
    begin = host.cpu_usec(*server.pids), threads_usec(server.pids[0], "dns-")
    seen = ask(seconds)
    end = host.cpu_usec(*server.pids), threads_usec(server.pids[0], "dns-")
    if seen["wrong"] or seen["answers"] < 10000 * seconds:
        raise SystemExit(f"{server.name}: {seen}")
    return [(after - before) / seen["answers"] for before, after in zip(begin, end)]


def measure(seconds=2.0):
    """{name: median of the CPU in microseconds an answer}; "ours threads" and "probing threads" are
    those of the threads that answer."""
    host.enter()
    stores = {probes: Daemon.store(probes) for probes in (0, PROBES)}
    values = {}
    for _ in range(host.ROUNDS):
        for name, make in MAKERS.items():
            server = make(stores)
            try:
                server.start()
                whole, threads = cost(server, seconds)
            finally:
                server.close()
            values.setdefault(name, []).append(whole)
            values.setdefault(f"{name} threads", []).append(threads)
            time.sleep(0.1)
    for store in stores.values():
        host.remove_store(store)
    host.dump("dns", values)
    return {name: figures.median(x) for name, x in values.items()}
