# SPDX-License-Identifier: GPL-2.0-or-later
"""What a zone shift leaves alone for as long as it is in force."""

import time

from zglab import OTHER_VIP4, case
from zglab.zones import NAME, ONLY_A, ready, shifted

LAB_SECONDS = 65
LAB_WAITS = 1
MINUTE = 60.0


@case(timeout=150.0)
def a_connection_goes_on_for_a_minute(lab):
    """It was open before, through the zone that is shifted away."""
    ask = ready(lab)
    traffic = lab.traffic(vip=OTHER_VIP4, connections=2, pause=0.5)
    time.sleep(1)
    shifted(lab)
    end = time.monotonic() + MINUTE
    while time.monotonic() < end:
        assert ask.published(NAME) == ONLY_A
        assert not traffic.broken, traffic.broken
        time.sleep(0.5)
    traffic.stop()
    assert not traffic.broken, traffic.broken  # also of one that another server answered
    assert traffic.exchanges > MINUTE, traffic.exchanges
