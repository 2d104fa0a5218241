# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's side goes wrong: the table is emptied by hand, answers of netlink are lost."""

import mmap
import os
import random
import struct
import subprocess

from zglab import VIP4, case
from zglab.documents import balancer, document, group, listener, web

LAB_SECONDS = 22
FOREIGN = (
    "-A -t 192.0.2.99:80 -s lc\n-a -t 192.0.2.99:80 -r 10.2.0.50:80 -m -w 9\n"
    "-A -u 192.0.2.99:53 -s sh\n-a -u 192.0.2.99:53 -r 10.2.0.51:53 -m -w 1\n"
    "-A -f 7 -s rr\n-a -f 7 -r 10.2.0.52:0 -g -w 3\n"
)
OVERFLOW, LOSE_ACK, LOSE_DATA = 1, 2, 3


def rules(lab):
    return lab.gw.ipvsadm("-Sn")


# ---- the table ----


@case
def an_emptied_table_is_back_with_an_event(lab):
    lab.network(2)
    lab.start(web(lab), kernel={"audit_interval_s": 1})
    before = rules(lab)
    lab.gw.ipvsadm("-C")
    assert lab.gw.table() == {}
    lab.wait(lambda: rules(lab) == before, 1 + lab.margin, "the table is back", pause=0.1)
    lab.wait(lambda: "drift.repaired" in lab.gw.daemon.log(), 1 + lab.margin, "the daemon heard that it is")
    log = lab.gw.daemon.log()
    assert log.count("drift.detected") == 1 and f"{VIP4}:80" in log.split("drift.detected")[1], log
    assert log.count("drift.repaired") == 1, log
    assert lab.gw.api.get("/system").json["drift"]["repaired_since_start"] > 0
    assert b"zonegate_kernel_drift" in lab.gw.api.get("/metrics").body
    assert lab.who(count=10) == {"s1": 5, "s2": 5}


@case
def a_foreign_service_sees_nothing_of_us(lab):
    """Through apply, change, audit, removal, stop and flush."""
    lab.network(2)
    lab.gw.ipvsadm_restore(FOREIGN)
    foreign = rules(lab)

    def holds(what):
        now = rules(lab)
        left = [line for line in now.splitlines() if line in foreign.splitlines()]
        assert "\n".join(left) == foreign.strip(), f"after {what}: {now}"

    lab.start(web(lab), kernel={"audit_interval_s": 1, "on_stop": "flush"})
    holds("apply")
    lab.gw.api.patch("/server-groups/web/servers/s1", {"weight": 7}).expect(200)
    holds("a change")
    lab.gw.ipvsadm("-d", "-t", f"{VIP4}:80", "-r", "10.2.0.11:80")
    lab.wait(lambda: "10.2.0.11" in lab.gw.weights(), 1 + lab.margin, "an audit", pause=0.1)
    holds("an audit that mended something")
    lab.gw.api.delete("/load-balancers/shop").expect(200, 202, 204)
    lab.wait(lambda: rules(lab) == foreign, lab.margin, "only the foreign ones", pause=0.1)
    lab.gw.api.put(
        "/load-balancers/shop", balancer({"http": listener()})
    ).expect(200, 201)
    holds("a second load balancer")
    assert lab.gw.daemon.stop() == 0
    assert rules(lab) == foreign, "after the stop"


# ---- netlink ----


class Faults:
    """The page that is shared with the daemon."""

    def __init__(self, lab):
        daemon = lab.gw.daemon
        library, path = "/run/zglab/netlink_faults.so", f"{daemon.folder}/faults"
        source = f"{os.path.dirname(os.path.abspath(__file__))}/fixtures/netlink_faults.c"
        if not os.path.exists(library):
            subprocess.run(
                ["cc", "-O1", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, source], check=True,
                timeout=60,
            )
        os.chmod(library, 0o755)
        with open(path, "wb") as file:
            file.write(b"\0" * 4096)
        os.chown(path, *daemon.ids)
        with open(path, "r+b") as file:
            self._page = mmap.mmap(file.fileno(), 4096)
        daemon.environment.update(LD_PRELOAD=library, ZG_FAULTS=path)

    def strike(self, kind, times=1):
        self._page[0:12] = struct.pack("=III", kind, times, 0)

    def struck(self):
        return struct.unpack("=III", self._page[0:12])[2]


def synced(lab):
    return lab.gw.api.get("/kernel/drift").expect(200).json["in_sync"]


def synced_at_last(lab):
    """The table cannot be read while an answer about it is lost: 503."""
    answer = lab.gw.api.get("/kernel/drift").expect(200, 503)
    return answer.status == 200 and answer.json["in_sync"]


def after_a_fault(lab, kind, seconds):
    """A weight is written while an answer is lost; the outcome is looked up."""
    lab.network(2)
    faults = Faults(lab)
    lab.start(web(lab), kernel={"audit_interval_s": 3600})
    assert synced(lab)  # and no other answer is awaited
    faults.strike(kind)
    answer = lab.gw.api.patch("/server-groups/web/servers/s1", {"weight": 33}).expect(200)
    assert faults.struck() == 1
    warnings = answer.json.get("warnings")
    assert warnings and "outcome is not known" in warnings[0]["detail"], answer.body
    lab.wait(
        lambda: lab.gw.api.get("/readyz?verbose=true").status == 200
        and b'"applied","ok":true' in lab.gw.api.get("/readyz?verbose=true").body.replace(b" ", b""),
        seconds + lab.margin, "applied after all", pause=0.1,
    )
    assert lab.gw.weights() == {"10.2.0.11": 33, "10.2.0.12": 100}
    assert synced(lab)
    lab.gw.api.patch("/server-groups/web/servers/s1", {"weight": 34}).expect(200)
    assert lab.gw.weights()["10.2.0.11"] == 34


@case
def a_full_receive_buffer(lab):
    after_a_fault(lab, OVERFLOW, 1)


@case
def a_lost_acknowledgement(lab):
    after_a_fault(lab, LOSE_ACK, 2 + 1)


@case
def a_lost_dump_is_asked_for_again(lab):
    lab.network(2)
    faults = Faults(lab)
    lab.start(web(lab), kernel={"audit_interval_s": 1})
    before = rules(lab)
    faults.strike(LOSE_DATA)
    lab.gw.ipvsadm("-e", "-t", f"{VIP4}:80", "-r", "10.2.0.11:80", "-m", "-w", "1")
    # the audit, its time limit, the next
    lab.wait(lambda: rules(lab) == before, 1 + 2 + 2 + lab.margin, "mended", pause=0.1)
    assert faults.struck() == 1
    assert synced(lab)


@case
def verdicts_go_on_while_the_kernel_is_silent(lab):
    lab.network(2)
    faults = Faults(lab)
    lab.start(web(lab))
    faults.strike(LOSE_ACK)
    lab.servers[0].kill()
    lab.wait(
        lambda: lab.gw.api.get("/server-groups/web/servers/s1/health").json["state"]
        == "unhealthy", 0.5 + lab.margin, "the verdict",
    )
    lab.gw.api.get("/livez").expect(200)
    lab.wait(
        lambda: "outcome is not known" in lab.gw.daemon.log(), 2 + lab.margin, "it gave up waiting"
    )
    lab.wait_weight(lab.servers[0], 0, 1 + lab.margin)


@case(timeout=150.0)
def many_faults_and_many_writes(lab):
    """Whatever is lost when, the table is right in the end."""
    lab.network(3)
    faults = Faults(lab)
    listeners = {f"l{n}": listener(port=8000 + n) for n in range(4)}
    lab.start(
        document({"web": group(lab.servers)}, {"shop": balancer(listeners)}),
        kernel={"audit_interval_s": 2},
    )
    chance = random.Random(4)
    for n in range(12):
        faults.strike(chance.choice((OVERFLOW, OVERFLOW, LOSE_DATA)), chance.choice((1, 2)))
        name = chance.choice(lab.servers).name
        body = {"weight": 10 + n} if n % 3 else {"enabled": n % 2 == 0}
        lab.gw.api.patch(f"/server-groups/web/servers/{name}", body).expect(200)
    faults.strike(0, 0)
    lab.wait(lambda: synced_at_last(lab), 6 + lab.margin, "the table is right", pause=0.2)
    wanted = {}
    for server in lab.servers:
        one = lab.gw.api.get(f"/server-groups/web/servers/{server.name}").expect(200).json
        wanted[server.address4] = one["weight"] if one["enabled"] else 0
    lab.wait(
        lambda: all(lab.gw.weights(port=8000 + n) == wanted for n in range(4)), 2 + lab.margin,
        f"weights {wanted}", pause=0.1,
    )
