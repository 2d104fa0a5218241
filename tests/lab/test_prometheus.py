# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's Prometheus scrapes the daemon: alerts of servers, zones and clients fire by their faults and resolve, and the board
has moved when all of that is over. The kernel's and the daemon's own: test_prometheus_kernel.py."""

import re
import signal
import subprocess
import time

from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics

from zglab import CLIENT4, case
from zglab.watched import KERNEL_PANELS, OF_SERVERS, TARGET, Watched, expressions, write_certificate
from zglab.zones import NAME, cancel, one_gateway, ready, shift, start_one, two_zones

LAB_SECONDS = 110
LAB_WAITS = 1
SERVER, LISTENER, ZONE = "server_group server zone", "lb listener zone family proto", "lb zone family"
TRAFFIC = ("connections_total", "bytes_in_total", "bytes_out_total", "packets_in_total", "packets_out_total")
# Each series with its labels. Who renames one breaks what users have written.
NAMES = {
    **{f"zonegate_server_{name}": SERVER for name in (
        "up", "weight", "weight_configured", "connections_active", "connections_inactive", *TRAFFIC)},
    **{f"zonegate_listener_{name}": LISTENER for name in TRAFFIC},
    "zonegate_server_info": f"{SERVER} address port",
    "zonegate_listener_info": f"{LISTENER} address port",
    "zonegate_zone_info": f"{ZONE} address",
    "zonegate_server_group_servers": "server_group state",
    "zonegate_server_group_fail_open": "server_group",
    "zonegate_zone_vip_up": ZONE,
    "zonegate_zone_published": ZONE,
    "zonegate_zone_fail_open": ZONE,
    "zonegate_zone_shift_active": "lb zone",
    "zonegate_zone_shift_expiry_timestamp_seconds": "lb zone",
    "zonegate_health_checks_total": "result",
    "zonegate_health_failures_total": "reason",
    "zonegate_health_transitions_total": "to",
    "zonegate_health_check_duration_seconds_bucket": "server_group le",
    "zonegate_dns_queries_total": "qtype rcode transport",
    "zonegate_dns_dropped_total": "reason",
    "zonegate_dns_answer_seconds_bucket": "le",
    "zonegate_dns_serial": "",
    "zonegate_config_revision": "",
    "zonegate_config_last_apply_success": "",
    "zonegate_config_last_apply_timestamp_seconds": "",
    "zonegate_kernel_ops_total": "subsystem op result",
    "zonegate_kernel_ops_seconds_total": "subsystem",
    "zonegate_kernel_drift_repaired_total": "",
    "zonegate_store_commits_total": "",
    "zonegate_store_commit_seconds_total": "",
    "zonegate_http_requests_total": "route method code",
    "zonegate_event_streams": "",
    "zonegate_auth_failures_total": "",
    "zonegate_build_info": "version",
    **{f"zonegate_process_{name}": "" for name in (
        "start_time_seconds", "cpu_seconds_total", "resident_memory_bytes", "open_fds")},
}


def samples_of(lab, accept="text/plain"):
    """{(name, labels): value} by a parser that is not ours, which is strict with OpenMetrics; and the labels of each name."""
    text = lab.gw.api.get("/metrics", Accept=accept).expect(200).body.decode()
    parse = openmetrics.text_string_to_metric_families if "openmetrics" in accept else parser.text_string_to_metric_families
    samples, labels = {}, {}
    for family in parse(text):
        for one in family.samples:
            key = one.name, tuple(sorted(one.labels.items()))
            assert key not in samples, f"twice: {key}"
            samples[key] = one.value
            labels.setdefault(one.name, set()).add(frozenset(one.labels))
    return samples, labels


@case
def names_and_labels(lab):
    """Those that boards and alerts of users are written for, in both formats; what is down keeps its series."""
    counted = ("zonegate_listener_connections_total", tuple(sorted({
        "lb": "shop", "listener": "one", "zone": "zone-a", "family": "4", "proto": "tcp"}.items())))
    ready(lab).ask(NAME)
    # What the kernel has counted before the first look is not ours.
    lab.wait(lambda: counted in samples_of(lab)[0], 4 + lab.margin, "the first look", pause=0.3)
    lab.who(count=8)
    shift(lab, expires_in="10m").expect(201)
    lab.wait(lambda: samples_of(lab)[0].get(counted) == 8, 4 + lab.margin, "the kernel's numbers", pause=0.3)

    def of_a1(name):
        return samples_of(lab)[0][f"zonegate_server_{name}", (("server", "a1"), ("server_group", "a"), ("zone", "zone-a"))]

    assert of_a1("up") == 1 and of_a1("weight") == of_a1("weight_configured") == 100
    lab.named["a1"].kill()
    lab.wait(lambda: of_a1("up") == 0, 3 + lab.margin, "a1 is down", pause=0.1)
    assert of_a1("weight") == of_a1("connections_active") == 0
    assert of_a1("weight_configured") == 100 and of_a1("connections_total") > 0

    plain, labels = samples_of(lab)
    wrong = {name: labels.get(name) for name, wanted in NAMES.items() if labels.get(name) != {frozenset(wanted.split())}}
    assert not wrong, wrong
    opened, _ = samples_of(lab, "application/openmetrics-text; version=1.0.0")
    # The same ones; but for those that a scrape itself, or a check meanwhile, makes.
    differ = {name for name, _ in set(plain) ^ set(opened)}
    assert differ <= {"zonegate_http_requests_total", "zonegate_health_failures_total"}, differ


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
