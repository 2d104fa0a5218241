# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: zones shifted and returned, what is not as configured, the answers of DNS."""

import json
import os

from zglab import OTHER_VIP4, VIP4, case
from zglab.dns import Resolver
from zglab.lab import Gateway
from zglab.zones import (
    BOTH, NAME, ONLY_A, answers, dns_settings, one_gateway, ready, reasons, settled, start_one,
    two_zones,
)

LAB_SECONDS = 6
CONFLICT, NOT_FOUND, UNREACHABLE, USAGE = 4, 6, 7, 64


def code(done, expected=0):
    assert done.returncode == expected, (done.args, done.returncode, done.stdout, done.stderr)
    return done.stdout


@case
def a_shift_and_its_end(lab):
    ask = ready(lab, cross_zone=False)
    cli = lab.gw.cli
    assert "Everything is as configured" in code(cli("override", "list"))
    wish = ("zone-b", "--lb", "shop", "--for", "2h", "--comment", "new switch")
    text = code(cli("zone", "shift", *wish, "--dry-run"), 2)
    assert "50 %" in text and OTHER_VIP4 in text, text
    assert ask.published(NAME) == BOTH
    text = code(cli("zone", "shift", *wish))
    assert ask.published(NAME) == ONLY_A
    assert "zone-b is out of load balancer shop until" in text, text
    shown = code(cli("override", "list"))
    assert "zone-b of shop" in shown and "new switch" in shown and "root" in shown, shown
    listed, = json.loads(code(cli("-o", "json", "override", "list")))
    assert listed["kind"] == "zone_shift" and listed["comment"] == "new switch", listed
    code(cli("zone", "shift", *wish), CONFLICT)
    refused = cli("zone", "shift", "zone-a", *wish[1:])
    code(refused, CONFLICT)
    assert "no zone left" in refused.stderr, refused.stderr
    code(cli("zone", "extend", "zone-b", "--for", "3d", "--comment", "parts are late"))
    later, = json.loads(code(cli("-o", "json", "override", "list")))
    assert later["expires_at"] > listed["expires_at"] and later["comment"] == "parts are late", later
    code(cli("zone", "extend", "zone-b", "--for", "4d"), 3)
    text = code(cli("zone", "return", "zone-b"))
    assert "Returned zone zone-b" in text, text
    code(cli("zone", "return", "zone-b"), NOT_FOUND)
    answers(lab, ask, BOTH)
    code(cli("zone", "shift", "zone-b", "--lb", "shop", "--for", "2h"), USAGE)


@case
def the_last_zone_by_force(lab):
    ask = ready(lab)
    cli = lab.gw.cli
    common = ("--all", "--for", "90s", "--comment", "drill")
    code(cli("zone", "shift", "zone-a", *common))
    code(cli("zone", "shift", "zone-b", *common), CONFLICT)
    code(cli("zone", "shift", "zone-b", *common, "--force", "--evacuate-servers"))
    assert ask.published(NAME) == set()
    shown = code(cli("override", "list"))
    assert "all load balancers, servers too" in shown and "(forced)" in shown, shown
    code(cli("zone", "return", "zone-a", "--all"))
    answers(lab, ask, ONLY_A, hold=0)


@case
def a_preview_is_the_answer(lab):
    ask = ready(lab, cross_zone=False)
    lab.named["b2"].kill()
    answers(lab, ask, ONLY_A)
    text = code(lab.gw.cli("dns", "preview", NAME))
    rows = {x.split()[0]: x for x in text.splitlines() if x.startswith("192.")}
    assert "published" in rows[VIP4] and "left out" in rows[OTHER_VIP4], text
    assert "server group b" in rows[OTHER_VIP4] or "group b" in rows[OTHER_VIP4], text
    assert "TTL 30 s" in text and "NOERROR" in text, text
    reply = ask.ask(NAME)
    told = json.loads(code(lab.gw.cli("-o", "json", "dns", "preview", NAME)))
    shown = {x["address"] for x in told["addresses"] if x["published"]}
    assert shown == set(reply.addresses()) and {told["ttl_s"]} == reply.ttls(), told
    assert "NXDOMAIN" in code(lab.gw.cli("dns", "preview", f"nobody.{NAME}", "--type", "AAAA"))
    assert "does not serve" in code(lab.gw.cli("dns", "preview", "example.org"))


# ---- several nodes ----


def served(gateway, port):
    """Its API over loopback, by a token."""
    path = f"{gateway.daemon.folder}/token"
    with open(path, "w", encoding="ascii") as file:
        file.write("zg_" + f"{port:x}" * 8 + "\n")
    os.chmod(path, 0o400)
    os.chown(path, *gateway.daemon.ids)
    gateway.daemon.settings["api"].update(listen=f"127.0.0.1:{port}", token_file=path)
    return "--server", f"http://127.0.0.1:{port}", "--token-file", path


@case
def all_nodes_or_none(lab):
    """A second node on the same host answers DNS at another address and programs nothing."""
    ask = one_gateway(lab)
    second = Gateway(lab.config, lab.gw.ns, "gw2")
    lab.gateways.append(second)
    lab.gw.ns.add_address("front0", "10.1.0.2/24")
    nodes = (*served(lab.gw, 7481), *served(second, 7482))
    start_one(lab, two_zones(lab))
    second.daemon.settings["kernel"] = {"ipvs": "off"}
    second.daemon.settings["dns"] = dns_settings("10.1.0.2")
    second.daemon.start()
    second.api.apply(two_zones(lab))
    for gateway in lab.gateways:
        lab.wait(lambda: settled(gateway), 4 * lab.slow, "both are healthy")
    other = Resolver(lab.client, "10.1.0.2")
    wish = ("zone-b", "--lb", "shop", "--for", "1h", "--comment", "both")
    text = code(lab.gw.cli(*nodes, "zone", "shift", *wish))
    assert "127.0.0.1:7481" in text and "127.0.0.1:7482" in text, text
    assert ask.published(NAME) == ONLY_A == other.published(NAME)
    code(lab.gw.cli(*nodes, "zone", "return", "zone-b"))
    answers(lab, ask, BOTH)
    answers(lab, other, BOTH)
    # one of them refuses: the other one keeps its zone
    code(second.cli("zone", "shift", "zone-a", *wish[1:]))
    refused = lab.gw.cli(*nodes, "zone", "shift", *wish)
    code(refused, CONFLICT)
    assert ask.published(NAME) == BOTH and reasons(lab.gw)[OTHER_VIP4] == "healthy"
    # one of them is gone
    code(second.cli("zone", "return", "zone-a"))
    second.daemon.kill()
    code(lab.gw.cli(*nodes, "zone", "shift", *wish), UNREACHABLE)
    assert ask.published(NAME) == BOTH
