# SPDX-License-Identifier: GPL-2.0-or-later
"""Access lists of a hundred thousand entries, of a million with LAB_FULL=1: into the kernel beside everything else."""

import re
import threading
import time

from zglab import CLIENT4, VIP4, case
from zglab.api import Api
from zglab.filters import NETFILTER, is_open, knock, operations, rules
from zglab.lists import OTHER4, SILENT, leftovers, length, office, set_name, started

LAB_KIND = "uml"
LAB_SECONDS = 60

PATH = "/api/v1/access-lists/office/entries"
FASTEST = 10_000  # entries a second that are put at the least


def count(lab):
    return 1_000_000 if lab.full else 100_000


def limit(lab):
    """Seconds for all of a list."""
    return count(lab) / FASTEST * lab.slow + lab.margin


def lines(lab, first):
    """Denied sources: OTHER4 and those behind FIRST.0.0.0; so many in all."""
    many = (f"{first + (i >> 16 & 15)}.{i >> 20}.{i >> 8 & 255}.{i & 255}/32 deny" for i in range(count(lab) - 1))
    return "\n".join([f"{OTHER4}/32 deny", *many, ""])


def api(lab):
    """Of a client that waits."""
    return Api(lab.gw.daemon.socket, limit(lab) + 15, judged=False)


def put_text(lab, text, wanted=200):
    answer = api(lab).raw("PUT", PATH, text, {"Content-Type": "text/plain"})
    assert answer.status == wanted, (answer.status, answer.body[:500])


def memory_kib(lab, which="VmRSS"):
    with open(f"/proc/{lab.gw.daemon.process.pid}/status", encoding="ascii") as file:
        return int(re.search(rf"{which}:\s+(\d+) kB", file.read()).group(1))


def set_memory(lab, name):
    text = lab.gw.run("ipset", "list", "-t", name)
    return int(re.search(r"^Size in memory: (\d+)$", text, re.M).group(1))


def is_in(lab, name, address):
    return lab.gw.run("sh", "-c", f"ipset -q test {name} {address} && echo yes || true") == "yes\n"


class Beside:
    """Asks for small things, and changes a weight, until it is told to stop; the longest time until an answer, and until the
    weight was in the kernel. The answer to the change comes when all that was written before is in force."""

    def __init__(self, lab):
        self._lab, self._stop, self.faults = lab, threading.Event(), []
        self.read = self.write = self.turns = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _change(self, weight):
        self._lab.gw.api.patch("/server-groups/web/servers/s1", {"weight": weight}).expect(200)

    def _turn(self):
        begin = time.monotonic()
        self._lab.gw.api.get("/livez").expect(200)
        self.read = max(self.read, time.monotonic() - begin)
        self.turns += 1
        weight = 50 + self.turns % 40
        change = threading.Thread(target=self._change, args=(weight,), daemon=True)
        begin = time.monotonic()
        change.start()
        self._lab.wait(lambda: self._lab.gw.weights().get("10.2.0.11") == weight, limit(self._lab), "the weight is in the kernel",
                       pause=0.02)
        self.write = max(self.write, time.monotonic() - begin)
        change.join(limit(self._lab))
        self._stop.wait(0.2)

    def _run(self):
        try:
            while not self._stop.is_set():
                self._turn()
        except Exception as fault:  # of any kind: told where it is judged
            self.faults.append(repr(fault))

    def stop(self):
        self._stop.set()
        self._thread.join(limit(self._lab))
        assert not self.faults and self.turns > 1, (self.faults, self.turns)
        return self.read, self.write


@case(load=NETFILTER, timeout=600.0)
def a_long_list(lab):
    started(lab, office("allow"), kernel={"audit_interval_s": 1})
    before, name, whole = rules(lab), set_name(lab), count(lab) + 2
    texts = lines(lab, 20), lines(lab, 40)
    small = memory_kib(lab)
    traffic = lab.traffic(connections=2)
    beside = Beside(lab)
    begin = time.monotonic()
    put_text(lab, texts[0])
    first = time.monotonic() - begin
    assert first < limit(lab), first
    assert length(lab, name) == whole
    assert knock(lab, VIP4, 80, source=OTHER4) == SILENT and is_open(lab, VIP4, 80, source=CLIENT4)
    # Others, by the command line tool: filled beside the first and swapped.
    done = lab.gw.cli("access", "import", "office", "-", stdin=texts[1], timeout=limit(lab) + 15)
    assert done.returncode == 0, done
    assert length(lab, name) == whole and leftovers(lab) == []
    for address, there in (("40.0.0.7", True), ("20.0.0.7", False), (OTHER4, True)):
        assert is_in(lab, name, address) == there, address
    assert knock(lab, VIP4, 80, source=OTHER4) == SILENT and is_open(lab, VIP4, 80, source=CLIENT4)
    read, write = beside.stop()
    traffic.stop()
    assert traffic.broken == [] and traffic.refused == []
    print(f"{count(lab)} entries: put in {first:.1f} s, the longest read meanwhile {read * 1000:.0f} ms, a weight "
          f"in the kernel after {write * 1000:.0f} ms; memory {small} kB before, {memory_kib(lab)} kB then, {memory_kib(lab, 'VmHWM')} kB "
          f"at the most; the set {set_memory(lab, name) / 1e6:.1f} MB", flush=True)
    assert read < 0.5 * lab.slow + lab.margin and write < 2 * lab.slow + lab.margin, (read, write)
    assert memory_kib(lab) - small < count(lab) * 0.5, "half a kB an entry is too much"
    one_more(lab, name, whole)
    # kill -9 and a start: it is compared, and nothing of it is changed.
    lab.gw.daemon.kill()
    lab.gw.run("ipset", "del", name, "40.0.0.7")
    lab.gw.daemon.start()
    lab.wait(lambda: length(lab, name) == whole, limit(lab), "the one that was missing is there", pause=0.2)
    assert is_in(lab, name, "40.0.0.7")
    assert rules(lab) == before and operations(lab, "set_rules", "iptables") == 0


def one_more(lab, name, whole):
    """An entry is an entry, however long the list; a million is full, so that another one goes for it."""
    comes, goes = f"{CLIENT4}/32", "40.0.0.9/32"

    def swap(add, remove):
        begin = time.monotonic()
        lab.gw.api.patch("/access-lists/office/entries", {"add": [{"cidr": add, "action": "deny"}], "remove": [remove]}).expect(200)
        return time.monotonic() - begin

    took = swap(comes, goes)
    assert length(lab, name) == whole and not is_in(lab, name, "40.0.0.9") and knock(lab, VIP4, 80, source=CLIENT4) == SILENT
    swap(goes, comes)
    assert length(lab, name) == whole and is_in(lab, name, "40.0.0.9") and is_open(lab, VIP4, 80, source=CLIENT4)
    print(f"one entry for another: {took * 1000:.1f} ms", flush=True)
    assert took < 0.5 * lab.slow + lab.margin, took
