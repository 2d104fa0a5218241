# SPDX-License-Identifier: GPL-2.0-or-later
"""Webhooks: a receiver that is down, slow, broken or hangs gets each event, in order, and costs nobody anything."""

import time

from zglab import case
from zglab.documents import check, web
from zglab.streams import Receiver

LAB_SECONDS = 30
INTERVAL_MS = 200
HANGS_S = 3  # until the daemon gives up a call: far longer than a probe may be late on a machine that is short of time


def started(lab, **notify):
    lab.network(2)
    with lab.gw.ns:
        receiver = Receiver()
    lab.gw.daemon.settings["notify"] = {
        "url": "http://127.0.0.1:9000/hook", "pace_ms": 100, "timeout_s": HANGS_S, **notify,
    }
    lab.start(web(lab, health_check=check(type="tcp", interval_ms=INTERVAL_MS)))
    lab.wait_in_service()
    return receiver


def flip(lab):
    """A server goes and comes back: two events."""
    lab.stored()
    before = len(history(lab))
    lab.servers[0].kill()
    lab.wait(lambda: state(lab) == "unhealthy", 2 + lab.margin, "it is noticed")
    lab.servers[0].start()
    lab.wait(lambda: state(lab) == "healthy", 3 + lab.margin, "it is back")
    lab.stored()
    assert len(history(lab)) == before + 2, "both are transitions"


def history(lab):
    return lab.gw.api.get("/server-groups/web/servers/s1/health/history").json["items"]


def state(lab):
    return lab.gw.api.get("/server-groups/web/servers/s1/health").json["state"]


def events(lab):
    """Numbers of those that are stored, oldest first."""
    items = lab.gw.api.get("/events?limit=1000").json["items"]
    return [int(event["id"]) for event in items][::-1]


def all_came(lab, receiver, since):
    return [x for x in receiver.in_order() if x >= since] == [x for x in events(lab) if x >= since]


def webhook(lab):
    return lab.gw.api.get("/notify").json["urls"][0]


def longest_pause(server):
    """Between two probes, in seconds."""
    came, server.came = server.came, None
    return max(later - one for one, later in zip(came, came[1:]))


@case
def whatever_the_receiver_does(lab):
    """And whatever it does, no probe of another server is late by it."""
    receiver = started(lab)
    lab.wait(lambda: receiver.ids, 2 + lab.margin, "it is called")
    since = receiver.ids[0]
    for mood in ("hangs", "fails", "down", "slow"):
        receiver.mood = mood
        if mood == "down":
            receiver.close()
        calls, lab.servers[1].came = receiver.calls, []
        flip(lab)
        if mood == "down":
            with lab.gw.ns:
                receiver.open()
        else:
            lab.wait(lambda before=calls: receiver.calls > before, HANGS_S + lab.margin, f"a call that {mood}")
        pause = longest_pause(lab.servers[1])
        print(f"{mood}: at most {pause * 1000:.0f} ms between two probes")
        assert pause < INTERVAL_MS / 1000 + lab.margin, (mood, pause)
    receiver.gone.set()
    receiver.mood = "takes"
    lab.wait(lambda: all_came(lab, receiver, since), 8 + lab.margin, "all of it came")
    lab.wait(lambda: webhook(lab)["failures"] == 0, 8 + lab.margin, "the last call is answered")
    assert webhook(lab)["last_failure"], webhook(lab)
    log = lab.gw.daemon.log()
    assert log.count("notify.failed") == 1 and log.count("notify.recovered") == 1


@case
def down_over_a_kill(lab):
    receiver = started(lab)
    lab.wait(lambda: receiver.ids, 2 + lab.margin, "it is called")
    since = receiver.ids[0]
    lab.wait(lambda: all_came(lab, receiver, since), 3 + lab.margin, "all of it came")
    receiver.close()
    flip(lab)
    lab.gw.daemon.kill()
    time.sleep(0.2)
    lab.gw.daemon.start()
    flip(lab)
    lab.wait(lambda: webhook(lab)["pending"] > 0, 2 + lab.margin, "events wait")
    with lab.gw.ns:
        receiver.open()
    lab.wait(lambda: all_came(lab, receiver, since), 8 + lab.margin, "what it missed came")


@case
def a_test_tells_how_it_went(lab):
    receiver = started(lab, timeout_s=1)
    good = lab.gw.api.call("POST", "/notify/test").expect(200).json["results"]
    assert [x["ok"] for x in good] == [True], good
    assert good[0]["url"] == "http://127.0.0.1:9000" and 0 in receiver.ids
    receiver.mood = "hangs"
    began = time.monotonic()
    bad = lab.gw.api.call("POST", "/notify/test").expect(200).json["results"]
    assert [x["ok"] for x in bad] == [False] and time.monotonic() - began < 3 + lab.margin, bad
    receiver.gone.set()
