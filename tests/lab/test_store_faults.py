# SPDX-License-Identifier: GPL-2.0-or-later
"""The store's disk is full, read-only or gone: writes are refused with a sentence, all else goes on."""

import os
import subprocess
import time

from zglab import case, sysc
from zglab.documents import web

# Mounts, and a file system that is told to give up.
LAB_KIND = "uml"
LAB_SECONDS = 12
MS_REMOUNT = 32


def refused(lab, *words):
    """A write is refused, tells why, and has no effect."""
    before = lab.gw.api.get("/config").expect(200)
    answer = lab.gw.api.patch("/server-groups/web/servers/s2", {"weight": 55})
    answer.expect(503)
    detail = answer.json["detail"]
    assert all(word in detail for word in words), detail
    assert lab.gw.api.get("/config").expect(200).body == before.body
    assert lab.gw.weights()["10.2.0.12"] == 100


def goes_on(lab):
    """Probes, verdicts and the kernel do not depend on the store."""
    lab.gw.api.get("/livez").expect(200)
    lab.servers[0].kill()
    lab.wait_weight(lab.servers[0], 0, 0.5 + lab.margin)
    assert lab.who(count=4) == {"s2": 4}
    lab.servers[0].start()
    lab.wait_weight(lab.servers[0], 100, 0.5 + lab.margin)


def works_again(lab, seconds=2.0):
    lab.wait(
        lambda: lab.gw.api.patch("/server-groups/web/servers/s2", {"weight": 56}).status == 200,
        seconds + lab.margin, "writes are taken", pause=0.1,
    )
    assert lab.gw.weights()["10.2.0.12"] == 56
    lab.wait(lambda: lab.gw.api.get("/readyz").status == 200, 2 + lab.margin, "ready", pause=0.1)
    lab.gw.daemon.kill()
    lab.gw.daemon.start()
    assert lab.gw.api.get("/server-groups/web/servers/s2").json["weight"] == 56


def mount_state(lab, source, kind, data=""):
    folder = lab.gw.daemon.state_folder
    sysc.mount(source, folder, kind, 0, data)
    os.chown(folder, *lab.gw.daemon.ids)


def unmount_state(lab):
    if lab.gw.daemon.running():
        lab.gw.daemon.kill()
    sysc.umount(lab.gw.daemon.state_folder)


def fill_up(lab):
    filler = f"{lab.gw.daemon.state_folder}/filler"
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass
    # some pages of the log are there already: until the first that is not
    for weight in range(1, 200):
        if lab.gw.api.patch("/server-groups/web/servers/s1", {"weight": weight}).status != 200:
            break
    lab.gw.api.patch("/server-groups/web/servers/s1", {"weight": 100})
    refused(lab, "full")
    before = lab.gw.weights()
    lab.servers[1].kill()
    lab.wait_weight(lab.servers[1], 0, 0.5 + lab.margin)
    lab.servers[1].start()
    lab.wait_weight(lab.servers[1], 100, 0.5 + lab.margin)
    assert lab.gw.weights() == before
    lab.wait(lambda: "store.failed" in lab.gw.daemon.log(), 1 + lab.margin, "the verdicts could not be noted")
    os.unlink(filler)
    works_again(lab)


@case
def a_full_disk(lab):
    lab.network(2)
    mount_state(lab, "none", "tmpfs", "size=1m")
    lab.start(web(lab))
    try:
        fill_up(lab)
    finally:
        unmount_state(lab)


def make_disk(device):
    os.makedirs("/run/zglab", exist_ok=True)
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", device], check=True, timeout=30)


@case(load=["brd", "ext4"])
def a_disk_that_went_read_only(lab):
    """As after an error of the disk: ext4 gives up and stays read-only until it is mounted anew."""
    lab.network(2)
    make_disk("/dev/ram0")
    mount_state(lab, "/dev/ram0", "ext4")
    lab.start(web(lab))
    try:
        sysc.mount("/dev/ram0", lab.gw.daemon.state_folder, "ext4", MS_REMOUNT, "abort")
        refused(lab, "read-only")
        goes_on(lab)
        began = time.monotonic()
        assert lab.gw.daemon.stop() == 0
        assert time.monotonic() - began < lab.margin, "it does not wait for what cannot be"
        sysc.umount(lab.gw.daemon.state_folder)
        mount_state(lab, "/dev/ram0", "ext4")
        lab.gw.daemon.start()
        works_again(lab)
    finally:
        unmount_state(lab)


FILES = ("zonegate.db", "zonegate.db-wal", "zonegate.db-shm")


def present(lab):
    return [x for x in FILES if os.path.exists(f"{lab.gw.daemon.state_folder}/{x}")]


@case
def a_database_that_was_deleted_and_put_back(lab):
    lab.network(2)
    lab.start(web(lab))
    folder = lab.gw.daemon.state_folder
    names = present(lab)
    assert "zonegate.db" in names
    for name in names:
        os.link(f"{folder}/{name}", f"{folder}/kept-{name}")
        os.unlink(f"{folder}/{name}")
    refused(lab, "removed or replaced")
    goes_on(lab)
    assert present(lab) == [], "no second database was begun"
    for name in names:
        os.rename(f"{folder}/kept-{name}", f"{folder}/{name}")
    works_again(lab)


@case
def a_database_that_was_deleted_for_good(lab):
    """What the refusal advises works: export, restart, apply again."""
    lab.network(2)
    lab.start(web(lab))
    for name in present(lab):
        os.unlink(f"{lab.gw.daemon.state_folder}/{name}")
    refused(lab, "config export", "restart")
    goes_on(lab)
    exported = lab.gw.cli("config", "export")
    assert exported.returncode == 0, exported
    rules = lab.gw.ipvsadm("-Sn")
    lab.gw.daemon.stop()
    lab.gw.daemon.start()
    assert lab.gw.ipvsadm("-Sn") == rules, "an empty document owns nothing"
    path = f"{lab.gw.daemon.folder}/exported.json"
    with open(path, "w", encoding="utf-8") as file:
        file.write(exported.stdout)
    applied = lab.gw.cli("config", "apply", "-f", path)
    assert applied.returncode == 0, (applied.stdout, applied.stderr)
    lab.wait_in_service()
    assert lab.gw.ipvsadm("-Sn") == rules
    works_again(lab)


@case
def a_folder_that_takes_no_files(lab):
    """Rights were taken away while it runs: the open database goes on, or says so."""
    lab.network(2)
    lab.start(web(lab))
    folder = lab.gw.daemon.state_folder
    os.chmod(folder, 0)
    status = lab.gw.api.patch("/server-groups/web/servers/s2", {"weight": 55}).status
    assert status in (200, 503), status
    os.chmod(folder, 0o750)
    works_again(lab)
