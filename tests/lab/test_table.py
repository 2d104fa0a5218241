# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's table: adopted when it fits, mended when it drifts, foreign entries left alone."""

import os
import signal
import subprocess
import time

from zglab import VIP4, case, sysc
from zglab.documents import check, web

LAB_SECONDS = 19
FOREIGN = "-A -t 192.0.2.99:80 -s lc\n-a -t 192.0.2.99:80 -r 10.2.0.50:80 -m -w 9\n"
SERVICE = f"{VIP4}:80"
SAME = (
    f"-A -t {VIP4}:80 -s wrr\n"
    f"-a -t {VIP4}:80 -r 10.2.0.11:80 -m -w 100\n"
    f"-a -t {VIP4}:80 -r 10.2.0.12:80 -m -w 100\n"
)
KEEPALIVED = f"""
global_defs {{
    router_id lab
}}
virtual_server {VIP4} 80 {{
    lvs_sched wrr
    lvs_method NAT
    protocol TCP
    real_server 10.2.0.11 80 {{
        weight 100
    }}
    real_server 10.2.0.12 80 {{
        weight 100
    }}
}}
"""


def rules(lab):
    return lab.gw.ipvsadm("-Sn")


def running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def filled_by_keepalived(lab):
    """It fills the table and is gone in the middle of its work, with all its processes."""
    folder = "/run/zglab/keepalived"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/conf", "w", encoding="ascii") as file:
        file.write(KEEPALIVED)
    with open(f"{lab.config['out']}/keepalived.log", "wb") as log:
        process = subprocess.Popen(
            ["keepalived", "-n", "-l", "-C", "-f", f"{folder}/conf", "-p", f"{folder}/pid",
             "-c", f"{folder}/checkers"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            preexec_fn=lambda: sysc.setns(lab.gw.ns.descriptor),
        )
    try:
        lab.wait(lambda: len(lab.gw.weights()) == 2, 10 * lab.slow, "keepalived fills the table")
        with open(f"{folder}/checkers", encoding="ascii") as file:
            checkers = int(file.read())
        # Without a parent the child would empty the table in order; the parent would start it again.
        process.send_signal(signal.SIGSTOP)
        os.kill(checkers, signal.SIGKILL)
    finally:
        process.kill()
        process.wait(10)
    lab.wait(lambda: not running(checkers), 5, "keepalived is gone")


def keeps_its_weight_until_the_verdict(lab, start, capture):
    """That comes 1.2 s after START at the soonest, and is the only thing that changes anything."""
    lab.holds(lambda: lab.gw.weights() == {"10.2.0.11": 100, "10.2.0.12": 100}, 1.0 - (time.monotonic() - start),
              "weights stay")
    lab.wait_weight(lab.servers[0], 0, 2 + lab.margin)
    assert capture.changes(0.1) == {"SET_DEST": 1}, capture.changes()
    assert lab.gw.weights() == {"10.2.0.11": 0, "10.2.0.12": 100}


@case
def a_table_of_ipvsadm_is_adopted(lab):
    """Zero operations; a dead server keeps its weight until the verdict."""
    lab.network(2)
    lab.gw.ipvsadm_restore(SAME)
    lab.servers[0].kill()
    lab.start()
    slow = check(interval_ms=600, timeout_ms=500, unhealthy_threshold=3, fast_retry=False)
    with lab.gw.capture() as capture:
        start = time.monotonic()
        lab.gw.api.apply(web(lab, health_check=slow))
        keeps_its_weight_until_the_verdict(lab, start, capture)


@case
def a_refilled_table_is_adopted_at_start(lab):
    lab.network(2)
    lab.start(web(lab))
    before = rules(lab)
    lab.gw.daemon.stop()
    lab.gw.ipvsadm("-C")
    lab.gw.ipvsadm_restore(SAME)
    with lab.gw.capture() as capture:
        lab.gw.daemon.start()
        lab.holds(lambda: set(lab.gw.weights().values()) == {100}, 1.0, "weights stay")
        assert capture.changes() == {}, capture.changes()
    assert rules(lab) == before


@case
def a_table_of_keepalived_is_adopted(lab):
    """Started on it: zero operations; a server that died meanwhile keeps its weight until the verdict."""
    lab.network(2)
    slow = check(interval_ms=600, timeout_ms=500, unhealthy_threshold=3, fast_retry=False)
    lab.start(web(lab, health_check=slow))
    before = rules(lab)
    lab.gw.daemon.stop()
    lab.gw.ipvsadm("-C")
    filled_by_keepalived(lab)
    assert sorted(rules(lab).splitlines()) == sorted(before.splitlines())
    before = rules(lab)
    lab.servers[0].kill()
    with lab.gw.capture() as capture:
        start = time.monotonic()
        lab.gw.daemon.start()
        keeps_its_weight_until_the_verdict(lab, start, capture)
    dead = "-r 10.2.0.11:80 -m -w "
    assert rules(lab) == before.replace(f"{dead}100", f"{dead}0")


@case
def foreign_services_are_left_alone(lab):
    lab.network(2)
    lab.gw.ipvsadm_restore(FOREIGN)
    foreign = rules(lab)
    lab.start(web(lab), kernel={"audit_interval_s": 1})
    shown = lab.gw.api.get("/kernel").expect(200)
    assert b"192.0.2.99" in shown.body, shown.body
    time.sleep(1.5)
    assert lab.gw.weights(vip="192.0.2.99") == {"10.2.0.50": 9}
    lab.gw.api.delete("/load-balancers/shop").expect(200, 202, 204)
    lab.wait(lambda: rules(lab) == foreign, 1 + lab.margin, "only the foreign service is left", pause=0.1)


@case
def drift_is_repaired(lab):
    lab.network(2)
    lab.start(web(lab), kernel={"audit_interval_s": 1})
    before = rules(lab)
    with lab.gw.capture() as capture:
        for spoil, mend in (
            (("-C",), {"FLUSH": 1, "NEW_SERVICE": 1, "NEW_DEST": 2}),
            (("-e", "-t", SERVICE, "-r", "10.2.0.11:80", "-m", "-w", "1"), {"SET_DEST": 2}),
            (("-a", "-t", SERVICE, "-r", "10.2.0.77:80", "-m"), {"NEW_DEST": 1, "DEL_DEST": 1}),
            (("-d", "-t", SERVICE, "-r", "10.2.0.12:80"), {"DEL_DEST": 1, "NEW_DEST": 1}),
            (("-E", "-t", SERVICE, "-s", "rr"), {"SET_SERVICE": 2}),
        ):
            capture.reset()
            lab.gw.ipvsadm(*spoil)
            lab.wait(
                lambda mend=mend: capture.changes() == mend, 1 + lab.margin,
                f"{mend} after ipvsadm {spoil}",
            )
            assert rules(lab) == before, spoil
    assert lab.who(count=10) == {"s1": 5, "s2": 5}


@case
def drift_is_shown(lab):
    lab.network(2)
    lab.start(web(lab), kernel={"audit_interval_s": 3600})
    clean = lab.gw.api.get("/kernel/drift").expect(200)
    lab.gw.ipvsadm("-e", "-t", f"{VIP4}:80", "-r", "10.2.0.11:80", "-m", "-w", "1")
    drift = lab.gw.api.get("/kernel/drift").expect(200)
    assert drift.json != clean.json and b"10.2.0.11" in drift.body, drift.body


@case
def a_service_of_ours_that_stands_elsewhere_is_taken_over(lab):
    """An entry made by hand for our VIP, with another scheduler and a strange destination."""
    lab.network(2)
    lab.gw.ipvsadm_restore(
        f"-A -t {VIP4}:80 -s rr\n-a -t {VIP4}:80 -r 10.2.0.11:80 -m -w 3\n"
        f"-a -t {VIP4}:80 -r 10.2.0.66:80 -m -w 3\n"
    )
    lab.start()
    lab.gw.api.apply(web(lab, drain_timeout_ms=0))
    lab.wait(
        lambda: lab.gw.weights() == {"10.2.0.11": 100, "10.2.0.12": 100}, 2 + lab.margin,
        "only the servers of the group",
    )
    assert lab.gw.service("tcp", VIP4, 80).scheduler == "wrr"
