# SPDX-License-Identifier: GPL-2.0-or-later
"""Measurements on the host: the daemon with `ipvs = off`, keepalived behind its preload, bare programs.

Everything runs in a network namespace of its own. The one that is measured has the first CPU, the
listener the last one.
"""

import contextlib
import ctypes
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from . import BUILD, OUT, configs
from zglab import api, rtnl, sysc

ROUNDS = int(os.environ.get("ROUNDS", "5"))
TRIES = 4
PUNCTUAL_US = 3000
NEVER = float("inf")
WARM = 1.8  # the first round is spread over a second, and makes 10,000 transitions
SECONDS = float(os.environ.get("SECONDS", "1.5"))
PORT = 8080
PROGRAMS = f"{OUT}/tests/bench"
_CPUS = sorted(os.sched_getaffinity(0))
MEASURED, OTHER = {_CPUS[0]}, {_CPUS[-1]}
_libc = ctypes.CDLL(None)


def enter():
    """Into a network without anybody else; the limits are those of a busy host."""
    if os.geteuid():
        raise SystemExit("lines on the host want root: they make a network namespace")
    sysc.unshare(sysc.CLONE_NEWNET)
    rtnl.Netlink().link_set("lo")
    for name in ("core/somaxconn", "ipv4/tcp_max_syn_backlog"):
        with open(f"/proc/sys/net/{name}", "w", encoding="ascii") as file:
            file.write("65535")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _prepare(cpus):
    def in_child():
        os.sched_setaffinity(0, cpus)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))  # what else the machine does makes timers late, and late ones come in bunches
        _libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG

    return in_child


def spawn(command, cpus, **options):
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, preexec_fn=_prepare(cpus), **options
    )


def _take_what_is_left():
    os.sched_setaffinity(0, OTHER)
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    _libc.prctl(1, signal.SIGKILL)


@contextlib.contextmanager
def others_busy():
    """The processor of clients and listeners is never idle meanwhile. Who wakes a process there pays for
    it, and less if the processor is idle, as then that one does the work."""
    process = subprocess.Popen(
        [sys.executable, "-c", "while True: pass"], preexec_fn=_take_what_is_left
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


# What a process has used


def cpu_usec(*pids):
    """CPU time of all threads of these processes."""
    total = 0
    for pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
    return total / 1000


def anonymous_kb(*pids):
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            total += int(re.search(r"^RssAnon:\s+(\d+) kB", file.read(), re.M).group(1))
    return total


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(x) for x in file.read().split()]


# Those who take part


class Listener:
    """Accepts every address of one port and keeps the times of the visits."""

    def __init__(self, kind):
        self._process = spawn(
            [f"{PROGRAMS}/listener", str(PORT), kind], OTHER, stdout=subprocess.PIPE, text=True
        )
        wait(lambda: socket_open(PORT), 5, "the listener listens")

    def reset(self):
        """{name: number} of what came since the last reset, or since the start."""
        self._process.send_signal(signal.SIGUSR1)
        return read_numbers(self._process.stdout.readline())

    def go_first(self):
        """Before all others on its processor: what a client does there makes no visit look late."""
        os.sched_setscheduler(self._process.pid, os.SCHED_FIFO, os.sched_param(2))

    def end(self):
        """The same, and no more is accepted."""
        self._process.send_signal(signal.SIGTERM)
        return read_numbers(self._process.communicate(timeout=60)[0])

    def close(self):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def read_numbers(text):
    words = text.split()
    return {name: float(value) for name, value in zip(words[::2], words[1::2])}


def socket_open(port):
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


def wait(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"not within {seconds} s: {what}")
        time.sleep(0.02)


class Zonegate:
    """The daemon with its kernel off. STORE is copied; OPTIONS are settings by section."""

    name = "ours"

    def __init__(self, store=None, stderr=None, **options):
        self.folder = tempfile.mkdtemp(prefix="zgbench-")
        self.state = f"{self.folder}/state"
        if store:
            shutil.copytree(store, self.state)
        else:
            os.mkdir(self.state)
        self._stderr = stderr
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notify.bind(f"{self.folder}/notify")
        self.api = api.Api(f"{self.folder}/api.sock", 60)
        settings = {
            "api": {"socket": f"{self.folder}/api.sock"},
            "store": {"path": self.state},
            "kernel": {"ipvs": "off", "vip_device": "none"},
            "log": {"level": "notice", "target": "stderr"},
        }
        for section, members in options.items():
            settings.setdefault(section, {}).update(members)
        with open(f"{self.folder}/zonegate.conf", "w", encoding="utf-8") as file:
            for section, members in settings.items():
                file.write(f"[{section}]\n" + "".join(f"{k} = {v}\n" for k, v in members.items()))

    def start(self):
        log = self._stderr or open(f"{BUILD}/bench/host.log", "ab")
        environment = dict(os.environ, NOTIFY_SOCKET=f"{self.folder}/notify")
        self._process = spawn(
            [f"{BUILD}/zonegated", "-c", f"{self.folder}/zonegate.conf"], MEASURED,
            stdout=log, stderr=log, env=environment,
        )
        self._notify.settimeout(30)
        while b"READY=1" not in self._notify.recv(4096):
            pass
        return self

    @property
    def pids(self):
        return [self._process.pid]

    def end(self):
        self._process.terminate()
        self._process.wait(30)
        self.close()

    def close(self):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._notify.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Keepalived:
    """Its checkers only, its IPVS calls answered by the preload."""

    name = "keepalived"

    def __init__(self, configuration):
        self.folder = tempfile.mkdtemp(prefix="zgbench-")
        self._configuration = f"{self.folder}/keepalived.conf"
        with open(self._configuration, "w", encoding="utf-8") as file:
            file.write(configuration)

    def start(self):
        log = open(f"{BUILD}/bench/host.log", "ab")
        self._process = spawn(
            [
                "/usr/sbin/keepalived", "-n", "-C", "-G", "-f", self._configuration,
                "-p", f"{self.folder}/pid", "-c", f"{self.folder}/checkers",
            ],
            MEASURED, stdout=log, stderr=log,
            env=dict(os.environ, LD_PRELOAD=f"{PROGRAMS}/preload_ipvs.so"),
        )
        wait(lambda: children(self._process.pid), 20, "keepalived has its checkers")
        return self

    @property
    def pids(self):
        return [self._process.pid, *children(self._process.pid)]

    def end(self):
        for pid in reversed(self.pids):
            os.kill(pid, signal.SIGKILL)
        self.close()

    def close(self):
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Bare:
    """A bare program: targets 127.1.0.0 onwards, every second."""

    name = "bare"

    def __init__(self, kind, targets):
        self._command = [
            f"{PROGRAMS}/bare_{kind}_probe", str(targets), "1000", "3600", str(PORT),
        ]

    def start(self):
        self._process = spawn(self._command, MEASURED, stdout=subprocess.DEVNULL)
        return self

    @property
    def pids(self):
        return [self._process.pid]

    def end(self):
        self._process.kill()
        self._process.wait()

    close = end


# Stores


def make_store(document):
    """A folder whose database holds the document."""
    os.makedirs(f"{BUILD}/bench", exist_ok=True)
    maker = Zonegate().start()
    maker.api.apply(document)
    folder = tempfile.mkdtemp(prefix="zgbench-store-")
    maker._process.terminate()
    maker._process.wait(30)
    shutil.copytree(maker.state, folder, dirs_exist_ok=True)
    maker.close()
    return folder


def remove_store(folder):
    shutil.rmtree(folder)


# Few virtual services: their VIPs, which nobody has here, are probed too.
PER_SERVICE = 1000


def checked(kind, servers, per_service=PER_SERVICE, **members):
    """The document of so many checked servers on the listener."""
    return configs.document(
        servers // per_service, per_service, configs.check(kind, **members),
        first=configs.LOCAL_FIRST, port=PORT,
    )


def keepalived_checked(kind, servers, per_service=PER_SERVICE):
    return configs.keepalived(
        servers // per_service, per_service, kind, first=configs.LOCAL_FIRST, port=PORT
    )


def probe_cost(make, kind, rate):
    """CPU in microseconds of one probe, as the listener counted them; RATE probes/s are due.

    MAKE() gives who is measured. When the machine was busy with something else the probes are late,
    and late ones come in bunches, which are cheap: that time is measured again.
    """
    tries = []
    while len(tries) < TRIES and (not tries or tries[-1][0] > PUNCTUAL_US):
        tries.append(_probe_cost(make(), kind, rate))
    late, cost = min(tries)
    if late == NEVER:
        raise SystemExit(f"far fewer {kind} probes/s than {rate}")
    return cost


def _probe_cost(contestant, kind, rate):
    """(how late the p99 of the intervals was, CPU a probe), both in microseconds."""
    listener = Listener(kind)
    try:
        contestant.start()
        time.sleep(WARM)
        listener.reset()
        begin, cpu = time.monotonic(), cpu_usec(*contestant.pids)
        time.sleep(SECONDS)
        cpu = cpu_usec(*contestant.pids) - cpu
        seconds = time.monotonic() - begin
        seen = listener.end()
        contestant.end()
    finally:
        listener.close()
    if seen["connections"] < 0.9 * rate * seconds:
        return NEVER, 0
    return seen["p99"] - 1e6, cpu / seen["connections"]


def dump(name, value):
    """Single values of a line, for whoever looks closer."""
    with open(f"{BUILD}/bench/{name}.json", "w", encoding="utf-8") as file:
        json.dump(value, file)
