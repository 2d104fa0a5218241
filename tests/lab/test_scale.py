# SPDX-License-Identifier: GPL-2.0-or-later
"""Two thousand destinations: still exact, still in place."""

import time

from zglab import VIP4, case
from zglab.documents import balancer, document, listener

LAB_SECONDS = 10
SERVICES, SERVERS = 20, 100


def large():
    group = {
        "protocol": "tcp", "health_check": {"enabled": False},
        "servers": {
            f"s{n}": {"address": f"10.2.1.{n + 1}", "port": 80, "weight": 10}
            for n in range(SERVERS)
        },
    }
    listeners = {f"l{n}": listener(port=1000 + n) for n in range(SERVICES)}
    return document({"web": group}, {"shop": balancer(listeners)})


@case
def two_thousand_destinations(lab):
    lab.network(0)
    lab.start()
    start = time.monotonic()
    with lab.gw.capture() as capture:
        lab.gw.api.apply(large())
        seconds = time.monotonic() - start
        assert capture.changes(0.1) == {
            "NEW_SERVICE": SERVICES, "NEW_DEST": SERVICES * SERVERS
        }, capture.changes()
        assert seconds < 5 * lab.slow, f"the write took {seconds:.1f} s"
        table = lab.gw.table()
        assert len(table) == SERVICES
        assert all(len(x.destinations) == SERVERS for x in table.values())
        capture.reset()
        lab.gw.api.patch("/server-groups/web/servers/s7", {"weight": 11}).expect(200)
        assert capture.changes(0.1) == {"SET_DEST": SERVICES}, capture.changes()
        capture.reset()
        lab.gw.daemon.kill()
        lab.gw.daemon.settings["kernel"]["audit_interval_s"] = 2
        lab.gw.daemon.start()
        time.sleep(0.5)
        assert capture.changes() == {}, capture.changes()
    assert lab.gw.weights(port=1000 + SERVICES - 1)["10.2.1.8"] == 11
    lab.gw.ipvsadm("-d", "-t", f"{VIP4}:1005", "-r", "10.2.1.50:80")
    lab.wait(
        lambda: lab.gw.weights(port=1005).get("10.2.1.50") == 10, 2 + lab.margin,
        "the lost destination is back",
    )
