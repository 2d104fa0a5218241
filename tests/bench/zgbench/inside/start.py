# SPDX-License-Identifier: GPL-2.0-or-later
"""1,000 services x 10 servers: into an empty table, and 1,000 weights at once."""

import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from contest import Contest, Daemon, configs, end_tree, read_stamp, wait_table  # noqa: E402
from zglab import case  # noqa: E402

SERVICES, SERVERS = 1000, 10


def ipvsadm(contest, rules):
    with contest.arena() as namespace, open(rules, "rb") as stdin:
        contest.note("ipvsadm", contest.run(namespace, "/usr/sbin/ipvsadm", "-R", stdin=stdin))
        wait_table(namespace, SERVICES, SERVERS)


def keepalived(contest, configuration):
    with contest.arena() as namespace:
        process, stamp = contest.keepalived(namespace, configuration)
        end = contest.watch(namespace, SERVICES - 1, SERVERS)
        contest.note("keepalived", (end - read_stamp(stamp)) / 1e9)
        wait_table(namespace, SERVICES, SERVERS)
        end_tree(process)


def bare(contest):
    with contest.arena() as namespace:
        with contest.trace(namespace) as trace:
            whole = contest.run(
                namespace, contest.program("bare_ipvs"), "load", str(SERVICES), str(SERVERS)
            )
            part = trace.part()
        wait_table(namespace, SERVICES, SERVERS)
    contest.note("bare", whole)
    contest.note("bare_kernel", (part.end - part.begin) / 1e9)


def ours(contest, store, number):
    """From exec with the document in the store."""
    with contest.arena() as namespace:
        daemon = Daemon(contest, namespace, f"ours{number}", store)
        with contest.trace(namespace) as trace:
            daemon.start(ready=False)
            wait_table(namespace, SERVICES, SERVERS)
            part = trace.part()
        daemon.end()
    assert part.counts == {"NEW_SERVICE": SERVICES, "NEW_DEST": SERVICES * SERVERS}, part.counts
    contest.note("ours", (part.end - read_stamp(daemon.stamp)) / 1e9)
    contest.note("ours_before", (part.begin - read_stamp(daemon.stamp)) / 1e9)
    contest.note("ours_kernel", (part.end - part.begin) / 1e9)


def loading(contest):
    """What no start of the program can do without: exec, its libraries, and an end."""
    with contest.arena() as namespace:
        contest.note("loading", contest.run(namespace, contest.lab.config["zonegated"], "--version"))


def apply(contest, document, number):
    """`zonegate config apply -f` to a daemon that has nothing yet."""
    with contest.arena() as namespace:
        daemon = Daemon(contest, namespace, f"apply{number}")
        daemon.start()
        with contest.trace(namespace) as trace:
            process, stamp = contest.spawn(
                namespace, contest.lab.config["zonegate"], "--socket", daemon.socket,
                "config", "apply", "-f", document, stdout=2,
            )
            status = process.wait(60)
            assert status == 0, status
            wait_table(namespace, SERVICES, SERVERS)
            part = trace.part()
        daemon.end()
    contest.note("apply", (part.end - read_stamp(stamp)) / 1e9)


def set_weights(contest, daemon, trace):
    """One PUT that changes the weight of one server in all services, and back."""
    for weight in (50, configs.WEIGHT):
        trace.reset()
        servers = configs.group(configs.LAB_FIRST, 0, SERVERS, configs.LAB_PORT, configs.OFF)
        servers["servers"]["s0"]["weight"] = weight
        begin = time.time_ns()
        daemon.api.put("/server-groups/all/servers", servers["servers"]).expect(200)
        part = trace.part()
        assert part.counts == {"SET_DEST": SERVICES}, part.counts
        contest.note("ours_kernel", (part.end - part.begin) / 1e9)
        contest.note("ours", (part.end - begin) / 1e9)


def set_weights_bare(contest, namespace, trace):
    for weight in (50, configs.WEIGHT):
        trace.reset()
        contest.run(
            namespace, contest.program("bare_ipvs"), "weights", str(SERVICES), str(SERVERS),
            str(weight),
        )
        part = trace.part()
        assert part.counts == {"SET_DEST": SERVICES}, part.counts
        contest.note("bare_kernel", (part.end - part.begin) / 1e9)


@case(timeout=270.0)
def start(lab):
    contest = Contest(lab)
    document = configs.document(SERVICES, SERVERS, configs.OFF)
    store = contest.store("store", document)
    rules = contest.file("rules", configs.ipvsadm_rules(SERVICES, SERVERS))
    configuration = contest.file("keepalived.conf", configs.keepalived(SERVICES, SERVERS))
    saved = contest.file("document.json", json.dumps(document))
    has_cli = os.path.exists(lab.config["zonegate"])
    for number in contest.rounds():
        ours(contest, store, number)
        loading(contest)
        keepalived(contest, configuration)
        if number % 3 != 1:  # these take seconds, and differ little
            continue
        ipvsadm(contest, rules)
        if has_cli:
            apply(contest, saved, number)
    contest.write()


@case(timeout=270.0)
def kernel(lab):
    """Ours and the bare batch only; ipvsadm once, to judge the batch by."""
    contest = Contest(lab)
    store = contest.store("store", configs.document(SERVICES, SERVERS, configs.OFF))
    rules = contest.file("rules", configs.ipvsadm_rules(SERVICES, SERVERS))
    for number in contest.rounds():
        if number == 1:
            ipvsadm(contest, rules)
        ours(contest, store, number)
        bare(contest)
    contest.write()


@case(timeout=270.0)
def weights(lab):
    """Both on the same table, in turns."""
    contest = Contest(lab)
    store = contest.store("store", configs.shared(SERVICES, SERVERS, configs.OFF))
    with contest.arena() as namespace:
        daemon = Daemon(contest, namespace, "ours", store)
        daemon.start()
        wait_table(namespace, SERVICES, SERVERS)
        with contest.trace(namespace) as trace:
            for _ in contest.rounds():
                set_weights(contest, daemon, trace)
                set_weights_bare(contest, namespace, trace)
        daemon.end()
    contest.write()
