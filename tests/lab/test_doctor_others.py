# SPDX-License-Identifier: GPL-2.0-or-later
"""The doctor of others on the gateway: programs beside the daemon, their firewall and their marks; the mends are run."""

import contextlib
import os
import shutil
import subprocess

from zglab import OTHER_VIP4, case, daemon
from zglab.doctor import mend, visit
from zglab.documents import balancer, document, group, listener, web
from zglab.filters import FOREIGN, NETFILTER, Ports, is_open, network

LAB_KIND = "uml"
LAB_SECONDS = 25

RANGES = (*NETFILTER, "xt_mark", "iptable_mangle", "ip6table_mangle", "xt_connmark", "nf_conntrack")
KEEPALIVED = f"""
virtual_server {OTHER_VIP4} 80 {{
    lvs_sched wrr
    lvs_method NAT
    protocol TCP
    real_server 10.2.0.11 80 {{
        weight 100
    }}
}}
"""


@contextlib.contextmanager
def program(lab, *command, namespace=None):
    """It runs in a namespace, the gateway's if none is given."""
    with namespace or lab.gw.ns:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


@contextlib.contextmanager
def systemctl(pid_file):
    """A service manager that knows one service."""
    path = "/usr/local/sbin/systemctl"
    with open(path, "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\n[ "$1" = stop ] && kill $(cat {pid_file})\n')
    os.chmod(path, 0o755)
    try:
        yield
    finally:
        os.unlink(path)


def named(name):
    """A program of that name, which does nothing."""
    path = f"/run/zglab/{name}"
    shutil.copy("/bin/sleep", path)
    return path


@case(load=NETFILTER)
def the_policy_of_forward_drops_answers(lab):
    network(lab, 2)
    lab.start(web(lab))
    assert "forward_policy_drop" not in visit(lab)
    lab.gw.run("iptables-legacy-restore", "--noflush", stdin=FOREIGN)
    lab.gw.run("iptables-legacy", "-P", "FORWARD", "DROP")
    assert not set(lab.who(count=2)) & {"s1", "s2"}
    found = visit(lab)["forward_policy_drop"]
    assert found["mend"] == "iptables-legacy -I FORWARD -s 10.2.0.11,10.2.0.12 -j ACCEPT", found
    assert "(Docker)" in found["what"], found
    mend(lab, "forward_policy_drop")
    assert lab.who(count=4) == {"s1": 2, "s2": 2}
    assert "rules_unseen" not in visit(lab)


@case
def keepalived_runs_beside(lab):
    lab.network(1)
    lab.start(web(lab))
    assert "rival_process" not in visit(lab)
    folder = "/run/zglab/beside"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/conf", "w", encoding="ascii") as file:
        file.write(KEEPALIVED)
    command = ("keepalived", "-n", "-l", "-C", "-f", f"{folder}/conf", "-p", f"{folder}/pid", "-c", f"{folder}/checkers")
    with program(lab, *command) as process, systemctl(f"{folder}/pid"):
        lab.wait(lambda: lab.gw.weights(vip=OTHER_VIP4), 10 * lab.slow, "keepalived fills the table")
        found = visit(lab)
        assert found["rival_process"]["severity"] == "warning", found
        assert found["rival_process"]["mend"] == "systemctl stop keepalived"
        assert found["services_foreign"]["mend"] == "zonegate kernel show --foreign"
        assert OTHER_VIP4 in lab.gw.cli("kernel", "show", "--foreign").stdout
        lab.gw.run("sh", "-c", found["rival_process"]["mend"])
        process.wait(10 * lab.slow)
        lab.wait(lambda: "rival_process" not in visit(lab), 5 + lab.margin, "it is gone", pause=0.2)
        assert "services_foreign" not in visit(lab) and lab.who(count=2) == {"s1": 2}


@case
def kube_proxy_and_firewalld_run_beside(lab):
    lab.network(1)
    lab.start(web(lab))
    codes = {"kube-proxy": "kube_proxy_beside", "firewalld": "firewalld_beside"}
    assert not set(codes.values()) & set(visit(lab))
    elsewhere = lab.namespace("elsewhere")
    for name, code in codes.items():
        with program(lab, named(name), "60", namespace=elsewhere):
            assert code not in visit(lab), "it is in a network namespace of its own"
        with program(lab, named(name), "60"):
            lab.wait(lambda: code in visit(lab), 5 + lab.margin, f"{name} is seen", pause=0.2)
        assert code not in visit(lab)


@case
def a_second_daemon_runs_beside(lab):
    lab.network(1)
    lab.start(web(lab))
    other = daemon.Daemon(lab.config, lab.namespace("elsewhere"), "other")
    other.start()
    assert "second_daemon" not in visit(lab), "it is in a network namespace of its own"
    assert other.stop() == 0
    second = daemon.Daemon(lab.config, lab.gw.ns, "second")
    second.start()
    try:
        assert f"(process {second.process.pid})" in visit(lab)["second_daemon"]["what"]
        mend(lab, "second_daemon")
        assert second.process.wait(10 * lab.slow) == 0
    finally:
        second.dispose()
        other.dispose()


def ranged(lab):
    files = {**listener("web", None), "port_range": [8000, 8100]}
    del files["port"]
    return document({"web": group(lab.servers, port=80)}, {"shop": balancer({"many": files})})


@case(load=RANGES)
def packets_with_marks_of_others_come_in(lab):
    """What others have set on packets of a range does not matter, and bits that they look at are their own."""
    network(lab, 1)
    for program_ in ("iptables-legacy", "ip6tables-legacy"):
        lab.gw.run(program_, "-t", "mangle", "-A", "PREROUTING", "-p", "tcp", "-j", "MARK", "--set-xmark", "0x4000/0x4000")
        lab.gw.run(program_, "-t", "mangle", "-A", "POSTROUTING", "-m", "mark", "--mark", "0x4000/0x4000", "-j", "ACCEPT")
    lab.gw.run("ip", "rule", "add", "fwmark", "0x4000/0x4000", "lookup", "main")
    lab.start(ranged(lab))
    assert lab.who(port=8050, count=4) == {"s1": 4}
    assert "mark_taken" not in visit(lab)


@case(load=RANGES)
def a_mark_of_others_is_that_of_a_range(lab):
    network(lab, 1)
    with contextlib.closing(Ports(lab, 2222)):
        lab.start(ranged(lab))
        assert is_open(lab, "10.1.0.1", 2222) and "mark_taken" not in visit(lab)
        lab.gw.run("iptables-legacy", "-t", "mangle", "-A", "PREROUTING", "-p", "tcp", "--dport", "2222", "-j", "MARK",
                   "--set-xmark", "0x5a000001/0xffffffff")
        assert lab.who(vip="10.1.0.1", port=2222, count=2) == {"s1": 2}, "the range takes what is not its own"
        found = visit(lab)["mark_taken"]
        assert found["object"] == "/load_balancers/shop/listeners/many" and "-A PREROUTING" in found["what"], found
        settle_marks(lab, found)
        assert is_open(lab, "10.1.0.1", 2222) and lab.who(port=8050, count=4) == {"s1": 4}
        assert not lab.who(vip="10.1.0.1", port=2222, count=1).get("s1")
        # A rule of routing that came after the start.
        mark = next(x for x in lab.gw.ipvsadm("-Sn").split() if x.isdigit() and int(x) > 0x5a000000)
        lab.gw.run("ip", "rule", "add", "fwmark", mark, "lookup", "main")
        found = visit(lab)["mark_taken"]
        assert "ip rule" in found["what"], found
        settle_marks(lab, found)
        assert lab.who(port=8050, count=4) == {"s1": 4}


def settle_marks(lab, found):
    """Runs the mend: the folder is that of the settings here, and the restart is ours."""
    folder = os.path.dirname(lab.gw.daemon.settings_path)
    os.makedirs(f"{folder}/conf.d", exist_ok=True)
    command, _, restart = found["mend"].partition(" && ")
    assert restart == "systemctl restart zonegate" and "/etc/zonegate/conf.d/" in command, found
    lab.gw.run("sh", "-c", command.replace("/etc/zonegate", folder))
    assert lab.gw.daemon.stop() == 0
    lab.gw.daemon.start()
    lab.wait(lambda: "mark_taken" not in visit(lab), 5 + lab.margin, "it is mended", pause=0.2)
    lab.wait(lambda: lab.who(port=8050, count=1).get("s1"), 5 + lab.margin, "the range is served", pause=0.2)
