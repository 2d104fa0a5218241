# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads kernel modules without modprobe: one process, microseconds a module."""

import os

from . import sysc

IPVS = [
    "ip_vs", "ip_vs_rr", "ip_vs_wrr", "ip_vs_lc", "ip_vs_wlc", "ip_vs_lblc", "ip_vs_lblcr",
    "ip_vs_dh", "ip_vs_sh", "ip_vs_mh", "ip_vs_sed", "ip_vs_nq", "ip_vs_fo", "ip_vs_ovf",
]
NETWORK = ["ipv6", "veth", "bridge", "dummy", "nlmon"]
TUNNELS = ["ipip", "ip_gre", "ip6_tunnel", "ip6_gre", "fou", "fou6"]
CONNTRACK = ["nf_conntrack"]


def forbid_loading():
    """The kernel shall ask for no module by itself."""
    with open("/proc/sys/kernel/modprobe", "w", encoding="ascii") as file:
        file.write("/bin/false")


class Loader:
    """Modules of the running kernel in the given folder, with their dependencies."""

    def __init__(self, folder):
        self._folder = folder
        self._paths = {}
        self._needs = {}
        self._loaded = set()
        with open(os.path.join(folder, "modules.dep"), encoding="ascii") as lines:
            for line in lines:
                path, _, needs = line.partition(":")
                name = self._name(path)
                self._paths[name] = path
                self._needs[name] = [self._name(x) for x in needs.split()]

    @staticmethod
    def _name(path):
        return os.path.basename(path).split(".ko")[0].replace("-", "_")

    def load(self, names):
        for name in names:
            self._load(name.replace("-", "_"))

    def unload(self, names):
        """What nothing uses any more; what others are made of goes behind them."""
        for name in sorted(names, key=lambda x: -len(self._needs.get(x, ()))):
            if name in self._loaded and name in self._paths:
                sysc.delete_module(name)
                self._loaded.remove(name)

    def _load(self, name):
        if name in self._loaded:
            return
        self._loaded.add(name)
        if name not in self._paths:
            return  # built into the kernel
        # modules.dep lists the deepest dependency last
        for need in reversed(self._needs[name]):
            self._load(need)
        sysc.finit_module(os.path.join(self._folder, self._paths[name]))
