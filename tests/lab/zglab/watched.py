# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab that a real Prometheus watches: alerts made to fire and to resolve, and panels of the board that move."""

import json
import os
import re
import subprocess

from .prometheus import Prometheus
from .zones import one_gateway, start_one, two_zones

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
RULES = f"{ROOT}/conf/prometheus/zonegate.rules.yml"
BOARD = f"{ROOT}/conf/grafana/zonegate.json"
TARGET = "127.0.0.1:7443"
# Which file of the lab makes which alerts fire; the other panels move where servers, zones and clients do.
OF_KERNEL = {"Drift", "ApplyFailed", "ProberStalled", "DaemonDown", "ConnTableNearFull"}
OF_SERVERS = {
    "ServerDown", "GroupDegraded", "GroupEmpty", "FailOpen", "ZoneWithdrawn", "ShiftExpiring", "ShiftLong",
    "Flapping", "DnsErrors", "CertExpiring", "AuthFailures",
}
KERNEL_PANELS = {"Kernel follows A", "Drift repaired A", "Late loop A", "Table of connections A"}


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write_certificate(lab, days):
    """A certificate of the API that is valid for so long."""
    folder = lab.gw.daemon.folder
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-subj", "/CN=gw", "-days", str(days), "-keyout", f"{folder}/key.new",
         "-out", f"{folder}/cert.new"], check=True, capture_output=True, timeout=30)
    for name, mode in (("key", 0o600), ("cert", 0o644)):
        os.chmod(f"{folder}/{name}.new", mode)
        os.chown(f"{folder}/{name}.new", *lab.gw.daemon.ids)
        os.rename(f"{folder}/{name}.new", f"{folder}/{name}.pem")


class Watched:
    """A lab with Prometheus, and what has fired in it."""

    def __init__(self, lab):
        self.lab = lab
        self.resolver = one_gateway(lab)
        write_certificate(lab, 400)
        folder = lab.gw.daemon.folder
        start_one(lab, None, kernel={"audit_interval_s": 1}, api={
            "tls_listen": TARGET, "tls_cert": f"{folder}/cert.pem", "tls_key": f"{folder}/key.pem"})
        self.apply()
        token = lab.gw.cli("token", "create", "prometheus", "--role", "metrics").stdout.strip()
        self.prometheus = Prometheus(lab, TARGET, token, text_of(RULES))
        self.prometheus.wait_up(30 * lab.slow)
        self.fired = set()

    def apply(self):
        self.lab.gw.api.apply(two_zones(
            self.lab, groups={"when_none_healthy": "open"}, cross_zone=False))

    def fires(self, names, cause, undo, seconds=20):
        """CAUSE makes the alerts fire, UNDO resolves them."""
        self.begin(names, cause, seconds)
        undo()
        self.over(names)

    def begin(self, names, cause, seconds=20):
        # A machine that is short of time may make the loop late by itself.
        self.over(names)
        cause()
        took = self.lab.wait(lambda: names <= self.prometheus.firing(), seconds * self.lab.slow,
                             f"{names} fire", pause=0.3)
        print(f"{' '.join(sorted(names))}: firing after {took:.0f} s", flush=True)
        self.fired |= names

    def over(self, names, seconds=90):
        took = self.lab.wait(lambda: not names & self.prometheus.firing(), seconds * self.lab.slow,
                             f"{names} are over", pause=0.5)
        print(f"{' '.join(sorted(names))}: over after {took:.0f} s", flush=True)

    def ends(self, alerts, panels):
        """All of the alerts fired, and all of these panels have moved."""
        names = set(re.findall(r"alert: (\w+)", text_of(RULES)))
        assert names == OF_KERNEL | OF_SERVERS, names ^ (OF_KERNEL | OF_SERVERS)
        assert self.fired == alerts, self.fired ^ alerts
        still = {name: text for name, text in panels.items() if not self.prometheus.varied(text)}
        self.prometheus.stop()
        assert not still, f"these did not move: {still}"


def expressions():
    """{panel: expression} of the board, with its variables filled in."""
    found = {}

    def walk(panels):
        for panel in panels:
            walk(panel.get("panels", ()))
            for target in panel.get("targets", ()):
                text = target["expr"].replace("$__rate_interval", "8s").replace("$__range", "60s")
                text = re.sub(r'(\w+)=~"\$\w+"', r'\1=~".*"', text)
                found[f"{panel['title']} {target['refId']}"] = text

    walk(json.loads(text_of(BOARD))["panels"])
    return found
