# SPDX-License-Identifier: GPL-2.0-or-later
"""Host side: starts one lab for one file and follows its results."""

import atexit
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

FILE_TIMEOUT = 420
MODULES = "/usr/lib/uml/modules"
PYTHON = "/usr/bin/python3"
HOST_MODULES = [
    "ip_vs", "ip_vs_rr", "ip_vs_wrr", "ip_vs_lc", "ip_vs_wlc", "ip_vs_dh", "ip_vs_sh", "ip_vs_mh",
    "ip_vs_sed", "ip_vs_nq", "ip_vs_fo", "ip_vs_ovf", "veth", "bridge", "dummy", "nlmon", "ipip",
    "ip_gre", "ip6_tunnel", "ip6_gre", "fou", "fou6",
]


def host_has_ipvs():
    if os.geteuid() != 0:
        return False
    if os.path.exists("/sbin/modprobe"):
        subprocess.run(
            ["/sbin/modprobe", "-q", "-a", *HOST_MODULES], check=False, stderr=subprocess.DEVNULL
        )
    return os.path.exists("/proc/net/ip_vs")


class Settings:
    def __init__(self, here, build, kind, valgrind, gcov, full=False):
        self.here = here
        self.build = build
        self.kind = kind
        self.valgrind = valgrind
        self.gcov = gcov
        self.full = full
        self.shim = None
        self._lock = threading.Lock()
        self.stopping = False  # Ctrl-C: end the labs that run, begin no other
        self._places = {cpu: 0 for cpu in os.sched_getaffinity(0)}  # labs on each
        self.uml_dir = tempfile.mkdtemp(prefix="zglab-")
        atexit.register(self.close)

    @classmethod
    def from_environment(cls, here):
        build = os.path.abspath(os.environ.get("BUILD", os.path.join(here, "../../build")))
        kind = os.environ.get("LAB", "auto")
        if kind == "auto":
            kind = "host" if host_has_ipvs() else "uml"
        elif kind == "host" and not host_has_ipvs():
            raise SystemExit("LAB=host: this kernel has no ip_vs, or you are not root")
        if kind not in ("uml", "host"):
            raise SystemExit(f"LAB is auto, uml or host, not {kind!r}")
        flags = [os.environ.get(x, "0") not in ("", "0") for x in ("LAB_VALGRIND", "LAB_GCOV", "LAB_FULL")]
        return cls(here, build, kind, *flags)

    def _build_shim(self):
        """See uml_xstate.c: without it CPUs with AMX cannot run the 6.1 kernel."""
        source = os.path.join(self.here, "uml_xstate.c")
        folder = os.path.join(self.build, "lab")
        os.makedirs(folder, exist_ok=True)
        shim = os.path.join(folder, "uml_xstate.so")
        if not os.path.exists(shim) or os.path.getmtime(shim) < os.path.getmtime(source):
            # Several runs may do this at once: make it under another name, then move it.
            made = f"{shim}.{os.getpid()}"
            subprocess.run(
                ["cc", "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", made, source], check=True
            )
            os.replace(made, shim)
        self.shim = shim

    def close(self):
        shutil.rmtree(self.uml_dir, ignore_errors=True)

    @contextlib.contextmanager
    def place(self):
        """The processor with the fewest labs. User-mode linux is two processes that take turns with every system call:
        on one processor that costs half of what it costs on two."""
        with self._lock:
            cpu = min(self._places, key=lambda one: (self._places[one], random.random()))
            self._places[cpu] += 1
        try:
            yield cpu
        finally:
            with self._lock:
                self._places[cpu] -= 1

    def configuration(self):
        return {
            "build": self.build,
            "top": os.path.abspath(os.path.join(self.here, "../..")),
            "valgrind": self.valgrind,
            "gcov": self.gcov,
            "full": self.full,
            "slow": 6.0 if self.valgrind else 1.0,
        }

    def uml_command(self, name, init, arguments, memory="512M", extra=()):
        """Command and environment that boot user-mode linux with INIT as its first process."""
        with self._lock:
            if not self.shim:
                self._build_shim()
        command = [
            "linux.uml", f"mem={memory}", "ro", "rootfstype=hostfs", f"init={init}",
            "con=null", "con0=fd:0,fd:1", "quiet", "initcall_blacklist=raid6_select_algo,init_zswap",
            "pty.legacy_count=0", "lpj=9084928", f"uml_dir={self.uml_dir}", f"umid={name}",
            "PYTHONDONTWRITEBYTECODE=1", *extra, "--", *arguments,
        ]
        return command, dict(os.environ, LD_PRELOAD=self.shim, TMPDIR=_memory_folder())


def _memory_folder():
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"


def _mark(path, name, otherwise):
    """Value of a line `NAME = VALUE` at the top level of a test file."""
    with open(path, encoding="utf-8") as file:
        found = re.search(rf'^{name} = "?(\w+)"?$', file.read(), re.M)
    return found.group(1) if found else otherwise


def order(item):
    """Long files first, so that the last to end is not one that began late."""
    return -int(_mark(item[0], "LAB_SECONDS", 5))


def waits(item):
    """Does the file wait for clocks most of its time? Then it takes no place of one that works."""
    return _mark(item[0], "LAB_WAITS", "0") != "0"


def _kind(settings, path):
    if os.path.basename(path).startswith("outside_"):
        return "outside"
    # A file can insist on user-mode linux: a host cannot be without its modules.
    return _mark(path, "LAB_KIND", settings.kind)


class _Follower:
    """Reads OUT/results.jsonl as it grows."""

    def __init__(self, path, stem, report):
        self._path = path
        self._stem = stem
        self._report = report
        self._position = 0
        self._plan = []
        self._seen = set()
        self._done = False

    def poll(self):
        if not os.path.exists(self._path):
            return
        with open(self._path, encoding="utf-8") as file:
            file.seek(self._position)
            text = file.read()
        whole = text[: text.rfind("\n") + 1]
        self._position += len(whole.encode())
        for line in whole.splitlines():
            self._take(json.loads(line))

    def _take(self, result):
        if "plan" in result:
            self._plan = result["plan"]
        elif "unknown" in result:
            self._seen.add(result["unknown"])
            self._report.result(
                f"{self._stem}.{result['unknown']}", "failed", 0,
                f"there is no case of this name; there are: {' '.join(result['known'])}",
            )
        elif "done" in result:
            self._done = True
        else:
            self._seen.add(result["case"])
            self._report.result(
                f"{self._stem}.{result['case']}", result["status"], result["seconds"],
                result["detail"],
            )

    def finish(self, seconds, console):
        """Whatever was planned and has no result has failed."""
        self.poll()
        missing = [x for x in self._plan if x not in self._seen]
        if not self._plan and not self._seen:
            missing = ["(no case was run)"]
        for number, name in enumerate(missing):
            detail = _tail(console) if number == 0 else "the lab had ended before it"
            self._report.result(f"{self._stem}.{name}", "failed", seconds, detail)


def _tail(path, size=6000):
    with open(path, encoding="utf-8", errors="replace") as file:
        return "the lab ended early; its console:\n" + file.read()[-size:]


def _command(settings, stem, kind, out, path):
    init = os.path.join(settings.here, "init.py")
    arguments = [init, kind, out, path]
    if kind == "uml":
        memory = "1G" if settings.full else "512M"
        return settings.uml_command(f"{stem}-{os.getpid()}", PYTHON, arguments, memory)
    if kind == "host":
        unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
        return [*unshare, PYTHON, *arguments], dict(os.environ)
    return [PYTHON, *arguments], dict(os.environ)


def stop_group(process):
    """End the processes that we started in their own session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run_file(settings, path, wanted, report):
    stem = os.path.basename(path)[:-3]
    out = os.path.join(settings.build, "lab", stem)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    with open(f"{out}/config.json", "w", encoding="utf-8") as file:
        json.dump(dict(settings.configuration(), wanted=wanted), file)
    kind = _kind(settings, path)
    command, environment = _command(settings, stem, kind, out, path)
    with contextlib.ExitStack() as stack:
        if kind == "uml":
            command = ["taskset", "-c", str(stack.enter_context(settings.place())), *command]
        _follow(settings, command, environment, out, stem, report)
    _collect(f"{out}/judges", f"{settings.build}/lab/judges")


def _collect(made, shelf):
    """What one lab has made is there for the next ones."""
    os.makedirs(shelf, exist_ok=True)
    whole = [name for name in os.listdir(made) if "." not in name] if os.path.isdir(made) else []
    for name in whole:
        os.replace(f"{made}/{name}", f"{shelf}/{name}")


def _follow(settings, command, environment, out, stem, report):
    follower = _Follower(f"{out}/results.jsonl", stem, report)
    start = time.monotonic()
    limit = start + FILE_TIMEOUT * (6 if settings.valgrind else 1) * (3 if settings.full else 1)
    with open(f"{out}/console.log", "wb") as console:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=console,
            stderr=subprocess.STDOUT, start_new_session=True,
        )
        while process.poll() is None and time.monotonic() < limit and not settings.stopping:
            follower.poll()
            time.sleep(0.05)
        stop_group(process)
    follower.finish(time.monotonic() - start, f"{out}/console.log")
