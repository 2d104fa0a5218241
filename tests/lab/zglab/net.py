# SPDX-License-Identifier: GPL-2.0-or-later
"""Network namespaces, links and addresses of a topology."""

import os
import threading

from . import rtnl, sysc

_stack = threading.local()


class Namespace:
    """A network namespace. `with namespace:` puts the calling thread into it."""

    def __init__(self, name):
        self.name = name
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        try:
            sysc.unshare(sysc.CLONE_NEWNET)
            self.descriptor = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
            self.netlink = rtnl.Netlink()
            # Without a loopback every address is unreachable for IPVS.
            self.netlink.link_set("lo")
            self._set_defaults()
        finally:
            sysc.setns(home)
            os.close(home)
        self._pin()

    def _set_defaults(self):
        for scope in ("all", "default"):
            self.sysctl(f"net.ipv4.conf.{scope}.rp_filter", 0)
            self.sysctl(f"net.ipv6.conf.{scope}.accept_dad", 0)
            self.sysctl(f"net.ipv6.conf.{scope}.accept_ra", 0)

    def _pin(self):
        """Give it a name for `ip netns exec` and for people who look inside."""
        os.makedirs("/run/netns", exist_ok=True)
        self._path = f"/run/netns/{self.name}"
        with open(self._path, "w", encoding="ascii"):
            pass
        sysc.mount(f"/proc/self/fd/{self.descriptor}", self._path, None, sysc.MS_BIND)

    def close(self):
        self.netlink.close()
        os.close(self.descriptor)
        sysc.umount(self._path, sysc.MNT_DETACH)
        os.unlink(self._path)

    def __enter__(self):
        if not hasattr(_stack, "homes"):
            _stack.homes = []
        _stack.homes.append(os.open("/proc/thread-self/ns/net", os.O_RDONLY))
        sysc.setns(self.descriptor)
        return self

    def __exit__(self, *_):
        home = _stack.homes.pop()
        sysc.setns(home)
        os.close(home)

    def sysctl(self, name, value):
        """Set a sysctl of the namespace that the thread is in."""
        with open("/proc/sys/" + name.replace(".", "/"), "w", encoding="ascii") as f:
            f.write(str(value))

    def set_sysctl(self, name, value):
        with self:
            self.sysctl(name, value)

    def get_sysctl(self, name):
        with self, open("/proc/sys/" + name.replace(".", "/"), encoding="ascii") as f:
            return f.read().strip()

    def add_address(self, device, interface):
        with self:
            self.netlink.address_add(device, interface)

    def del_address(self, device, interface):
        with self:
            self.netlink.address_del(device, interface)

    def add_route(self, destination, gateway):
        self.netlink.route_add(destination, gateway)

    def add_link(self, name, kind):
        self.netlink.link_add(name, kind)

    def del_link(self, name):
        with self:
            self.netlink.link_del(name)

    def set_link(self, name, up=True):
        with self:
            self.netlink.link_set(name, up)

    def proc_net(self, name):
        """Text of /proc/net/NAME as this namespace sees it."""
        with self, open(f"/proc/thread-self/net/{name}", encoding="ascii") as f:
            return f.read()


class Switch:
    """Ethernet segments: one bridge a segment, all in a namespace of their own."""

    def __init__(self, name="switch"):
        self.namespace = Namespace(name)
        self._ports = 0

    def segment(self, bridge):
        self.namespace.netlink.link_add(bridge, "bridge")

    def plug(self, namespace, device, bridge, addresses=()):
        """Connect DEVICE of NAMESPACE to the segment BRIDGE."""
        self._ports += 1
        port = f"p{self._ports}"
        here = self.namespace
        here.netlink.link_add(port, "veth", device, namespace.descriptor)
        with here:
            here.netlink.link_set(port, master=bridge)
        with namespace:
            namespace.netlink.link_set(device)
            for address in addresses:
                namespace.netlink.address_add(device, address)
        return port
