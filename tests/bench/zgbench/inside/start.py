# SPDX-License-Identifier: GPL-2.0-or-later
"""1,000 services x 10 servers into an empty table: ipvsadm, keepalived, the bare batch, ours."""

import json
import os
import sys

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
        ipvsadm(contest, rules)
        ours(contest, store, number)
        keepalived(contest, configuration)
        bare(contest)
        if has_cli:
            apply(contest, saved, number)
    contest.write()
