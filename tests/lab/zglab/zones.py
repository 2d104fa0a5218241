# SPDX-License-Identifier: GPL-2.0-or-later
"""Two zones: one gateway that holds both, or two gateways that hold one each.

Servers: a1, b1 in zone-a, a2, b2 in zone-b; group `a` behind port 80, `b` behind 8080.

Two gateways stand on the same segments, `gw` at .1 for zone-a and `gw2` at .2 for
zone-b. The way to a VIP is its gateway's front address; gw2 reaches zone-a by the
back segment, so that it can tell its own fault from the other's.
"""

from . import net
from .dns import Resolver
from .documents import QUICK, balancer, document, group, listener
from .lab import CLIENT4, CLIENT6, OTHER_VIP4, OTHER_VIP6, VIP4, VIP6

APEX = "lb.example.net"
NAME = f"shop.{APEX}"
BOTH, ONLY_A, ONLY_B = {VIP4, OTHER_VIP4}, {VIP4}, {OTHER_VIP4}
BOTH6, ONLY_A6 = {VIP6, OTHER_VIP6}, {VIP6}
VIP_PROBE = {"interval_ms": 100, "timeout_ms": 250, "healthy_threshold": 2,
             "unhealthy_threshold": 2}
SERVER_NAMES = ("a1", "b1", "a2", "b2")


def dns_settings(*listen, **members):
    return {
        "listen": ", ".join(listen), "apex": APEX, "ns": f"ns1.{APEX}=10.1.0.1, ns2.example.net",
        "rrl": 0, **members,
    }


def two_zones(lab, *, dual=False, groups=None, **members):
    """The document. GROUPS: members of the server groups, MEMBERS: of the load balancer."""
    found = {}
    for letter in "ab":
        servers = [x for x in lab.servers if x.name[0] == letter]
        one = found[letter] = group(servers, health_check=QUICK, **(groups or {}))
        for server in servers:
            zone = "zone-a" if server.name[1] == "1" else "zone-b"
            one["servers"][server.name]["zone"] = zone
            if dual:
                six = {"address": server.address6, "port": 80, "zone": zone}
                one["servers"][f"{server.name}-6"] = six
    listeners = {"one": listener("a"), "two": listener("b", port=8080)}
    shop = balancer(listeners, **{"dns_name": NAME, "vip_probe": VIP_PROBE, **members})
    shop["zones"]["zone-b"] = {"vip4": OTHER_VIP4}
    if dual:
        shop["zones"]["zone-a"]["vip6"], shop["zones"]["zone-b"]["vip6"] = VIP6, OTHER_VIP6
    return document(found, {"shop": shop}, zones=("zone-a", "zone-b"))


def name_servers(lab):
    """{name: server}; they are called after their group and zone."""
    for server, name in zip(lab.servers, SERVER_NAMES):
        server.name = name
    return {x.name: x for x in lab.servers}


def one_gateway(lab):
    """The usual network; returns who asks for names."""
    lab.network(4)
    lab.named = name_servers(lab)
    return Resolver(lab.client, "10.1.0.1")


def start_one(lab, configuration, **settings):
    lab.start(
        configuration, dns=dns_settings("10.1.0.1", "fd01::1"), **settings,
    )


def two_gateways(lab):
    """Returns those who ask: of gw, of gw2 (over the back segment)."""
    switch = lab.switch = net.Switch()
    lab.keep(switch.namespace)
    switch.segment("front")
    switch.segment("back")
    lab.client = lab.namespace("client")
    lab.gw, lab.gw2 = lab.gateway(), lab.gateway("gw2")
    lab.front_ports, lab.back_ports = {}, {}
    for number, gateway in enumerate((lab.gw, lab.gw2), 1):
        front = f"10.1.0.{number}/24", f"fd01::{number}/64"
        back = f"10.2.0.{number}/24", f"fd02::{number}/64"
        lab.front_ports[gateway.name] = switch.plug(gateway.ns, "front0", "front", front)
        lab.back_ports[gateway.name] = switch.plug(gateway.ns, "back0", "back", back)
    switch.plug(lab.client, "eth0", "front", (f"{CLIENT4}/24", f"{CLIENT6}/64"))
    switch.plug(lab.client, "eth1", "back", ("10.2.0.9/24", "fd02::9/64"))
    ways = (
        (lab.client, (VIP4, "10.1.0.1"), (VIP6, "fd01::1"),
         (OTHER_VIP4, "10.1.0.2"), (OTHER_VIP6, "fd01::2")),
        (lab.gw.ns, (OTHER_VIP4, "10.1.0.2"), (OTHER_VIP6, "fd01::2")),
        (lab.gw2.ns, (VIP4, "10.2.0.1"), (VIP6, "fd02::1")),
    )
    for namespace, *routes in ways:
        for vip, gateway in routes:
            namespace.add_route(f"{vip}/{128 if ':' in vip else 32}", gateway)
    for number in range(1, 5):
        own = 1 if number < 3 else 2
        lab.server(number, switch, (f"10.2.0.{own}", f"fd02::{own}")).listen_tcp(80)
    lab.named = name_servers(lab)
    return Resolver(lab.client, "10.1.0.1"), Resolver(lab.client, "10.2.0.2")


def start_two(lab, configuration, **settings):
    """Both nodes of the same document; waits until both answer both zones as healthy."""
    for number, (gateway, zone) in enumerate(((lab.gw, "zone-a"), (lab.gw2, "zone-b")), 1):
        gateway.daemon.settings["node"]["zones"] = zone
        gateway.daemon.settings["dns"] = dns_settings(f"10.1.0.{number}", f"10.2.0.{number}")
        for section, members in settings.items():
            gateway.daemon.settings.setdefault(section, {}).update(members)
        gateway.daemon.start()
        gateway.api.apply(configuration)
    for gateway in (lab.gw, lab.gw2):
        lab.wait(lambda: settled(gateway), 5 * lab.slow, f"{gateway.name} finds both healthy")


def reasons(gateway, kind="A"):
    """{address: reason} of what is handed out and what is left out."""
    answer = gateway.api.get(f"/dns/preview?name={NAME}&type={kind}").expect(200).json
    return {x["address"]: x["reason_code"] for x in answer["addresses"]}


def settled(gateway):
    return set(reasons(gateway).values()) == {"healthy"}


def answers(lab, ask, expected, kind="A", hold=0.1):
    """The name comes to be answered with these addresses, and stays so."""
    lab.wait(
        lambda: ask.published(NAME, kind) == expected, 0.01 + lab.margin,
        f"{kind} is answered with {expected}",
    )
    lab.holds(lambda: ask.published(NAME, kind) == expected, hold, f"{kind}: {expected}")


def cross(lab, on):
    """cross_zone on every node."""
    for gateway in lab.gateways:
        gateway.api.patch("/load-balancers/shop", {"cross_zone": on}).expect(200)


def ready(lab, **members):
    """One gateway, both zones healthy; returns who asks for names."""
    ask = one_gateway(lab)
    start_one(lab, two_zones(lab, **members))
    lab.wait(lambda: settled(lab.gw), 4 * lab.slow, "both are healthy")
    return ask


def shift(lab, zone="zone-b", query="", **members):
    """POST of a zone shift to the first gateway; the answer."""
    body = {
        "zone": zone, "load_balancer": "shop", "expires_in": "2h", "comment": "a test", **members,
    }
    return lab.gw.api.call("POST", f"/zone-shifts{query}", body)


def shifted(lab, *arguments, **members):
    """Its id."""
    return shift(lab, *arguments, **members).expect(201).json["id"]


def cancel(lab, name):
    lab.gw.api.delete(f"/zone-shifts/{name}").expect(204)
