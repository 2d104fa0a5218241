# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual failover: until when a zone is away, whatever happens to the daemon and to the clock."""

import time

from zglab import case
from zglab.zones import BOTH, NAME, ONLY_A, answers, ready, reasons, shifted

# The clock that is set must not be the host's.
LAB_KIND = "uml"
LAB_SECONDS = 15
HOUR = 3600.0


@case
def ends_by_itself(lab):
    ask = ready(lab)
    began = time.monotonic()
    name = shifted(lab, expires_in="1s")
    lab.holds(
        lambda: ask.published(NAME) == ONLY_A, 0.9 - (time.monotonic() - began), "until it expires"
    )
    lab.wait(lambda: ask.published(NAME) == BOTH, 0.5 + lab.margin, "it is over")
    assert time.monotonic() - began >= 1.0
    assert lab.gw.api.get("/zone-shifts").json["items"] == []
    lab.gw.api.get(f"/zone-shifts/{name}").expect(404)
    # longer, and shorter again
    name = shifted(lab, expires_in="2s")
    longer = {"expires_in": "1h", "comment": "takes longer"}
    answer = lab.gw.api.patch(f"/zone-shifts/{name}", longer).expect(200).json
    assert [x["comment"] for x in answer["history"]] == ["a test", "takes longer"], answer
    lab.holds(lambda: ask.published(NAME) == ONLY_A, 2.2, "it was extended")
    for number in range(105):
        lab.gw.api.patch(f"/zone-shifts/{name}", {"comment": f"{number}"}).expect(200)
    history = lab.gw.api.get(f"/zone-shifts/{name}").json["history"]
    assert len(history) == 100 and history[0]["comment"] == "a test", history[:2]
    assert history[-1]["comment"] == "104", history[-1]
    refused = lab.gw.api.patch(f"/zone-shifts/{name}", {"expires_in": "73h"}).expect(422)
    assert refused.pointers() == ["/expires_in"], refused
    lab.gw.api.patch(f"/zone-shifts/{name}", {"expires_in": "1s"}).expect(200)
    lab.wait(lambda: ask.published(NAME) == BOTH, 1.5 + lab.margin, "it was cut short")


@case
def survives_kill_9(lab):
    ask = ready(lab)
    began = time.monotonic()
    name = shifted(lab, expires_in="3s")
    lab.gw.daemon.kill()
    lab.gw.daemon.start()
    assert ask.published(NAME) == ONLY_A, "from the first answer on"
    found = lab.gw.api.get("/zone-shifts").json["items"]
    assert [x["id"] for x in found] == [name], found
    lab.gw.daemon.kill()
    lab.gw.daemon.start()
    lab.holds(
        lambda: ask.published(NAME) == ONLY_A, 2.8 - (time.monotonic() - began), "not sooner"
    )
    lab.wait(lambda: ask.published(NAME) == BOTH, 0.7 + lab.margin, "in time")
    lab.gw.daemon.kill()
    lab.gw.daemon.start()
    assert lab.gw.api.get("/zone-shifts").json["items"] == [], "and not again"
    # a verdict of the last moment before the kill is not stored: the zone is looked at anew
    assert "withdrawn_manual" not in reasons(lab.gw).values(), reasons(lab.gw)
    answers(lab, ask, BOTH, hold=0.3)


def set_clock(seconds):
    time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME) + seconds)


@case
def whatever_the_clock_says(lab):
    ask = ready(lab)
    for jump, again in ((HOUR, False), (-HOUR, True)):
        began = time.monotonic()
        shifted(lab, expires_in="2s")
        set_clock(jump)
        try:
            if again:
                lab.gw.daemon.kill()
                lab.gw.daemon.start()
            lab.holds(
                lambda: ask.published(NAME) == ONLY_A, 1.8 - (time.monotonic() - began),
                "not sooner",
            )
            lab.wait(lambda: ask.published(NAME) == BOTH, 0.7 + lab.margin, "not later")
        finally:
            set_clock(-jump)
