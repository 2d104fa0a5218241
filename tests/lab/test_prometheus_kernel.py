# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's Prometheus scrapes the daemon: alerts of the kernel and of the daemon itself fire by their faults and resolve."""

import time

from zglab import VIP4, case, client
from zglab.watched import KERNEL_PANELS, OF_KERNEL, Watched, expressions

LAB_SECONDS = 80
LAB_WAITS = 1


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


def fill_table(lab):
    """4096 buckets in the lab's kernel; a connection that has ended stays for 45 seconds, not two minutes."""
    lab.gw.ipvsadm("--set", "0", "45", "0")
    for _ in range(34):
        client.who(lab.client, VIP4, 80, 100, "tcp", 2.0 * lab.slow, None)


@case(timeout=270)
def alerts_of_kernel_and_daemon(lab):
    w = Watched(lab)
    w.begin({"ConnTableNearFull"}, lambda: fill_table(lab), 30)
    kernel_and_daemon(w)
    w.over({"ConnTableNearFull"}, 140)
    panels = expressions()
    assert KERNEL_PANELS <= set(panels), KERNEL_PANELS - set(panels)
    w.ends(OF_KERNEL, {name: panels[name] for name in KERNEL_PANELS})
