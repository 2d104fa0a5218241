# SPDX-License-Identifier: GPL-2.0-or-later
"""The daemon on the host itself, without its kernel: for what needs many starts or many packets."""

import os
import shutil
import socket
import subprocess
import tempfile
import time


class Daemon:
    def __init__(self, config, dns=None, api="", level="warning"):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="zglab-durable-", dir=base)
        self.socket = f"{self.folder}/api.sock"
        self._settings = f"{self.folder}/zonegate.conf"
        self._program = f"{config['build']}/zonegated"
        self.log = open(f"{config['out']}/daemon.log", "ab")
        self.process = None
        with open(self._settings, "w", encoding="ascii") as file:
            file.write(
                f"[api]\nsocket = {self.socket}\n{api.format(folder=self.folder)}[store]\npath = {self.folder}/state\n"
                f"[kernel]\nipvs = off\nvip_device = none\n[log]\ntarget = stderr\nlevel = {level}\n"
            )
            if dns:
                file.write(f"[dns]\n{dns}")

    def start(self):
        if os.path.exists(self.socket):
            os.unlink(self.socket)
        self.process = subprocess.Popen(
            [self._program, "-c", self._settings], stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, cwd="/",
        )
        deadline = time.monotonic() + 10
        while not self._listens():
            assert self.process.poll() is None, f"it ended: {self.process.returncode}"
            assert time.monotonic() < deadline, "it does not start"
            time.sleep(0.002)

    def _listens(self):
        with socket.socket(socket.AF_UNIX) as sock:
            return sock.connect_ex(self.socket) == 0

    def dispose(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
