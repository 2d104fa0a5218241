# SPDX-License-Identifier: GPL-2.0-or-later
"""Events: who listens misses nothing that was stored, and who floods is bounded."""

import time

from zglab import case
from zglab.documents import balancer, check, document, listener, web
from zglab.streams import Flapper, Stream

LAB_SECONDS = 50


def flapping(flapper, **members):
    probe = check(type="http", interval_ms=100, timeout_ms=90, healthy_threshold=1,
                  unhealthy_threshold=1, **members)
    servers = {f"f{n}": {"address": a, "port": flapper.port}
               for n, a in enumerate(flapper.addresses)}
    return document(
        {"web": {"protocol": "tcp", "health_check": probe, "servers": servers}},
        {"shop": balancer({"http": listener()})},
    )


def stored(lab, query=""):
    """Ids of all events that are stored, oldest first."""
    found, cursor = [], ""
    while True:
        page = lab.gw.api.get(f"/events?limit=1000{query}{cursor}").expect(200).json
        found += [event["id"] for event in page["items"]]
        if not page["next_cursor"]:
            return found[::-1]
        cursor = f"&cursor={page['next_cursor']}"


@case
def a_transition_is_on_the_wire_at_once(lab):
    lab.network(2)
    lab.start(web(lab, health_check=check(type="tcp", interval_ms=200)))
    lab.wait_in_service()
    stream = Stream(lab.gw.daemon.socket, "?type=server.*")
    stream.read(0.2)
    lab.servers[0].kill()

    def told():
        """What is told of s1; the last word of the start may come only now."""
        return [event for event in stream.read().events if "initial" not in event[2]["data"]["from"]]

    lab.wait(told, 1 + lab.margin, "it is told")
    number, kind, event, came = told()[0]
    assert kind == "server.health_changed" and event["severity"] == "warning", event
    assert event["object"] == "server_groups/web/servers/s1", event
    assert event["data"]["to"] == "unhealthy" and event["data"]["from"] == "healthy", event
    # The number is the moment of the decision in microseconds. How long it takes is measured by the bench.
    assert -0.05 < came - int(number) / 1e6 < lab.margin, came - int(number) / 1e6
    stream.close()


@case
def killed_in_the_middle_nothing_is_lost(lab):
    lab.network(0)
    with lab.gw.ns:
        flapper = Flapper(20)
    lab.gw.daemon.settings["kernel"].update({"ipvs": "off", "vip_device": "none"})
    lab.gw.daemon.start()
    begin = Stream(lab.gw.daemon.socket)
    begin.read(0.1)
    lab.gw.api.apply(flapping(flapper))
    seen = []
    stream = begin
    for _ in range(3):
        lab.wait(lambda: len(stream.read().events) > 15, 3 + lab.margin, "it flaps")
        lab.gw.daemon.kill()
        stream.read(0.3)
        assert stream.ended, "nobody is there any more"
        seen += stream.ids()
        stream.close()
        lab.gw.daemon.start()
        stream = Stream(lab.gw.daemon.socket, last=seen[-1])
    lab.wait(lambda: len(stream.read().events) > 15, 3 + lab.margin, "it flaps once more")
    flapper.stop()
    everything = stored(lab)
    lab.wait(lambda: everything[-1] in stream.read().ids(), 2 + lab.margin, "all that is stored was told")
    seen += stream.ids()
    assert "" not in seen, "there was a gap"
    assert seen == sorted(set(seen), key=int), "in order, each once"
    assert everything[everything.index(seen[0]):] == seen[:seen.index(everything[-1]) + 1]


def listens(lab):
    stream = Stream(lab.gw.daemon.socket).read(0.2)
    stream.close()
    return b" 200 " in stream.head


@case
def sixty_four_streams_and_no_more(lab):
    lab.network(1)
    lab.start(web(lab))
    streams = [Stream(lab.gw.daemon.socket) for _ in range(64)]
    lab.wait(lambda: all(stream.read().head for stream in streams), 2 + lab.margin, "all begin")
    refused = lab.gw.api.get("/events", Accept="text/event-stream")
    assert refused.status == 429 and refused.headers["Retry-After"], refused
    assert lab.gw.api.get("/events").status == 200, "the list is another matter"
    lab.servers[0].kill()
    lab.wait(lambda: all(stream.read().events for stream in streams), 5 + lab.margin,
             "all of them are told")
    for stream in streams:
        stream.close()
    # Nobody says so to the daemon: its heartbeat finds that they are gone.
    lab.wait(lambda: listens(lab), 16 + lab.margin, "there is room again", pause=0.5)


def counted(lab):
    metrics = lab.gw.api.raw("GET", "/metrics").body.decode()
    return sum(float(line.split()[1]) for line in metrics.splitlines()
               if line.startswith("zonegate_health_transitions_total{"))


@case
def a_flood_is_bounded(lab):
    lab.network(0)
    with lab.gw.ns:
        flapper = Flapper(30)
    lab.gw.daemon.settings["kernel"].update({"ipvs": "off", "vip_device": "none"})
    lab.gw.daemon.start()
    stream = Stream(lab.gw.daemon.socket, "?type=server.health_changed")
    lab.gw.api.apply(flapping(flapper, fast_retry=False))
    began = time.monotonic()
    slowest = 0.0
    # As many as a machine with time makes in twelve seconds; one without takes longer.
    while time.monotonic() - began < 12 or (counted(lab) <= 600 and time.monotonic() - began < 60):
        asked = time.monotonic()
        lab.gw.api.get("/system").expect(200)
        slowest = max(slowest, time.monotonic() - asked)
        stream.read(0.05)
    flapper.stop()
    lab.wait(lambda: lab.gw.api.get("/server-groups/web").json["status"]["unhealthy"] == 30, 3 + lab.margin, "all have gone")
    changes, minutes = counted(lab), (time.monotonic() - began) // 60 + 1
    assert changes > 30 * 10 * 2, changes
    assert slowest < 0.2 + lab.margin, slowest
    told = stream.read(0.5).events
    assert 0 < len(told) <= 30 * 10 * minutes, (len(told), changes)
    assert lab.gw.daemon.log().count("server.health_changed") <= 30 * 10 * minutes
    # What was held back is told in one at the end of the minute, or of the daemon.
    lab.gw.daemon.stop()
    lab.gw.daemon.start()
    summaries = [event for event in lab.gw.api.get(
        "/events?limit=1000&type=server.health_changed").json["items"] if "summary" in event["data"]]
    assert 30 <= len(summaries) <= 30 * minutes, len(summaries)
    held = sum(event["data"]["summary"]["count"] for event in summaries)
    assert held + len(told) == changes, (held, len(told), changes)
    for event in summaries:
        assert sum(event["data"]["summary"]["to"].values()) == event["data"]["summary"]["count"]
