# SPDX-License-Identifier: GPL-2.0-or-later
"""zonegate flush: what a daemon has left in the kernel goes, however it ended; what others made stays."""

import os
import time

from zglab import VIP4, VIP6, case
from zglab.documents import web
from zglab.filters import NETFILTER, network, rules, sets
from zglab.modules import IPVS, forbid_loading

LAB_KIND = "uml"
LAB_SECONDS = 15
MODULES = (*NETFILTER, "xt_mark")

FOREIGN = """*filter
:OURS-NOT - [0:0]
-A INPUT -p tcp -m tcp --dport 4444 -j OURS-NOT
-A FORWARD -j OURS-NOT
-A OURS-NOT -j RETURN
COMMIT
"""
SYSCTL = "/proc/sys/net/ipv4/vs/expire_nodest_conn"


def make_foreign(lab):
    """Rules, a set and a virtual service of somebody else; his rules as they are listed."""
    lab.gw.run("iptables-legacy-restore", stdin=FOREIGN)
    lab.gw.run("ipset", "create", "theirs", "hash:ip")
    lab.gw.run("ipset", "add", "theirs", "10.9.9.9")
    lab.gw.ipvsadm("-A", "-t", "192.0.2.99:80", "-s", "rr")
    lab.gw.ipvsadm("-A", "-f", str(0x5a000ff0), "-s", "rr")
    lab.gw.run("ip6tables-legacy", "-S")  # an unused table is not listed
    return rules(lab)[1], rules(lab, 6)[1]


def expect_foreign_alone(lab, others):
    assert (rules(lab), rules(lab, 6)) == (([], others[0]), ([], others[1]))
    assert sets(lab) == {"theirs": ["10.9.9.9"]}
    assert sorted(lab.gw.table(), key=str) == [("FWM", 0x5a000ff0), ("TCP", "192.0.2.99", 80)], lab.gw.table()
    assert lab.gw.addresses() == []
    assert "zonegate0" not in lab.gw.run("ip", "-o", "link"), "nor is its device there"


def everything(lab):
    """A document that puts something of every kind into the kernel."""
    configuration = web(lab)
    configuration["load_balancers"]["shop"]["vip_guard"] = "drop"
    configuration["load_balancers"]["shop"]["zones"]["zone-a"].update(vip6=VIP6)
    configuration["server_groups"]["web"]["on_unhealthy"] = "terminate"
    ranged = {"protocol": "tcp", "port_range": [8000, 8100], "server_group": "web"}
    configuration["load_balancers"]["shop"]["listeners"]["range"] = ranged
    configuration["settings"] = {"timeouts": {"tcp_s": 100}}
    return configuration


def read(lab, path):
    return lab.gw.run("cat", path).strip()


def flush(lab):
    return lab.gw.cli("flush", lab.gw.daemon.settings_path)


@case(load=MODULES)
def a_killed_daemon_leaves_nothing_behind(lab):
    network(lab, tcp=(80,))
    others = make_foreign(lab)
    before = read(lab, SYSCTL), lab.gw.ipvsadm("-L", "--timeout")
    lab.start(everything(lab))
    assert rules(lab)[0] and rules(lab, 6)[0] and len(sets(lab)) > 4 and len(lab.gw.table()) == 5
    assert read(lab, SYSCTL) == "1" and "100" in lab.gw.ipvsadm("-L", "--timeout")
    assert lab.who(count=3) == {"s1": 3}
    document = lab.gw.api.get("/config").expect(200).json
    running = flush(lab)
    assert running.returncode == 1 and "zonegate.db" in running.stderr, running
    assert rules(lab)[0], "with a daemon on its database nothing is touched"
    lab.gw.daemon.kill()
    done = flush(lab)
    assert (done.returncode, done.stdout) == (0, "zonegated: nothing of it is left in the kernel\n"), done
    expect_foreign_alone(lab, others)
    assert (read(lab, SYSCTL), lab.gw.ipvsadm("-L", "--timeout")) == before, "as before"
    again = flush(lab)
    assert again.returncode == 0, again
    expect_foreign_alone(lab, others)
    # What it should do is known yet.
    lab.gw.daemon.start()
    lab.wait_in_service()
    assert lab.gw.api.get("/config").expect(200).json == document
    lab.wait(lambda: rules(lab)[0] and VIP4 in str(lab.gw.addresses()), 5 + lab.margin, "all of it is back", pause=0.1)
    assert lab.who(count=3) == {"s1": 3}


@case(load=MODULES)
def what_goes_by_its_name_needs_no_database(lab):
    network(lab, tcp=(80,))
    others = make_foreign(lab)
    lab.start(everything(lab))
    assert lab.gw.daemon.stop() == 0
    for name in os.listdir(lab.gw.daemon.state_folder):
        os.unlink(f"{lab.gw.daemon.state_folder}/{name}")
    done = flush(lab)
    assert done.returncode == 0 and "there is no database" in done.stderr, done
    expect_foreign_alone(lab, others)
    assert os.listdir(lab.gw.daemon.state_folder) == []


@case
def without_sets_in_the_kernel(lab):
    lab.network(1)
    lab.start(web(lab))
    assert lab.gw.daemon.stop() == 0
    done = flush(lab)
    assert done.returncode == 0, done
    assert lab.gw.table() == {} and lab.gw.addresses() == []


@case(load=MODULES)
def who_holds_a_set_is_named_and_all_else_goes(lab):
    network(lab, tcp=(80,))
    lab.start(everything(lab))
    rule = ("FORWARD", "-m", "set", "--match-set", "zg4-drop", "dst", "-j", "DROP")
    lab.gw.run("iptables-legacy", "-A", *rule)
    lab.gw.daemon.kill()
    begin = time.monotonic()
    held = flush(lab)
    took = time.monotonic() - begin
    assert held.returncode == 1 and took < 10 * lab.slow + lab.margin, (took, held)
    assert "zg4-drop: iptables-legacy -t filter -A FORWARD -m set --match-set zg4-drop dst -j DROP" in held.stderr, held
    assert "zonegated: all is gone but sets that others use" in held.stderr, held
    assert rules(lab)[0] == ["-A FORWARD -m set --match-set zg4-drop dst -j DROP"] or rules(lab)[0] == [], rules(lab)
    assert set(sets(lab)) == {"zg4-drop"} and lab.gw.table() == {}
    assert "zonegate0" not in lab.gw.run("ip", "-o", "link")
    # Another set, too, may hold one of ours.
    lab.gw.run("iptables-legacy", "-D", *rule)
    lab.load(("ip_set_list_set",))
    lab.gw.run("ipset", "create", "all", "list:set")
    lab.gw.run("ipset", "add", "all", "zg4-drop")
    held = flush(lab)
    assert held.returncode == 1 and "zg4-drop: the set all" in held.stderr, held
    lab.gw.run("ipset", "destroy", "all")
    done = flush(lab)
    assert done.returncode == 0, done
    assert sets(lab) == {}


OURS = """*filter
:ZONEGATE - [0:0]
-A INPUT -j ZONEGATE
-A ZONEGATE -m set --match-set zg4-drop dst -j DROP
COMMIT
"""


@case(load=MODULES, without_ipvs=True)
def without_ipvs(lab):
    """After its module is gone: there are no services, but sets and chains are there."""
    network(lab)
    lab.gw.daemon.write_settings()
    lab.gw.run("ipset", "create", "zg4-drop", "hash:ip")
    lab.gw.run("iptables-legacy-restore", "--noflush", stdin=OURS)
    lab.gw.run("ip", "link", "add", "zonegate0", "type", "dummy")
    done = flush(lab)
    assert done.returncode == 0, done
    assert rules(lab)[0] == [] and sets(lab) == {} and "zonegate0" not in lab.gw.run("ip", "-o", "link")


FORWARD = "/proc/sys/net/ipv4/ip_forward"


@case(load=MODULES, without_ipvs=True)
def sysctls_of_the_host_need_no_ipvs(lab):
    """What the daemon has set is put back, though the module went meanwhile; what others hold is not all that is told."""
    network(lab)
    lab.load(IPVS)
    lab.gw.run("sysctl", "-qw", "net.ipv4.ip_forward=0")
    lab.start(everything(lab))
    assert read(lab, FORWARD) == "1"
    lab.gw.daemon.kill()
    lab.gw.ipvsadm("-C")
    forbid_loading()
    lab.unload(IPVS)
    lab.gw.daemon.settings["kernel"]["vip_device"] = "front0"
    lab.gw.daemon.write_settings()
    rule = ("FORWARD", "-m", "set", "--match-set", "zg4-drop", "dst", "-j", "DROP")
    lab.gw.run("iptables-legacy", "-A", *rule)
    held = flush(lab)
    assert held.returncode == 1 and "all is gone but sets that others use" in held.stderr, held
    assert "VIPs may be left on front0" in held.stderr, held
    assert read(lab, FORWARD) == "0" and set(sets(lab)) == {"zg4-drop"}
    lab.gw.run("iptables-legacy", "-D", *rule)
    lab.gw.daemon.settings["kernel"]["vip_device"] = "zonegate0"
    lab.gw.daemon.write_settings()
    done = flush(lab)
    assert (done.returncode, done.stdout) == (0, "zonegated: nothing of it is left in the kernel\n"), done
    assert read(lab, FORWARD) == "0" and sets(lab) == {}
