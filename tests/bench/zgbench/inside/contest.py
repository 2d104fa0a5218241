# SPDX-License-Identifier: GPL-2.0-or-later
"""Who takes part inside the lab, each in an arena of its own: a fresh namespace.

A table that was flushed is searched for its old entries for two minutes, so no namespace is used
twice. The list of services is one for all namespaces of a kernel, and /proc/net/ip_vs of 6.1 loses
entries while two of them hold some: an arena is emptied at its end. Programs lie in memory, and the
first round only fills the caches.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from zgbench import configs, trace  # noqa: E402
from zglab import daemon, net, sysc  # noqa: E402
from zglab.lab import run_in  # noqa: E402

FOLDER = "/run/bench"
CLEARED = 0.3  # seconds in which the kernel clears the last arena away, under the lock that a start asks for its routing rules


class Daemon(daemon.Daemon):
    """The product, its start stamped, on a store that is given to it."""

    def __init__(self, contest, namespace, name, store=None, **sections):
        super().__init__(contest.lab.config, namespace, name)
        self.stamp = f"{self.folder}/stamp"
        self._stamp_program = contest.program("stamp")
        if store:
            shutil.copytree(store, self.state_folder, dirs_exist_ok=True)
            for base, _, files in os.walk(self.state_folder):
                for path in (base, *(f"{base}/{x}" for x in files)):
                    os.chown(path, *self.ids)
        self.settings["log"]["level"] = "info"
        self.settings["kernel"]["vip_device"] = "none"
        for section, members in sections.items():
            self.settings.setdefault(section, {}).update(members)

    def _command(self, *arguments):
        return [self._stamp_program, self.stamp, *super()._command(*arguments)]

    def end(self):
        if self.running():
            self.kill()


class Contest:
    def __init__(self, lab):
        self.lab = lab
        self.count = 0
        os.makedirs(FOLDER, exist_ok=True)
        shutil.copytree(lab.config["programs"], f"{FOLDER}/programs", dirs_exist_ok=True)
        self.figures = {}

    def program(self, name):
        return f"{FOLDER}/programs/{name}"

    @contextlib.contextmanager
    def arena(self):
        self.count += 1
        namespace = net.Namespace(f"n{self.count}")
        time.sleep(CLEARED)
        try:
            yield namespace
            run_in(namespace, "ipvsadm", "-C")
        finally:
            namespace.close()

    def file(self, name, text):
        path = f"{FOLDER}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o644)
        return path

    def note(self, name, value):
        self.figures.setdefault(name, []).append(value)

    def write(self):
        with open(f"{self.lab.config['out']}/figures.json", "w", encoding="utf-8") as file:
            json.dump(self.figures, file)

    def rounds(self):
        """The number of each round; what the first one noted is thrown away."""
        for number in range(self.lab.config["rounds"] + 1):
            yield number
            if number == 0:
                self.figures.clear()

    # What takes part

    def spawn(self, namespace, *command, stdin=None, stdout=None, stderr=None):
        """Starts a program that stamps its start; returns (process, path of the stamp)."""
        stamp = f"{FOLDER}/stamp"
        if os.path.exists(stamp):
            os.unlink(stamp)
        process = subprocess.Popen(
            [self.program("stamp"), stamp, *command], stdin=stdin or subprocess.DEVNULL,
            stdout=stdout, stderr=stderr,
            preexec_fn=lambda: sysc.setns(namespace.descriptor),
        )
        return process, stamp

    def run(self, namespace, *command, stdin=None):
        """Seconds from the start of a program to its end."""
        process, stamp = self.spawn(namespace, *command, stdin=stdin)
        status = process.wait()  # with a limit, Python would only look every 50 ms
        end = time.time_ns()
        assert status == 0, (command, status)
        return (end - read_stamp(stamp)) / 1e9

    def watch(self, namespace, service, servers, seconds=60):
        """When (REALTIME, ns) the service had all its servers."""
        done = subprocess.run(
            [self.program("bare_ipvs"), "watch", str(service), str(servers), str(seconds)],
            capture_output=True, text=True, check=True,
            preexec_fn=lambda: sysc.setns(namespace.descriptor),
        )
        return int(done.stdout)

    def keepalived(self, namespace, configuration, *options):
        """Starts it without VRRP; returns (process, path of the stamp)."""
        paths = [f"{FOLDER}/keepalived.pid", f"{FOLDER}/checkers.pid"]
        for path in paths:
            if os.path.exists(path):
                os.unlink(path)
        return self.spawn(
            namespace, "/usr/sbin/keepalived", "-n", "-C", "-G", "-f", configuration,
            "-p", paths[0], "-c", paths[1], *options,
        )

    def trace(self, namespace):
        return trace.Trace(namespace)

    def store(self, name, document):
        """A folder that holds the document, made by the daemon itself without a kernel."""
        folder = f"{FOLDER}/{name}"
        with self.arena() as namespace:
            maker = Daemon(self, namespace, name, kernel={"ipvs": "off"})
            maker.start()
            maker.api.apply(document)
            status = maker.stop()
        assert status == 0, status
        shutil.copytree(maker.state_folder, folder)
        return folder


def read_stamp(path):
    with open(path, encoding="ascii") as file:
        return int(file.read())


def end_tree(process):
    """Kills a program of ours and its children: nothing is cleaned up by it."""
    path = f"/proc/{process.pid}/task/{process.pid}/children"
    with open(path, encoding="ascii") as file:
        children = [int(x) for x in file.read().split()]
    process.kill()
    process.wait()
    for child in children:
        os.kill(child, signal.SIGKILL)


def count_table(namespace):
    """(services, servers) of the table of the namespace."""
    text = namespace.proc_net("ip_vs")
    return text.count("\nTCP "), text.count("\n  -> ") - 1


def wait_table(namespace, services, servers, seconds=10):
    """Looks seldom: a look costs what 1,000 operations cost."""
    end = time.monotonic() + seconds
    time.sleep(0.4)
    while (counts := count_table(namespace)) != (services, services * servers):
        assert time.monotonic() < end, f"the table holds {counts}"
        time.sleep(0.2)


__all__ = ["Contest", "Daemon", "configs", "count_table", "end_tree", "read_stamp", "wait_table"]
