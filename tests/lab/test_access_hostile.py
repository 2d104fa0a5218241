# SPDX-License-Identifier: GPL-2.0-or-later
"""Access lists under many clients at once, rubbish, and kill -9: in the kernel stands what the document says, and nothing else."""

import http.client
import json
import random
import socket
import threading
import time

from zglab import CLIENT4, VIP4, case
from zglab.documents import listener
from zglab.filters import NETFILTER, knock, rules, sets
from zglab.lists import OTHER4, SILENT, leftovers, office, put, set_name, started

LAB_KIND = "uml"
LAB_SECONDS = 60

LISTS, CLIENTS, SECONDS = 6, 8, 6
TEXT = {"Content-Type": "text/plain"}


def entries_path(name):
    return f"/api/v1/access-lists/{name}/entries"


def text(chance, most):
    """Sources to deny, out of the same networks again and again."""
    chosen = chance.sample(range(most * 2), chance.randint(0, most))
    return "".join(f"172.{16 + i // 62500}.{i // 250 % 250}.{i % 250}/32 deny\n" for i in chosen)


def expected(lab, name):
    """The set's entries by the document."""
    stored = lab.gw.api.get(f"/access-lists/{name}").expect(200).json
    default = "" if stored["default_action"] == "deny" else "!"
    body = lab.gw.api.raw("GET", entries_path(name)).body.decode()
    entries = [line.split() for line in body.splitlines() if ":" not in line]
    return sorted([x[0].removesuffix("/32") + ("" if x[1] == "deny" else "!") for x in entries] +
                  [half + default for half in ("0.0.0.0/1", "128.0.0.0/1")])


def in_order(lab, names, ours):
    """Sets and rules are those of the document, all of them and no others."""
    found, known = sets(lab), {"zg4-peers"}
    for name in names:
        known |= {set_name(lab, name), set_name(lab, name) + "-at"}
        if found.get(set_name(lab, name)) != expected(lab, name):
            return False
    return set(found) == known and rules(lab) == ours


def many_lists(lab):
    """`office` at port 80 and LISTS more, each at a port of its own."""
    started(lab, office("allow"), kernel={"audit_interval_s": 1})
    names = ["office"]
    for number in range(LISTS):
        names.append(f"list-{number}")
        lab.gw.api.put(f"/access-lists/list-{number}", office("allow")).expect(201)
        lab.gw.api.put(f"/load-balancers/shop/listeners/l{number}",
                       listener(port=1000 + number, access_list=f"list-{number}")).expect(201)
    return names


def raw(lab, message):
    """What comes back for these octets, whatever they are."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(5 * lab.slow)
        sock.connect(lab.gw.daemon.socket)
        try:
            sock.sendall(message)
            sock.shutdown(socket.SHUT_WR)
            return sock.recv(4096)
        except OSError:
            return b""


def head(method, name, length, kind="text/plain"):
    return (f"{method} {entries_path(name)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {length}\r\n\r\n").encode()


class Hostile(threading.Thread):
    """One client; what it was answered, by status, and what should not have been."""

    def __init__(self, lab, names, seed, stop):
        super().__init__(daemon=True)
        self.lab, self.names, self.stop = lab, names, stop
        self.chance, self.seen, self.faults = random.Random(seed), {}, []

    def run(self):
        kinds = (self.put_text, self.put_text, self.patch, self.patch_wrongly, self.put_json, self.matched, self.rubbish,
                 self.half, self.oversized)
        try:
            while not self.stop.is_set():
                # Half of all goes to the same list.
                name = self.chance.choice((self.names[0], self.chance.choice(self.names)))
                self.chance.choice(kinds)(name)
        except (OSError, http.client.HTTPException) as fault:
            self.faults.append(repr(fault))

    def note(self, answer, *wanted):
        self.seen[answer.status] = self.seen.get(answer.status, 0) + 1
        if answer.status not in (*wanted, 429):
            self.faults.append((wanted, answer))

    def put_text(self, name):
        self.note(self.lab.gw.api.raw("PUT", entries_path(name), text(self.chance, 3000), TEXT), 200, 409)

    def put_json(self, name):
        deny = [x.split()[0] for x in text(self.chance, 50).splitlines()]
        wanted = office(self.chance.choice(("allow", "allow", "deny")), deny=deny)
        self.note(self.lab.gw.api.raw("PUT", f"/api/v1/access-lists/{name}", wanted), 200, 409)

    def patch(self, name):
        cidrs = [x.split()[0] for x in text(self.chance, 20).splitlines()]
        half = len(cidrs) // 2
        wish = {"add": [{"cidr": x, "action": "deny"} for x in cidrs[:half]], "remove": cidrs[half:]}
        # What another has removed meanwhile cannot be removed.
        self.note(self.lab.gw.api.raw("PATCH", entries_path(name), wish), 200, 409, 422)

    def patch_wrongly(self, name):
        wish = {"add": [{"cidr": "172.16.0.300/32", "action": "deny"}]}
        self.note(self.lab.gw.api.raw("PATCH", entries_path(name), wish), 422, 400)

    def matched(self, name):
        """With If-Match of what was just read: done, or refused since another was faster."""
        etag = self.lab.gw.api.raw("GET", entries_path(name)).etag
        answer = self.lab.gw.api.raw("PUT", entries_path(name), text(self.chance, 300), {**TEXT, "If-Match": etag})
        self.note(answer, 200, 412, 409)
        stale = self.lab.gw.api.raw("PUT", entries_path(name), "", {**TEXT, "If-Match": '"0"'})
        self.note(stale, 412)

    def rubbish(self, name):
        body = bytes(self.chance.choices(range(256), k=self.chance.randint(1, 3000)))
        self.note(self.lab.gw.api.raw("PUT", entries_path(name), body, TEXT), 422, 400)

    def half(self, name):
        """The body ends in the middle of what would be good."""
        body = text(self.chance, 2000).encode() + b"10.0.0.0/8 deny\n"
        answer = raw(self.lab, head("PUT", name, len(body) + 1) + body)
        if b" 200 " in answer[:15]:
            self.faults.append(("half a body", answer))

    def oversized(self, name):
        self.seen["oversized"] = self.seen.get("oversized", 0) + 1
        answer = raw(self.lab, head("PUT", name, 1 << 40) + b"10.0.0.0/8 deny\n")
        if not answer.startswith(b"HTTP/1.1 413"):
            self.faults.append(("an endless body", answer))


@case(load=NETFILTER, timeout=240.0)
def many_clients_at_once(lab):
    names = many_lists(lab)
    ours, stop = rules(lab), threading.Event()
    clients = [Hostile(lab, names, seed, stop) for seed in range(CLIENTS)]
    for one in clients:
        one.start()
    time.sleep(SECONDS)
    stop.set()
    for one in clients:
        one.join(30)
    seen = {}
    for one in clients:
        assert not one.faults, one.faults[:3]
        for status, times in one.seen.items():
            seen[status] = seen.get(status, 0) + times
    assert seen.get(200, 0) > 20 and seen.get(412) and seen.get("oversized"), seen
    print(json.dumps({str(k): v for k, v in seen.items()}), flush=True)
    lab.wait(lambda: in_order(lab, names, ours), 3 + lab.margin, "sets and rules are those of the document", pause=0.2)
    assert lab.gw.daemon.process.poll() is None
    put(lab, office("allow", deny=[f"{OTHER4}/32"]))
    assert knock(lab, VIP4, 80, source=OTHER4) == SILENT and lab.who(source=CLIENT4, count=2) == {"s1": 2}


def write_and_never_mind(lab, name, body):
    try:
        lab.gw.api.raw("PUT", entries_path(name), body, TEXT)
    except (OSError, http.client.HTTPException):  # cut in the middle of the answer
        pass


@case(load=NETFILTER, timeout=300.0)
def killed_in_a_fill_and_in_a_swap(lab):
    many = [f"172.{16 + i // 62500}.{i // 250 % 250}.{i % 250}/32 deny" for i in range(120_000)]
    texts = "\n".join(many[:60_000]) + "\n", "\n".join(many[60_000:]) + "\n"
    started(lab, office("allow"), kernel={"audit_interval_s": 1})
    name, ours, chance, caught = set_name(lab), rules(lab), random.Random(11), 0
    for turn in range(24):
        if turn >= 8 and caught:
            break  # a fill is short: who looks late, on a busy machine, looks again
        thread = threading.Thread(target=write_and_never_mind, args=(lab, "office", texts[turn % 2]), daemon=True)
        thread.start()
        filling = f"{name}-t" if turn else name
        if turn % 4 != 3:  # in the middle of the fill; else at any moment
            lab.wait(lambda f=filling: f in lab.gw.run("ipset", "list", "-n").split() or not thread.is_alive(), 20,
                     "it is being filled", pause=0)
        time.sleep(chance.uniform(0, 0.15 if turn % 4 == 3 else 0.05))
        lab.gw.daemon.kill()
        caught += leftovers(lab) != []
        thread.join(20)
        lab.gw.daemon.start()
        lab.wait(lambda: in_order(lab, ["office"], ours), 6 + lab.margin,
                 "after kill -9 and a start the set is the document's, and no other is left", pause=0.2)
    assert caught, "not one was killed in the middle"
