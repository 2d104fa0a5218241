# SPDX-License-Identifier: GPL-2.0-or-later
"""kill -9 in the middle of writes that go to the kernel: what was answered is there, and the table follows.

outside_durability.py has most of the rounds, without a kernel.
"""

from zglab import case, durable
from zglab.documents import balancer, document, listener

LAB_SECONDS = 12
ROUNDS = 6
AUDIT = 1


def services(bases):
    """A load balancer with one listener for each group."""
    listeners = {f"l-{name}": listener(name, 1000 + n) for n, name in enumerate(bases)}
    ports = {name: 1000 + n for n, name in enumerate(bases)}
    return ports, {"shop": balancer(listeners)}


def follows(lab, book, bases, ports):
    """The table holds exactly what the last writes say."""
    table = lab.gw.table()
    if len(table) != len(bases):
        return False
    for name, base in bases.items():
        wanted = {
            x["address"]: x["weight"]
            for x in durable.group(book.answered[name], base)["servers"].values()
        }
        if lab.gw.weights(port=ports[name]) != wanted:
            return False
    return True


@case(timeout=150.0)
def killed_while_it_writes(lab):
    lab.network(0)
    book, chance = durable.Book(), durable.seeded("kernel")
    bases, shares = durable.names()
    ports, balancers = services(bases)
    daemon = lab.gw.daemon
    lab.start(kernel={"audit_interval_s": AUDIT}, log={"level": "warning"})
    lab.gw.api.apply(
        document({name: durable.group(1, base) for name, base in bases.items()}, balancers)
    )
    book.answered = {name: 1 for name in bases}
    for number in range(ROUNDS):
        durable.write_until_killed(
            daemon.socket, daemon.process.pid, book, bases, shares, chance
        )
        daemon.process.wait(10)
        daemon.start()
        book.check(daemon.socket, bases)
        lab.wait(
            lambda: follows(lab, book, bases, ports), AUDIT + lab.margin,
            f"round {number}: the table is what was written", pause=0.05,
        )
        assert lab.gw.api.get("/kernel/drift").expect(200).json["in_sync"]
