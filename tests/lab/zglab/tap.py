# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab with doors: ports of a loopback outside that lead to ports of the lab.

User-mode linux is reached by a tap device in the network namespace of the caller; a lab in namespaces of the host gets
the listeners themselves. `leave_network` to `start` are for outside, the rest is for the lab's first process.
"""

import fcntl
import os
import shutil
import signal
import socket
import struct
import subprocess

from . import boot, launch, modules, relay, rtnl, sysc

GUEST = "10.77.0.2"
_GUEST_NET, _HOST_NET = f"{GUEST}/24", "10.77.0.1/24"
_TUNSETIFF, _TUNSETPERSIST = 0x400454CA, 0x400454CB
_IFF_TAP, _IFF_NO_PI, _IFF_VNET_HDR = 0x0002, 0x1000, 0x4000


def leave_network():
    """A network namespace of our own; as root of a user namespace if need be."""
    if os.geteuid() == 0:
        sysc.unshare(sysc.CLONE_NEWNET)
        return
    uid, gid = os.getuid(), os.getgid()
    sysc.unshare(sysc.CLONE_NEWUSER | sysc.CLONE_NEWNET)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def make_device():
    """The host's end, in the namespace that the caller is in. It goes with the namespace."""
    try:
        tap = os.open("/dev/net/tun", os.O_RDWR)
    except OSError as error:
        raise SystemExit(f"{error}; root can open it") from error
    flags = _IFF_TAP | _IFF_NO_PI | _IFF_VNET_HDR
    fcntl.ioctl(tap, _TUNSETIFF, struct.pack("16sH22x", b"tap0", flags))
    fcntl.ioctl(tap, _TUNSETPERSIST, 1)
    os.close(tap)
    netlink = rtnl.Netlink()
    netlink.link_set("lo")
    netlink.link_set("tap0")
    netlink.address_add("tap0", _HOST_NET)
    netlink.close()


def connect(port):
    sock = socket.create_connection((GUEST, port), 5)
    sock.settimeout(None)  # a stream of events may be silent for long
    return sock


def connect_datagrams(port):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.connect((GUEST, port))
    return sock


def start(settings, script, out, listeners):
    """Start SCRIPT as the first process of a lab; its console is OUT/console.log.

    OUT/config.json has the descriptors of LISTENERS as its "listeners". The device is there already.
    """
    arguments = [script, settings.kind, out]
    if settings.kind == "uml":
        tap = "vec0:transport=tap,ifname=tap0,depth=128,gro=1"
        name = f"{os.path.basename(os.path.dirname(script))}-{os.getpid()}"
        command, environment = settings.uml_command(name, launch.PYTHON, arguments, extra=[tap])
        passed = ()
    else:
        unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
        command, environment = [*unshare, launch.PYTHON, *arguments], dict(os.environ)
        passed = [x.fileno() for x in listeners]
    with open(f"{out}/console.log", "wb") as console:
        return subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=console,
            stderr=subprocess.STDOUT, start_new_session=True, pass_fds=passed,
            preexec_fn=lambda: sysc.die_with_parent(signal.SIGKILL),
        )


# Inside


def prepare(kind, config):
    """Modules, and copies of the programs that the service user reaches."""
    loader = boot.loader(kind)
    if loader:
        loader.load(modules.NETWORK + ["ip_vs", "ip_vs_wrr", "nf_conntrack"])
    folder = f"{boot.LAB_RUN}/bin"
    os.makedirs(folder, exist_ok=True)
    for name in ("zonegated", "zonegate"):
        shutil.copy(f"{config['build']}/{name}", folder)
        os.chmod(f"{folder}/{name}", 0o755)
        config[name] = f"{folder}/{name}"


def doors(kind, config, ports, datagram_ports=()):
    """A socket for each port, streams first: what comes in by it is for that port."""
    if kind != "uml":
        return tuple(socket.socket(fileno=x) for x in config["listeners"])
    netlink = rtnl.Netlink()
    netlink.link_set("lo")
    netlink.link_set("vec0")
    netlink.address_add("vec0", _GUEST_NET)
    netlink.close()
    streams = [relay.listen(GUEST, x) for x in ports]
    return *streams, *(relay.bind_datagrams(GUEST, x) for x in datagram_ports)
