# SPDX-License-Identifier: GPL-2.0-or-later
"""What this host lacks counts against no server: it is told, counted, and overcome. And what probes take from it."""

import re
import time

from zglab import case, sysc
from zglab.documents import check, web

LAB_SECONDS = 10


def health(lab, server="s1"):
    return lab.gw.api.get(f"/server-groups/web/servers/{server}/health").expect(200).json


def counted(lab, result):
    text = lab.gw.api.get("/metrics").body.decode()
    return int(re.search(rf'^zonegate_health_checks_total{{result="{result}"}} (\d+)', text, re.M)[1])


def told(lab):
    return lab.gw.daemon.log().count("server.prober_error")


def ping(**members):
    return {name: value for name, value in check(type="icmp", **members).items() if name != "port"}


@case
def without_the_capability_for_raw_sockets(lab):
    lab.network(2)
    daemon = lab.gw.daemon
    lab.start(web(lab, health_check=ping()))
    lab.wait_in_service()
    daemon.stop()

    all_of_them = daemon.capabilities
    daemon.capabilities = tuple(x for x in all_of_them if x != sysc.CAP_NET_RAW)
    daemon.start()
    lab.wait(
        lambda: counted(lab, "prober_error") > 20, 5 + lab.margin,
        "many more than it takes to fail a server",
    )
    for server in ("s1", "s2"):
        found = health(lab, server)
        assert found["state"] == "healthy" and found["in_service"], found
        assert found["last_probe"]["reason_code"] == "prober_error", found
        assert found["last_probe"]["result"] == "error", found
        assert found["last_failure"] is None, found
        assert "counts for nothing" in found["last_probe"]["detail"], found
        assert "CAP_NET_RAW" in found["last_probe"]["detail"], found
        assert found["failures"] == 0, found
        assert found["advice"], found
    assert counted(lab, "fail") == 0
    assert set(lab.gw.weights().values()) == {100}, lab.gw.weights()
    assert told(lab) == 2, daemon.log()  # once for each server, not for each probe
    probed = lab.gw.api.call("POST", "/server-groups/web/servers/s1/probe").expect(200).json
    assert probed["result"] == "error", probed
    daemon.stop()

    daemon.capabilities = all_of_them
    daemon.start()
    lab.wait(
        lambda: (health(lab)["last_probe"] or {}).get("result") == "pass", 1 + lab.margin, "probes",
    )
    assert health(lab)["state"] == "healthy"
    assert "unhealthy" not in daemon.log()


@case
def a_new_server_that_cannot_be_probed(lab):
    lab.network(1)
    daemon = lab.gw.daemon
    daemon.capabilities = tuple(x for x in daemon.capabilities if x != sysc.CAP_NET_RAW)
    lab.gw.daemon.start()
    lab.gw.api.apply(web(lab, health_check=ping()))
    lab.wait(lambda: counted(lab, "prober_error") > 5, 5 + lab.margin, "probes")
    found = health(lab)
    assert found["state"] == "initial" and not found["in_service"], found
    assert found["reason_code"] == "initial_checking", found
    assert set(lab.gw.weights().values()) <= {0}, lab.gw.weights()
    # Another kind needs no raw socket.
    lab.gw.api.patch("/server-groups/web", {"health_check": {"type": "tcp"}}).expect(200)
    lab.wait(lambda: health(lab)["state"] == "healthy", 2 + lab.margin, "healthy")


# Connection tracking: every probe would take an entry for minutes

TRACKING = (
    "ip_tables", "iptable_filter", "iptable_raw", "nf_conntrack", "xt_conntrack", "xt_CT", "xt_mark",
)
MARK = 77


def tracked(lab):
    with lab.gw.ns:
        with open("/proc/sys/net/netfilter/nf_conntrack_count", encoding="ascii") as file:
            return int(file.read())


@case(load=TRACKING)
def where_connections_are_tracked(lab):
    with open("/proc/sys/net/netfilter/nf_conntrack_max", "w", encoding="ascii") as file:
        file.write("200")
    lab.network(1)
    lab.gw.run("iptables-legacy", "-A", "INPUT", "-m", "conntrack", "--ctstate", "ESTABLISHED",
               "-j", "ACCEPT")  # from now on this namespace is tracked
    lab.start(web(lab, health_check=check(fwmark=MARK)))
    lab.wait(lambda: tracked(lab) > 3, 2 + lab.margin, "probes are tracked")
    system = lab.gw.api.get("/system").expect(200).json
    found = system["kernel"]["conntrack"]
    assert found["max"] == 200 and found["taken_by_probes"] == 1200, found
    advice = [a["detail"] for a in system["advice"] if a["code"] == "connection_tracking"]
    assert len(advice) == 1 and '-m mark --mark MARK -j CT --notrack"' in advice[0], advice
    assert "notrack" in lab.gw.cli("status").stdout, "the command line says so, too"
    # What it says helps.
    lab.gw.run("iptables-legacy", "-t", "raw", "-A", "OUTPUT", "-m", "mark", "--mark", str(MARK),
               "-j", "CT", "--notrack")
    time.sleep(0.2)  # one that was under way
    before = tracked(lab)
    lab.holds(lambda: tracked(lab) <= before, 1.0, "no probe takes an entry")
    assert health(lab)["state"] == "healthy"


# The mark is on every packet of a probe, also of those that have no connection


def sent(lab):
    """Packets as the rules of a_mark_without_a_connection() counted them."""
    rules = lab.gw.run("iptables-legacy", "-v", "-S", "OUTPUT")
    return [int(count) for count in re.findall(r"^-A .* -c (\d+) ", rules, re.M)]


@case(load=("ip_tables", "iptable_filter", "xt_mark"))
def a_mark_without_a_connection(lab):
    lab.network(1)
    for protocol in ("icmp", "udp"):
        lab.gw.run("iptables-legacy", "-A", "OUTPUT", "-p", protocol, "-m", "mark", "--mark", str(MARK),
                   "-j", "ACCEPT")
        lab.gw.run("iptables-legacy", "-A", "OUTPUT", "-p", protocol, "-j", "ACCEPT")
    assert sent(lab) == [0, 0, 0, 0], sent(lab)
    lab.start(web(lab, health_check=ping(fwmark=MARK)))
    lab.wait_in_service()
    lab.wait(lambda: sent(lab)[0] >= 2, 2 + lab.margin, "echo requests with the mark")
    assert sent(lab)[1] == 0, sent(lab)
    lab.gw.api.patch("/server-groups/web", {"health_check": {"type": "icmp_udp"}}).expect(200)
    lab.wait(lambda: sent(lab)[2] >= 2, 2 + lab.margin, "datagrams with the mark")
    assert sent(lab)[1] == sent(lab)[3] == 0, sent(lab)
    # Without one they are counted behind the rules for marked ones.
    lab.gw.api.patch("/server-groups/web", {"health_check": {"fwmark": 0}}).expect(200)
    lab.wait(lambda: min(sent(lab)[1], sent(lab)[3]) >= 1, 2 + lab.margin, "both without the mark")
