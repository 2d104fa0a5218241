# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines 6 and 7: CPU time a probe, ours, keepalived's and the bare program's, in turns."""

from . import figures, host

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
