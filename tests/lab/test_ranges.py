# SPDX-License-Identifier: GPL-2.0-or-later
"""Listeners with a range of ports, with packets: 8000-8100 and all ports, TCP, UDP and SCTP, through firewall marks."""

import random
import re
import socket
import threading
import time

from zglab import CLIENT4, OTHER_VIP4, VIP4, VIP6, case
from zglab.documents import balancer, both, check, document, group, listener, ranged
from zglab.filters import NETFILTER, Ports, is_open, is_refused, knock, network, operations, rules, sets
from zglab.lab import OTHER_VIP6

LAB_KIND = "uml"
LAB_SECONDS = 40

MODULES = (*NETFILTER, "xt_mark", "xt_multiport")
GATEWAY4 = "10.1.0.1"
FIRST = 0x5a000001
PORTS = (22, 443, 8000, 8050, 8100)
DATAGRAM = socket.SOCK_DGRAM


def keep(lab, protocol="tcp", **members):
    """Port 0: that of the packet. All checks are of a TCP port."""
    return both(lab.servers, port=0, protocol=protocol, health_check=check(port=8000), **members)


def services(lab):
    """{"1509949441" or "1509949441 -6": sorted destinations} of services with a mark."""
    found = {}
    for line in lab.gw.ipvsadm("-S", "-n").splitlines():
        mark = re.match(r"-([Aa]) -f (\d+)( -6)?", line)
        if not mark:
            continue
        name = mark.group(2) + (mark.group(3) or "")
        found.setdefault(name, [])
        if mark.group(1) == "a":
            found[name].append(line.split("-r ")[1].split()[0])
    return {name: sorted(dests) for name, dests in found.items()}


def marked(lab, family=4):
    """The rules that set marks; not the one that takes off what others have set."""
    return [x for x in rules(lab, family)[0] if "--set-xmark" in x and "--set-xmark 0x0/" not in x]


def two_protocols(lab, first=8000, last=8100):
    return document(
        {"web": keep(lab), "datagrams": keep(lab, "udp")},
        {"shop": balancer({"tcp": ranged(first, last), "udp": ranged(first, last, "datagrams", "udp")}, vip6=VIP6)},
    )


@case(load=MODULES)
def a_range_over_tcp_and_udp_and_both_families(lab):
    network(lab, tcp=(*PORTS, 9000), udp=PORTS)
    lab.start(two_protocols(lab))
    for vip in (VIP4, VIP6):
        for port in (8000, 8050, 8100):
            assert set(lab.who(vip, port, count=4)) == {"s1"}, (vip, port)
            assert set(lab.who(vip, port, count=4, protocol="udp")) == {"s1"}, (vip, port)
        for port in (443, 7999, 8101, 9000):
            assert is_refused(lab, vip, port) and is_refused(lab, vip, port, DATAGRAM), (vip, port)
        # Within the range, where no server listens: it is the server that refuses.
        assert is_refused(lab, vip, 8001)
    assert sorted(services(lab)) == ["1509949441", "1509949441 -6", "1509949442", "1509949442 -6"], services(lab)
    assert services(lab)["1509949441"] == ["10.2.0.11:0"]
    one = sets(lab)
    assert one["zg4-5a000001-m"] == one["zg4-5a000002-m"] == one["zg4-ranged"] == [VIP4], one
    assert one["zg6-5a000001-m"] == one["zg6-ranged"] == [VIP6] and one["zg4-single"] == [], one
    # Nothing stays of a listener that goes.
    lab.gw.api.delete("/load-balancers/shop/listeners/tcp").expect(200, 202, 204)
    lab.wait(lambda: sorted(services(lab)) == ["1509949442", "1509949442 -6"], 5 + lab.margin, "the service is gone")
    lab.wait(lambda: "zg4-5a000001-m" not in sets(lab) and len(marked(lab)) == 1, 5 + lab.margin, "so are set and rule")
    assert is_refused(lab, VIP4, 8050) and set(lab.who(VIP4, 8050, count=2, protocol="udp")) == {"s1"}
    lab.gw.api.delete("/load-balancers/shop").expect(200, 202, 204)
    lab.wait(lambda: services(lab) == {} and rules(lab)[0] == [] and rules(lab, 6)[0] == [] and sets(lab) == {},
             5 + lab.margin, "nothing is left")


@case(load=MODULES)
def all_ports_and_what_is_more_specific(lab):
    network(lab, servers=3, tcp=(*PORTS, 53, 80, 9000), udp=PORTS)
    ports = Ports(lab, 22)
    one, other, mapped = ([server] for server in lab.servers)
    groups = {
        "web": both(one, port=0, health_check=check(port=8000)),
        "datagrams": both(one, port=0, protocol="udp", health_check=check(port=8000)),
        "single": both(other, port=80),
        "mapped": both(mapped, port=9000),
    }
    lab.start(document(groups, {
        "shop": balancer({
            "tcp": ranged(1, 65535), "udp": ranged(1, 65535, "datagrams", "udp"), "http": listener("single"),
        }, vip6=VIP6),
        # Side by side: the same ports at another VIP, and two ranges at one.
        "two": balancer({
            "low": ranged(8000, 8049, "mapped"), "high": ranged(8050, 8100, "single"),
            "udp": ranged(8000, 8049, "datagrams", "udp"),
        }, vip4=OTHER_VIP4, vip6=OTHER_VIP6),
    }), dns={"listen": "0.0.0.0, [::]", "apex": "lb.example.net", "ns": "ns1.example.net"})
    for vip in (VIP4, VIP6):
        for port in PORTS:
            assert set(lab.who(vip, port, count=3)) == {"s1"}, (vip, port)
            assert set(lab.who(vip, port, count=3, protocol="udp")) == {"s1"}, (vip, port)
        assert set(lab.who(vip, 80, count=5)) == {"s2"}, vip
        assert is_refused(lab, vip, 9999)
    for vip in (OTHER_VIP4, OTHER_VIP6):
        for port in (8000, 8033, 8049):
            assert set(lab.who(vip, port, count=3)) == {"s3"}, (vip, port)
        for port in (8050, 8100):
            assert set(lab.who(vip, port, count=3)) == {"s2"}, (vip, port)
        assert is_refused(lab, vip, 443) and is_refused(lab, vip, 8050, DATAGRAM)
        assert set(lab.who(vip, 8000, count=3, protocol="udp")) == {"s1"}, vip
    # The daemon's own port is no server's, and what the gateway has at its own address stays there.
    with lab.client:
        question = socket.socket(socket.AF_INET, DATAGRAM)
    with question:
        question.settimeout(2 * lab.slow)
        question.connect((VIP4, 53))
        question.send(bytes.fromhex("1234010000010000000000000000020001"))
        assert question.recv(512)[:2] == b"\x12\x34"
    assert is_open(lab, GATEWAY4, 22) and lab.servers[0].requests > 0
    # A new port of its own within a range touches no rule.
    before = rules(lab), rules(lab, 6)
    lab.gw.api.put("/load-balancers/shop/listeners/https", listener("single", 443)).expect(201)
    lab.wait(lambda: set(lab.who(VIP4, 443, count=2)) == {"s2"}, 3 + lab.margin, "the port has its own listener")
    assert set(lab.who(VIP6, 443, count=2)) == {"s2"}
    lab.gw.api.delete("/load-balancers/shop/listeners/https").expect(200, 202, 204)
    lab.wait(lambda: set(lab.who(VIP4, 443, count=2)) == {"s1"}, 3 + lab.margin, "and the range has it again")
    assert (rules(lab), rules(lab, 6)) == before
    ports.close()


@case(load=MODULES)
def clients_on_the_gateway_itself(lab):
    network(lab, tcp=PORTS, udp=PORTS)
    lab.start(two_protocols(lab))
    for vip in (VIP4, VIP6):
        assert is_open(lab, vip, 8050, namespace=lab.gw.ns), vip
        assert is_open(lab, vip, 8050, DATAGRAM, namespace=lab.gw.ns), vip


@case(load=MODULES)
def moved_and_changed(lab):
    network(lab, tcp=PORTS, udp=PORTS)
    lab.start(two_protocols(lab))
    before = rules(lab)
    lab.gw.api.patch("/load-balancers/shop/zones/zone-a", {"vip4": OTHER_VIP4}).expect(200)
    lab.wait_in_service()
    assert set(lab.who(OTHER_VIP4, 8050, count=3)) == {"s1"} and rules(lab) == before
    assert sets(lab)["zg4-5a000001-m"] == [OTHER_VIP4]
    # Another range: its rule alone, by one restore.
    lab.gw.api.patch("/load-balancers/shop/listeners/tcp", {"port_range": [400, 500]}).expect(200)
    assert set(lab.who(OTHER_VIP4, 443, count=3)) == {"s1"}
    assert is_refused(lab, OTHER_VIP4, 8050) and set(lab.who(OTHER_VIP4, 8050, count=2, protocol="udp")) == {"s1"}
    assert [x.split("--set-xmark")[1] for x in marked(lab)] == [" 0x5a000001/0xffffffff", " 0x5a000002/0xffffffff"]
    # A port instead, and back: the same mark again.
    lab.gw.api.patch("/load-balancers/shop/listeners/tcp", {"port_range": None, "port": 22}).expect(200)
    lab.wait_in_service()
    assert set(lab.who(OTHER_VIP4, 22, count=3)) == {"s1"} and is_refused(lab, OTHER_VIP4, 443)
    lab.wait(lambda: "1509949441" not in services(lab), 3 + lab.margin, "its mark is free")
    lab.gw.api.patch("/load-balancers/shop/listeners/tcp", {"port_range": [1, 65535]}).expect(200)
    lab.wait_in_service()
    assert set(lab.who(OTHER_VIP4, 443, count=3)) == {"s1"} and "1509949441" in services(lab)


@case(load=MODULES)
def restarted_and_killed_without_a_broken_connection(lab):
    network(lab, servers=2, tcp=PORTS, udp=PORTS)
    lab.gw.ipvsadm("-A", "-f", str(FIRST + 2), "-s", "rr")
    lab.gw.ipvsadm("-A", "-f", "7", "-s", "rr")
    # And so is one that rules of routing look at, in whichever bits.
    lab.gw.run("ip", "rule", "add", "fwmark", "0x2/0xf", "lookup", "main")
    lab.gw.run("ip", "-6", "rule", "add", "fwmark", str(FIRST + 3), "lookup", "main")
    lab.start(two_protocols(lab), kernel={"audit_interval_s": 1})
    ours = services(lab)
    # The mark of a service of others is left to it.
    assert sorted(ours) == ["1509949441", "1509949441 -6", "1509949443", "1509949445", "1509949445 -6", "7"], ours
    assert ours["7"] == ours["1509949443"] == []
    there, held = (rules(lab), rules(lab, 6)), sets(lab)
    traffic = lab.traffic(port=8050)
    with lab.gw.capture() as capture:
        for end in (lab.gw.daemon.stop, lab.gw.daemon.kill, lab.gw.daemon.kill):
            end()
            lab.gw.daemon.start()
            lab.wait(lambda: lab.gw.api.get("/readyz", base="").status == 200, 5 + lab.margin, "it is ready")
        lab.holds(lambda: services(lab) == ours, 2.5, "the services stay as they are", pause=0.2)
        changes = capture.changes()
    assert not set(changes) & {"NEW_SERVICE", "SET_SERVICE", "DEL_SERVICE", "NEW_DEST", "DEL_DEST", "SET_DEST"}, changes
    assert ((rules(lab), rules(lab, 6)), sets(lab)) == (there, held)
    for op, subsystem in (("set_rules", "iptables"), ("add_entry", "ipset"), ("add_set", "ipset")):
        assert operations(lab, op, subsystem) == 0, op
    traffic.stop()
    assert traffic.broken == [] and traffic.refused == [] and traffic.opened > 10, (traffic.broken, traffic.refused)
    # What others do to ours is mended, and what they do to theirs is not looked at.
    lab.gw.run("iptables-legacy", "-F", "ZONEGATE-MARKS")
    lab.gw.run("ipset", "del", "zg4-5a000001-m", VIP4)
    lab.gw.ipvsadm("-D", "-f", str(FIRST))
    lab.gw.ipvsadm("-D", "-f", "7")
    lab.wait(lambda: ((rules(lab), rules(lab, 6)), sets(lab)) == (there, held), 5 + lab.margin, "mended", pause=0.1)
    lab.wait(lambda: services(lab).get("1509949441") == ours["1509949441"], 5 + lab.margin, "the service, too")
    lab.wait_in_service()
    assert set(lab.who(port=8050, count=4)) == {"s1", "s2"} and "7" not in services(lab)
    # A flush leaves theirs.
    lab.gw.daemon.settings["kernel"]["on_stop"] = "flush"
    lab.gw.daemon.stop()
    lab.gw.daemon.start()
    assert lab.gw.daemon.stop() == 0
    assert services(lab) == {"1509949443": []} and rules(lab)[0] == [] and sets(lab) == {}


@case(load=MODULES)
def many_rules_of_routing_mind_marks(lab):
    network(lab, tcp=PORTS)
    others = "".join(f"rule add fwmark {mark:#x} lookup main\n" for mark in range(0x100, 0x13c))
    # The kernel tells of the first one last.
    for family, own in (("-4", "0x12/0xf"), ("-6", hex(FIRST))):
        lab.gw.run("ip", family, "-batch", "-", stdin=f"rule add fwmark {own} lookup main\n{others}")
    lab.start(document({"web": keep(lab)}, {"shop": balancer({"tcp": ranged(8000, 8100, "web")}, vip6=VIP6)}))
    # Those of one family do not crowd out the other's; 0x…2 is taken within its mask.
    assert sorted(services(lab)) == [str(FIRST + 2), f"{FIRST + 2} -6"], services(lab)
    assert set(lab.who(port=8050, count=3)) == {"s1"}


def write_and_never_mind(lab, members):
    try:
        lab.gw.api.patch("/load-balancers/shop/listeners/tcp", members)
    except Exception:  # cut in the middle of the answer
        pass


@case(load=MODULES)
def killed_in_the_middle_of_a_change(lab):
    network(lab, tcp=PORTS, udp=PORTS)
    lab.start(two_protocols(lab))
    chance = random.Random(9)
    wanted, seen = {"port_range": [8000, 8100]}, {}

    def all_of_it():
        return rules(lab), rules(lab, 6), sets(lab), services(lab), sorted(map(str, lab.gw.table()))

    for turn in range(6):
        wanted = {"port_range": None, "port": 8050} if wanted["port_range"] else {"port_range": [8000, 8100]}
        if turn < 2:  # left alone: what the kernel has then
            lab.gw.api.patch("/load-balancers/shop/listeners/tcp", wanted).expect(200)
            lab.wait_in_service()
            lab.wait(lambda: len(services(lab)) == (4 if wanted["port_range"] else 2), 5 + lab.margin, "settled")
            seen[bool(wanted["port_range"])] = all_of_it()
            continue
        thread = threading.Thread(target=write_and_never_mind, args=(lab, wanted), daemon=True)
        thread.start()
        time.sleep(chance.uniform(0, 0.3))
        lab.gw.daemon.kill()
        thread.join(10)
        lab.gw.daemon.start()
        now = lab.gw.api.get("/load-balancers/shop/listeners/tcp").expect(200).json
        wanted = {"port_range": now.get("port_range")}
        lab.wait(lambda ranged=bool(wanted["port_range"]): all_of_it() == seen[ranged], 5 + lab.margin,
                 f"after kill -9 and a start the kernel has what the document says: {wanted}", pause=0.1)
        lab.wait_in_service()
        assert set(lab.who(port=8050, count=3)) == {"s1"}


def set_foreign_mark(lab, vip, port, mark):
    """By a rule of somebody else."""
    program = "ip6tables-legacy" if ":" in vip else "iptables-legacy"
    lab.gw.run(program, "-t", "mangle", "-A", "PREROUTING", "-d", vip, "-p", "tcp", "--dport", str(port),
               "-j", "MARK", "--set-mark", hex(mark))


@case(load=(*MODULES, "iptable_mangle", "ip6table_mangle"))
def the_guard_lets_the_range_in(lab):
    network(lab, tcp=(*PORTS, 21), udp=PORTS)
    ports = Ports(lab, 22, 7999)
    configuration = two_protocols(lab)
    configuration["load_balancers"]["shop"]["vip_guard"] = "drop"
    lab.start(configuration)
    for vip in (VIP4, VIP6):
        assert set(lab.who(vip, 8050, count=3)) == {"s1"} and set(lab.who(vip, 8100, count=3, protocol="udp")) == {"s1"}
        assert knock(lab, vip, 22) == "silent" and knock(lab, vip, 7999) == "silent", vip
        assert knock(lab, vip, 161, DATAGRAM) == "silent", vip
    # With port 21 in it, it is FTP, whose data may come to ports beyond it.
    lab.gw.api.patch("/load-balancers/shop/listeners/tcp", {"port_range": [21, 8100]}).expect(200)
    assert sets(lab)["zg4-ftp"] == [VIP4] and is_open(lab, VIP4, 21) and set(lab.who(port=22, count=2)) == {"s1"}
    assert sets(lab)["zg4-open"] == [f"{VIP4},tcp:20"]
    assert knock(lab, VIP4, 20) == "refused" and knock(lab, VIP6, 20) == "refused", "the guard lets it in, nothing listens"
    lab.gw.api.patch("/load-balancers/shop/listeners/tcp", {"port_range": [8000, 8100]}).expect(200)
    # A mark that somebody else has set opens no port, whether it is one of ours or not, and closes none.
    lab.gw.api.put("/load-balancers/bare", balancer(
        {"one": listener(port=8000)}, vip4=OTHER_VIP4, vip6=OTHER_VIP6, vip_guard="drop")).expect(201)
    for mark in (FIRST, FIRST + 0xff0, 0x77):
        for vip in (VIP4, VIP6, OTHER_VIP4):
            set_foreign_mark(lab, vip, 22, mark)
        for vip in (VIP4, VIP6):
            set_foreign_mark(lab, vip, 8050, mark)
            assert knock(lab, vip, 22) == "silent" and is_open(lab, vip, 8050), (vip, mark)
        assert mark == FIRST or knock(lab, OTHER_VIP4, 22) == "silent", mark
    ports.close()


@case(load=MODULES)
def persistence_holds_for_all_ports_and_drains_for_the_whole_listener(lab):
    network(lab, servers=3, tcp=PORTS, udp=PORTS)
    configuration = two_protocols(lab)
    shop = configuration["load_balancers"]["shop"]
    shop["listeners"]["tcp"].update(persistence_s=60)
    shop["listeners"]["udp"].update(scheduler="sh")
    lab.start(configuration)
    answers = lab.who(port=8000, count=3, source=CLIENT4) + lab.who(port=8050, count=3, source=CLIENT4)
    assert sorted(answers.values()) == [6], answers
    assert list(lab.who(port=8050, count=6, protocol="udp", source=CLIENT4).values()) == [6]
    # Statistics and the command line know it by its name.
    name = f"tcp {VIP4}:8000-8100 (fwmark {FIRST})"
    status = lab.gw.api.get("/load-balancers/shop/status").expect(200).json
    assert status["listeners"][0]["port_range"] == [8000, 8100] and "port" not in status["listeners"][0], status
    assert [x["service"] for x in status["listeners"][0]["services"] if x["family"] == 4] == [name], status
    assert "8000-8100" in lab.gw.cli("listener", "list", "shop").stdout
    assert name in lab.gw.cli("lb", "status", "shop").stdout
    shown = lab.gw.cli("kernel", "show").stdout
    assert f"fwmark {FIRST} " in shown and "shop/zone-a/tcp" in shown and "foreign" not in shown, shown
    lab.wait(lambda: 'port="8000-8100"' in lab.gw.api.get("/metrics", base="").body.decode(), 5 + lab.margin, "metrics")
    # Drained by hand, and a server that goes.
    lab.gw.api.put("/load-balancers/shop/listeners/tcp/drain", {"comment": "test"}).expect(200, 201)
    lab.wait(lambda: is_refused(lab, VIP4, 8050), 3 + lab.margin, "no new connections")
    lab.gw.api.delete("/load-balancers/shop/listeners/tcp/drain").expect(200, 202, 204)
    lab.wait(lambda: is_open(lab, VIP4, 8050), 3 + lab.margin, "new connections again")
    lab.servers[0].kill()
    lab.wait(lambda: "s1" not in lab.who(port=8050, count=6, protocol="udp"), 3 + lab.margin, "s1 gets nothing")


@case(load=(*MODULES, "sctp"))
def sctp_and_direct(lab):
    network(lab, servers=2, direct=True, tcp=PORTS, udp=PORTS)
    for server in lab.servers:
        server.hold_vip(VIP4, VIP6)
    ends = []
    for namespace, address in ((lab.servers[0].namespace, (VIP4, 8050)), (lab.client, (CLIENT4, 0))):
        with namespace:
            ends.append(socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_SCTP))
        ends[-1].settimeout(3 * lab.slow)
        ends[-1].bind(address)  # one address each: others would be told to the peer, who would use them
    server, client = ends
    server.listen(5)
    configuration = two_protocols(lab)
    for name in ("web", "datagrams"):
        configuration["server_groups"][name]["forward_method"] = "direct"
    configuration["server_groups"]["associations"] = group(
        lab.servers[:1], port=0, protocol="sctp", forward_method="direct", health_check=check(port=8000))
    configuration["load_balancers"]["three"] = balancer(
        {"sctp": ranged(1, 65535, "associations", "sctp")}, vip4=VIP4)
    lab.start(configuration)
    assert set(lab.who(port=8050, count=4)) == {"s1", "s2"}
    with server, client:
        client.connect((VIP4, 8050))
        server.accept()[0].close()


@case(load=MODULES)
def a_port_stays_until_its_range_gets_its_packets(lab):
    network(lab, tcp=(*PORTS, 80))
    lab.gw.daemon.environment["PATH"] = "/usr/bin:/bin"  # iptables is in sbin
    lab.start(document({"web": keep(lab)}, {"shop": balancer({"tcp": listener("web", 8000)}, vip6=VIP6)}))
    lab.wait_in_service()
    traffic = lab.traffic(port=8000)
    answer = lab.gw.api.patch("/load-balancers/shop/listeners/tcp", {"port_range": [8000, 8100]}).expect(200).json
    named = [x for x in answer["warnings"] if x["pointer"] == "/load_balancers/shop/listeners/tcp"]
    assert named and "does not serve" in named[0]["detail"] and "apt-get install iptables" in named[0]["detail"], answer
    # What served goes on, also over a restart; what is new is refused, and everybody is told.
    assert set(lab.who(VIP4, 8000, count=4)) == set(lab.who(VIP6, 8000, count=4)) == {"s1"}
    assert is_refused(lab, VIP4, 8050)
    state = lab.gw.api.get("/load-balancers/shop/status").expect(200).json
    told = [x["fault"] for one in state["listeners"] for x in one["services"] if x["fault"]]
    assert len(told) == 2 and all("does not serve" in x for x in told), told
    assert "does not serve" in lab.gw.api.get("/load-balancers/shop/listeners/tcp").expect(200).json["status"]["fault"]
    assert "does not serve" in lab.gw.cli("lb", "status", "shop").stdout
    found = [x for x in lab.gw.api.get("/system/doctor").expect(200).json["findings"]
             if x["code"] == "netfilter_not_in_force"]
    assert found and found[0]["severity"] == "error" and found[0]["mend"] == "apt-get install iptables", found
    lab.gw.daemon.stop()
    del lab.gw.daemon.environment["PATH"]
    lab.gw.daemon.start()
    lab.wait(lambda: set(lab.who(VIP4, 8050, count=2)) == {"s1"}, 5 + lab.margin, "the range serves")
    lab.wait(lambda: lab.gw.ipvsadm("-S", "-n").count(":8000 ") == 0, 5 + lab.margin, "and the port is gone")
    assert set(lab.who(VIP4, 8000, count=4)) == set(lab.who(VIP6, 8000, count=4)) == {"s1"}
    # In the good case no connection is lost on either way.
    for members in ({"port_range": None, "port": 8000}, {"port_range": [7990, 8010]}, {"port_range": None, "port": 8000}):
        lab.gw.api.patch("/load-balancers/shop/listeners/tcp", members).expect(200)
        lab.holds(lambda: set(lab.who(VIP4, 8000, count=2)) == {"s1"}, 1, "it serves")
    traffic.stop()
    assert traffic.refused == [] and traffic.opened > 10, (traffic.refused, traffic.opened)
