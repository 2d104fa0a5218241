# SPDX-License-Identifier: GPL-2.0-or-later
"""The client's side of the demo: who asks for the name, and who connects to what it is told."""

import collections
import threading
import time

from zglab.client import ask_tcp
from zglab.dns import Resolver

from demo_document import NAME, NAME_SERVER

REQUESTS_PER_SECOND = 20
WATCH_PAUSE = 0.1


class Client:
    """Steady traffic: each request asks for the name and opens a connection to the first address."""

    def __init__(self, namespace, per_second=REQUESTS_PER_SECOND):
        self._namespace = namespace
        self._pause = 1 / per_second
        self._resolver = Resolver(namespace, NAME_SERVER, timeout=0.5)
        self._lock = threading.Lock()
        self._answers = collections.Counter()  # by server
        self._visits = collections.Counter()  # by VIP
        self._errors = 0
        self.last_answer = None
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        following = time.monotonic()
        while True:
            self._ask()
            following = max(following + self._pause, time.monotonic() - 0.5)
            time.sleep(max(0, following - time.monotonic()))

    def _ask(self):
        try:
            addresses = self._resolver.ask(NAME).addresses()
            if not addresses:
                raise OSError("the name has no address")
            name = ask_tcp(self._namespace, addresses[0], 80, 0.5)
            with self._lock:
                self._answers[name] += 1
                self._visits[addresses[0]] += 1
            self.last_answer = time.monotonic()
        except OSError:
            with self._lock:
                self._errors += 1

    def counts(self):
        """({server: answers}, {VIP: answers}, requests without an answer)"""
        with self._lock:
            return dict(self._answers), dict(self._visits), self._errors


class NameWatch:
    """Asks for the name ten times a second and tells TOLD(answer) when the answer is another."""

    def __init__(self, namespace, told):
        self._resolver = Resolver(namespace, NAME_SERVER, timeout=0.5)
        self._told = told
        self.answer = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _look(self):
        try:
            reply = self._resolver.ask(NAME)
        except OSError:
            return {"addresses": [], "rcode": "no reply", "ttl": None}
        # Their order rotates from answer to answer: that is no change.
        return {
            "addresses": sorted(reply.addresses()), "rcode": reply.rcode,
            "ttl": min(reply.ttls(), default=None),
        }

    def _run(self):
        while not self._stopping.wait(WATCH_PAUSE):
            answer = self._look()
            if answer != self.answer:
                self.answer = answer
                self._told(answer)

    def stop(self):
        """Before the name server ends, whose end is no answer."""
        self._stopping.set()
        self._thread.join(2)
