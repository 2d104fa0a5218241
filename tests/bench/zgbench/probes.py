# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines 6 and 7: CPU time a probe, ours, keepalived's and the bare program's, in turns."""

import time

from . import figures, host

TRIES = 4
PUNCTUAL = 0.03  # so far the probes may be from those that are due

OURS = {"ours": {}, "kept": {"reuse_connection": True}}  # members of the check


def measure(kind, contests):
    """{(name, rate): median} for CONTESTS = {rate: names}."""
    host.enter()
    values = {}
    stores = {
        (name, rate): host.make_store(host.checked(kind, rate, healthy_threshold=1, **OURS[name]))
        for rate, names in contests.items() for name in names if name in OURS
    }
    makers = {
        "ours": lambda rate: host.Zonegate(stores["ours", rate]),
        "kept": lambda rate: host.Zonegate(stores["kept", rate]),
        "keepalived": lambda rate: host.Keepalived(host.keepalived_checked(kind, rate)),
        "bare": lambda rate: host.Bare(kind, rate),
    }
    for _ in range(host.ROUNDS):
        for rate, names in contests.items():
            for name in names:
                listener = "kept" if name == "kept" else kind
                cost = host.probe_cost(lambda: makers[name](rate), listener, rate)
                values.setdefault((name, rate), []).append(cost)
    for store in stores.values():
        host.remove_store(store)
    host.dump(f"probes-{kind}", {f"{name} {rate}": x for (name, rate), x in values.items()})
    return {key: figures.median(x) for key, x in values.items()}


def _resets():
    """TCP segments with RST that left this network. Of a half-open probe no listener hears; each ends with one."""
    with open("/proc/net/snmp", encoding="ascii") as file:
        names, values = (x.split() for x in file if x.startswith("Tcp:"))
    return int(values[names.index("OutRsts")])


def _half_open_cost(store, rate):
    """(CPU in microseconds a probe of the daemon, "") or (None, why it does not count): then the machine was busy."""
    listener, daemon = host.Listener("tcp"), host.Zonegate(store)
    try:
        daemon.start()
        time.sleep(host.WARM)
        begin, cpu, resets = time.monotonic(), host.cpu_usec(*daemon.pids), _resets()
        time.sleep(host.SECONDS)
        cpu, resets = host.cpu_usec(*daemon.pids) - cpu, _resets() - resets
        due = rate * (time.monotonic() - begin)
        groups = daemon.api.get("/server-groups").expect(200).json["items"]
        healthy = sum(x["status"]["healthy"] for x in groups)
        daemon.end()
    finally:
        listener.close()
        daemon.close()
    if healthy != rate or abs(resets - due) > PUNCTUAL * due:
        return None, f"{healthy} of {rate} are healthy, {resets} probes instead of {due:.0f}"
    return cpu / resets, ""


def half_open(rate):
    """(CPU of a half-open probe of ours, of keepalived's TCP check): medians, in turns."""
    store = host.make_store(host.checked("tcp", rate, healthy_threshold=1, handshake="half_open"))
    configuration = host.keepalived_checked("tcp", rate)
    ours, theirs = [], []
    for _ in range(host.ROUNDS):
        for _ in range(TRIES):
            cost, why = _half_open_cost(store, rate)
            if cost is not None:
                break
        else:
            raise SystemExit(f"half-open: {why}")
        ours.append(cost)
        theirs.append(host.probe_cost(lambda: host.Keepalived(configuration), "tcp", rate))
    host.remove_store(store)
    host.dump("probes-half_open", {"ours": ours, "keepalived": theirs})
    return figures.median(ours), figures.median(theirs)
