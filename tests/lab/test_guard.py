# SPDX-License-Identifier: GPL-2.0-or-later
"""vip_guard, with packets: what has no listener is closed at the VIP and stays open at the gateway's own addresses."""

import os
import tempfile
import fcntl
import os
import random
import socket
import ssl
import threading
import time

from zglab import CLIENT4, VIP4, VIP6, case
from zglab.documents import balancer, both, document, listener, web
from zglab.filters import (FOREIGN, LOCK, NETFILTER, Ports, echo, is_open, is_refused, knock, metric, network, operations, rules,
                           sets)

LAB_KIND = "uml"
LAB_SECONDS = 40

GATEWAY4, GATEWAY6 = "10.1.0.1", "fd01::1"


def guarded(lab, guard="drop", **members):
    configuration = web(lab, **members)
    configuration["load_balancers"]["shop"]["vip_guard"] = guard
    return configuration


@case(load=NETFILTER)
def ports_without_a_listener_are_closed(lab):
    network(lab)
    ports = Ports(lab, 22)
    lab.start(web(lab))
    assert is_open(lab, VIP4, 22) and is_refused(lab, VIP4, 161, socket.SOCK_DGRAM)
    assert rules(lab)[0] == [] and sets(lab) == {}
    lab.gw.api.patch("/load-balancers/shop", {"vip_guard": "drop"}).expect(200)
    # The answer means: it is closed.
    assert knock(lab, VIP4, 22) == "silent" and knock(lab, VIP4, 161, socket.SOCK_DGRAM) == "silent"
    assert knock(lab, VIP4, 23) == "silent"
    assert is_open(lab, GATEWAY4, 22) and is_refused(lab, GATEWAY4, 161, socket.SOCK_DGRAM)
    assert lab.who(count=5) == {"s1": 5}
    assert is_open(lab, VIP4, 22, namespace=lab.gw.ns), "the gateway itself may"
    echo(lab, VIP4)
    lab.gw.api.patch("/load-balancers/shop", {"vip_guard": "reject"}).expect(200)
    assert is_refused(lab, VIP4, 22) and is_refused(lab, VIP4, 161, socket.SOCK_DGRAM)
    assert is_open(lab, GATEWAY4, 22) and lab.who(count=5) == {"s1": 5}
    lab.gw.api.patch("/load-balancers/shop", {"vip_guard": "off"}).expect(200)
    assert is_open(lab, VIP4, 22)
    assert rules(lab)[0] == [] and sets(lab) == {}
    ports.close()


@case(load=NETFILTER)
def the_same_over_ipv6(lab):
    network(lab)
    ports = Ports(lab, 22)
    lab.start(guarded(lab, family=6))
    assert knock(lab, VIP6, 22) == "silent" and is_open(lab, GATEWAY6, 22)
    assert lab.who(vip=VIP6, count=5) == {"s1": 5}
    echo(lab, VIP6)
    assert rules(lab, 6)[0] and rules(lab, 4)[0] == []
    lab.gw.api.patch("/load-balancers/shop", {"vip_guard": "reject"}).expect(200)
    assert is_refused(lab, VIP6, 22) and is_refused(lab, VIP6, 161, socket.SOCK_DGRAM)
    counted = [x for x in lab.gw.run("ip6tables-legacy", "-vxnL", "ZONEGATE").splitlines() if "REJECT" in x]
    assert len(counted) == 3 and int(counted[1].split()[0]) > 0, counted  # TCP, UDP, SCTP
    lab.gw.api.delete("/load-balancers/shop").expect(200, 202, 204)
    assert rules(lab, 6)[0] == [] and sets(lab) == {}
    ports.close()


@case(load=NETFILTER)
def a_listener_opens_its_port_without_a_rule(lab):
    network(lab, tcp=(80, 81))
    lab.start(guarded(lab))
    before = rules(lab)
    assert knock(lab, VIP4, 81) == "silent"
    lab.gw.api.put("/load-balancers/shop/listeners/more", listener(port=81)).expect(201)
    assert rules(lab) == before
    assert sets(lab)["zg4-open"] == [f"{VIP4},tcp:80", f"{VIP4},tcp:81"], sets(lab)
    lab.wait_in_service()
    lab.gw.api.delete("/load-balancers/shop/listeners/more").expect(200, 202, 204)
    assert sets(lab)["zg4-open"] == [f"{VIP4},tcp:80"] and rules(lab) == before
    assert knock(lab, VIP4, 81) == "silent"


@case(load=NETFILTER)
def rules_and_sets_of_others_are_not_touched(lab):
    network(lab)
    lab.gw.run("iptables-legacy-restore", stdin=FOREIGN)
    lab.gw.run("ipset", "create", "theirs", "hash:ip")
    lab.gw.run("ipset", "add", "theirs", "10.9.9.9")
    _, before = rules(lab)
    lab.start(guarded(lab), kernel={"on_stop": "flush", "audit_interval_s": 1})
    own, others = rules(lab)
    assert others == before and "-A INPUT -j ZONEGATE" in own, (own, others)
    lab.gw.api.patch("/load-balancers/shop", {"vip_guard": "reject"}).expect(200)
    assert rules(lab) == (own, before)
    # Somebody loads a firewall of his own over it: ours comes back, his stays.
    lab.gw.run("iptables-legacy-restore", stdin=FOREIGN)
    lab.wait(lambda: rules(lab) == (own, before), 2 + lab.margin, "the chain is back", pause=0.1)
    assert sets(lab)["theirs"] == ["10.9.9.9"]
    assert lab.gw.daemon.stop() == 0
    assert rules(lab) == ([], before)
    assert sets(lab) == {"theirs": ["10.9.9.9"]}


@case(load=NETFILTER)
def drift_is_mended(lab):
    network(lab)
    ports = Ports(lab, 22)
    lab.start(guarded(lab), kernel={"audit_interval_s": 1})
    ours, there = rules(lab), sets(lab)
    edits = (
        (("iptables-legacy", "-I", "ZONEGATE", "-j", "RETURN"), ("ipset", "flush", "zg4-drop")),
        (("iptables-legacy", "-D", "INPUT", "-j", "ZONEGATE"), ("ipset", "add", "zg4-open", f"{VIP4},tcp:22")),
    )
    for edit in edits:
        for command in edit:
            lab.gw.run(*command)
        lab.wait(lambda: (rules(lab), sets(lab)) == (ours, there), 3 + lab.margin, f"mended: {edit}", pause=0.1)
        assert knock(lab, VIP4, 22) == "silent", edit
    ports.close()


@case(load=NETFILTER)
def killed_at_any_moment(lab):
    network(lab)
    lab.start(guarded(lab))
    with_guard = (rules(lab), sets(lab))
    chance = random.Random(5)
    wanted = "drop"
    for _ in range(3):
        wanted = "off" if wanted == "drop" else "drop"
        thread = threading.Thread(target=write_and_never_mind, args=(lab, wanted), daemon=True)
        thread.start()
        time.sleep(chance.uniform(0, 0.35))
        lab.gw.daemon.kill()
        thread.join(10)
        lab.gw.daemon.start()
        wanted = lab.gw.api.get("/load-balancers/shop").expect(200).json["vip_guard"]
        expected = with_guard if wanted == "drop" else (([], with_guard[0][1]), {})
        lab.wait(lambda w=expected: (rules(lab), sets(lab)) == w, 5 + lab.margin,
                 f"after kill -9 and a start the kernel has what the document says: {wanted}", pause=0.1)


def write_and_never_mind(lab, wanted):
    try:
        lab.gw.api.patch("/load-balancers/shop", {"vip_guard": wanted})
    except OSError:
        pass
    except Exception:  # cut in the middle of the answer
        pass


@case(load=NETFILTER)
def adopted_after_a_restart(lab):
    network(lab)
    lab.start(guarded(lab), kernel={"audit_interval_s": 1})
    ours, there = rules(lab), sets(lab)
    lab.gw.daemon.stop()
    assert (rules(lab), sets(lab)) == (ours, there)
    lab.gw.daemon.start()
    lab.wait(lambda: metric(lab, "zonegate_kernel_dumps_total") > 2, 5 + lab.margin, "it has looked", pause=0.1)
    for op, subsystem in (("set_rules", "iptables"), ("add_entry", "ipset"), ("add_set", "ipset")):
        assert operations(lab, op, subsystem) == 0, op
    assert (rules(lab), sets(lab)) == (ours, there)


@case(load=NETFILTER)
def what_the_daemon_itself_listens_on_and_ftp(lab):
    network(lab, tcp=(21,))
    ports = Ports(lab, 25, 3000)
    lab.start(document(
        {"web": both(lab.servers, port=21)},
        {"shop": balancer({"ftp": listener(port=21)}, vip6=VIP6, vip_guard="drop")},
    ), dns={"listen": "0.0.0.0, [::]", "apex": "lb.example.net", "ns": "ns1.example.net"}, api={"tls_listen": "[::]:7443, 0.0.0.0:7443"})
    for vip, family in ((VIP4, 4), (VIP6, 6)):
        own = [f"{vip},{x}" for x in ("tcp:20", "tcp:21", "tcp:53", "tcp:7443", "udp:53")]
        assert sets(lab)[f"zg{family}-open"] == own, sets(lab)
        assert is_open(lab, vip, 53) and is_open(lab, vip, 3000) and is_open(lab, vip, 21), vip
        assert is_refused(lab, vip, 20), "let in, and nothing listens"
        assert knock(lab, vip, 25) == "silent", vip
        with lab.client:
            sock = socket.create_connection((vip, 7443), timeout=5 * lab.slow)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(sock) as secured:
            secured.sendall(b"GET /livez HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n")
            assert secured.recv(100).startswith(b"HTTP/1.1 "), vip
    ports.close()


@case(load=NETFILTER)
def off_touches_nothing(lab):
    network(lab)
    lab.start(kernel={"ipvs": "off"})
    lab.gw.api.apply(guarded(lab))
    lab.gw.daemon.stop()
    assert rules(lab)[0] == [] and sets(lab) == {}


@case(load=NETFILTER)
def without_iptables_all_else_works(lab):
    network(lab)
    lab.gw.daemon.environment["PATH"] = "/usr/bin:/bin"  # iptables is in sbin
    lab.start(web(lab))
    answer = lab.gw.api.patch("/load-balancers/shop", {"vip_guard": "drop"}).expect(200).json
    assert "apt-get install iptables" in answer["warnings"][0]["detail"], answer
    assert "apt-get install iptables" in lab.gw.api.get("/system").expect(200).json["kernel"]["guard_fault"]
    assert "there is no program iptables" in lab.gw.cli("status").stdout
    assert lab.who(source=CLIENT4, count=3) == {"s1": 3}
    lab.gw.api.patch("/load-balancers/shop", {"vip_guard": "off"}).expect(200)
    lab.wait(lambda: sets(lab) == {}, 2 + lab.margin, "nothing is left", pause=0.1)
    lab.wait(lambda: "guard_fault" not in lab.gw.api.get("/system").expect(200).json["kernel"], 5 + lab.margin,
             "and no fault is told", pause=0.1)


@case(load=NETFILTER)
def who_holds_the_lock_of_iptables_delays_nothing_for_long(lab):
    network(lab, 2)
    lab.start(guarded(lab), kernel={"audit_interval_s": 1})
    lab.wait_in_service()
    before = rules(lab)
    with open(LOCK, "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lab.wait(lambda: "holding the xtables lock" in lab.gw.daemon.log(), 5 + lab.margin, "it was asked for")
        for weight in (1, 2, 3):
            start = time.monotonic()
            lab.gw.api.patch("/server-groups/web/servers/s2", {"weight": weight}).expect(200)
            took = time.monotonic() - start
            assert lab.gw.weights()[lab.servers[1].address4] == weight and took < 2 + lab.margin, took
        lab.servers[0].kill()
        lab.wait(lambda: lab.gw.weights()[lab.servers[0].address4] == 0, 3 + lab.margin, "a dead server is taken out")
        # What cannot be looked at is not taken for gone.
        assert "drift.detected" not in lab.gw.daemon.log(), lab.gw.daemon.log()
    assert rules(lab) == before


@case(load=NETFILTER)
def a_program_that_hangs_delays_no_failover(lab):
    network(lab, 2)
    programs = os.path.join(lab.gw.daemon.folder, "hanging")
    os.makedirs(programs)
    for name in ("iptables", "ip6tables", "iptables-restore", "ip6tables-restore"):
        with open(os.path.join(programs, name), "w", encoding="ascii") as program:
            program.write("#!/bin/sh\nexec sleep 600\n")
        os.chmod(program.name, 0o755)
    lab.gw.daemon.environment["PATH"] = f"{programs}:/usr/bin:/bin"
    lab.start(web(lab))
    lab.wait_in_service()
    asked = threading.Thread(target=write_and_never_mind, args=(lab, "drop"))
    asked.start()
    lab.wait(lambda: "zg4-drop" in sets(lab), 3 + lab.margin, "the guard is on its way")
    for weight in (1, 2, 3):
        start = time.monotonic()
        lab.gw.api.patch("/server-groups/web/servers/s2", {"weight": weight}).expect(200)
        took = time.monotonic() - start
        assert lab.gw.weights()[lab.servers[1].address4] == weight and took < 1 + lab.margin, took
    lab.servers[0].kill()
    lab.wait(lambda: lab.gw.weights()[lab.servers[0].address4] == 0, 3 + lab.margin, "a dead server is taken out")
    assert asked.is_alive(), "all of that beside the program"
    asked.join(60)
    assert "within 10 s" in lab.gw.api.get("/system").expect(200).json["kernel"]["guard_fault"]
    # A stop waits for it a while, and tells so.
    asked = threading.Thread(target=write_and_never_mind, args=(lab, "reject"))
    asked.start()
    lab.wait(lambda: "zg4-reject" in sets(lab), 15 + lab.margin, "another one is on its way")
    start = time.monotonic()
    assert lab.gw.daemon.stop() == 0
    took = time.monotonic() - start
    assert took < 5 + lab.margin, took
    assert "ipset or a program of iptables did not end within 5 s and is left to the next start" in lab.gw.daemon.log()
    asked.join(10)


@case(load=NETFILTER)
def a_set_of_others_with_our_name_shuts_no_vip(lab):
    network(lab)
    lab.gw.run("ipset", "create", "zg4-open", "hash:net")
    lab.start(guarded(lab), kernel={"audit_interval_s": 1})
    lab.wait_in_service()
    assert lab.who(count=5) == {"s1": 5}
    assert "zg4-open of another kind" in lab.gw.api.get("/system").expect(200).json["kernel"]["guard_fault"]
    assert sets(lab)["zg4-open"] == []


@case(load=NETFILTER)
def what_iptables_says_may_be_any_bytes(lab):
    network(lab)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for name in ("iptables", "ip6tables"):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nprintf 'gesch\\344ft \\033[31m kaputt\\n'\nexit 3\n")
            os.chmod(path, 0o755)
        lab.gw.daemon.environment["PATH"] = f"{folder}:/usr/bin:/bin"  # iptables is in sbin
        lab.start(web(lab))
        answer = lab.gw.api.patch("/load-balancers/shop", {"vip_guard": "drop"}).expect(200).json
        assert "kaputt" in answer["warnings"][0]["detail"], answer
        assert "kaputt" in lab.gw.api.get("/system").expect(200).json["kernel"]["guard_fault"]
        for path in ("/system/doctor", "/kernel", "/kernel/drift", "/events"):
            assert "kaputt" in str(lab.gw.api.get(path).expect(200).json), path
        assert "kaputt" in lab.gw.cli("status").stdout
        assert lab.who(source=CLIENT4, count=3) == {"s1": 3}
