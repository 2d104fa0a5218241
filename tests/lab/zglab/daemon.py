# SPDX-License-Identifier: GPL-2.0-or-later
"""The real daemon as its own user, with three ambient capabilities, never root."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time

from . import api, sysc

SUPPRESSIONS = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures/valgrind.supp",
)

CAPABILITIES = (sysc.CAP_NET_BIND_SERVICE, sysc.CAP_NET_ADMIN, sysc.CAP_NET_RAW)
USER = "zonegate"
STOP_SECONDS = 2.0


class Daemon:
    def __init__(self, config, gateway, name):
        self._config = config
        self._namespace = gateway
        self.name = name
        account = pwd.getpwnam(USER)
        self.ids = account.pw_uid, account.pw_gid
        self.folder = f"/run/zglab/{name}"
        self.run_folder = "/run/zonegate" if name == "gw" else f"/run/zonegate-{name}"
        self.state_folder = f"{self.folder}/state"
        for folder in (self.folder, self.run_folder, self.state_folder):
            if folder != self.state_folder:
                shutil.rmtree(folder, ignore_errors=True)  # of the case before
            os.makedirs(folder, exist_ok=True)
            os.chown(folder, *self.ids)
        self.socket = f"{self.run_folder}/api.sock"
        self.settings_path = f"{self.folder}/zonegate.conf"
        self.log_path = f"{config['out']}/{config['case']}.{name}.log"
        self.settings = {
            "node": {"name": name},
            "api": {"socket": self.socket},
            "store": {"path": self.state_folder},
            "kernel": {},
            "log": {"level": "debug", "target": "stderr"},
        }
        self.process = None
        self.starts = 0
        self._notify = None
        self.environment = {}
        self.capabilities = CAPABILITIES
        self.sink = None  # descriptor that takes its log instead of the file

    @property
    def api(self):
        return api.Api(self.socket, 15.0 * self._config["slow"])

    def write_settings(self):
        with open(self.settings_path, "w", encoding="utf-8") as file:
            for section, members in self.settings.items():
                file.write(f"[{section}]\n")
                for key, value in members.items():
                    for one in value if isinstance(value, list) else [value]:
                        file.write(f"{key} = {one}\n")

    def _command(self, valgrind_log):
        command = [self._config["zonegated"], "-c", self.settings_path]
        if valgrind_log:
            command = [
                "valgrind", "--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite",
                "--error-exitcode=99", f"--log-fd={valgrind_log.fileno()}",
                f"--suppressions={SUPPRESSIONS}", *command,
            ]
        return command

    def _valgrind_log(self):
        """Opened here: the daemon's user may not write where the results are."""
        if not self._config["valgrind"]:
            return None
        name = f"{self._config['case']}.{self.name}.{self.starts}.valgrind"
        return open(f"{self._config['out']}/{name}", "wb")

    def _environment(self):
        environment = {"PATH": os.environ["PATH"], "NOTIFY_SOCKET": f"{self.folder}/notify"}
        if self._config["gcov"]:
            environment["GCOV_PREFIX"] = f"{self._config['out']}/gcov"
        return {**environment, **self.environment}

    def _as_user(self):
        """What systemd does for User=, AmbientCapabilities=, NoNewPrivileges=; by a program, since a fork that copies this
        process costs three times as much."""
        uid, gid = self.ids
        few = ",".join(["-all", *(f"+cap_{number}" for number in self.capabilities)])
        return [
            "setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", f"--bounding-set={few}",
            f"--inh-caps={few}", f"--ambient-caps={few}", "--no-new-privs",
        ]

    def start(self, ready=True):
        """Start it; by default wait until it has said READY=1."""
        self.write_settings()
        if self._notify:
            self._notify.close()
        path = f"{self.folder}/notify"
        if os.path.exists(path):
            os.unlink(path)
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notify.bind(path)
        os.chown(path, *self.ids)
        valgrind_log = self._valgrind_log()
        with open(self.log_path, "ab", buffering=0) as log:
            if self.starts:
                log.write(b"---- started again ----\n")
            with self._namespace:
                self.process = subprocess.Popen(
                    [*self._as_user(), *self._command(valgrind_log)], stdin=subprocess.DEVNULL,
                    stdout=self.sink or log, stderr=self.sink or log,
                    cwd="/", env=self._environment(), umask=0o027,
                    pass_fds=[valgrind_log.fileno()] if valgrind_log else [],
                )
        if valgrind_log:
            valgrind_log.close()
        self.starts += 1
        if ready:
            self.wait_ready()
        return self

    def wait_ready(self, timeout=10.0):
        deadline = time.monotonic() + timeout * self._config["slow"]
        while time.monotonic() < deadline:
            self._notify.settimeout(0.1)
            try:
                if b"READY=1" in self._notify.recv(4096):
                    return
            except socket.timeout:
                pass
            if self.process.poll() is not None:
                raise AssertionError(f"{self.name}: the daemon ended: {self.process.returncode}")
        raise AssertionError(f"{self.name}: the daemon was not ready in {timeout} s")

    def notifications(self):
        """What it has told the service manager since it was asked last."""
        self._notify.setblocking(False)
        lines = []
        while True:
            try:
                lines += self._notify.recv(4096).decode().splitlines()
            except BlockingIOError:
                return lines

    def running(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def pause(self):
        self.signal(signal.SIGSTOP)

    def resume(self):
        self.signal(signal.SIGCONT)

    def kill(self):
        """kill -9"""
        self.signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self, timeout=10.0):
        """SIGTERM; returns the exit status."""
        self.signal(signal.SIGTERM)
        return self.process.wait(timeout * self._config["slow"])

    def dispose(self):
        """End of the case. Says what was wrong with the way it ended."""
        fault = None
        if self.process is not None and self.process.poll() is None:
            self.signal(signal.SIGCONT)
            start = time.monotonic()
            try:
                status = self.stop()
                seconds = time.monotonic() - start
                if status != 0:
                    fault = f"{self.name}: the daemon ended with status {status} on SIGTERM"
                elif seconds > STOP_SECONDS * self._config["slow"]:
                    fault = f"{self.name}: the daemon took {seconds:.1f} s to stop"
            except subprocess.TimeoutExpired:
                self.kill()
                fault = f"{self.name}: the daemon did not stop on SIGTERM"
        if self._notify:
            self._notify.close()
        return fault

    def log(self):
        try:
            with open(self.log_path, encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def cli(self, *arguments, stdin=None, timeout=20.0):
        """Run the command line tool as root in the gateway's namespace."""
        with self._namespace:
            return subprocess.run(
                [self._config["zonegate"], "--socket", self.socket, *arguments],
                input=stdin, capture_output=True, text=True, check=False,
                timeout=timeout * self._config["slow"], env={"PATH": os.environ["PATH"]},
            )
