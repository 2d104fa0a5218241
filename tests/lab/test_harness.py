# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab itself, with ipvsadm in the daemon's place: it balances, counts, and can fail."""

import time

from zglab import VIP4, VIP6, case, receive
from zglab.cases import CaseTimeout

RULES = """\
-A -t {vip}:80 -s rr
-a -t {vip}:80 -r 10.2.0.11:80 -m -w 1
-a -t {vip}:80 -r 10.2.0.12:80 -m -w 1
"""


def balance(lab):
    lab.network(2, udp=(53,))
    lab.gw.ns.add_link("zonegate0", "dummy")
    lab.gw.ns.set_link("zonegate0")
    lab.gw.ns.add_address("zonegate0", f"{VIP4}/32")
    lab.gw.ns.add_address("zonegate0", f"{VIP6}/128")
    lab.gw.ipvsadm_restore(RULES.format(vip=VIP4))


@case
def balances(lab):
    balance(lab)
    assert lab.who(count=20) == {"s1": 10, "s2": 10}
    service = lab.gw.service("tcp", VIP4, 80)
    assert service.scheduler == "rr"
    assert service.destinations["10.2.0.11", 80].forward == "Masq"
    assert lab.gw.weights() == {"10.2.0.11": 1, "10.2.0.12": 1}


@case
def balances_udp_and_v6(lab):
    balance(lab)
    lab.gw.ipvsadm_restore(
        f"-A -u {VIP4}:53 -s rr\n-a -u {VIP4}:53 -r 10.2.0.11:53 -m -w 1\n"
        f"-A -t [{VIP6}]:80 -s rr\n-a -t [{VIP6}]:80 -r [fd02::12]:80 -m -w 7\n"
    )
    assert lab.who(port=53, count=10, protocol="udp") == {"s1": 10}
    assert lab.who(VIP6, count=10) == {"s2": 10}
    assert lab.gw.weights(vip=VIP6) == {"fd02::12": 7}


def forward(lab, prepare, *how):
    lab.network(2, direct=True)
    for server in lab.servers:
        prepare(server)
    rules = ""
    for vip, address in ((VIP4, "10.2.0.{}"), (f"[{VIP6}]", "[fd02::{}]")):
        rules += f"-A -t {vip}:80 -s rr\n"
        for number in (11, 12):
            rules += f"-a -t {vip}:80 -r {address.format(number)}:80 {' '.join(how)}\n"
    lab.gw.ns.add_link("zonegate0", "dummy")
    lab.gw.ns.set_link("zonegate0")
    lab.gw.ns.add_address("zonegate0", f"{VIP4}/32")
    lab.gw.ns.add_address("zonegate0", f"{VIP6}/128")
    lab.gw.ipvsadm_restore(rules)
    for vip in (VIP4, VIP6):
        answers = lab.who(vip, count=10)
        assert answers == {"s1": 5, "s2": 5}, (vip, answers)


@case
def forwards_direct(lab):
    forward(lab, receive.direct, "-g")


@case(load=receive.TUNNEL_MODULES)
def forwards_ipip(lab):
    forward(lab, receive.ipip, "-i", "--tun-type", "ipip")


@case(load=receive.TUNNEL_MODULES)
def forwards_gre(lab):
    forward(lab, receive.gre, "-i", "--tun-type", "gre", "--tun-nocsum")


@case(load=receive.TUNNEL_MODULES)
def forwards_gue(lab):
    forward(
        lab, receive.gue, "-i", "--tun-type", "gue", "--tun-port", str(receive.GUE_PORT),
        "--tun-nocsum",
    )


@case
def counts_messages(lab):
    balance(lab)
    with lab.gw.capture() as capture:
        assert capture.changes() == {}
        lab.gw.ipvsadm("-e", "-t", f"{VIP4}:80", "-r", "10.2.0.11:80", "-m", "-w", "3")
        assert capture.changes() == {"SET_DEST": 1}
        lab.gw.ipvsadm("-Ln")
        assert capture.changes() == {"SET_DEST": 1}
        assert capture.counts()["GET_SERVICE"] >= 1
        capture.reset()
        lab.gw.ipvsadm("-C")
        assert capture.changes() == {"FLUSH": 1}


@case
def kills_and_revives(lab):
    balance(lab)
    lab.servers[0].kill()
    answers = lab.who(count=10)
    assert answers == {"s2": 5, "ConnectionRefusedError": 5}, answers
    lab.servers[0].start()
    assert lab.who(count=10) == {"s1": 5, "s2": 5}


@case
def blackholes_and_revives(lab):
    balance(lab)
    lab.servers[0].blackhole()
    start = time.monotonic()
    answers = lab.who(count=2)
    assert answers == {"s2": 1, "TimeoutError": 1}, answers
    assert time.monotonic() - start > 1.5
    lab.servers[0].revive()
    assert lab.who(count=10) == {"s1": 5, "s2": 5}


@case
def traffic_lives(lab):
    balance(lab)
    traffic = lab.traffic(connections=4)
    time.sleep(0.5)
    traffic.stop()
    assert traffic.exchanges >= 8 and not traffic.broken and not traffic.refused


@case
def traffic_shows_a_break(lab):
    balance(lab)
    traffic = lab.traffic(connections=4)
    lab.servers[1].kill()
    lab.wait(lambda: len(traffic.broken) == 2 and traffic.refused, 3, "two connections break")


@case(must_fail=AssertionError)
def a_wrong_spread_fails(lab):
    balance(lab)
    assert lab.who(count=10) == {"s1": 9, "s2": 1}


@case(must_fail=AssertionError)
def a_late_event_fails(lab):
    balance(lab)
    lab.wait(lambda: lab.gw.weights()["10.2.0.11"] == 0, 0.2, "weight 0")


@case(must_fail=CaseTimeout, timeout=0.5)
def an_endless_case_fails(lab):
    lab.network(1)
    time.sleep(30)


@case
def a_failure_shows_the_table(lab):
    balance(lab)
    text = lab.describe()
    assert "C000020A:0050 rr" in text and "0A02000B:0050" in text, text
