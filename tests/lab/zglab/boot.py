# SPDX-License-Identifier: GPL-2.0-or-later
"""First process of the lab: makes a place where nothing reaches the host.

In user-mode linux it is init: the root becomes an overlay of the host's files
whose upper side is memory. On the host it is the first process of fresh mount,
process and network namespaces. Either way /out is the folder that carries
results out, /run is empty, and the user `zonegate` exists.
"""

import os
import signal
import sys

from . import modules, sysc

USER = "zonegate"
UID = GID = 990
STAGE = "/mnt"
LAB_RUN = "/run/zglab"
MODULES = "/usr/lib/uml/modules"


def power_off():
    os.sync()
    with open("/proc/sysrq-trigger", "w", encoding="ascii") as trigger:
        trigger.write("o")
    signal.pause()


def _release():
    return os.uname().release


def _enter_overlay(out_folder):
    sysc.mount("none", "/proc", "proc")
    loader = modules.Loader(f"{MODULES}/{_release()}")
    loader.load(["overlay"])
    sysc.mount("none", STAGE, "tmpfs", 0, "mode=755")
    for folder in ("upper", "work", "root"):
        os.mkdir(f"{STAGE}/{folder}")
    sysc.mount(
        "none", f"{STAGE}/root", "overlay", 0,
        f"lowerdir=/,upperdir={STAGE}/upper,workdir={STAGE}/work",
    )
    root = f"{STAGE}/root"
    for folder in ("proc", "sys", "dev", "run", "out", "old", "lib/modules"):
        os.makedirs(f"{root}/{folder}", exist_ok=True)
    sysc.mount("none", f"{root}/proc", "proc")
    sysc.mount("none", f"{root}/sys", "sysfs")
    sysc.mount("none", f"{root}/dev", "devtmpfs")
    os.makedirs(f"{root}/dev/shm", exist_ok=True)
    sysc.mount("none", f"{root}/dev/shm", "tmpfs")
    os.makedirs(f"{root}/dev/net", exist_ok=True)
    sysc.mount("none", f"{root}/run", "tmpfs", 0, "mode=755")
    sysc.mount("none", f"{root}/out", "hostfs", 0, out_folder)
    sysc.mount(f"{root}/usr/lib/uml/modules", f"{root}/lib/modules", None, sysc.MS_BIND)
    sysc.pivot_root(root, f"{root}/old")
    os.chdir("/")
    sysc.umount("/old", sysc.MNT_DETACH)


def _enter_namespaces(out_folder):
    """Mounts of the host variant: the caller has made the namespaces."""
    sysc.mount("none", "/", None, sysc.MS_REC | sysc.MS_PRIVATE)
    sysc.mount("none", "/proc", "proc")
    sysc.mount("none", "/sys", "sysfs")
    # /run is emptied below; the folder of the results may live in it
    out = os.open(out_folder, os.O_PATH | os.O_DIRECTORY)
    sysc.mount("none", "/run", "tmpfs", 0, "mode=755")
    os.mkdir("/run/out")
    sysc.mount(f"/proc/self/fd/{out}", "/run/out", None, sysc.MS_BIND)
    os.close(out)


def _add_account(path, name, line):
    """The account is added to a copy that is mounted over the original."""
    with open(path, encoding="utf-8") as original:
        text = original.read()
    if any(x.startswith(name + ":") for x in text.splitlines()):
        return
    copy = f"{LAB_RUN}/{os.path.basename(path)}"
    with open(copy, "w", encoding="utf-8") as changed:
        changed.write(text + line + "\n")
    sysc.mount(copy, path, None, sysc.MS_BIND)


def _make_account():
    os.makedirs(LAB_RUN, exist_ok=True)
    _add_account("/etc/passwd", USER, f"{USER}:x:{UID}:{GID}::/nonexistent:/usr/sbin/nologin")
    _add_account("/etc/group", USER, f"{USER}:x:{GID}:")


def enter(kind, out_folder):
    """Enter the lab. Returns where the results go."""
    os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    if kind == "uml":
        _enter_overlay(out_folder)
        out = "/out"
    else:
        _enter_namespaces(out_folder)
        out = "/run/out"
    _make_account()
    return out


def loader(kind):
    """Loads modules in user-mode linux; on the host the runner has done it."""
    if kind == "uml":
        return modules.Loader(f"{MODULES}/{_release()}")
    return None


def log(text):
    print(text, file=sys.stderr, flush=True)
