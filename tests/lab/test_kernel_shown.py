# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands before IPVS is shown: sets and rules, ours and foreign ones, and what somebody has changed by hand."""

import fcntl

from zglab import CLIENT4, case
from zglab.filters import LOCK, NETFILTER, is_open, rules, sets
from zglab.lists import OTHER4, office, set_name, started

LAB_KIND = "uml"
LAB_SECONDS = 15


def shown(lab):
    """{name: set}, {(family, table): rules}, all of it."""
    answer = lab.gw.api.get("/kernel").expect(200).json["filters"]
    return {x["name"]: x for x in answer["sets"]}, {(x["family"], x["table"]): x for x in answer["rules"]}, answer


def drift(lab):
    answer = lab.gw.api.get("/kernel/drift").expect(200).json
    assert answer["in_sync"] == (answer["operations_total"] == 0) and answer["fault"] is None, answer
    return answer["operations"]


def detected(lab):
    return [x for x in lab.gw.api.get("/events").expect(200).json["items"] if x["type"] == "drift.detected"]


def guarded(lab):
    started(lab, office("deny", allow=[f"{CLIENT4}/32"]), kernel={"audit_interval_s": 3600})
    lab.gw.api.patch("/load-balancers/shop", {"vip_guard": "drop"}).expect(200)


@case(load=NETFILTER)
def ours_and_foreign(lab):
    guarded(lab)
    lab.gw.run("ipset", "create", "theirs", "hash:net")
    lab.gw.run("ipset", "add", "theirs", "10.9.0.0/16")
    name = set_name(lab)
    there, chains, answer = shown(lab)
    assert answer["in_force"] and answer["fault"] is None and answer["sets_left_out"] == 0, answer
    assert set(there) == set(sets(lab)), "as ipset has them"
    assert all(there[x]["entries"] == len(entries) for x, entries in sets(lab).items()), there
    assert there["theirs"]["owner"] == "foreign" and "use" not in there["theirs"]
    assert there[name]["use"] == "entries of access list office" and there[name]["access_list"] == "office"
    assert there[name]["type"] == "hash:net" and there[name]["memory_bytes"] > 0 and there[name]["references"] == 1
    assert {x["state"] for x in there.values() if x["owner"] == "zonegate"} == {"in_force"}
    one = chains["ipv4", "filter"]
    assert one["state"] == "in_force" and one["chains"] == ["ZONEGATE"] and one["program"].startswith("iptables"), one
    assert one["rules"] == len([x for x in rules(lab)[0] if x.startswith("-A ZONEGATE ")])
    ours = lab.gw.api.get("/kernel?owner=zonegate").expect(200).json["filters"]["sets"]
    assert {x["name"] for x in ours} == set(there) - {"theirs"}
    assert "filters" not in lab.gw.api.get("/kernel?services_only=true").expect(200).json
    text = lab.gw.cli("kernel", "show").stdout
    assert name in text and "entries of access list office" in text and "iptables" in text and "theirs" not in text, text
    assert "1 foreign set not shown" in text and "theirs" in lab.gw.cli("kernel", "show", "--foreign").stdout
    assert drift(lab) == []


@case(load=NETFILTER)
def changes_by_hand_are_told_and_mended(lab):
    guarded(lab)
    name, ours = set_name(lab), (rules(lab), sets(lab))
    for change, told in (
            (("ipset", "del", name, CLIENT4), name),
            (("ipset", "del", "zg4-drop", "192.0.2.10"), "zg4-drop"),
            (("iptables-legacy", "-F", "ZONEGATE"), "SET_RULES IPv4"),
            (("iptables-legacy", "-D", "INPUT", "-j", "ZONEGATE"), "SET_RULES IPv4")):
        before = len(detected(lab))
        lab.gw.run(*change)
        operations = drift(lab)
        assert len(operations) >= 1 and told in " ".join(operations), (change, operations)
        there, chains, answer = shown(lab)
        state = there[told]["state"] if told.startswith("zg4") else chains["ipv4", "filter"]["state"]
        assert state == "changed" and not answer["in_force"], answer
        assert (rules(lab), sets(lab)) != ours, "to look mends nothing"
        command = lab.gw.cli("kernel", "drift")
        assert command.returncode == 2 and told in command.stdout, command
        mended = lab.gw.api.call("POST", "/kernel/reconcile").expect(200).json
        assert mended["mended"] and mended["operations"] == operations, mended
        assert (rules(lab), sets(lab)) == ours and drift(lab) == [] and shown(lab)[2]["in_force"]
        lab.wait(lambda n=before: len(detected(lab)) > n, 2 + lab.margin, "an event tells it")
    assert is_open(lab, "192.0.2.10", 80, source=CLIENT4)


@case(load=NETFILTER)
def a_chain_that_is_gone(lab):
    guarded(lab)
    ours = rules(lab)
    for command in (("-D", "INPUT", "-j", "ZONEGATE"), ("-F", "ZONEGATE"), ("-X", "ZONEGATE")):
        lab.gw.run("iptables-legacy", *command)
    _, chains, _ = shown(lab)
    assert chains["ipv4", "filter"]["state"] == "missing" and chains["ipv4", "filter"]["chains"] == [], chains
    assert drift(lab) == ["SET_RULES IPv4"]
    assert lab.gw.api.call("POST", "/kernel/reconcile").expect(200).json["mended"]
    assert rules(lab) == ours
    assert not is_open(lab, "192.0.2.10", 80, source=OTHER4)


@case(load=NETFILTER)
def rules_that_cannot_be_read_are_not_called_missing(lab):
    guarded(lab)
    with open(LOCK, "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        there, chains, answer = shown(lab)
        assert "held the lock" in answer["fault"] and chains == {} and not answer["in_force"], answer
        assert {x["state"] for x in there.values()} == {"in_force"}, there
        differs = lab.gw.api.get("/kernel/drift").expect(200).json
        assert differs["operations"] == [] and not differs["in_sync"] and "held the lock" in differs["fault"], differs
        command = lab.gw.cli("kernel", "drift")
        assert command.returncode == 2 and "As far as it could be read" in command.stdout, command
        command = lab.gw.cli("kernel", "reconcile")
        assert command.returncode == 1 and "held the lock" in command.stdout, command
    assert drift(lab) == [] and lab.gw.cli("kernel", "reconcile").returncode == 0


@case(load=NETFILTER)
def a_thousand_sets_of_others_with_any_names(lab):
    guarded(lab)
    theirs = [f"theirs-{n}" for n in range(1000)]
    lab.gw.run("ipset", "restore", stdin="".join(f"create {x} hash:ip\n" for x in theirs))
    for name in (b"b\xfcro", b'a "b" <c>', b"x\xc3\xa9"):
        lab.gw.run("ipset", "create", name, "hash:ip")
    there, _, answer = shown(lab)
    assert answer["in_force"] and answer["fault"] is None and answer["sets_left_out"] == 0, answer["fault"]
    assert set(theirs) | {"b?ro", 'a "b" <c>', "xé"} == {x for x in there if there[x]["owner"] == "foreign"}
    assert drift(lab) == []
    assert "1003 foreign sets not shown" in lab.gw.cli("kernel", "show").stdout


@case
def a_kernel_without_sets(lab):
    lab.network(0)
    lab.start()
    _, _, answer = shown(lab)
    assert answer == {"in_force": True, "fault": None, "sets": [], "sets_left_out": 0, "rules": []}, answer
    assert drift(lab) == []
