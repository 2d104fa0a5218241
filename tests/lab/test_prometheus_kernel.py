# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's Prometheus scrapes the daemon: alerts of the kernel and of the daemon itself fire by their faults and resolve."""

import time

from zglab import VIP4, case, client
from zglab.watched import KERNEL_PANELS, OF_KERNEL, Watched, expressions

LAB_SECONDS = 90


def kernel_and_daemon(w):
    lab, daemon = w.lab, w.lab.gw.daemon
    w.fires({"Drift"}, lambda: lab.gw.ipvsadm("-C"), lambda: None)

    def unknown_scheduler():
        lab.gw.api.patch("/load-balancers/shop/listeners/two", {"scheduler": "twos"})

    w.fires({"ApplyFailed"}, unknown_scheduler, w.apply, 30)

    def stall():
        daemon.pause()
        time.sleep(2.5)
        daemon.resume()

    w.fires({"ProberStalled"}, stall, lambda: None)
    w.fires({"DaemonDown"}, daemon.stop, daemon.start)


def table_of_connections(w):
    """4096 buckets in the lab's kernel; what has ended stays for some time, until the table is emptied."""
    lab = w.lab

    def fill():
        for _ in range(34):
            client.who(lab.client, VIP4, 80, 100, "tcp", 2.0 * lab.slow, None)

    def empty():
        lab.gw.ipvsadm("-C")

    w.fires({"ConnTableNearFull"}, fill, empty, 30)


@case(timeout=250)
def alerts_of_kernel_and_daemon(lab):
    w = Watched(lab)
    kernel_and_daemon(w)
    table_of_connections(w)
    panels = expressions()
    assert KERNEL_PANELS <= set(panels), KERNEL_PANELS - set(panels)
    w.ends(OF_KERNEL, {name: panels[name] for name in KERNEL_PANELS})
