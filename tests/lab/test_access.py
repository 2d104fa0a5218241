# SPDX-License-Identifier: GPL-2.0-or-later
"""Access lists, with packets: who may come in to a listener, and what of the kernel is touched for it."""

import random
import socket
import threading
import time

from zglab import CLIENT4, CLIENT6, OTHER_VIP4, VIP4, VIP6, case, receive
from zglab.documents import QUICK, balancer, both, document, group, listener, web
from zglab.filters import FOREIGN, NETFILTER, echo, is_open, knock, make_lock, metric, network, operations, rules, sets
from zglab.lab import OTHER_VIP6
from zglab.lists import OTHER4, OTHER6, SILENT, both_families, leftovers, length, office, put, set_name, started
from zglab.zones import VIP_PROBE, reasons, start_two, two_gateways, two_zones

LAB_KIND = "uml"
LAB_SECONDS = 90

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
    """Whether the connection still answers, or the flow."""
    try:
        sock.sendall(b"who\n")
        return sock.recv(100) != b""
    except TimeoutError:
        return False


def opened(lab, port, sources=((OTHER4, VIP4), (OTHER6, VIP6))):
    """Of each source a connection and a flow of datagrams to the port, which answer."""
    socks = []
    for source, vip in sources:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with lab.client:
                sock = socket.socket(socket.AF_INET6 if ":" in vip else socket.AF_INET, kind)
            sock.settimeout(0.5 * lab.slow)
            sock.bind((source, 0))
            sock.connect((vip, port))
            socks.append(sock)
    assert all([talk(sock) for sock in socks]), port
    return socks


def are_cut(lab, port):
    """What is open of a source that is denied now, TCP and UDP over both families; others go on."""
    put(lab, office("allow"))
    socks, others = opened(lab, port), opened(lab, port, ((CLIENT4, VIP4), (CLIENT6, VIP6)))
    before = rules(lab), rules(lab, 6)
    put(lab, office("allow", deny=[f"{OTHER4}/32", f"{OTHER6}/128"]))
    assert not any([talk(sock) for sock in socks]), "packets of a source that is denied now do not pass"
    assert all([talk(sock) for sock in others])
    assert (rules(lab), rules(lab, 6)) == before
    for sock in (*socks, *others):
        sock.close()


@case(load=(*NETFILTER, "xt_mark"))
def an_open_connection_is_cut(lab):
    both_families(lab, office("allow"))
    are_cut(lab, 80)
    for name in ("http", "udp"):
        lab.gw.api.patch(f"/load-balancers/shop/listeners/{name}", {"port": None, "port_range": [8000, 8100]}).expect(200)
    lab.wait_in_service()
    are_cut(lab, 8000)


@case(load=NETFILTER)
def so_is_one_that_servers_answer_themselves(lab):
    network(lab, direct=True)
    lab.client.add_address("eth0", f"{OTHER4}/24")
    lab.run_in(lab.client, "ip", "addr", "add", f"{OTHER6}/64", "dev", "eth0", "preferred_lft", "0", "nodad")
    for server in lab.servers:
        receive.direct(server)
        server.listen_udp(80, VIP4, VIP6)
    direct = {"forward_method": "direct", "health_check": QUICK}
    configuration = document(
        {"web": both(lab.servers, **direct),
         "udp": both(lab.servers, protocol="udp", **{**direct, "health_check": {"enabled": False}})},
        {"shop": balancer({"http": listener(access_list="office"),
                           "udp": listener("udp", protocol="udp", access_list="office")}, vip6=VIP6)})
    configuration["access_lists"] = {"office": office("allow")}
    lab.start(configuration)
    are_cut(lab, 80)


SCTP = socket.IPPROTO_SCTP


@case(load=(*NETFILTER, "sctp"))
def sctp_is_asked_too(lab):
    network(lab)
    lab.client.add_address("eth0", f"{OTHER4}/24")
    lab.client.add_address("eth0", f"{OTHER6}/64")
    unchecked = {"enabled": False}
    lab.start({**document(
        {"web": both(lab.servers, protocol="sctp", health_check=unchecked)},
        {"shop": balancer({"signals": listener(protocol="sctp", access_list="office")}, vip6=VIP6)},
    ), "access_lists": {"office": office("deny", allow=[f"{CLIENT4}/32", f"{CLIENT6}/128"])}})
    listening = []
    for family, address in ((socket.AF_INET, lab.servers[0].address4), (socket.AF_INET6, lab.servers[0].address6)):
        with lab.servers[0].namespace:
            listening.append(socket.socket(family, socket.SOCK_STREAM, SCTP))
        listening[-1].bind((address, 80))  # one address each: others would be told to the peer, who would use them
        listening[-1].listen(50)

    def seen(vip, source, port=80):
        answers = [knock(lab, vip, port, source=source, protocol=SCTP) for _ in range(3)]
        return "open" if "open" in answers else answers[0]

    for vip, own, other in ((VIP4, CLIENT4, OTHER4), (VIP6, CLIENT6, OTHER6)):
        assert (seen(vip, own), seen(vip, other)) == ("open", SILENT), vip
        assert seen(vip, own, 81) == "refused", "the gateway itself says that nothing listens"
    lab.gw.api.patch("/load-balancers/shop", {"vip_guard": "drop"}).expect(200)
    for vip, own, other in ((VIP4, CLIENT4, OTHER4), (VIP6, CLIENT6, OTHER6)):
        assert (seen(vip, own), seen(vip, other), seen(vip, own, 81)) == ("open", SILENT, SILENT), vip
    # Refused, the client hears of it by ICMP, which Linux' SCTP takes for a route that may come back: so the rule's count is looked at.
    lab.gw.api.patch("/load-balancers/shop", {"vip_guard": "reject"}).expect(200)
    for vip, own, program in ((VIP4, CLIENT4, "iptables-legacy"), (VIP6, CLIENT6, "ip6tables-legacy")):
        assert seen(vip, own, 81) != "open", vip
        counted = [x for x in lab.gw.run(program, "-vxnL", "ZONEGATE").splitlines() if "REJECT" in x and "reject dst" in x]
        assert [int(x.split()[0]) > 0 for x in counted] == [False, False, True], counted  # TCP, UDP, SCTP
    put(lab, office("allow", deny=[f"{CLIENT4}/32", f"{CLIENT6}/128"]))
    for vip, own, other in ((VIP4, CLIENT4, OTHER4), (VIP6, CLIENT6, OTHER6)):
        assert (seen(vip, own), seen(vip, other)) == (SILENT, "open"), vip
    for one in listening:
        one.close()


FAR4, FAR6 = "10.8.0.9", "fd08::9"


def far_client(lab):
    """Behind the client, which becomes a router with a narrow link: packets to FAR that are too long for it come back as ICMP."""
    far = lab.namespace("far")
    lab.switch.segment("far")
    lab.switch.plug(far, "eth0", "far", (f"{FAR4}/24", f"{FAR6}/64"))
    lab.switch.plug(lab.client, "far0", "far", ("10.8.0.1/24", "fd08::1/64"))
    lab.run_in(lab.client, "ip", "link", "set", "far0", "mtu", "1300")
    for name in ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"):
        lab.client.set_sysctl(name, 1)
    for namespace, via4, via6, target4, target6 in (
            (far, "10.8.0.1", "fd08::1", "0.0.0.0/0", "::/0"),
            (lab.gw.ns, CLIENT4, CLIENT6, "10.8.0.0/24", "fd08::/64")):
        namespace.add_route(target4, via4)
        namespace.add_route(target6, via6)
    return far


def fetched(lab, far, listening, vip, size):
    """How many of SIZE octets that a server sends arrive."""
    with far:
        sock = socket.socket(socket.AF_INET6 if ":" in vip else socket.AF_INET, socket.SOCK_STREAM)
    with sock:
        sock.settimeout(3 * lab.slow)
        sock.connect((vip, 80))
        with listening.accept()[0] as served:
            served.settimeout(3 * lab.slow)
            served.send(bytes(size))
            count = 0
            try:
                while count < size and (data := sock.recv(65536)):
                    count += len(data)
            except TimeoutError:
                pass
            return count


@case(load=(*NETFILTER, "ip6t_REJECT"))
def what_tells_the_mtu_of_the_path_passes(lab):
    """It comes from a router that is in no list, and is for the VIP."""
    network(lab, tcp=())
    far = far_client(lab)
    server = lab.servers[0]
    with server.namespace:
        listening = socket.create_server(("::", 80), family=socket.AF_INET6, dualstack_ipv6=True)
    listening.settimeout(5 * lab.slow)
    lab.start({**document(
        {"web": both(lab.servers, health_check={"enabled": False})},
        {"shop": balancer({"http": listener(access_list="office")}, vip6=VIP6, vip_guard="drop")},
    ), "access_lists": {"office": office("deny", allow=[f"{FAR4}/32", f"{FAR6}/128"])}})
    size = 8000
    with listening:
        for vip, program, kind in ((VIP4, "iptables-legacy", ("icmp", "--icmp-type", "3/4")),
                                   (VIP6, "ip6tables-legacy", ("ipv6-icmp", "--icmpv6-type", "2"))):
            assert knock(lab, vip, 80, source=CLIENT6 if ":" in vip else CLIENT4) == SILENT, "the router itself is denied"
            assert fetched(lab, far, listening, vip, size) == size, vip
            # It was the ICMP: without it nothing that is long comes through.
            lab.run_in(server.namespace, "ip", "-6" if ":" in vip else "-4", "route", "flush", "cache")
            lab.gw.run(program, "-I", "INPUT", "-p", kind[0], *kind[1:], "-j", "DROP")
            assert fetched(lab, far, listening, vip, size) == 0, vip


@case(load=NETFILTER)
def a_second_gateway_probes_behind_a_list(lab):
    """With its real prober, over both families, and only if it is a peer."""
    make_lock()
    two_gateways(lab)
    # Each zone has its own servers, which answer by their gateway; and the way to the other is the clients'.
    configuration = two_zones(lab, dual=True, cross_zone=False, vip_probe={**VIP_PROBE, "type": "tcp", "port": 80})
    for vip, by in ((VIP4, "10.1.0.1"), (VIP6, "fd01::1")):
        lab.gw2.run("ip", "-6" if ":" in vip else "-4", "route", "replace", vip, "via", by)
    configuration["access_lists"] = {"office": office("deny")}
    for one in configuration["load_balancers"]["shop"]["listeners"].values():
        one["access_list"] = "office"
    for gateway, peers in ((lab.gw, "10.1.0.2, fd01::2"), (lab.gw2, "10.1.0.1, fd01::1")):
        gateway.daemon.settings["node"]["peers"] = peers
    start_two(lab, configuration)
    for gateway, theirs in ((lab.gw, (OTHER_VIP4, OTHER_VIP6)), (lab.gw2, (VIP4, VIP6))):
        for kind, vip in zip(("A", "AAAA"), theirs):
            lab.wait(lambda g=gateway, k=kind, v=vip: reasons(g, k).get(v) == "healthy", 5 + lab.margin, f"{gateway.name} finds {vip} healthy")
    for vip in (VIP4, VIP6):
        assert knock(lab, vip, 80) == SILENT, "nobody else comes in"
        assert knock(lab, vip, 8080, namespace=lab.gw2.ns) == SILENT, "only where they probe"
    # A node that is no peer any more is kept out as all are.
    lab.gw.daemon.stop()
    lab.gw.daemon.settings["node"]["peers"] = "10.2.0.77"
    lab.gw.daemon.start()
    for kind, vip in (("A", VIP4), ("AAAA", VIP6)):
        lab.wait(lambda k=kind, v=vip: reasons(lab.gw2, k)[v] != "healthy", 5 + lab.margin, f"{vip} does not answer it")


FULL = 65_536  # what a set has room for at the least


@case(load=NETFILTER, timeout=120.0)
def a_full_set_takes_one_more(lab):
    """It is made anew with more room and swapped in: the kernel refuses entries beyond what a set was made for."""
    started(lab, office("deny"))
    many = [f"{CLIENT4}/32"] + [f"172.{16 + i // 62500}.{i // 250 % 250}.{i % 250}/32" for i in range(FULL - 3)]
    least = FULL * 2 // 3 - 100  # half as many more have room
    path, kind = "/api/v1/access-lists/office/entries", {"Content-Type": "text/plain"}
    lab.gw.api.raw("PUT", path, "".join(f"{x} allow\n" for x in many[:least]), kind)
    name = set_name(lab)

    def room():
        return int(lab.gw.run("ipset", "list", "-t", name).split("maxelem ")[1].split()[0])

    for start in range(least, len(many), 8000):
        lab.gw.api.patch("/access-lists/office/entries", {
            "add": [{"cidr": x, "action": "allow"} for x in many[start:start + 8000]]}).expect(200)
    assert length(lab, name) == FULL
    before, first = rules(lab), room()
    assert first == FULL, first
    # The kernel takes some beyond that, by the place that they have in the hash: one that it refuses.
    tried = "ipset -q add {0} {1} nomatch && ipset del {0} {1} || echo full"
    one = next(x for x in (f"198.51.100.{n}" for n in range(1, 255)) if "full" in lab.gw.run("sh", "-c", tried.format(name, x)))
    lab.gw.api.patch("/access-lists/office/entries", {"add": [{"cidr": f"{one}/32", "action": "allow"}]}).expect(200)
    assert length(lab, name) == FULL + 1 and room() == 2 * FULL and rules(lab) == before, (length(lab, name), room())
    assert is_open(lab, VIP4, 80, source=CLIENT4) and knock(lab, VIP4, 80, source=OTHER4) == SILENT
    assert leftovers(lab) == []


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


class Denied(threading.Thread):
    """A source that is always denied: SYNs and datagrams, and what came of them that should not have."""

    def __init__(self, lab, source, vip, stop):
        super().__init__(daemon=True)
        self.lab, self.source, self.vip, self.stop = lab, source, vip, stop
        self.syns = self.datagrams = 0
        self.faults = []

    def _send(self, kind):
        with self.lab.client:
            sock = socket.socket(socket.AF_INET6 if ":" in self.vip else socket.AF_INET, kind)
        sock.bind((self.source, 0))
        sock.setblocking(False)
        sock.connect_ex((self.vip, 80))
        if kind == socket.SOCK_DGRAM:
            sock.send(b"hello")
            self.datagrams += 1
        else:
            self.syns += 1
        return sock

    def _judge(self, sock):
        """Silence is right: no handshake, no refusal, no answer."""
        if sock.type == socket.SOCK_STREAM:
            error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            try:
                sock.getpeername()
                self.faults.append("let in")
            except OSError:
                self.faults += [error] if error else []
            return
        try:
            sock.recv(100)
            self.faults.append("answered")
        except BlockingIOError:
            pass
        except OSError as fault:
            self.faults.append(fault)

    def run(self):
        while not self.stop.is_set():
            sent = [self._send(kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM) for _ in range(5)]
            time.sleep(0.05)
            for sock in sent:
                self._judge(sock)
                sock.close()


class Answered(threading.Thread):
    """A source that is always allowed: how many datagrams were sent, and how many of them were heard of."""

    def __init__(self, lab, source, vip, stop):
        super().__init__(daemon=True)
        self.lab, self.source, self.vip, self.stop = lab, source, vip, stop
        self.sent = self.heard = 0

    def run(self):
        while not self.stop.is_set():
            self.sent += 1
            self.heard += knock(self.lab, self.vip, 80, socket.SOCK_DGRAM, source=self.source) == "open"
            time.sleep(0.01)


SWAPS = 80


@case(load=NETFILTER)
def no_wrong_verdict_while_it_changes(lab):
    rest = [[f"172.{16 + i // 250}.{n}.{i % 250}/32" for i in range(800)] +
            [f"fd77:{n}::{i:x}/128" for i in range(800)] for n in range(2)]
    # Whole other lists, which are swapped, and small changes around the same verdicts.
    lists = [
        office("deny", allow=[f"{CLIENT4}/32", f"{CLIENT6}/128", *rest[0]]),
        office("allow", deny=[f"{OTHER4}/32", f"{OTHER6}/128", *rest[1]]),
        office("allow", deny=["10.1.0.0/24", "fd01::/64", *rest[1]], allow=[f"{CLIENT4}/32", f"{CLIENT6}/128"]),
        office("deny", allow=["10.1.0.0/28", "fd01::/124", *rest[1]]),
        office("allow", deny=["10.0.0.0/8", "10.1.0.0/25", "fd00::/8", "fd01::/121", *rest[1]],
               allow=["10.1.0.0/26", "fd01::/122"]),
    ]
    both_families(lab, lists[0])
    stop, faults = threading.Event(), []
    denied = [Denied(lab, *x, stop) for x in ((OTHER4, VIP4), (OTHER6, VIP6))]
    answered = [Answered(lab, *x, stop) for x in ((CLIENT4, VIP4), (CLIENT6, VIP6))]
    thread = threading.Thread(target=change_and_stop, args=(lab, stop, faults, lists), daemon=True)
    with lab.gw.capture() as capture:
        traffic = [lab.traffic(vip=vip, connections=4, pause=0.01) for vip in (VIP4, VIP6)]  # of the client's first address
        for one in (*denied, *answered, thread):
            one.start()
        lab.wait(lambda: capture.swaps() >= SWAPS, 30, f"{SWAPS} sets were swapped", pause=0.02)
        stop.set()
        for one in (thread, *denied, *answered):
            one.join(20)
        swaps = capture.swaps()
    for one in traffic:
        one.stop()
        assert one.broken == [] and one.refused == [] and one.opened > 10, (one.broken, one.refused, one.opened)
    assert not faults, faults
    for one in denied:
        assert not one.faults and one.syns > 100 and one.datagrams > 100, (one.source, one.faults, one.syns)
    for one in answered:
        assert one.heard == one.sent > 30, (one.source, one.heard, one.sent)
    print(f"{swaps} swaps, {sum(x.syns + x.datagrams for x in denied)} packets of denied sources, "
          f"{sum(x.sent for x in answered) + sum(x.opened for x in traffic)} exchanges of allowed ones", flush=True)


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
    lab.start(configuration, node={"peers": OTHER4})
    assert is_open(lab, VIP4, 8000, source=CLIENT4)
    assert knock(lab, VIP4, 8000, source=OTHER4) == SILENT
    assert is_open(lab, VIP4, 8050, source=OTHER4), "a port of its own in the range has no list"
    before = rules(lab)
    put(lab, office("deny", allow=[f"{OTHER4}/32"]))
    assert is_open(lab, VIP4, 8000, source=OTHER4)
    assert knock(lab, VIP4, 8000, source=CLIENT4) == SILENT
    assert rules(lab) == before
    # Other gateways probe it all the same, at the port that they probe.
    put(lab, office("deny"))
    lab.gw.api.patch("/load-balancers/shop", {"vip_probe": {"type": "tcp", "port": 8000}}).expect(200)
    assert is_open(lab, VIP4, 8000, source=OTHER4) and knock(lab, VIP4, 8000, source=CLIENT4) == SILENT
    assert knock(lab, VIP4, 8001, source=OTHER4) == SILENT


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
