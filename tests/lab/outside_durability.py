# SPDX-License-Identifier: GPL-2.0-or-later
"""kill -9 in the middle of writes, on the host itself and without its kernel: quick, so many times.

test_durability.py does the same with a kernel, fewer times: fifty rounds in all.
"""

import os
import shutil
import time

from zglab import case, durable
from zglab.alone import Daemon

LAB_SECONDS = 12
ROUNDS = 44


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
