# SPDX-License-Identifier: GPL-2.0-or-later
"""Access lists, with packets: who may come in to a listener, and what of the kernel is touched for it."""

import random
import socket
import threading
import time

from zglab import CLIENT4, CLIENT6, VIP4, VIP6, case
from zglab.documents import QUICK, balancer, document, group, listener, web
from zglab.filters import FOREIGN, NETFILTER, echo, is_open, knock, metric, network, operations, rules, sets
from zglab.lists import OTHER4, OTHER6, SILENT, office, put, set_name, started

LAB_KIND = "uml"
LAB_SECONDS = 60

@case(load=NETFILTER)
def allowed_and_denied_sources(lab):
    started(lab, office("allow", deny=["10.0.0.0/8"], allow=["10.1.0.9/32"]), udp=True)
    assert is_open(lab, VIP4, 80, source=CLIENT4), "the longer prefix decides"
    assert knock(lab, VIP4, 80, source=OTHER4) == SILENT
    assert lab.who(count=3, protocol="udp", source=CLIENT4) == {"s1": 3}
    assert knock(lab, VIP4, 80, socket.SOCK_DGRAM, source=OTHER4) == SILENT
    echo(lab, VIP4, source=OTHER4)
    assert rules(lab, 6)[0] == [], "no list is asked over IPv6"
    # The answer means: it is in force.
    put(lab, office("deny", allow=[f"{OTHER4}/32"]))
    assert knock(lab, VIP4, 80, source=CLIENT4) == SILENT
    assert is_open(lab, VIP4, 80, source=OTHER4)
    put(lab, office("deny"))
    assert knock(lab, VIP4, 80, source=OTHER4) == SILENT
    echo(lab, VIP4, source=OTHER4)
    put(lab, office("allow"))
    assert is_open(lab, VIP4, 80, source=CLIENT4) and is_open(lab, VIP4, 80, source=OTHER4)
    # A half of all addresses can have an entry of its own.
    put(lab, office("allow", deny=["0.0.0.0/1"], allow=["10.1.0.0/24"]))
    assert is_open(lab, VIP4, 80, source=CLIENT4)
    put(lab, office("allow", deny=["0.0.0.0/1"]))
    assert knock(lab, VIP4, 80, source=CLIENT4) == SILENT
    lab.gw.api.patch("/load-balancers/shop/listeners/udp", {"access_list": None}).expect(200)
    lab.gw.api.patch("/load-balancers/shop/listeners/http", {"access_list": None}).expect(200)
    assert is_open(lab, VIP4, 80, source=CLIENT4)
    assert rules(lab)[0] == [] and sets(lab) == {}


@case(load=NETFILTER)
def the_same_over_ipv6(lab):
    started(lab, office("deny", allow=["fd01::/16"], deny=[f"{OTHER6}/128", "10.0.0.0/8"]), family=6)
    assert is_open(lab, VIP6, 80, source=CLIENT6)
    assert knock(lab, VIP6, 80, source=OTHER6) == SILENT
    echo(lab, VIP6, source=OTHER6)
    put(lab, office("allow", deny=[f"{CLIENT6}/128"]))
    assert knock(lab, VIP6, 80, source=CLIENT6) == SILENT
    assert is_open(lab, VIP6, 80, source=OTHER6)
    assert rules(lab, 4)[0] == []


def talk(sock):
    """Whether the connection still answers."""
    try:
        sock.sendall(b"who\n")
        return sock.recv(100) != b""
    except TimeoutError:
        return False


@case(load=NETFILTER)
def an_open_connection_is_cut(lab):
    started(lab, office("allow"))
    with lab.client:
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with sock:
        sock.settimeout(0.5 * lab.slow)
        sock.bind((OTHER4, 0))
        sock.connect((VIP4, 80))
        assert talk(sock)
        put(lab, office("allow", deny=[f"{OTHER4}/32"]))
        assert not talk(sock), "packets of a source that is denied now do not pass"
        assert lab.who(source=CLIENT4, count=3) == {"s1": 3}


@case(load=NETFILTER)
def one_entry_is_one_entry(lab):
    many = [f"172.16.{i // 250}.{i % 250}/32" for i in range(2000)]
    started(lab, office("deny", allow=[f"{CLIENT4}/32", *many]), kernel={"audit_interval_s": 1})
    before, name = rules(lab), set_name(lab)
    assert len(before[0]) == 4, before[0]  # the chain, the jump to it, two rules
    for default in ("deny", "allow"):
        put(lab, office(default, allow=[f"{CLIENT4}/32", f"{OTHER4}/32", *many]))
        assert sets(lab)[name] == sorted(
            [f"{x.removesuffix('/32')}!" for x in (CLIENT4, OTHER4, *many)] +
            [half + ("!" if default == "allow" else "") for half in ("0.0.0.0/1", "128.0.0.0/1")])
    # Somebody edits the set: it is noticed and mended.
    lab.gw.run("ipset", "del", name, CLIENT4)
    lab.wait(lambda: is_open(lab, VIP4, 80, source=CLIENT4), 3 + lab.margin, "the entry is back")
    lab.gw.run("ipset", "add", name, "198.51.100.0/24")
    lab.wait(lambda: "198.51.100.0/24" not in sets(lab)[name], 3 + lab.margin, "the entry is gone", pause=0.1)
    # A listener more with the same list is an entry, no rule; so is a VIP that moves.
    lab.gw.api.put("/load-balancers/shop/listeners/more", listener(port=81, access_list="office")).expect(201)
    assert sets(lab)[name + "-at"] == [f"{VIP4},tcp:80", f"{VIP4},tcp:81"]
    lab.gw.api.patch("/load-balancers/shop/zones/zone-a", {"vip4": "192.0.2.77"}).expect(200)
    assert sets(lab)[name + "-at"] == ["192.0.2.77,tcp:80", "192.0.2.77,tcp:81"]
    assert rules(lab) == before
    assert operations(lab, "set_rules", "iptables") == 1


def change_and_stop(lab, stop, faults, lists):
    """Puts one list after the other until STOP is set."""
    turn = 0
    while not stop.is_set():
        answer = lab.gw.api.put("/access-lists/office", lists[turn % len(lists)])
        if answer.status != 200:
            faults.append(answer)
        turn += 1


@case(load=NETFILTER)
def no_wrong_verdict_while_it_changes(lab):
    rest = [[f"172.{16 + i // 250}.{n}.{i % 250}/32" for i in range(1500)] for n in range(2)]
    # Whole other lists, which are swapped, and small changes around the same verdicts.
    lists = [
        office("deny", allow=[f"{CLIENT4}/32", *rest[0]]),
        office("allow", deny=[f"{OTHER4}/32", *rest[1]]),
        office("allow", deny=["10.1.0.0/24", *rest[1]], allow=[f"{CLIENT4}/32"]),
        office("deny", allow=["10.1.0.0/28", *rest[1]]),
        office("allow", deny=["10.0.0.0/8", "10.1.0.0/25", *rest[1]], allow=["10.1.0.0/26"]),
    ]
    started(lab, lists[0])
    stop, faults = threading.Event(), []
    thread = threading.Thread(target=change_and_stop, args=(lab, stop, faults, lists), daemon=True)
    traffic = lab.traffic(connections=4, pause=0.005)  # of CLIENT4: always allowed
    thread.start()
    with lab.client:
        denied = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    denied.bind((OTHER4, 0))
    denied.settimeout(6 * lab.slow)  # its SYN is repeated
    try:
        denied.connect((VIP4, 80))
        faults.append("a denied source came in")
    except TimeoutError:
        pass
    stop.set()
    thread.join(20)
    traffic.stop()
    assert not faults, faults
    assert traffic.broken == [] and traffic.refused == [], (traffic.broken, traffic.refused)
    assert traffic.opened > 20 and operations(lab, "fill_set") > 10


@case(load=NETFILTER)
def killed_at_any_moment(lab):
    many = [f"172.16.{i // 250}.{i % 250}/32" for i in range(3000)]
    wanted = [office("deny", allow=[f"{CLIENT4}/32", *many]), office("allow", deny=[f"{CLIENT4}/32", *many[:1000]])]
    started(lab, wanted[0])
    ours = rules(lab)
    chance = random.Random(9)
    for turn in range(4):
        thread = threading.Thread(target=put_and_never_mind, args=(lab, wanted[(turn + 1) % 2]), daemon=True)
        thread.start()
        time.sleep(chance.uniform(0, 0.3))
        lab.gw.daemon.kill()
        thread.join(10)
        lab.gw.daemon.start()
        name = set_name(lab)
        stored = lab.gw.api.get("/access-lists/office").expect(200).json
        denies = stored["default_action"] == "deny"
        count = len(stored["entries"]) + 2
        all_sets = {name, name + "-at", "zg4-peers"}
        lab.wait(lambda n=name, c=count, a=all_sets: len(sets(lab).get(n, ())) == c and set(sets(lab)) == a,
                 5 + lab.margin, "after kill -9 and a start the set has what the document says, and none is left over",
                 pause=0.1)
        assert rules(lab) == ours
        assert knock(lab, VIP4, 80, source=OTHER4) == (SILENT if denies else "open")


def put_and_never_mind(lab, access_list):
    try:
        lab.gw.api.put("/access-lists/office", access_list)
    except OSError:
        pass
    except Exception:  # cut in the middle of the answer
        pass


@case(load=NETFILTER)
def rules_and_sets_of_others_are_not_touched(lab):
    network(lab)
    lab.gw.run("iptables-legacy-restore", stdin=FOREIGN)
    lab.gw.run("ipset", "create", "theirs", "hash:net")
    lab.gw.run("ipset", "add", "theirs", "10.9.0.0/16")
    _, before = rules(lab)
    configuration = web(lab)
    configuration["load_balancers"]["shop"].update(vip_guard="drop")
    configuration["load_balancers"]["shop"]["listeners"]["http"]["access_list"] = "office"
    configuration["access_lists"] = {"office": office("deny", allow=[f"{CLIENT4}/32"])}
    lab.start(configuration, kernel={"on_stop": "flush", "audit_interval_s": 1})
    assert rules(lab)[1] == before
    assert knock(lab, VIP4, 22) == SILENT and is_open(lab, VIP4, 80)
    put(lab, office("deny"))
    assert knock(lab, VIP4, 80) == SILENT
    assert rules(lab)[1] == before and sets(lab)["theirs"] == ["10.9.0.0/16"]
    assert lab.gw.daemon.stop() == 0
    assert rules(lab) == ([], before)
    assert sets(lab) == {"theirs": ["10.9.0.0/16"]}


@case(load=NETFILTER)
def other_gateways_probe_all_the_same(lab):
    started(lab, office("deny"), node={"peers": f"{OTHER4}, fd01::5"})
    lab.gw.api.patch("/load-balancers/shop", {"vip_probe": {"type": "tcp", "port": 80}}).expect(200)
    assert is_open(lab, VIP4, 80, source=OTHER4)
    assert knock(lab, VIP4, 80, source=CLIENT4) == SILENT
    asked = {x: lab.gw.api.get(f"/load-balancers/shop/listeners/http/access?client={x}").expect(200).json for x in (OTHER4, CLIENT4)}
    assert [(x["allowed"], x["by"]) for x in asked.values()] == [(True, "peer"), (False, "default")], asked
    assert "peers" in lab.gw.cli("access", "check", "shop/http", OTHER4).stdout
    assert sets(lab)["zg4-peers"] == [f"{VIP4},tcp:80,{OTHER4}"]
    lab.gw.api.patch("/load-balancers/shop", {"vip_probe": {"type": "tcp", "port": 81}}).expect(200)
    assert knock(lab, VIP4, 80, source=OTHER4) == SILENT, "only where they probe"


@case(load=NETFILTER)
def adopted_after_a_restart(lab):
    started(lab, office("deny", allow=[f"{CLIENT4}/32"]), kernel={"audit_interval_s": 1})
    lab.who(count=5, source=CLIENT4)
    ours, there = rules(lab), sets(lab)
    name = set_name(lab)
    counted = lab.gw.run("ipset", "save", name)
    assert "packets 0" not in next(x for x in counted.splitlines() if CLIENT4 in x)
    lab.gw.daemon.stop()
    assert (rules(lab), sets(lab)) == (ours, there)
    lab.gw.daemon.start()
    lab.wait(lambda: metric(lab, "zonegate_kernel_dumps_total") > 2, 5 + lab.margin, "it has looked", pause=0.1)
    assert operations(lab, "set_rules", "iptables") == 0 and operations(lab, "add_entry") == 0
    assert (rules(lab), sets(lab)) == (ours, there)
    assert lab.gw.run("ipset", "save", name) == counted, "the counters, too"


@case(load=NETFILTER + ("xt_mark",))
def a_range_has_one_too(lab):
    network(lab, tcp=(80, 8000, 8050))
    lab.client.add_address("eth0", f"{OTHER4}/24")
    configuration = document(
        {"web": group(lab.servers, port=0, health_check={**QUICK, "port": 80})},
        {"shop": balancer({"range": {k: v for k, v in listener(
            port_range=[8000, 8100], access_list="office").items() if k != "port"},
            "one": listener(port=8050)})})
    configuration["access_lists"] = {"office": office("deny", allow=[f"{CLIENT4}/32"])}
    lab.start(configuration)
    assert is_open(lab, VIP4, 8000, source=CLIENT4)
    assert knock(lab, VIP4, 8000, source=OTHER4) == SILENT
    assert is_open(lab, VIP4, 8050, source=OTHER4), "a port of its own in the range has no list"
    before = rules(lab)
    put(lab, office("deny", allow=[f"{OTHER4}/32"]))
    assert is_open(lab, VIP4, 8000, source=OTHER4)
    assert knock(lab, VIP4, 8000, source=CLIENT4) == SILENT
    assert rules(lab) == before


def two_balancers(lab):
    configuration = document(
        {"web": group(lab.servers, health_check=QUICK)},
        {"shop": balancer({"http": listener(access_list="office"), "open": listener(port=81)}),
         "depot": balancer({"http": listener(access_list="night")}, vip4="192.0.2.30")})
    configuration["access_lists"] = {"office": office("deny", allow=[f"{CLIENT4}/32"]),
                                     "night": office("deny", allow=[f"{OTHER4}/32"])}
    return configuration


@case(load=NETFILTER)
def each_listener_has_its_own(lab):
    network(lab, tcp=(80,))
    lab.client.add_address("eth0", f"{OTHER4}/24")
    lab.start(two_balancers(lab))
    seen = {(vip, port, source): knock(lab, vip, port, source=source) for vip, port in
            ((VIP4, 80), (VIP4, 81), ("192.0.2.30", 80)) for source in (CLIENT4, OTHER4)}
    assert [key for key, value in seen.items() if value == SILENT] == [
        (VIP4, 80, OTHER4), ("192.0.2.30", 80, CLIENT4)], seen
    lab.gw.api.delete("/load-balancers/depot").expect(200, 202, 204)
    lab.gw.api.delete("/access-lists/night").expect(204)
    assert len([x for x in sets(lab) if x.startswith("zg4-")]) == 3, sets(lab)
