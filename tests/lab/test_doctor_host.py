# SPDX-License-Identifier: GPL-2.0-or-later
"""The doctor of the host: modules, sysctls, capabilities, the backend of iptables; each mend that it prints is run."""

import contextlib

from zglab import case, sysc
from zglab.doctor import mend, visit
from zglab.documents import web
from zglab.filters import NETFILTER, network, rules

LAB_KIND = "uml"
LAB_SECONDS = 30

NAT = (*NETFILTER, "nf_conntrack", "nf_nat", "iptable_nat", "ip6table_nat", "xt_MASQUERADE", "xt_ipvs")
THIS_HOST = contextlib.nullcontext()  # what holds for all namespaces is set in the first
TRACKED = "/proc/sys/net/netfilter/nf_conntrack_max"


@contextlib.contextmanager
def held(path, value):
    """A file of the kernel has a value, and its own again in the end."""
    with open(path, encoding="ascii") as file:
        before = file.read()
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))
    try:
        yield
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(before)


@case
def modules_before_ipvs_are_missing(lab):
    """First: a module that is loaded stays."""
    network(lab, 1)
    configuration = web(lab)
    shop = configuration["load_balancers"]["shop"]
    shop["vip_guard"] = "drop"
    with held("/proc/sys/kernel/modprobe", "/bin/false"):
        lab.start(web(lab))
        assert "netfilter_modules_missing" not in visit(lab), "it needs none"
        lab.gw.api.apply(configuration)
        lab.wait(lambda: "netfilter_not_in_force" in visit(lab), 5 + lab.margin, "it has failed", pause=0.2)
        found = visit(lab)["netfilter_modules_missing"]
        assert found["severity"] == "error", found
        assert found["mend"] == ("modprobe -a ip_set ip_set_hash_ip ip_set_hash_ipport xt_set xt_tcpudp "
                                 "ipt_REJECT iptable_filter"), found
        mend(lab, "netfilter_modules_missing")
        lab.wait(lambda: rules(lab)[0], 20 + lab.margin, "the rules are there", pause=0.2)
        shop["listeners"]["http"]["rate_limit"] = 1000
        lab.gw.api.apply(configuration)
        lab.wait(lambda: "netfilter_modules_missing" in visit(lab), 5 + lab.margin, "it has failed", pause=0.2)
        assert visit(lab)["netfilter_modules_missing"]["mend"] == "modprobe -a xt_hashlimit"
        mend(lab, "netfilter_modules_missing")
        lab.wait(lambda: "hashlimit" in str(rules(lab)[0]), 20 + lab.margin, "the rule is there", pause=0.2)
        lab.wait(lambda: "netfilter_not_in_force" not in visit(lab), 20 + lab.margin, "all is well", pause=0.2)


@case(load=NAT)
def the_backend_is_the_one_that_works(lab):
    network(lab, 1)
    configuration = web(lab)
    lab.start(configuration)
    assert "no rule was needed yet" in visit(lab)["iptables_backend"]["what"]
    configuration["load_balancers"]["shop"]["vip_guard"] = "drop"
    lab.gw.api.apply(configuration)
    found = visit(lab)
    assert found["iptables_backend"]["what"] == "rules are set by the legacy backend of iptables, which works here"
    assert "-A ZONEGATE" in lab.gw.run("sh", "-c", found["iptables_backend"]["mend"])
    assert "ZONEGATE" not in lab.gw.run("iptables", "-S", check=False)
    mend(lab, "iptables_command")
    try:
        assert "ZONEGATE" in lab.gw.run("iptables", "-S")
        assert "legacy" in visit(lab)["iptables_backend"]["what"]
    finally:
        for name in ("iptables", "ip6tables"):
            lab.gw.run("update-alternatives", "--auto", name)


@case(load=NAT)
def what_needs_tracked_flows_has_none(lab):
    network(lab, 1, direct=True)
    configuration = web(lab)
    configuration["load_balancers"]["shop"]["snat"] = "on"
    lab.start(configuration)
    assert lab.who(count=2) == {"s1": 2} and "conntrack_off" not in visit(lab)
    lab.gw.ns.set_sysctl("net.ipv4.vs.conntrack", 0)
    assert not lab.who(count=1).get("s1"), "the server answers past the gateway"
    assert visit(lab)["conntrack_off"]["object"] == "/load_balancers/shop/listeners/http"
    mend(lab, "conntrack_off")
    assert lab.who(count=2) == {"s1": 2}


@case
def sysctls_of_ipvs_are_other_ones(lab):
    lab.network(1)
    configuration = web(lab, on_unhealthy="terminate")
    configuration["load_balancers"]["shop"]["listeners"]["http"]["persistence_s"] = 60
    lab.start(configuration)
    codes = {
        "connection_reuse_off": "conn_reuse_mode",
        "removed_server_keeps_flows": "expire_nodest_conn",
        "persistence_ignores_weight": "expire_quiescent_template",
    }
    assert not set(codes) & set(visit(lab))
    for code, name in codes.items():
        lab.gw.ns.set_sysctl(f"net.ipv4.vs.{name}", 0)
        assert visit(lab)[code]["object"] == f"net.ipv4.vs.{name}"
        mend(lab, code)
        assert lab.gw.ns.get_sysctl(f"net.ipv4.vs.{name}") == "1"


@case(load=NAT)
def the_table_of_connections_fills(lab):
    network(lab, 1)
    configuration = web(lab)
    configuration["load_balancers"]["shop"]["snat"] = "on"
    lab.start(configuration)
    assert "conntrack_full" not in visit(lab)
    lab.who(count=30)
    taken = int(lab.gw.ns.get_sysctl("net.netfilter.nf_conntrack_count"))
    assert taken >= 30
    with held(TRACKED, taken + 2):
        assert visit(lab)["conntrack_full"]["object"] == "net.netfilter.nf_conntrack_max"
        mend(lab, "conntrack_full", where=THIS_HOST)
        assert lab.who(count=5) == {"s1": 5}
    with held(TRACKED, 3000):
        assert "conntrack_full" not in visit(lab)
        mend(lab, "conntrack_probes", where=THIS_HOST)


@case
def a_capability_is_missing(lab):
    lab.network(1)
    lab.gw.daemon.capabilities = (sysc.CAP_NET_BIND_SERVICE, sysc.CAP_NET_ADMIN)
    lab.start(web(lab))
    found = visit(lab)["capability_missing"]
    assert found["object"] == "CAP_NET_RAW" and found["mend"].startswith("systemctl restart zonegate"), found
    assert lab.gw.daemon.stop() == 0
    lab.gw.daemon.capabilities = (*lab.gw.daemon.capabilities, sysc.CAP_NET_RAW)  # as its unit does
    lab.gw.daemon.start()
    assert "capability_missing" not in visit(lab)
