# SPDX-License-Identifier: GPL-2.0-or-later
"""The doctor: what is wrong is found, and gone once the command that it printed was run."""

import json

from zglab import VIP4, case
from zglab.doctor import mend, visit
from zglab.documents import web

LAB_KIND = "uml"
LAB_SECONDS = 10


@case(without_ipvs=True)
def a_scheduler_is_not_in_the_kernel(lab):
    """First: a module that is loaded stays."""
    path = "/proc/sys/kernel/modprobe"
    with open(path, encoding="ascii") as file:
        program = file.read()
    with open(path, "w", encoding="ascii") as file:
        file.write("/bin/false")
    try:
        lab.load(["ip_vs", "ip_vs_wrr"])
        lab.network(1)
        lab.start(web(lab))
        assert "module_missing" not in visit(lab)
        lab.gw.api.patch("/load-balancers/shop/listeners/http", {"scheduler": "wlc"})
        assert visit(lab)["module_missing"]["mend"] == "modprobe ip_vs_wlc"
        mend(lab, "module_missing")
        lab.wait(lambda: lab.gw.service("TCP", VIP4, 80).scheduler == "wlc", 5 + lab.margin,
                 "the listener is programmed")
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(program)


@case
def packets_are_not_forwarded(lab):
    lab.network(1)
    lab.start(web(lab))
    errors = [x for x in visit(lab).values() if x["severity"] == "error"]
    assert errors == [], errors
    lab.gw.ns.set_sysctl("net.ipv4.ip_forward", 0)
    assert lab.gw.cli("doctor").stdout.splitlines()[0].endswith(
        "forwarding_off  net.ipv4.ip_forward")
    mend(lab, "forwarding_off")
    assert lab.gw.ns.get_sysctl("net.ipv4.ip_forward") == "1"
    assert lab.who(count=2) == {"s1": 2}


@case
def a_filter_is_strict(lab):
    lab.network(1)
    lab.start(web(lab))
    assert "rp_filter_strict" not in visit(lab)
    for scope in ("back0", "all"):
        lab.gw.ns.set_sysctl(f"net.ipv4.conf.{scope}.rp_filter", 1)
        assert visit(lab)["rp_filter_strict"]["object"] == f"net.ipv4.conf.{scope}.rp_filter"
        mend(lab, "rp_filter_strict")
        assert lab.gw.ns.get_sysctl(f"net.ipv4.conf.{scope}.rp_filter") == "2"


@case
def a_server_has_no_route(lab):
    lab.network(1)
    document = web(lab)
    document["server_groups"]["web"]["servers"]["far"] = {"address": "10.99.0.1", "port": 80}
    lab.gw.daemon.start()
    lab.gw.api.apply(document)
    found = visit(lab)
    assert found["server_unreachable"]["object"] == "/server_groups/web/servers/far", found
    assert "nat_server_routed" not in found
    mend(lab, "server_unreachable", router="10.2.0.9")
    # It is not on the link: what it answers may go another way.
    assert visit(lab)["nat_server_routed"]["object"] == "/server_groups/web/servers/far"


@case
def direct_servers_are_behind_a_router(lab):
    lab.network(1, direct=True)
    document = web(lab, port=0, forward_method="direct", health_check={"enabled": False})
    document["server_groups"]["web"]["servers"]["far"] = {"address": "10.99.0.1"}
    lab.gw.ns.add_route("10.99.0.0/24", "10.2.0.9")
    lab.gw.daemon.start()
    lab.gw.api.apply(document)
    found = visit(lab)
    assert found["direct_server_routed"]["object"] == "/server_groups/web/servers/far", found
    assert f"ip address add {VIP4}/32 dev lo" in found["direct_servers_unseen"]["mend"]
    lab.gw.api.apply(web(lab, port=0, forward_method="tunnel", tunnel={"type": "ipip"},
                         health_check={"enabled": False}))
    found = visit(lab)
    assert "direct_server_routed" not in found
    assert found["tunnel_mtu"]["mend"] == "ip link set dev back0 mtu 1520", found["tunnel_mtu"]
    mend(lab, "tunnel_mtu")


@case
def others_want_the_same(lab):
    lab.network(1)
    lab.start(web(lab))
    calm = visit(lab)
    for code in ("vip_answered_elsewhere", "kube_proxy", "services_foreign", "service_of_others"):
        assert code not in calm, calm
    lab.gw.run("ip", "neigh", "add", VIP4, "lladdr", "02:00:00:00:00:09", "dev", "front0",
               "nud", "permanent")
    lab.gw.run("ip", "link", "add", "kube-ipvs0", "type", "dummy")
    lab.gw.ipvsadm_restore(f"-A -t 198.51.100.9:80 -s wrr\n-A -t {VIP4}:81 -s wrr\n")
    found = visit(lab)
    assert "02:00:00:00:00:09" in found["vip_answered_elsewhere"]["what"], found
    assert found["kube_proxy"]["object"] == "kube-ipvs0"
    assert found["services_foreign"]["severity"] == "info"
    assert found["service_of_others"]["object"] == f"tcp {VIP4}:81"
    mend(lab, "service_of_others")


@case
def a_flood_would_fill_the_table(lab):
    lab.network(1)
    lab.start(web(lab))
    assert visit(lab)["flood_defence_off"]["severity"] == "info"
    mend(lab, "flood_defence_off")
    shown = {x["name"]: x["value"] for x in json.loads(lab.gw.cli("-o", "json", "kernel", "show").stdout)["sysctls"]}
    for name in ("drop_entry", "secure_tcp"):
        assert lab.gw.ns.get_sysctl(f"net.ipv4.vs.{name}") == "1"
        assert shown[f"net.ipv4.vs.{name}"] == 1, shown
    assert shown["net.ipv4.vs.amemthresh"] == int(lab.gw.ns.get_sysctl("net.ipv4.vs.amemthresh")) > 1024
    assert "net.ipv4.vs: conntrack 0, " in lab.gw.cli("kernel", "show").stdout
    lab.gw.ns.set_sysctl("net.ipv4.vs.drop_packet", 3)
    mend(lab, "flood_defence_always")
    assert lab.gw.ns.get_sysctl("net.ipv4.vs.drop_packet") == "1"
