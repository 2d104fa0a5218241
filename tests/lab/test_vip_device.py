# SPDX-License-Identifier: GPL-2.0-or-later
"""VIP addresses on a link of the host: announced to its neighbours, and nothing else touched."""

import time

from zglab import case
from zglab.documents import web
from zglab.frames import Announcements, mac_of, neighbour

LAB_SECONDS = 35
# On the segment `front`, beside the client.
LINK4, LINK6 = "10.1.0.100", "fd01::100"
OVERRIDE, ROUTER = 0x20, 0x80


def document(lab, vip6=True):
    configuration = web(lab)
    vips = {"vip4": LINK4, "vip6": LINK6} if vip6 else {"vip4": LINK4}
    configuration["load_balancers"]["shop"]["zones"]["zone-a"] = vips
    return configuration


def start(lab, device="front0", configuration=None):
    lab.start(configuration, kernel={"vip_device": device})


def links(lab):
    return lab.gw.run("ip", "-o", "link")


def delete(lab):
    lab.gw.api.delete("/load-balancers/shop").expect(200, 202, 204)


def touch(lab, address):
    """A connection, refused or not: the client has to learn where the address is."""
    lab.who(address, port=9, count=1)


@case
def neighbours_hear_of_new_addresses(lab):
    lab.network(1)
    before = links(lab)
    start(lab)
    with Announcements(lab.client, "eth0") as heard:
        lab.gw.api.apply(document(lab))
        for address in (LINK4, LINK6):
            lab.wait(lambda: heard.all(address), lab.margin, f"{address} is announced")
            lab.wait(
                lambda: len(heard.all(address)) == 3, 2 + lab.margin, f"{address} three times"
            )
        time.sleep(1.2)
        for address in (LINK4, LINK6):
            found = heard.all(address)
            assert len(found) == 3, found
            assert {x.mac for x in found} == {mac_of(lab.gw.ns, "front0")}, found
            gaps = [b.time - a.time for a, b in zip(found, found[1:])]
            assert all(0.7 < x < 1 + lab.margin for x in gaps), gaps
        assert {x.flags for x in heard.all(LINK6)} == {OVERRIDE | ROUTER}, "gw forwards"
    shown = lab.gw.addresses("front0")
    assert f"{LINK4}/32" in shown and f"{LINK6}/128" in shown, shown
    assert links(lab) == before, "no device was made or changed"
    lab.wait_in_service()
    assert lab.who(LINK4, count=4) == {"s1": 4}
    delete(lab)
    lab.wait(
        lambda: not {f"{LINK4}/32", f"{LINK6}/128"} & set(lab.gw.addresses("front0")),
        lab.margin, "both are gone", pause=0.1,
    )
    assert "10.1.0.1/24" in lab.gw.addresses("front0")
    assert links(lab) == before


@case
def a_move_is_seen_at_once(lab):
    """Another host holds the VIPs and dies; its neighbours' tables follow."""
    lab.network(1)
    old = lab.namespace("old")
    lab.switch.plug(old, "eth0", "front", (f"{LINK4}/32", f"{LINK6}/128"))
    for address in (LINK4, LINK6):
        touch(lab, address)
        assert neighbour(lab.client, address) == mac_of(old, "eth0")
    with old:
        old.netlink.link_set("eth0", up=False)
    start(lab)
    lab.gw.api.apply(document(lab))
    for address in (LINK4, LINK6):
        lab.wait(
            lambda: neighbour(lab.client, address) == mac_of(lab.gw.ns, "front0"),
            lab.margin, f"the client has the new place of {address}", pause=0.05,
        )
    lab.wait_in_service()
    assert lab.who(LINK4, count=4) == {"s1": 4}


@case
def vip6_is_not_looked_for_elsewhere(lab):
    """nodad: in use at once, also while who had it before still answers for it (duplicate address detection would end it)."""
    lab.network(1)
    old = lab.namespace("old")
    lab.switch.plug(old, "eth0", "front", (f"{LINK6}/128",))
    start(lab)
    lab.gw.api.apply(document(lab))
    for _ in range(2):
        shown = lab.gw.run("ip", "-6", "-o", "addr", "show", "dev", "front0", "to", LINK6)
        assert " nodad" in shown, shown
        assert "tentative" not in shown and "dadfailed" not in shown, shown
        time.sleep(1.5)  # detection takes a second


@case
def what_was_there_is_used_and_stays(lab):
    """Whatever its prefix length; nothing is announced for it."""
    lab.network(1)
    lab.gw.ns.add_address("front0", f"{LINK4}/24")
    lab.gw.ns.add_address("front0", f"{LINK6}/64")
    before = lab.gw.addresses("front0")
    start(lab)
    with Announcements(lab.client, "eth0") as heard:
        lab.gw.api.apply(document(lab))
        lab.wait_in_service()
        assert lab.who(LINK4, count=4) == {"s1": 4}
        assert lab.gw.addresses("front0") == before, (before, lab.gw.addresses("front0"))
        delete(lab)
        time.sleep(0.3)
        assert heard.all() == [], heard.all()
    assert lab.gw.addresses("front0") == before


@case
def own_addresses_are_known_after_a_restart(lab):
    lab.network(1)
    lab.gw.ns.add_address("front0", f"{LINK6}/128")
    start(lab, configuration=document(lab))
    lab.gw.daemon.kill()
    with Announcements(lab.client, "eth0") as heard:
        lab.gw.daemon.start()
        time.sleep(0.5)
        assert heard.all() == [], "nothing has moved"
    delete(lab)
    lab.wait(
        lambda: f"{LINK4}/32" not in lab.gw.addresses("front0"), lab.margin, "ours is gone",
        pause=0.1,
    )
    assert f"{LINK6}/128" in lab.gw.addresses("front0"), "it was not ours"


@case
def a_device_that_is_missing(lab):
    """Said with its mend; used as soon as it is there; made, set up or removed by nobody but its owner."""
    lab.network(1)
    start(lab, "late0")
    lab.wait(lambda: "vip_device.unavailable" in lab.gw.daemon.log(), 1 + lab.margin, "it is said")
    assert "late0" in lab.gw.daemon.log()
    answer = lab.gw.api.apply(document(lab))
    assert b"kernel_apply_failed" in answer.body and b"vip_device" in answer.body, answer.body
    fault = lab.gw.api.get("/system").expect(200).json["kernel"]["vip_device_fault"]
    assert "late0" in fault and "vip_device" in fault, fault
    assert fault in lab.gw.cli("status").stdout
    assert "late0" not in links(lab)
    ours = [f"{LINK4}/32", f"{LINK6}/128"]
    for _ in range(2):
        lab.gw.run("ip", "link", "add", "late0", "type", "dummy")
        lab.wait(
            lambda: lab.gw.addresses("late0") == ours, lab.margin, "the addresses", pause=0.1
        )
        assert "state DOWN" in lab.gw.run("ip", "-o", "link", "show", "dev", "late0")
        lab.wait(
            lambda: "vip_device_fault" not in lab.gw.api.get("/system").json["kernel"],
            lab.margin, "no fault any more",
        )
        lab.gw.ns.del_link("late0")
        lab.wait(
            lambda: "vip_device_fault" in lab.gw.api.get("/system").json["kernel"],
            lab.margin, "a fault again",
        )
    log = lab.gw.daemon.log()
    assert log.count("vip_device.unavailable") == 3 and log.count("vip_device.available") == 2
    assert log.count("config.failed") <= 2 * 3, "one line for each address and absence"


@case
def an_address_that_came_with_its_device(lab):
    lab.network(1)
    start(lab, "late0")
    lab.gw.api.apply(document(lab, vip6=False))
    lab.gw.daemon.pause()
    lab.gw.run("ip", "link", "add", "late0", "type", "dummy")
    lab.gw.ns.add_address("late0", f"{LINK4}/24")
    lab.gw.daemon.resume()
    lab.wait(
        lambda: "vip_device.available" in lab.gw.daemon.log(), lab.margin, "it is seen"
    )
    time.sleep(0.3)
    assert lab.gw.addresses("late0") == [f"{LINK4}/24"], lab.gw.addresses("late0")
    delete(lab)
    time.sleep(0.3)
    assert lab.gw.addresses("late0") == [f"{LINK4}/24"], "it is somebody else's"


@case
def a_link_that_was_down(lab):
    """What nobody could hear is told again when the link comes up; Linux has taken IPv6 off it meanwhile."""
    lab.network(1)
    start(lab, configuration=document(lab))
    with Announcements(lab.client, "eth0") as heard:
        lab.wait(lambda: len(heard.all(LINK4)) >= 2, 2 + lab.margin, "the last of the first")
        lab.gw.ns.set_link("front0", up=False)
        lab.wait(
            lambda: f"{LINK6}/128" in lab.gw.addresses("front0"), lab.margin,
            "the IPv6 address is put back", pause=0.1,
        )
        before = len(heard.all(LINK4))
        lab.gw.ns.set_link("front0", up=True)
        lab.wait(lambda: len(heard.all(LINK4)) > before, lab.margin, "IPv4 is announced")
        lab.wait(
            lambda: neighbour(lab.client, LINK6) == mac_of(lab.gw.ns, "front0")
            or heard.all(LINK6), lab.margin, "IPv6 is announced", pause=0.1,
        )
    shown = lab.gw.addresses("front0")
    assert f"{LINK4}/32" in shown and f"{LINK6}/128" in shown, shown


@case
def an_address_removed_by_hand_is_put_back_and_announced(lab):
    lab.network(1)
    lab.start(document(lab), kernel={"vip_device": "front0", "audit_interval_s": 1})
    with Announcements(lab.client, "eth0") as heard:
        lab.gw.ns.del_address("front0", f"{LINK4}/32")
        lab.wait(
            lambda: f"{LINK4}/32" in lab.gw.addresses("front0"), 1 + lab.margin, "it is back",
            pause=0.1,
        )
        lab.wait(lambda: heard.all(LINK4), lab.margin, "it is announced")


@case
def another_name_that_begins_with_zonegate(lab):
    lab.network(1)
    start(lab, "zonegate-v", document(lab))
    assert lab.gw.addresses("zonegate-v") == [f"{LINK4}/32", f"{LINK6}/128"]
    system = lab.gw.api.get("/system").expect(200).json
    advice = {a["code"]: a["detail"] for a in system["advice"]}
    assert system["kernel"]["vip_device"] == "zonegate-v" and "proxy_ndp" in advice["vip_device"]
    assert advice["vip_device"] in lab.gw.cli("status").stdout
    delete(lab)
    assert lab.gw.api.get("/system").json["advice"] == []
    assert "zonegate-v" in links(lab), "the device stays"


@case
def ipv6_on_a_dummy_by_proxy(lab):
    """The advice works: neighbours reach VIP6 on a dummy device through proxy_ndp."""
    lab.network(1)
    configuration = web(lab, family=6)
    configuration["load_balancers"]["shop"]["zones"]["zone-a"] = {"vip6": LINK6}
    start(lab, "zonegate0", configuration)
    assert lab.who(LINK6, count=1) != {"s1": 1}, "nobody answers the solicitation"
    lab.gw.run("sysctl", "-qw", "net.ipv6.conf.front0.proxy_ndp=1")
    lab.gw.run("ip", "-6", "neigh", "add", "proxy", LINK6, "dev", "front0")
    lab.run_in(lab.client, "ip", "neigh", "flush", "dev", "eth0")
    assert lab.who(LINK6, count=4) == {"s1": 4}
