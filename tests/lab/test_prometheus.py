# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's Prometheus scrapes the daemon: alerts of servers, zones and clients fire by their faults and resolve, and the board
has moved when all of that is over. The kernel's and the daemon's own: test_prometheus_kernel.py."""

import re
import signal
import subprocess
import time

from zglab import CLIENT4, case
from zglab.watched import KERNEL_PANELS, OF_SERVERS, TARGET, Watched, expressions, write_certificate
from zglab.zones import NAME, cancel, one_gateway, shift, start_one, two_zones

LAB_SECONDS = 110
LAB_WAITS = 1


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


@case(timeout=250)
def alerts_of_servers_zones_and_clients(lab):
    w = Watched(lab)
    traffic = lab.traffic(connections=3)
    servers_and_zones(w)
    clients(w)
    traffic.stop()
    w.ends(OF_SERVERS, {name: text for name, text in expressions().items() if name not in KERNEL_PANELS})
