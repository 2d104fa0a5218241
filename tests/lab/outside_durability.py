# SPDX-License-Identifier: GPL-2.0-or-later
"""kill -9 in the middle of writes, on the host itself and without its kernel: quick, so many times.

test_durability.py does the same with a kernel, fewer times: fifty rounds in all.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time

from zglab import case, durable

LAB_SECONDS = 12
ROUNDS = 44


class Daemon:
    def __init__(self, config):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="zglab-durable-", dir=base)
        self.socket = f"{self.folder}/api.sock"
        self._settings = f"{self.folder}/zonegate.conf"
        self._program = f"{config['build']}/zonegated"
        self.log = open(f"{config['out']}/daemon.log", "ab")
        self.process = None
        with open(self._settings, "w", encoding="ascii") as file:
            file.write(
                f"[api]\nsocket = {self.socket}\n[store]\npath = {self.folder}/state\n"
                "[kernel]\nipvs = off\nvip_device = none\n[log]\ntarget = stderr\nlevel = warning\n"
            )

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


@case(timeout=150.0)
def killed_while_it_writes(config):
    daemon = Daemon(config)
    book, chance = durable.Book(), durable.seeded("host")
    bases, shares = durable.names()
    answered = unanswered = 0
    try:
        for _ in range(ROUNDS):
            daemon.start()
            unanswered += book.check(daemon.socket, bases)
            answered += durable.write_until_killed(
                daemon.socket, daemon.process.pid, book, bases, shares, chance
            )
            daemon.process.wait(10)
        daemon.start()
        unanswered += book.check(daemon.socket, bases)
        daemon.process.terminate()
        assert daemon.process.wait(10) == 0
        daemon.start()
        assert book.check(daemon.socket, bases) == 0, "a clean stop adds nothing"
        print(f"{answered} answered writes are there, and {unanswered} that were not answered")
        assert answered > 100 * ROUNDS
    finally:
        daemon.dispose()


@case
def stopped_while_it_starts(config):
    """The request to stop is never lost, however early it comes."""
    daemon = Daemon(config)
    chance = durable.seeded("early")
    try:
        for _ in range(30):
            daemon.start()
            time.sleep(chance.random() * 0.004)
            daemon.process.terminate()
            assert daemon.process.wait(10) == 0
    finally:
        daemon.dispose()


@case
def a_lost_write_would_be_seen(config):
    """The check itself can fail: a database of before is put back."""
    daemon = Daemon(config)
    book, chance = durable.Book(), durable.seeded("lost")
    bases, shares = durable.names()
    state, kept = f"{daemon.folder}/state", f"{daemon.folder}/kept"
    try:
        for _ in range(2):
            daemon.start()
            book.check(daemon.socket, bases)
            durable.write_until_killed(
                daemon.socket, daemon.process.pid, book, bases, shares, chance
            )
            daemon.process.wait(10)
            if not os.path.exists(kept):
                shutil.copytree(state, kept)
        shutil.rmtree(state)
        shutil.move(kept, state)
        daemon.start()
        try:
            book.check(daemon.socket, bases)
        except AssertionError as fault:
            assert "was answered" in str(fault), fault
        else:
            raise AssertionError("nothing was seen")
    finally:
        daemon.dispose()
