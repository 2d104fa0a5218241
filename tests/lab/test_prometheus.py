# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's Prometheus scrapes the daemon. Every alert is made to fire by its fault, and to resolve; every
expression of the board has moved when all of that is over."""

import json
import os
import re
import signal
import subprocess
import time

from zglab import CLIENT4, VIP4, case, client
from zglab.prometheus import Prometheus
from zglab.zones import NAME, cancel, one_gateway, shift, start_one, two_zones

LAB_SECONDS = 180
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = f"{ROOT}/conf/prometheus/zonegate.rules.yml"
BOARD = f"{ROOT}/conf/grafana/zonegate.json"
TARGET = "127.0.0.1:7443"
ALERTS = {
    "DaemonDown", "ServerDown", "GroupDegraded", "GroupEmpty", "FailOpen", "ZoneWithdrawn",
    "ShiftExpiring", "ShiftLong", "Flapping", "ApplyFailed", "Drift", "ProberStalled", "DnsErrors",
    "ConnTableNearFull", "CertExpiring", "AuthFailures",
}


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
        names = set(names)
        # A machine that is short of time may make the loop late by itself.
        self.lab.wait(lambda: not names & self.prometheus.firing(), 30 * self.lab.slow,
                      f"{names} are quiet before", pause=0.5)
        cause()
        self.lab.wait(lambda: names <= self.prometheus.firing(), seconds * self.lab.slow,
                      f"{names} fire; there are {self.prometheus.firing()}", pause=0.3)
        undo()
        self.lab.wait(lambda: not names & self.prometheus.firing(), 40 * self.lab.slow,
                      f"{names} are over; there are {self.prometheus.firing()}", pause=0.5)
        self.fired |= names


def servers_and_zones(w):
    lab = w.lab
    a1, a2 = lab.named["a1"], lab.named["a2"]
    w.fires({"ServerDown", "ZoneWithdrawn"}, a2.kill, a2.start)

    def all_die():
        a1.kill()
        a2.kill()

    def all_live():
        a1.start()
        a2.start()

    w.fires({"GroupEmpty", "GroupDegraded", "FailOpen"}, all_die, all_live)

    def flap():
        for _ in range(4):
            a1.kill()
            time.sleep(1.6)
            a1.start()
            time.sleep(1.6)

    w.fires({"Flapping"}, flap, lambda: None)
    for weight in (50, 100):
        lab.gw.api.patch("/server-groups/a/servers/a1", {"weight": weight}).expect(200)
        time.sleep(2.5)
    made = []

    def leave():
        made.append(shift(lab, expires_in="10m").expect(201).json["id"])

    w.fires({"ShiftLong", "ShiftExpiring"}, leave, lambda: cancel(lab, made[0]))
    assert "ZoneWithdrawn" not in w.prometheus.firing(), "a zone that is shifted is out on purpose"


def kernel_and_daemon(w):
    lab, daemon = w.lab, w.lab.gw.daemon
    w.fires({"Drift"}, lambda: lab.gw.ipvsadm("-C"), lambda: None)

    def unknown_scheduler():
        lab.gw.api.patch("/load-balancers/shop/listeners/two", {"scheduler": "twos"})

    w.fires({"ApplyFailed"}, unknown_scheduler, w.apply, 30)

    def stall():
        daemon.pause()
        time.sleep(2.5)
        daemon.resume()

    w.fires({"ProberStalled"}, stall, lambda: None)
    w.fires({"DaemonDown"}, daemon.stop, daemon.start)


def table_of_connections(w):
    """4096 buckets in the lab's kernel; what has ended stays for some time, until the table is emptied."""
    lab = w.lab

    def fill():
        for _ in range(34):
            client.who(lab.client, VIP4, 80, 100, "tcp", 2.0 * lab.slow, None)

    def empty():
        lab.gw.ipvsadm("-C")

    w.fires({"ConnTableNearFull"}, fill, empty, 30)


def clients(w):
    lab, daemon = w.lab, w.lab.gw.daemon

    def ask_elsewhere():
        end = time.monotonic() + 5
        while time.monotonic() < end:
            w.resolver.ask("www.example.org")
            w.resolver.ask(NAME)

    w.fires({"DnsErrors"}, ask_elsewhere, lambda: None)

    def guess():
        urls = [f"https://{TARGET}/api/v1/system"] * 20
        lab.gw.run("curl", "-sk", "-o", "/dev/null", "-H", f"Authorization: Bearer {7:040d}", *urls)

    w.fires({"AuthFailures"}, guess, lambda: None)

    def renew(days):
        write_certificate(lab, days)
        daemon.signal(signal.SIGHUP)

    w.fires({"CertExpiring"}, lambda: renew(5), lambda: renew(400))


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


@case(timeout=400)
def every_alert_fires_and_every_panel_moves(lab):
    w = Watched(lab)
    traffic = lab.traffic(connections=3)
    servers_and_zones(w)
    clients(w)
    traffic.stop()
    kernel_and_daemon(w)
    table_of_connections(w)
    assert w.fired == ALERTS, ALERTS - w.fired
    names = set(re.findall(r"alert: (\w+)", text_of(RULES)))
    assert names == ALERTS, names ^ ALERTS
    still = {name: text for name, text in expressions().items() if not w.prometheus.varied(text)}
    w.prometheus.stop()
    assert not still, f"these did not move: {still}"


@case
def promtool_is_content(lab):
    """Both formats, with everything in them."""
    one_gateway(lab)
    start_one(lab, two_zones(lab))
    text = lab.gw.api.get("/metrics").expect(200).body
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True,
                          timeout=30, check=False)
    assert done.returncode == 0 and not done.stdout + done.stderr, done
    names = set(re.findall(rb"^# TYPE (\w+)", text, re.M))
    assert all(name.startswith(b"zonegate_") for name in names), names
    addresses = re.compile(rb"\b\d+\.\d+\.\d+\.\d+\b|fd0[12]:")
    for line in text.splitlines():
        assert not addresses.search(line) or b"_info{" in line, line
    opened = lab.gw.api.get("/metrics", Accept="application/openmetrics-text; version=1.0.0").body
    assert opened.endswith(b"\n# EOF\n") and b"\n# TYPE zonegate_build info\n" in opened
    assert CLIENT4.encode() not in text
