# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls that Python's standard library of Debian 12 does not offer."""

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

CAP_NET_BIND_SERVICE = 10
CAP_NET_ADMIN = 12
CAP_NET_RAW = 13
CAP_LAST = 63

_PR_SET_PDEATHSIG = 1
_PR_SET_KEEPCAPS = 8
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_RAISE = 2

_SYS_PIVOT_ROOT = 155
_SYS_CAPSET = 126
_SYS_FINIT_MODULE = 313
_SYS_DELETE_MODULE = 176


def _check(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def setns(descriptor, kind=CLONE_NEWNET):
    _check(_libc.setns(descriptor, kind), "setns")


def unshare(flags):
    _check(_libc.unshare(flags), "unshare")


def mount(source, target, kind, flags=0, data=""):
    encoded = [None if x is None else x.encode() for x in (source, target, kind, data)]
    _check(
        _libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3]),
        f"mount {kind} {source} on {target}",
    )


def umount(target, flags=0):
    _check(_libc.umount2(target.encode(), flags), f"umount {target}")


def pivot_root(new_root, put_old):
    _check(
        _libc.syscall(_SYS_PIVOT_ROOT, new_root.encode(), put_old.encode()), "pivot_root"
    )


def finit_module(path):
    """Load one kernel module. EEXIST (already there) is not an error."""
    with open(path, "rb") as module:
        result = _libc.syscall(_SYS_FINIT_MODULE, module.fileno(), b"", 0)
    if result < 0 and ctypes.get_errno() != 17:
        _check(result, path)


def delete_module(name):
    """Unload one kernel module; EWOULDBLOCK: it is in use."""
    _check(_libc.syscall(_SYS_DELETE_MODULE, name.encode(), os.O_NONBLOCK), name)


def prctl(option, first=0, second=0, third=0, fourth=0):
    arguments = [ctypes.c_ulong(x) for x in (first, second, third, fourth)]
    return _libc.prctl(option, *arguments)


def die_with_parent(signal_number):
    _check(prctl(_PR_SET_PDEATHSIG, signal_number), "PR_SET_PDEATHSIG")


def become_service_user(uid, gid, capabilities):
    """What systemd does for User=, AmbientCapabilities=, NoNewPrivileges=."""
    for capability in range(CAP_LAST + 1):
        if capability not in capabilities:
            prctl(_PR_CAPBSET_DROP, capability)
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    _check(prctl(_PR_SET_KEEPCAPS, 1), "PR_SET_KEEPCAPS")
    os.setresuid(uid, uid, uid)
    low = sum(1 << c for c in capabilities)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)(low, low, low, 0, 0, 0)
    _check(_libc.syscall(_SYS_CAPSET, header, data), "capset")
    for capability in capabilities:
        _check(prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability), "ambient")
    _check(prctl(_PR_SET_NO_NEW_PRIVS, 1), "PR_SET_NO_NEW_PRIVS")
