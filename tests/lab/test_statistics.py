# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel counts, under the names of the document: totals, rates, and resets that nobody sees."""

import os
import time

from zglab import VIP4, case
from zglab.documents import balancer, document, listener, web

LAB_SECONDS = 60
SERVER = 'zonegate_server_{}{{server_group="web",server="{}",zone=""}}'
LISTENER = ('zonegate_listener_{}{{lb="shop",listener="http",zone="zone-a",family="4",'
            'proto="tcp"}}')


def scrape(lab):
    text = lab.gw.api.get("/metrics").expect(200).body.decode()
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


def totals(lab):
    """Connections of s1, of s2 and of the listener."""
    found = scrape(lab)
    return tuple(int(found[name]) for name in (
        SERVER.format("connections_total", "s1"), SERVER.format("connections_total", "s2"),
        LISTENER.format("connections_total")))


def counted(lab, expected, what):
    # The kernel moves its numbers every two seconds, and we look every one.
    lab.wait(lambda: totals(lab) == expected, 4 + lab.margin, f"{what}: {expected}", pause=0.2)


def looked(lab, times=2):
    """So often the kernel was looked at since."""
    time.sleep(times * 1.0 + 0.6)


@case
def totals_and_rates(lab):
    lab.network(2)
    lab.start(web(lab))
    lab.wait_in_service()
    looked(lab)
    assert lab.who(count=20) == {"s1": 10, "s2": 10}
    counted(lab, (10, 10, 20), "connections")
    found = scrape(lab)
    for name in ("bytes_in_total", "bytes_out_total", "packets_in_total", "packets_out_total"):
        one, other, all_of_them = (int(found[key]) for key in (
            SERVER.format(name, "s1"), SERVER.format(name, "s2"), LISTENER.format(name)))
        assert one > 0 and other > 0 and one + other == all_of_them, (name, one, other)
    traffic = lab.traffic(connections=4)
    lab.wait(lambda: int(scrape(lab)[LISTENER.format("connections_active")]) >= 4, 4 + lab.margin,
             "connections that stand")
    stats = lab.gw.api.get("/stats?lb=shop").expect(200).json
    assert stats["available"] and stats["step_s"] == 1 and stats["points"] == 300, stats
    assert len(stats["series"]) == 1 and stats["series_total"] == 1
    line = stats["series"][0]
    assert max(x or 0 for x in line["connections_per_s"]) > 1, line
    assert max(x or 0 for x in line["bits_per_s"]) > 1000, line
    assert max(x or 0 for x in line["active"]) >= 4, line
    assert line["connections_per_s"][0] is None, line  # before the daemon
    servers = lab.gw.api.get("/stats?server_group=web").expect(200).json
    assert {x["server"] for x in servers["series"]} == {"s1", "s2"}
    assert "shop/http" in lab.gw.cli("stats", "shop").stdout
    assert "web/s2" in lab.gw.cli("server", "stats", "web").stdout
    traffic.stop()

    def total(query):
        return lab.gw.api.get(f"/stats?{query}").expect(200).json["total"]["now"]["connections"]

    # The kernel may be looked at between the two.
    lab.wait(lambda: total("server_group=web") == total("lb=shop"), 4 + lab.margin, "the servers' sum is the listener's")


@case
def nothing_jumps(lab):
    """The table emptied by hand, a service made again, another document, the daemon started again."""
    lab.network(2)
    lab.start(web(lab), kernel={"audit_interval_s": 1})
    lab.wait_in_service()
    looked(lab)
    lab.who(count=20)
    counted(lab, (10, 10, 20), "before")

    lab.gw.ipvsadm("-C")
    lab.wait(lambda: set(lab.gw.weights().values()) == {100}, 2 + lab.margin, "it is back")
    looked(lab)
    assert totals(lab) == (10, 10, 20), totals(lab)
    lab.who(count=10)
    counted(lab, (15, 15, 30), "after the table was emptied")

    lab.gw.ipvsadm("-Z")
    looked(lab, 3)
    assert totals(lab) == (15, 15, 30), totals(lab)
    lab.who(count=4)
    counted(lab, (17, 17, 34), "after the counters were set to 0")

    without = web(lab)
    del without["server_groups"]["web"]["servers"]["s2"]
    lab.gw.api.apply(without)
    lab.who(count=2)
    looked(lab)
    lab.gw.api.apply(web(lab))
    lab.wait_in_service()
    lab.wait(lambda: totals(lab)[0] == 19 and totals(lab)[2] == 36, 4 + lab.margin, "s1 and the listener go on counting",
             pause=0.2)
    looked(lab)
    assert totals(lab)[0] == 19 and totals(lab)[2] == 36, totals(lab)

    before = totals(lab)
    lab.gw.daemon.stop()
    lab.gw.daemon.start()
    lab.wait_in_service()
    looked(lab, 3)
    # Prometheus takes that for a counter that began anew, and adds nothing: what stands in the kernel is old.
    assert totals(lab) == (0, 0, 0), (before, totals(lab))
    lab.who(count=6)
    counted(lab, (3, 3, 6), "after a restart")


@case
def without_a_kernel(lab):
    lab.network(1)
    lab.start(kernel={"ipvs": "off"})
    lab.gw.api.apply(web(lab))
    stats = lab.gw.api.get("/stats?lb=shop").expect(200).json
    assert stats["available"] is False and "ipvs = off" in stats["unavailable_because"], stats
    assert stats["series"] == [] and stats["total"]["active"] == [], stats
    assert not any("connections" in name for name in scrape(lab)), "nothing is counted"
    done = lab.gw.cli("stats")
    assert done.returncode == 1 and "ipvs = off" in done.stdout, done


def many(count, groups):
    """Servers that are not checked, and one service for each group."""
    made = {}
    for g in range(groups):
        numbers = range(g * count // groups, (g + 1) * count // groups)
        made[f"g{g:03d}"] = {
            "protocol": "tcp", "health_check": {"enabled": False},
            "servers": {f"s{n:05d}": {"address": f"10.{100 + n // 65536}.{n // 256 % 256}.{n % 256}",
                                      "port": 80} for n in numbers}}
    listeners = {name: listener(name, 1000 + n) for n, name in enumerate(made)}
    return document(made, {"big": balancer(listeners, vip4=VIP4)})


def thread_times(pid):
    """{thread: seconds of a processor}."""
    times = {}
    for one in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{one}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        times[one] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return times


@case(timeout=120)
def ten_thousand_servers(lab):
    """The reader costs little, a scrape does not hold the loop, and all of it is told."""
    lab.network(2)
    lab.start(kernel={"audit_interval_s": 3600})
    lab.gw.api.apply(many(10000, 20))
    looked(lab, 4)
    pid = lab.gw.daemon.process.pid
    before, start = thread_times(pid), time.monotonic()
    time.sleep(10)
    took, after = time.monotonic() - start, thread_times(pid)
    # The loop has nothing to do: the busiest thread is that of the reader.
    share = max(after[one] - before.get(one, 0) for one in after) / took
    spent = 60.0
    for _ in range(3):  # the machine may have other things to do; figures are the bench's
        start = time.monotonic()
        text = lab.gw.api.get("/metrics").expect(200).body
        spent = min(spent, time.monotonic() - start)
    stalls = scrape(lab)["zonegate_probe_stalls_total"]
    print(f"10,000 servers: reader {100 * share:.1f} % of a core, scrape {1000 * spent:.0f} ms, "
          f"{len(text)} bytes, stalls {stalls}")
    assert text.count(b"\nzonegate_server_connections_total{") == 10000
    assert share < 0.05 * max(8.0, lab.slow), share  # a machine that is short of time counts here, too
    assert spent < 0.1 * max(4.0, lab.slow) + lab.margin, spent
