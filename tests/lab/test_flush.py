# SPDX-License-Identifier: GPL-2.0-or-later
"""zonegate flush: what a daemon has left in the kernel goes, however it ended; what others made stays."""

import os
import random
import threading
import time

from zglab import CLIENT4, VIP4, VIP6, case
from zglab.api import Api
from zglab.documents import balancer, both, check, document, listener, ranged, web
from zglab.filters import (FOREIGN_MODULES, NETFILTER, foreign, is_open, knock, make_foreign_everywhere, network, rules,
                           sets)
from zglab.lists import OTHER4, SILENT, length, office, set_name
from zglab.modules import IPVS, forbid_loading

LAB_KIND = "uml"
LAB_SECONDS = 45
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
    configuration["settings"] = {"timeouts": {"tcp_s": 100, "tcp_fin_s": 33}}
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
    assert read(lab, SYSCTL) == "1" and "100 33 " in lab.gw.ipvsadm("-L", "--timeout")
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


@case(load=MODULES, without_ipvs=True)
def chains_go_without_a_set(lab):
    """No set is left that tells of them, and there is no database; a set of another name is none of ours."""
    network(lab)
    lab.gw.daemon.write_settings()
    lab.gw.run("iptables-legacy-restore", stdin=FOREIGN)
    lab.gw.run("ip6tables-legacy", "-S")  # an unused table is not listed
    others = rules(lab)[1], rules(lab, 6)[1]
    lab.gw.run("iptables-legacy", "-N", "ZONEGATE")
    lab.gw.run("iptables-legacy", "-I", "INPUT", "-j", "ZONEGATE")
    lab.gw.run("iptables-legacy", "-A", "ZONEGATE", "-j", "RETURN")
    lab.gw.run("ipset", "create", "zg4-test", "hash:ip")
    done = flush(lab)
    assert done.returncode == 0 and "zonegated: there is no database" in done.stderr, done
    assert (rules(lab), rules(lab, 6)) == (([], others[0]), ([], others[1])), (rules(lab), rules(lab, 6), others)
    assert set(sets(lab)) == {"zg4-test"}


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


ALL = (*MODULES, *FOREIGN_MODULES, "xt_hashlimit", "xt_connlimit", "nf_conncount", "xt_conntrack", "xt_ipvs")
LIST_PATH = "/api/v1/access-lists/office/entries"
CONNTRACK = "/proc/sys/net/ipv4/vs/conntrack"


def with_all_of_it(lab):
    """Guard, list, a range of each protocol, limits, ceilings and snat, at both families."""
    keep = {"port": 0, "health_check": check(port=80)}
    bounds = {"rate_limit": 20, "max_connections": 50}
    return {**document(
        {"web": both(lab.servers, port=80), "keep": both(lab.servers, **keep), "datagrams": both(lab.servers, protocol="udp", **keep)},
        {"shop": balancer({
            "http": listener(access_list="office", **bounds),
            "range": ranged(8000, 8100, "keep", access_list="office", **bounds),
            "udp": ranged(8000, 8100, "datagrams", "udp", **bounds)}, vip6=VIP6, snat="auto", vip_guard="drop")},
    ), "access_lists": {"office": office("allow", deny=[f"{OTHER4}/32"])}}


def write_and_never_mind(lab, members):
    try:
        lab.gw.api.patch("/load-balancers/shop", members)
    except Exception:  # cut in the middle of the answer
        pass


def of_listeners(**members):
    return {"listeners": {name: members for name in ("http", "range", "udp")}}


CHANGES = (
    (of_listeners(rate_limit=30), of_listeners(rate_limit=20)),
    (of_listeners(max_connections=0), of_listeners(max_connections=50)),
    ({"snat": "off"}, {"snat": "auto"}),
)


def in_kernel(lab):
    return rules(lab)[0], rules(lab, 6)[0], {name: found for name, found in sets(lab).items() if name.startswith("zg")}


def seen_of(lab):
    """What a change is known by in the document."""
    one = lab.gw.api.get("/load-balancers/shop").expect(200).json
    return one["snat"], one["listeners"]["http"]["rate_limit"], one["listeners"]["http"]["max_connections"]


def killed_amid(lab, change, chance, others):
    """One change and back, each settled once and killed in the middle once: the kernel has what the document says."""
    settled = {}
    for members in change:
        lab.gw.api.patch("/load-balancers/shop", members).expect(200)
        settled[seen_of(lab)] = in_kernel(lab)
    for members in change:
        thread = threading.Thread(target=write_and_never_mind, args=(lab, members), daemon=True)
        thread.start()
        time.sleep(chance.uniform(0, 0.3))
        lab.gw.daemon.kill()
        thread.join(10)
        assert foreign(lab) == others, members
        lab.gw.daemon.start()
        wanted = settled[seen_of(lab)]
        lab.wait(lambda w=wanted: in_kernel(lab) == w, 5 + lab.margin,
                 f"after kill -9 and a start the kernel has what the document says: {members}", pause=0.4)
        assert foreign(lab) == others, members
    lab.gw.api.patch("/load-balancers/shop", change[1]).expect(200)


@case(load=ALL, timeout=180.0)
def beside_all_that_others_have(lab):
    """Their rules in every table, chains of Docker, a policy, sets: the same before and after everything that is ours."""
    network(lab, tcp=(80, 8000), udp=(8000,))
    lab.client.add_address("eth0", f"{OTHER4}/24")
    others = make_foreign_everywhere(lab)
    assert len(others[0]) > 30 and len(others[1]) > 30 and len(others[2]) == 2, others
    tracked = read(lab, CONNTRACK)
    lab.start(with_all_of_it(lab), kernel={"audit_interval_s": 1})
    assert foreign(lab) == others
    for vip in (VIP4, VIP6):
        assert set(lab.who(vip, 80, count=2)) == set(lab.who(vip, 8000, count=2)) == {"s1"}, vip
        assert set(lab.who(vip, 8000, count=2, protocol="udp")) == {"s1"} and knock(lab, vip, 22) == SILENT, vip
    chance = random.Random(7)
    for change in CHANGES:
        killed_amid(lab, change, chance, others)
    # A long list, killed in its fill.
    many = "".join(f"172.{16 + i // 62500}.{i // 250 % 250}.{i % 250}/32 deny\n" for i in range(60_000))
    name = set_name(lab)
    fill = threading.Thread(target=put_text, args=(lab, many), daemon=True)
    fill.start()
    lab.wait(lambda: f"{name}-t" in lab.gw.run("ipset", "list", "-n").split() or not fill.is_alive(), 20, "it is being filled", pause=0)
    lab.gw.daemon.kill()
    fill.join(20)
    assert foreign(lab) == others
    lab.gw.daemon.start()
    put_text(lab, f"{OTHER4}/32 deny\n" + many)
    lab.wait(lambda: length(lab, name) == 60_003, 10 + lab.margin, "all of it is in the set", pause=0.2)
    assert foreign(lab) == others
    assert knock(lab, VIP4, 80, source=OTHER4) == SILENT and is_open(lab, VIP4, 8000, source=CLIENT4)
    # And taken out after an end without a stop: with the list, limits, ceilings and snat in it.
    lab.gw.daemon.kill()
    kinds = ("-lt", "-lr", "-mt", "-mr", "auto", "auto-keep", "-to", "-keep", "-from", "open", "drop", "-at", "-m")
    assert all(any(x.endswith(kind) for x in sets(lab)) for kind in kinds), sets(lab).keys()
    gone_with_the_programs(lab)
    assert in_kernel(lab) == ([], [], {}) and foreign(lab) == others
    assert lab.gw.table() == {} and "zonegate0" not in lab.gw.run("ip", "-o", "link") and read(lab, CONNTRACK) == tracked


def put_text(lab, text):
    try:
        Api(lab.gw.daemon.socket, 60.0, judged=False).raw("PUT", LIST_PATH, text, {"Content-Type": "text/plain"})
    except Exception:  # cut in the middle of the answer
        pass


def gone_with_the_programs(lab):
    """As the manual has it: zonegate flush and make uninstall, of what make install had put."""
    top, tree = "/run/installed", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    built = os.path.dirname(lab.config["zonegated"])  # copies, and nothing else: there is nothing to make
    make = ("make", "-s", "--no-print-directory", "-C", tree, f"OUT={built}", f"DESTDIR={top}", "-o", "all")
    lab.gw.run(*make, "install")
    assert os.path.exists(f"{top}/usr/sbin/zonegated") and os.path.exists(f"{top}/usr/lib/systemd/system/zonegate.service")
    lab.gw.run(f"{top}/usr/sbin/zonegated", "--flush", "--config", lab.gw.daemon.settings_path)
    lab.gw.run(*make, "uninstall")
    left = sorted(os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names)
    assert left == [f"{top}/etc/zonegate/zonegate.conf"], left
