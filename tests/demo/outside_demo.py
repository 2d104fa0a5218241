# SPDX-License-Identifier: GPL-2.0-or-later
"""`make demo` as CI sees it: it ends well only if traffic flows to its end."""

import re

from demo_process import run
from zglab import case


@case
def ends_well_when_traffic_flows(config):
    status, text = run(config, 8)
    assert status == 0 and "demo: ok" in text, text
    assert "no reply" not in text and "not asked" not in text, text
    for number in range(1, 5):
        assert re.search(rf"web-{number} +10\.2\.0\.1{number}:80 +healthy +100/100", text), text
    for zone, vip in (("zone-a", "192.0.2.10"), ("zone-b", "192.0.2.20")):
        assert re.search(rf"{zone} +{re.escape(vip)} +published +[1-9]", text), text
    assert re.search(r"DNS +shop\.lb\.example\.net A: 192\.0\.2\.10 192\.0\.2\.20 \(TTL 10 s\)", text), text


@case
def fails_when_all_servers_are_killed(config):
    status, text = run(config, 12, DEMO_KILL="all")
    assert status != 0 and "demo: FAILED: no request was answered in the last" in text, text
