# SPDX-License-Identifier: GPL-2.0-or-later
"""Real resolvers and tools in front: Unbound, a delegation in BIND, dig, kdig, drill, dnsperf."""

import contextlib
import os
import re
import subprocess
import time

from zglab import case, sysc
from zglab.client import ask_tcp
from zglab.dns import Resolver
from zglab.zones import (
    APEX, BOTH, NAME, ONLY_A, cancel, dns_settings, one_gateway, ready, settled, shifted, start_two,
    two_gateways, two_zones,
)

LAB_SECONDS = 20
PARENT = "10.2.0.14"

ZONE = f"""$TTL 60
@ SOA ns hostmaster 1 3600 600 604800 5
@ NS ns
ns A {PARENT}
lb NS ns1.lb
ns1.lb A 10.1.0.1
www CNAME shop.lb
"""
NAMED = """options {{ directory "{folder}"; listen-on {{ {parent}; }}; listen-on-v6 {{ none; }};
  recursion no; dnssec-validation no; pid-file "{folder}/pid"; session-keyfile "{folder}/key"; }};
controls {{ }};
zone "example.net" {{ type primary; file "zone"; }};
"""
UNBOUND = """server:
  directory: "{folder}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  interface: 127.0.0.1
  access-control: 127.0.0.0/8 allow
  module-config: "iterator"
  use-caps-for-id: yes
  qname-minimisation: yes
remote-control:
  control-enable: no
stub-zone:
  name: "example.net"
  stub-addr: {parent}
"""


class Program:
    """A server program in the foreground, in a namespace, until the case is over."""

    def __init__(self, namespace, folder, *command):
        with open(f"{folder}/log", "wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder,
                preexec_fn=lambda: sysc.setns(namespace.descriptor),
            )

    def stop(self):
        self._process.terminate()
        self._process.wait(10)


def written(folder, **files):
    os.makedirs(folder, exist_ok=True)
    for name, text in files.items():
        with open(f"{folder}/{name}", "w", encoding="ascii") as file:
            file.write(text.format(folder=folder, parent=PARENT) if name == "conf" else text)
    return folder


def answering(lab, namespace, server, name):
    def asked():
        try:
            one = Resolver(namespace, server, timeout=0.3)
            return one.ask(name).rcode == "NOERROR"
        except OSError:
            return False

    lab.wait(asked, 20 * lab.slow, f"{server} answers {name}", pause=0.1)


@contextlib.contextmanager
def delegated(lab, zone):
    """BIND with the parent zone, and Unbound at the client, which asks it; both answer."""
    folder = written("/run/zglab/named", conf=NAMED, zone=zone)
    parent = Program(
        lab.named["b2"].namespace, folder, "named", "-f", "-n", "1", "-c", f"{folder}/conf"
    )
    folder = written("/run/zglab/unbound", conf=UNBOUND)
    cache = Program(lab.client, folder, "unbound", "-d", "-c", f"{folder}/conf")
    try:
        answering(lab, lab.client, PARENT, "www.example.net")
        answering(lab, lab.client, "127.0.0.1", NAME)
        yield
    finally:
        cache.stop()
        parent.stop()


@case
def delegated_and_resolved(lab):
    """From a client's resolver by the delegation of the parent zone to the gateway."""
    ready(lab)
    lab.gw.api.patch("/load-balancers/shop", {"dns_ttl_s": 1}).expect(200)
    with delegated(lab, ZONE):
        ask = Resolver(lab.client, "127.0.0.1")
        assert ask.published(NAME) == BOTH and ask.ask(NAME).ttls() <= {0, 1}
        assert ask.ask(NAME, "AAAA").rcode == "NOERROR"
        assert ask.ask(f"nobody.{APEX}").rcode == "NXDOMAIN"
        assert ask.ask(APEX, "SOA").serial > 1
        assert {x.data for x in ask.ask(APEX, "NS").answers} == {
            f"ns1.{APEX}", "ns2.example.net",
        }
        chain = ask.ask("www.example.net")
        assert [x.type for x in chain.answers][:1] == ["CNAME"], chain
        assert set(chain.addresses()) == BOTH, chain
        began = time.monotonic()
        name = shifted(lab)
        lab.wait(
            lambda: ask.published("www.example.net") == ONLY_A, 1 + lab.margin,
            "a resolver forgets within the TTL", pause=0.05,
        )
        cancel(lab, name)
        assert time.monotonic() - began < 1 + 2 * lab.margin
        lab.wait(
            lambda: ask.published(NAME) == BOTH, 2 + lab.margin, "both again", pause=0.05
        )


@case
def a_name_server_under_the_apex(lab):
    """The parent's glue and our own answer say the same."""
    own = f"ns1.{APEX}"
    ask = one_gateway(lab)
    dns = dns_settings("10.1.0.1", "fd01::1", ns=f"{own}=10.1.0.1=fd01::1, ns2.example.net")
    lab.start(two_zones(lab), dns=dns)
    lab.wait(lambda: settled(lab.gw), 4 * lab.slow, "both are healthy")
    assert ask.published(own) == {"10.1.0.1"} and ask.published(own, "AAAA") == {"fd01::1"}
    assert {x.data for x in ask.ask(APEX, "NS").answers} == {own, "ns2.example.net"}
    assert ask.ask(APEX, "SOA").answers[0].data[0] == own
    for name in (own, f"{own.upper()}."):
        refused = lab.gw.api.patch("/load-balancers/shop", {"dns_name": name})
        assert 400 <= refused.status < 500, refused
    assert ask.published(own) == {"10.1.0.1"} and ask.published(NAME) == BOTH
    zone = ZONE.replace("lb NS ns1\nns1 A", "lb NS ns1.lb\nns1.lb A")
    with delegated(lab, zone):
        through = Resolver(lab.client, "127.0.0.1")
        assert through.published(own) == {"10.1.0.1"}
        assert through.published("www.example.net") == BOTH


def readme_delegation():
    """The lines for the parent zone that the README gives, with the lab's addresses."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(f"{top}/README.md", encoding="utf-8") as file:
        blocks = re.findall(r"^```(\w*)\n(.*?)^```$", file.read(), re.M | re.S)
    block, = [text for language, text in blocks if not language and "IN CNAME shop.lb.example.net." in text]
    assert block.count("192.0.2.53") == 1 and block.count("198.51.100.53") == 1, block
    return block.replace("192.0.2.53", "10.1.0.1").replace("198.51.100.53", "10.1.0.2")


@case
def as_the_readme_says(lab):
    """Two gateways of two zones, delegated as the README has it: a client of a CNAME is elsewhere after the time that is told."""
    two_gateways(lab)
    configuration = two_zones(lab, dns_ttl_s=1, cross_zone=False)
    start_two(lab, configuration, dns={"ns": "ns1.example.net, ns2.example.net"})
    zone = "$TTL 60\n@ SOA ns1 hostmaster 1 3600 600 604800 5\n@ NS here\nhere A 10.2.0.14\n"
    with delegated(lab, zone + readme_delegation()):
        ask = Resolver(lab.client, "127.0.0.1", timeout=3.0)
        chain = ask.ask("www.example.net")
        assert set(chain.addresses()) == BOTH, chain
        assert [x.ttl > 1 for x in chain.answers if x.type == "CNAME"] == [True], chain
        told = lab.gw.api.get("/load-balancers/shop/failover-time").expect(200).json["total_ms"]
        lab.gw2.daemon.kill()
        lab.switch.namespace.set_link(lab.front_ports["gw2"], False)

        def elsewhere():
            try:
                return set(ask.ask("www.example.net").addresses()) == ONLY_A
            except TimeoutError:
                return False  # the other name server is gone, too

        lab.wait(elsewhere, told / 1000 + 3 * lab.margin, "the client is told zone-a only")
        address, = ask.ask("www.example.net").addresses()
        assert ask_tcp(lab.client, address, 80)


@case
def tools(lab):
    ready(lab)
    subnet = ("+subnet=198.51.100.0/24", "+nsid", "+cookie")
    for command in (
        ("dig", "+short", *subnet, "@10.1.0.1", NAME),
        ("dig", "+short", "+tcp", "+dnssec", "@fd01::1", NAME),
        ("kdig", "+short", *subnet, "@10.1.0.1", NAME),
        ("kdig", "+short", "+tcp", "@10.1.0.1", NAME),
    ):
        out = lab.run_in(lab.client, *command)
        assert set(out.split()) == BOTH, (command, out)
    out = lab.run_in(lab.client, "drill", "@10.1.0.1", NAME, "A")
    found = set(re.findall(r"^shop\S+\s+\d+\s+IN\s+A\s+(\S+)$", out, re.M))
    assert found == BOTH and "rcode: NOERROR" in out and ";; WARNING" not in out, out


@case
def many_at_once(lab):
    """dnsperf gets an answer to each question, also while zones come and go."""
    ready(lab)
    path = "/run/zglab/questions"
    with open(path, "w", encoding="ascii") as file:
        for kind, name in (("A", NAME), ("AAAA", NAME), ("A", f"zone-a.{NAME}"), ("SOA", APEX),
                           ("A", f"nobody.{APEX}")):
            file.write(f"{name} {kind}\n")
    for mode in ("udp", "tcp"):
        process = subprocess.Popen(
            ["dnsperf", "-s", "10.1.0.1", "-m", mode, "-d", path, "-l", "1", "-c", "4", "-q", "20",
             "-e"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            preexec_fn=lambda: sysc.setns(lab.client.descriptor),
        )
        for _ in range(5):
            name = shifted(lab)
            cancel(lab, name)
        out = process.communicate(timeout=20 * lab.slow)[0]
        lost = re.search(r"Queries lost:\s+(\d+)", out)
        assert lost and int(lost.group(1)) == 0, out
        assert re.search(r"Response codes:.*NOERROR", out) and "SERVFAIL" not in out, out
        assert not re.search(r"Warning|error", out), out
