# SPDX-License-Identifier: GPL-2.0-or-later
"""The DNS server as its clients see it."""

import datetime
import json
import random
import re
import socket
import struct
import time

from zglab import OTHER_VIP4, VIP4, VIP6, case
from zglab.dns import CLASS_CHAOS, COOKIE, NSID, Reply, Resolver, client_subnet, query
from zglab.zones import (
    APEX, BOTH, BOTH6, NAME, ONLY_A, ONLY_B, cancel, dns_settings, name_servers, ready, settled,
    shifted, two_zones,
)

LAB_SECONDS = 14


def start(lab, *listen, dual=False, **members):
    lab.network(4)
    lab.named = name_servers(lab)
    lab.start(two_zones(lab, dual=dual), dns=dns_settings(*(listen or ("10.1.0.1",)), **members))
    lab.wait(lambda: settled(lab.gw), 4 * lab.slow, "both are healthy")
    return Resolver(lab.client, "10.1.0.1")


# ---- names ----


@case
def names_and_types(lab):
    ask = ready(lab)
    soa = ask.ask(APEX, "SOA")
    assert soa.answers[0].data[:2] == (f"ns1.{APEX}", f"hostmaster.{APEX}"), soa
    assert soa.authoritative and not soa.recursion
    servers = {x.data for x in ask.ask(APEX, "NS").answers}
    assert servers == {f"ns1.{APEX}", "ns2.example.net"}, servers
    assert ask.published(f"zone-a.{NAME}") == {VIP4}
    mixed = ask.ask(NAME.upper())
    assert set(mixed.addresses()) == BOTH and mixed.answers[0].name == NAME.upper()
    nothing = ("NOERROR", 5)  # NODATA
    expected = {
        (NAME, "TXT"): nothing, (NAME, "AAAA"): nothing, (APEX, "A"): nothing,
        (f"x.{NAME}", "A"): ("NXDOMAIN", 5), (f"zone-c.{NAME}", "A"): ("NXDOMAIN", 5),
        (f"nobody.{APEX}", "A"): ("NXDOMAIN", 5),
        ("example.net", "A"): ("REFUSED", None), ("example.com", "SOA"): ("REFUSED", None),
        (APEX, "AXFR"): ("REFUSED", None),
    }
    for (name, kind), (rcode, ttl) in expected.items():
        reply = ask.ask(name, kind)
        assert reply.rcode == rcode and not reply.answers, (name, kind, reply)
        if ttl is None:
            assert not reply.authority and not reply.authoritative, reply
        else:
            record, = reply.authority
            assert (record.name, record.type, record.ttl) == (APEX, "SOA", ttl), reply
            assert record.data[-1] == ttl, reply
    anything = ask.ask(NAME, "ANY")
    assert [x.type for x in anything.answers] == ["HINFO"], anything
    for name in ("version.bind", "hostname.bind", "id.server"):
        assert ask.ask(name, "TXT", class_=CLASS_CHAOS).rcode == "REFUSED"
    assert ask.ask(NAME, flags=0x2800).rcode == "NOTIMP"  # an update
    long = f"shop.deep.er.{APEX}"
    lab.gw.api.patch("/load-balancers/shop", {"dns_name": long}).expect(200)
    assert ask.published(long) == BOTH
    between = ask.ask(f"deep.er.{APEX}")
    assert between.rcode == "NOERROR" and not between.answers, "an empty non-terminal"
    assert ask.ask(NAME).rcode == "NXDOMAIN"
    outside = lab.gw.api.patch("/load-balancers/shop", {"dns_name": "shop.example.org"})
    assert outside.expect(422, 400).pointers() == ["/dns_name"], outside


@case
def times_to_live(lab):
    ask = ready(lab)
    for ttl, while_away, negative in ((60, 30, 5), (8, 5, 5), (4, 4, 4)):
        lab.gw.api.patch("/load-balancers/shop", {"dns_ttl_s": ttl}).expect(200)
        assert ask.ask(NAME).ttls() == {ttl}
        assert ask.ask(NAME, "TXT").authority[0].ttl == negative
        name = shifted(lab)
        assert ask.ask(NAME).ttls() == {while_away}
        cancel(lab, name)
        lab.wait(lambda: ask.published(NAME) == BOTH, 0.5 + lab.margin, "both again")
        assert ask.ask(NAME).ttls() == {ttl}


@case
def in_turns(lab):
    ask = ready(lab)
    replies = [ask.ask(NAME).addresses() for _ in range(200)]
    assert all(set(x) == BOTH and len(x) == 2 for x in replies)
    first = sum(x[0] == VIP4 for x in replies)
    assert 60 < first < 140, f"the same came first {first} times of 200"


@case
def a_rehearsal_tells_the_answers(lab):
    """dry_run shows what the same write then does."""
    ask = ready(lab)
    zone = "/load-balancers/shop/zones/zone-b"
    for method, path, body in (
        ("PATCH", "/load-balancers/shop", {"dns_ttl_s": 10}),
        ("PATCH", zone, {"publish4": "203.0.113.9"}),
        ("PATCH", zone, {"enabled": False}),
        ("DELETE", zone, None),
        ("PATCH", "/load-balancers/shop", {"dns_name": f"new.{APEX}"}),
    ):
        told = lab.gw.api.call(method, f"{path}?dry_run=true", body).expect(200).json
        assert told["dns_changes_total"] == len(told["dns_changes"]) > 0, told
        names = {x["name"]: x for x in told["dns_changes"]}
        for name, change in names.items():
            reply = ask.ask(name)
            assert set(reply.addresses()) == set(change["before"]), (change, reply)
        lab.gw.api.call(method, path, body).expect(200, 202, 204)
        for name, change in names.items():
            reply = ask.ask(name)
            assert set(reply.addresses()) == set(change["after"]), (path, body, change, reply)
            there = change["ttl_after_s"] is not None
            assert reply.rcode == ("NOERROR" if there else "NXDOMAIN"), (change, reply)
            assert not reply.answers or reply.ttls() == {change["ttl_after_s"]}, (change, reply)
    quiet = {"weight": 3}
    told = lab.gw.api.patch("/server-groups/a/servers/a1?dry_run=true", quiet).expect(200).json
    assert told["dns_changes"] == [] and told["kernel_ops_total"] == 1, told
    document = lab.gw.api.get("/config").expect(200).json
    document["load_balancers"]["shop"]["dns_ttl_s"] = 20
    path = f"{lab.gw.daemon.folder}/document.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    out = lab.gw.cli("config", "diff", "-f", path).stdout
    assert "DNS would answer:" in out and f"{VIP4} (10 s) -> {VIP4} (20 s)" in out, out


# ---- the serial ----


@case
def the_serial_never_falls(lab):
    ask = ready(lab)
    serials = [ask.ask(APEX, "SOA").serial]
    for round in range(3):
        name = shifted(lab)
        serials.append(ask.ask(APEX, "SOA").serial)
        cancel(lab, name)
        serials.append(ask.ask(APEX, "SOA").serial)
        lab.gw.daemon.kill()
        lab.gw.daemon.start()
        serials.append(ask.ask(APEX, "SOA").serial)
        lab.wait(lambda: ask.published(NAME) == BOTH, 1 + lab.margin, "both")
    assert all(a < b for a, b in zip(serials, serials[1:])), serials
    before = ask.ask(APEX, "SOA").serial
    lab.gw.api.patch("/server-groups/a/servers/a1", {"weight": 7}).expect(200)
    assert ask.ask(APEX, "SOA").serial == before, "nothing changed for DNS"


# ---- transports ----


@case
def udp_tcp_v4_v6(lab):
    ask = start(lab, "10.1.0.1", "fd01::1", dual=True)
    six = Resolver(lab.client, "fd01::1")
    lab.wait(lambda: ask.published(NAME, "AAAA") == BOTH6, 3 * lab.slow, "AAAA")
    for one in (ask, six):
        assert one.published(NAME) == BOTH and one.published(NAME, "AAAA") == BOTH6
        replies = one.ask_tcp((NAME, "A"), (NAME, "AAAA"), (f"x.{NAME}", "A"), (APEX, "SOA"))
        assert set(replies[0].addresses()) == BOTH and set(replies[1].addresses()) == BOTH6
        assert replies[2].rcode == "NXDOMAIN" and replies[3].answers[0].type == "SOA"
    # one that is not ours reads it too
    for flags in ((), ("+tcp",), ("+bufsize=1232", "+dnssec")):
        out = lab.run_in(lab.client, "dig", "+short", *flags, f"@{'10.1.0.1'}", NAME)
        assert set(out.split()) == BOTH, (flags, out)
    out = lab.run_in(lab.client, "dig", "+short", "@fd01::1", f"zone-a.{NAME}", "AAAA")
    assert out.split() == [VIP6], out


@case
def wildcard_addresses(lab):
    """An answer comes from the address that was asked, whatever the route says."""
    ask = start(lab, "0.0.0.0", "::", dual=True)
    lab.gw.ns.add_address("front0", "10.1.0.77/24")
    lab.gw.ns.add_address("back0", "10.77.0.1/32")
    lab.gw.ns.add_address("front0", "fd01::77/64")
    lab.client.add_route("10.77.0.1/32", "10.1.0.1")
    for address in ("10.1.0.1", "10.1.0.77", "10.77.0.1", "fd01::1", "fd01::77", VIP4, VIP6):
        one = Resolver(lab.client, address)
        assert one.published(NAME) == BOTH, address
        assert set(one.ask_tcp((NAME, "A"))[0].addresses()) == BOTH, address
        one.close()
    assert ask.published(NAME) == BOTH


@case
def an_address_that_comes_later(lab):
    start(lab, "10.1.0.1", "10.1.0.88")
    lab.gw.ns.add_address("front0", "10.1.0.88/24")
    assert Resolver(lab.client, "10.1.0.88").published(NAME) == BOTH


@case
def what_does_not_fit(lab):
    names = [f"ns{n}.{'x' * 50}{n}.example.net" for n in range(13)]
    ask = start(lab, ns=names)
    plain = ask.ask(APEX, "NS")
    assert plain.truncated and not plain.answers and len(plain.data) <= 512, plain
    small = ask.ask(APEX, "NS", edns=700)
    assert small.truncated and len(small.data) <= 700
    whole = ask.ask(APEX, "NS", edns=4096)
    assert not whole.truncated and len(whole.answers) == 13 and 512 < len(whole.data) <= 1232
    assert len(ask.ask_tcp((APEX, "NS"))[0].answers) == 13


@case
def who_may_cut_an_answer(lab):
    """A router over IPv4, if it is longer than every path takes; or our own interface."""
    names = [f"ns{n}.{'x' * 50}{n}.example.net" for n in range(13)]
    ask = start(lab, ns=names)
    with lab.client:
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
    raw.settimeout(2.0)

    def header(name, kind, **options):
        """Identification and flags of IP, and the reply."""
        reply = ask.ask(name, kind, **options)
        while True:
            packet = raw.recv(65536)
            if packet[28:] == reply.data:
                return *struct.unpack("!HH", packet[4:8]), reply

    wide = f"{'y' * 60}.{'y' * 60}.{'y' * 60}.{NAME}"
    for _ in range(2):
        assert header(NAME, "A")[:2] == (0, 0x4000)
        flags, whole = header(APEX, "NS", edns=4096)[1:]
        assert flags == 0 and len(whole.answers) == 13 and len(whole.data) > 548, whole
    assert header(wide, "A")[:2] == (0, 0x4000)
    with lab.gw.ns:
        lab.gw.ns.netlink.link_set("front0", mtu=280)
    for _ in range(2):
        flags, cut = header(wide, "A")[1:]
        assert flags == 0 and cut.rcode == "NXDOMAIN" and 252 < len(cut.data) < 548, cut
        assert header(NAME, "A")[:2] == (0, 0x4000)
        assert len(ask.ask(APEX, "NS", edns=4096).answers) == 13
    raw.close()


@case
def name_servers_with_addresses(lab):
    """Resolvers that were told by the parent ask for them again; nobody else can have the name."""
    own = f"ns1.{APEX}"
    ask = start(lab, ns=f"{own}=10.1.0.1=fd01::1, ns2.example.net")
    assert {x.data for x in ask.ask(APEX, "NS").answers} == {own, "ns2.example.net"}
    assert ask.published(own) == {"10.1.0.1"} and ask.published(own, "AAAA") == {"fd01::1"}
    for zone, name in (("zone-c", own), ("ns1", APEX)):
        lab.gw.api.put(f"/zones/{zone}", {}).expect(201)
        taker = {"dns_name": name, "zones": {zone: {"vip4": "192.0.2.50"}}}
        refused = lab.gw.api.put("/load-balancers/taker", taker)
        assert refused.status in (409, 422), refused
        assert refused.pointers() == ["/dns_name"], refused
    assert ask.published(own) == {"10.1.0.1"}


# ---- EDNS ----


@case
def edns(lab):
    ask = start(lab, nsid="node-seven")
    assert ask.ask(NAME).options is None
    assert ask.ask(NAME, edns=512).options == {}
    assert ask.ask(NAME, options=[(NSID, b"")]).options == {NSID: b"node-seven"}
    assert ask.ask(NAME, options=[(65001, b"?")]).options == {}, "what is unknown is passed over"
    other = ask.ask(NAME, edns=1232, version=1)
    assert other.rcode == "BADVERS" and not other.answers, other
    mine = bytes(range(8))
    cookie = ask.ask(NAME, options=[(COOKIE, mine)]).options[COOKIE]
    assert cookie[:8] == mine and len(cookie) == 24, cookie
    again = ask.ask(NAME, options=[(COOKIE, cookie)])
    assert again.options[COOKIE][:8] == mine and set(again.addresses()) == BOTH
    assert ask.ask(NAME, options=[(COOKIE, b"short")]).rcode == "FORMERR"


def with_opt(packet, count, **fields):
    """The packet with so many OPT records of these fields."""
    size, ttl, data = fields.get("size", 1232), fields.get("ttl", 0), fields.get("data", b"")
    opt = b"\0" + struct.pack("!HHIH", 41, size, ttl, len(data)) + data
    return packet[:10] + struct.pack("!H", count) + packet[12:] + opt * count


@case
def edns_as_others_ask(lab):
    """The questions by which servers are tested for EDNS compliance."""
    ask = start(lab)
    plain = query(NAME)
    unknown = struct.pack("!HH", 100, 4) + b"test"
    matrix = {
        "plain": (plain, "NOERROR", None),
        "edns": (with_opt(plain, 1), "NOERROR", {}),
        "edns with an unknown option": (with_opt(plain, 1, data=unknown), "NOERROR", {}),
        "edns1": (with_opt(plain, 1, ttl=1 << 16), "BADVERS", {}),
        "edns1 with an option": (with_opt(plain, 1, ttl=1 << 16, data=unknown), "BADVERS", {}),
        "an unknown flag": (with_opt(plain, 1, ttl=0x0080), "NOERROR", {}),
        "do": (with_opt(plain, 1, ttl=0x8000), "NOERROR", {}),
        "a buffer of nothing": (with_opt(plain, 1, size=0), "NOERROR", {}),
        "the largest buffer": (with_opt(plain, 1, size=65535), "NOERROR", {}),
        "two opts": (with_opt(plain, 2), "FORMERR", None),
        "an option that is cut": (
            with_opt(plain, 1, data=struct.pack("!HH", 3, 9) + b"x"), "FORMERR", None
        ),
    }
    for what, (packet, rcode, options) in matrix.items():
        reply = Reply(ask.send(packet))
        assert reply.rcode == rcode, (what, reply)
        if options is not None:
            assert reply.options == options, (what, reply.options)
            opt, = [x for x in reply.additional if x.type == "OPT"]
            assert opt.ttl == 1232, (what, opt)  # the class: what we take
        flags = struct.unpack_from("!H", reply.data, len(reply.data) - 4)[0]
        if what in ("do", "an unknown flag"):
            assert flags == (0x8000 if what == "do" else 0), (what, f"{flags:#x}")
        assert rcode != "NOERROR" or set(reply.addresses()) == BOTH, (what, reply)


@case
def near_clients(lab):
    ask = ready(lab)
    for zone, subnets in (
        ("zone-a", ["10.1.0.0/16", "2001:db8:a::/48"]), ("zone-b", ["198.51.100.0/24"]),
    ):
        lab.gw.api.patch(f"/zones/{zone}", {"client_subnets": subnets}).expect(200)
    near_b = client_subnet("198.51.100.0/24")
    assert all(ask.published(NAME) == BOTH for _ in range(10)), "any: no matter who asks"
    lab.gw.api.patch("/load-balancers/shop", {"client_affinity": "zone"}).expect(200)
    assert ask.published(NAME) == ONLY_A, "by the address of who asks"
    for prefix, scope, expected in (
        ("198.51.100.0/24", 24, ONLY_B), ("198.51.0.0/16", None, None),
        ("2001:db8:a:100::/56", 48, ONLY_A), ("203.0.113.0/24", None, BOTH),
        ("0.0.0.0/0", 0, ONLY_A),
    ):
        option = client_subnet(prefix)
        reply = ask.ask(NAME, options=[option])
        back = reply.options[option[0]]
        assert back[:3] + back[4:] == option[1][:3] + option[1][4:], (prefix, back)
        assert scope is None or back[3] == scope, (prefix, back)
        assert expected is None or set(reply.addresses()) == expected, (prefix, reply)
    lab.gw.api.patch("/load-balancers/shop", {"client_affinity": "partial"}).expect(200)
    own = sum(ask.published(NAME) == ONLY_A for _ in range(300))
    assert 225 < own < 285, f"{own} of 300 are for its own zone only"
    shares = lab.gw.api.get(f"/dns/preview?name={NAME}&client=198.51.100.7").json["addresses"]
    assert {x["address"]: x["share_percent"] for x in shares} == {VIP4: 15, OTHER_VIP4: 100}
    name = shifted(lab)
    lab.gw.api.patch("/load-balancers/shop", {"client_affinity": "zone"}).expect(200)
    reply = ask.ask(NAME, options=[near_b])
    assert set(reply.addresses()) == ONLY_A, "a zone that is away is not answered to anybody"
    cancel(lab, name)


# ---- under attack ----


@case
def like_answers_are_limited(lab):
    ask = start(lab, rrl=2, rrl_exempt="10.2.0.0/16")
    quiet = Resolver(lab.client, "10.1.0.1", timeout=0.05)
    full = cut = 0
    for _ in range(70):
        try:
            reply = Reply(quiet.send(query(NAME)))
            cut += reply.truncated
            full += not reply.truncated
        except TimeoutError:
            pass
    assert 8 <= full <= 40, f"{full} of 70 whole answers at 2 a second"
    assert cut, "some are told to come by TCP"
    assert set(ask.ask_tcp((NAME, "A"))[0].addresses()) == BOTH
    free = Resolver(lab.client, "10.1.0.1", source="10.2.0.9")
    assert not any(free.ask(NAME).truncated for _ in range(60))


@case
def noise(lab):
    ask = start(lab)
    noisy = Resolver(lab.client, "10.1.0.1")  # nobody reads what comes back
    dice = random.Random(7)
    seeds = [
        query(NAME, edns=1232, options=[client_subnet("198.51.100.0/24"), (COOKIE, b"12345678")]),
        query(f"zone-a.{NAME}", "AAAA"), query(APEX, "SOA", dnssec=True, edns=4096),
    ]
    for round in range(3000):
        packet = bytearray(dice.choice(seeds))
        for _ in range(dice.randrange(1, 6)):
            packet[dice.randrange(len(packet))] = dice.randrange(256)
        noisy.throw(bytes(packet[: dice.randrange(len(packet) + 1)]) or b"\0")
        if round % 500 == 0:
            assert set(ask.ask(NAME).addresses()) == BOTH
    for size in (0, 1, 11, 40, 65535):
        noisy.throw_tcp(struct.pack("!H", size) + dice.randbytes(min(size, 100)))
    assert set(ask.ask(NAME).addresses()) == BOTH and lab.gw.daemon.running()


# ---- how soon ----


@case
def a_verdict_is_answered_at_once(lab):
    ask = ready(lab, cross_zone=False)
    for server, expected in ((lab.named["a2"], ONLY_A), (lab.named["a2"], BOTH)):
        server.kill() if server.listening() else server.start()
        while ask.published(NAME) != expected:
            assert lab.gw.daemon.running()
        seen = time.time()
        lines = re.findall(r"^(\S+)Z notice server.health_changed .*a2:", lab.gw.daemon.log(), re.M)
        told = datetime.datetime.fromisoformat(lines[-1]).replace(tzinfo=datetime.timezone.utc)
        late = seen - told.timestamp()
        assert late < 0.01 + lab.margin / 2, f"{late * 1000:.0f} ms after the verdict"
