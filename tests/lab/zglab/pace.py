# SPDX-License-Identifier: GPL-2.0-or-later
"""How much of its time the machine owes us: labs lie side by side, and compilers beside them."""

import collections
import threading
import time

NAP = 0.02
RECENT = 5.0  # seconds that `recent` looks back


class Pace:
    """Naps, and adds up how much later than asked for it woke."""

    def __init__(self):
        self._late = 0.0
        self._before = collections.deque([(time.monotonic(), 0.0)])
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        slept = time.monotonic()
        while not self._ending.wait(NAP):
            now = time.monotonic()
            self._late += max(0.0, now - slept - 1.5 * NAP)  # half a nap more is no lateness
            self._before.append((now, self._late))
            while self._before[0][0] < now - RECENT:
                self._before.popleft()
            slept = now

    @property
    def late(self):
        """Seconds since the beginning, with those of the nap that has not ended yet."""
        return self._late + max(0.0, time.monotonic() - self._before[-1][0] - 1.5 * NAP)

    @property
    def recent(self):
        return self.late - self._before[0][1]

    def stop(self):
        self._ending.set()
        self._thread.join(5)
