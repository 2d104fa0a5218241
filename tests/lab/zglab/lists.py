# SPDX-License-Identifier: GPL-2.0-or-later
"""A gateway whose listener asks an access list, and the set that stands for the list in the kernel."""

from . import VIP4, VIP6
from .documents import balancer, both, document, group, listener, web
from .filters import network

OTHER4, OTHER6 = "10.1.0.77", "fd01::77"  # of the same client
SILENT = "silent"


def office(default="deny", allow=(), deny=()):
    entries = [{"cidr": x, "action": "allow"} for x in allow] + [{"cidr": x, "action": "deny"} for x in deny]
    return {"default_action": default, "entries": entries}


def started(lab, access_list, family=4, udp=False, servers=1, **settings):
    """A listener with the list, and a client with two addresses."""
    network(lab, servers, udp=(80,))
    lab.client.add_address("eth0", f"{OTHER4}/24")
    lab.client.add_address("eth0", f"{OTHER6}/64")
    configuration = web(lab, family=family)
    listeners = configuration["load_balancers"]["shop"]["listeners"]
    listeners["http"]["access_list"] = "office"
    if udp:
        configuration["server_groups"]["udp"] = group(lab.servers, protocol="udp", health_check={"enabled": False})
        listeners["udp"] = listener("udp", protocol="udp", access_list="office")
    configuration["access_lists"] = {"office": access_list}
    lab.start(configuration, **settings)


def both_families(lab, access_list, tcp=None, udp=None, **settings):
    """TCP and UDP at both VIPs, whose listeners have the list, and a client with two addresses of each family."""
    network(lab, tcp=(80, 8000), udp=(80, 8000))
    lab.client.add_address("eth0", f"{OTHER4}/24")
    lab.run_in(lab.client, "ip", "addr", "add", f"{OTHER6}/64", "dev", "eth0", "preferred_lft", "0", "nodad")  # not by itself
    configuration = document(
        {"web": both(lab.servers), "udp": both(lab.servers, protocol="udp", health_check={"enabled": False})},
        {"shop": balancer({
            "http": tcp or listener(), "udp": udp or listener("udp", protocol="udp")}, vip6=VIP6)})
    for one in configuration["load_balancers"]["shop"]["listeners"].values():
        one["access_list"] = "office"
    configuration["access_lists"] = {"office": access_list}
    lab.start(configuration, **settings)


def put(lab, access_list):
    lab.gw.api.put("/access-lists/office", access_list).expect(200)


def set_name(lab, name="office"):
    """The set of the list, of IPv4."""
    return "zg4-" + lab.gw.api.get(f"/access-lists/{name}").expect(200).json["uid"].lstrip("0")


def length(lab, name):
    """How many entries a set has, as ipset counts them."""
    lines = lab.gw.run("ipset", "list", "-t", name).splitlines()
    return next(int(x.split(":")[1]) for x in lines if x.startswith("Number of entries"))


def leftovers(lab):
    """Sets that lists were to be filled in."""
    return [x for x in lab.gw.run("ipset", "list", "-n").split() if x.startswith("zg") and x.endswith("-t")]
