# SPDX-License-Identifier: GPL-2.0-or-later
"""The same records kept in a Knot server, or one of BIND or PowerDNS, by signed updates."""

import contextlib
import os
import sqlite3
import subprocess

from zglab import case, sysc
from zglab.dns import Resolver
from zglab.zones import (
    APEX, BOTH, NAME, ONLY_A, ONLY_B, cancel, one_gateway, settled, shifted, start_one, two_zones,
)

LAB_SECONDS = 40
SERVER = "10.2.0.14"
SECRET = "c2VjcmV0IG9mIHRoZSBsYWIsIDI1NiBiaXRzIGxvbmc="
KNOT = """
server:
    rundir: {folder}
    listen: {server}@53
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: {folder}/db
log:
  - target: stderr
    any: info
key:
  - id: zonegate
    algorithm: hmac-sha256
    secret: {secret}
acl:
  - id: updates
    key: zonegate
    action: update
zone:
  - domain: example.net
    file: {folder}/zone
    zonefile-sync: -1
    acl: updates
"""
ZONE = """$ORIGIN example.net.
@ 60 SOA ns hostmaster 1 60 60 60 5
@ 60 NS ns
ns 60 A 10.2.0.14
www 60 CNAME shop.lb
"""
KEY = """key "zonegate" {{
	algorithm hmac-sha256;
	secret "{secret}";
}};
"""


NAMED = """options {{ directory "{folder}"; listen-on {{ {server}; }}; listen-on-v6 {{ none; }};
  recursion no; dnssec-validation no; pid-file "{folder}/pid"; session-keyfile "{folder}/key"; }};
controls {{ }};
key "zonegate" {{ algorithm hmac-sha256; secret "{secret}"; }};
zone "example.net" {{ type primary; file "zone";
  update-policy {{ grant zonegate zonesub A AAAA; }}; }};
"""


PDNS = """launch=gsqlite3
gsqlite3-database={folder}/db/zones
local-address={server}
socket-dir={folder}
daemon=no
guardian=no
dnsupdate=yes
allow-dnsupdate-from=0.0.0.0/0
"""
PDNS_SCHEMA = "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql"


class Knot:
    conf, command = KNOT, ("knotd", "-c", "{folder}/conf")

    def __init__(self, lab):
        self._namespace = lab.named["b2"].namespace
        self._folder = "/run/zglab/knot-update"
        self._process = None
        self.key_file = f"{lab.gw.daemon.folder}/update.key"
        os.makedirs(f"{self._folder}/db", exist_ok=True)
        files = {f"{self._folder}/conf": self.conf, f"{self._folder}/zone": ZONE, self.key_file: KEY}
        for path, text in files.items():
            if text is not ZONE:
                text = text.format(folder=self._folder, server=SERVER, secret=SECRET)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        os.chmod(self.key_file, 0o600)
        os.chown(self.key_file, *lab.gw.daemon.ids)

    def start(self):
        with open(f"{self._folder}/log", "ab") as log:
            self._process = subprocess.Popen(
                [word.format(folder=self._folder) for word in self.command], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, preexec_fn=lambda: sysc.setns(self._namespace.descriptor),
            )
        return self

    def stop(self):
        if self._process and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(10)


class Bind(Knot):
    conf, command = NAMED, ("named", "-f", "-n", "1", "-c", "{folder}/conf")


class PowerDns(Knot):
    """As the README has it."""

    conf, command = PDNS, ("pdns_server", "--config-dir={folder}", "--config-name=lab")

    def __init__(self, lab):
        super().__init__(lab)
        folder = self._folder
        os.rename(f"{folder}/conf", f"{folder}/pdns-lab.conf")
        with contextlib.closing(sqlite3.connect(f"{folder}/db/zones")) as zones:
            with open(PDNS_SCHEMA, encoding="ascii") as schema:
                zones.executescript(schema.read())
        for words in (
            ["load-zone", "example.net", f"{folder}/zone"],
            ["import-tsig-key", "zonegate", "hmac-sha256", SECRET],
            ["set-meta", "example.net", "TSIG-ALLOW-DNSUPDATE", "zonegate"],
        ):
            subprocess.run(
                ["pdnsutil", f"--config-dir={folder}", "--config-name=lab", *words], check=True,
                stdout=subprocess.DEVNULL,
            )


def state(lab):
    return lab.gw.api.get("/system").expect(200).json["dns_update"]


def holds_names(lab, expected, seconds=10.0):
    """{name: addresses} is what the other server answers, and the daemon says so."""

    def equal():
        other = Resolver(lab.client, SERVER, timeout=0.3)
        try:
            return all(other.published(name) == found for name, found in expected.items())
        except OSError:
            return False
        finally:
            other.close()

    lab.wait(equal, seconds * lab.slow, f"{SERVER} answers {expected}", pause=0.05)
    lab.wait(lambda: state(lab)["in_sync"], 2 * lab.slow, "it is told", pause=0.05)


def started(lab, kind=Knot):
    one_gateway(lab)
    knot = kind(lab).start()
    start_one(
        lab, two_zones(lab),
        dns_update={"server": SERVER, "zone": "example.net", "key_file": knot.key_file},
    )
    lab.wait(lambda: settled(lab.gw), 4 * lab.slow, "both are healthy")
    return knot


WHOLE = {NAME: BOTH, f"zone-a.{NAME}": ONLY_A, f"zone-b.{NAME}": ONLY_B}


@case
def kept_equal(lab):
    knot = started(lab)
    try:
        holds_names(lab, WHOLE)
        assert "name server" not in lab.gw.cli("status").stdout
        other = Resolver(lab.client, SERVER)
        assert other.ask(NAME).ttls() == {60}
        name = shifted(lab)
        holds_names(lab, {**WHOLE, NAME: ONLY_A}, 3.0)
        assert other.ask(NAME).ttls() == {30}
        assert other.ask("www.example.net").answers[0].type == "CNAME", "others' records stay"
        cancel(lab, name)
        holds_names(lab, WHOLE, 3.0)
        # the other server is away
        knot.stop()
        shifted(lab)
        lab.wait(lambda: state(lab)["failures"], 10 * lab.slow, "it is seen", pause=0.05)
        seen = state(lab)
        assert seen["server"] == SERVER and not seen["in_sync"] and seen["error"], seen
        status = lab.gw.cli("status").stdout
        assert f"the name server {SERVER} is not equal" in status, status
        assert "dns_update.failed" in lab.gw.daemon.log()
        knot.start()
        holds_names(lab, {**WHOLE, NAME: ONLY_A}, 20.0)
        assert state(lab)["failures"] == 0
        assert "dns_update.done" in lab.gw.daemon.log()
        assert "not equal" not in lab.gw.cli("status").stdout
    finally:
        knot.stop()


def kept_equal_in(lab, kind):
    named = started(lab, kind)
    try:
        holds_names(lab, WHOLE)
        name = shifted(lab)
        holds_names(lab, {**WHOLE, NAME: ONLY_A}, 3.0)
        cancel(lab, name)
        holds_names(lab, WHOLE, 3.0)
        lab.gw.api.patch("/load-balancers/shop", {"dns_name": f"web.{APEX}"}).expect(200)
        holds_names(lab, {**{x: set() for x in WHOLE}, f"web.{APEX}": BOTH}, 5.0)
        other = Resolver(lab.client, SERVER)
        assert other.ask("www.example.net").answers[0].type == "CNAME", "others' records stay"
    finally:
        named.stop()


@case
def kept_equal_in_bind(lab):
    """By the update policy that the README gives."""
    kept_equal_in(lab, Bind)


@case
def kept_equal_in_powerdns(lab):
    kept_equal_in(lab, PowerDns)


@case
def names_that_went_meanwhile(lab):
    """What was kept there is known after kill -9: a name that is gone is removed."""
    knot = started(lab)
    try:
        holds_names(lab, WHOLE)
        knot.stop()
        new = f"web.{APEX}"
        lab.gw.api.patch("/load-balancers/shop", {"dns_name": new}).expect(200)
        lab.gw.daemon.kill()
        knot.start()
        lab.gw.daemon.start()
        gone = {name: set() for name in WHOLE}
        holds_names(lab, {**gone, new: BOTH, f"zone-a.{new}": ONLY_A}, 20.0)
    finally:
        knot.stop()
