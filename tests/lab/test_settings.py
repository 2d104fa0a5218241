# SPDX-License-Identifier: GPL-2.0-or-later
"""The daemon as a process: its rights, its settings, its two ways to be spoken to."""

import glob
import http.client
import os
import signal
import socket
import subprocess

from zglab import case
from zglab.documents import web

LAB_SECONDS = 15


def refused(lab, text, *words):
    """The settings TEXT are refused, with all WORDS in what it says."""
    path = f"{lab.gw.daemon.folder}/bad.conf"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    ends(lab, 78, ["-c", path, "--check"], *words)


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def ends(lab, status, arguments, *words):
    """The daemon with ARGUMENTS ends by itself, with STATUS and all WORDS in what it says."""
    done = subprocess.run(
        [lab.config["zonegated"], *arguments], capture_output=True, text=True, check=False,
        timeout=20,
    )
    said = done.stdout + done.stderr
    assert done.returncode == status, (done.returncode, said)
    assert all(word in said for word in words), said


@case
def never_root(lab):
    lab.network(1)
    lab.start(web(lab))
    with open(f"/proc/{lab.gw.daemon.process.pid}/status", encoding="ascii") as file:
        status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
    assert set(status["Uid"].split()) != {"0"} and "0" not in status["Uid"].split(), status
    # NET_BIND_SERVICE 10, NET_ADMIN 12, NET_RAW 13
    if not lab.config["valgrind"]:
        assert int(status["CapEff"], 16) == 0x3400, status["CapEff"]


@case
def ipvs_off_touches_nothing(lab):
    lab.network(2)
    with lab.gw.capture() as capture:
        lab.gw.daemon.settings["kernel"]["ipvs"] = "off"
        lab.gw.daemon.start()
        lab.gw.api.apply(web(lab))
        lab.wait(
            lambda: lab.gw.api.get("/server-groups/web/servers/s1/health").json["state"]
            == "healthy", 1 + lab.margin, "it probes",
        )
        assert lab.gw.table() == {}
        assert capture.changes(0.1) == {}, capture.changes()
    planned = lab.gw.api.get("/kernel").expect(200)
    assert b"192.0.2.10" in planned.body, planned.body


@case
def bad_settings_are_refused_with_their_place(lab):
    lab.network(0)
    refused(lab, "[node]\nname = a\ncolour = red\n", "bad.conf", "3", "colour")
    refused(lab, "[nodes]\nname = a\n", "bad.conf", "nodes")
    refused(lab, "[kernel]\nipvs = maybe\n", "bad.conf", "maybe")
    refused(lab, "[kernel]\naudit_interval_s = -1\n", "bad.conf", "audit_interval_s")
    refused(lab, "[node]\nzones = zone_a\n", "bad.conf:2", "zone_a")
    refused(lab, "[node]\nzones = a\nzones = a\n", "bad.conf:3", "twice")
    refused(lab, "[dns]\nhostmaster = a@b@c\n", "bad.conf:2", "mailbox")


def start_ends(lab, status, *words):
    """The same of a start with the settings as they are in the lab."""
    lab.gw.daemon.write_settings()
    with lab.gw.ns:
        ends(lab, status, ["-c", lab.gw.daemon.settings_path], *words)


@case
def a_start_tells_its_own_faults_from_those_of_the_world(lab):
    """78: another start would end in the same way. 1: it may not."""
    lab.network(0)
    api = lab.gw.daemon.settings["api"]
    api["listen"] = "127.0.0.1:8080"
    api["token_file"] = f"{lab.gw.daemon.folder}/nothing"
    start_ends(lab, 78, "[api] token_file", "nothing")
    # too short: the check says the same, with its line
    with open(api["token_file"], "w", encoding="ascii") as file:
        file.write("short\n")
    os.chmod(api["token_file"], 0o640)
    said = (".conf:", ": [api] token_file: ", "one line of 16 to 512 printable characters")
    start_ends(lab, 78, *said)
    ends(lab, 78, ["-c", lab.gw.daemon.settings_path, "--check"], *said)
    del api["listen"], api["token_file"]
    lab.gw.daemon.settings["dns"] = {"apex": "lb..example.net"}
    start_ends(lab, 78, "[dns] apex", "lb..example.net")
    lab.gw.daemon.settings["dns"] = {"listen": "127.0.0.1:5353"}
    with lab.gw.ns, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 5353))
        start_ends(lab, 1, "[dns] listen", "127.0.0.1")


@case
def a_store_out_of_reach_is_not_called_new(lab):
    """Nobody is to think that the configuration is lost, when another user asks."""
    lab.network(0)
    daemon = lab.gw.daemon
    daemon.settings["log"] = {"target": "stderr"}
    daemon.write_settings()
    locked = f"{daemon.folder}/locked"
    os.mkdir(locked, 0o700)
    with lab.gw.ns:
        done = subprocess.run(
            [lab.config["zonegated"], "-c", daemon.settings_path, "--state-dir", locked],
            capture_output=True, text=True, check=False, timeout=20, user=65534, group=65534,
        )
    assert done.returncode == 1, done
    assert "Permission denied" in done.stderr and "no database" not in done.stderr, done.stderr


@case
def good_files_are_asked_for_by_a_check(lab):
    """They may be made before the start: a warning, and 0."""
    lab.network(0)
    lab.gw.daemon.settings["api"]["token_file"] = f"{lab.gw.daemon.folder}/nothing"
    lab.gw.daemon.write_settings()
    ends(lab, 0, ["-c", lab.gw.daemon.settings_path, "--check"],
         "warning: it does not start: ", ": [api] token_file", "nothing is not there")


@case
def libraries_that_are_loaded_late_are_asked_for_by_a_check(lab):
    """A start tells of them only when it serves already."""
    lab.network(0)
    folder = f"{lab.gw.daemon.folder}/libraries"
    lab.gw.daemon.write_settings()
    for library in ("libgnutls.so.30", "libmicrohttpd.so.12"):
        package = library.replace(".so.", "")
        for why, content in (("file too short", b""), ("undefined symbol", read_file(glob.glob("/lib/*/libm.so.6")[0]))):
            os.makedirs(folder, exist_ok=True)
            with open(f"{folder}/{library}", "wb") as file:
                file.write(content)
            done = subprocess.run(
                [lab.config["zonegated"], "-c", lab.gw.daemon.settings_path, "--check"], env={"LD_LIBRARY_PATH": folder},
                capture_output=True, text=True, check=False, timeout=20,
            )
            assert done.returncode == 1 and "in order" not in done.stdout, done
            assert done.stderr.startswith(f"zonegated: {library} cannot be used (") and why in done.stderr, done
            assert f": apt-get install --reinstall {package}\n" in done.stderr, done
        os.unlink(f"{folder}/{library}")


@case
def what_is_no_file_is_not_waited_for(lab):
    lab.network(0)
    folder = lab.gw.daemon.folder
    ends(lab, 78, ["-c", "/dev/zero"], "/dev/zero", "is a device")
    os.mkfifo(f"{folder}/fifo")
    ends(lab, 78, ["-c", f"{folder}/fifo", "--check"], "fifo", "is a FIFO")
    api = lab.gw.daemon.settings["api"]
    api.update(listen="127.0.0.1:8080", token_file=f"{folder}/fifo")
    start_ends(lab, 78, "[api] token_file", "is a FIFO")
    del api["listen"], api["token_file"]
    lab.gw.daemon.settings["dns_update"] = {
        "server": "127.0.0.1", "zone": "example.net", "key_file": f"{folder}/fifo",
    }
    start_ends(lab, 78, "[dns_update] key_file", "is a FIFO")
    del lab.gw.daemon.settings["dns_update"]
    os.mkfifo(f"{lab.gw.daemon.state_folder}/zonegate.db")
    start_ends(lab, 1, "zonegate.db is a FIFO")
    os.unlink(f"{lab.gw.daemon.state_folder}/zonegate.db")


@case
def good_settings_are_checked_and_nothing_is_started(lab):
    lab.network(0)
    lab.gw.daemon.write_settings()
    done = subprocess.run(
        [lab.config["zonegated"], "-c", lab.gw.daemon.settings_path, "--check"],
        capture_output=True, text=True, check=False, timeout=20,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not os.path.exists(lab.gw.daemon.socket)
    done = subprocess.run(
        [lab.config["zonegated"], "--version"], capture_output=True, text=True, check=False,
        timeout=20,
    )
    assert done.returncode == 0 and "zonegate" in done.stdout.lower(), done


@case
def options_are_those_of_the_help(lab):
    """--state-dir goes before [store] path; what is no option is a matter of usage."""
    lab.network(0)
    daemon = lab.gw.daemon
    for arguments in (["--colour"], ["more"], ["-c"], ["--state-dir"]):
        ends(lab, 64, arguments, "usage: zonegated")
    ends(lab, 64, ["--flush", "--check"], "either --check")
    ends(lab, 64, ["--check", "--flush"], "either --check")
    ends(lab, 0, ["--help"], "-c, --config FILE", "--state-dir DIR", "--check", "--version")
    chosen, other = f"{daemon.folder}/chosen", f"{daemon.folder}/other"
    daemon.settings["kernel"]["ipvs"] = "off"
    daemon.settings["store"]["path"] = other
    daemon.write_settings()
    process = subprocess.Popen([lab.config["zonegated"], "-c", daemon.settings_path, "--state-dir", chosen])
    try:
        lab.wait(lambda: os.path.exists(f"{chosen}/zonegate.db"), 5, "the database is made")
    finally:
        process.terminate()
        process.wait(10)
    assert not os.path.exists(other)


@case
def sighup_is_survived_and_reads_the_level(lab):
    """What can change is in force; settings with a fault change nothing, and the log says where it is."""
    lab.network(1)
    daemon = lab.gw.daemon
    daemon.settings["log"]["level"] = "info"
    lab.start(web(lab))

    def read_again(said):
        daemon.signal(signal.SIGHUP)
        lab.wait(lambda: said in daemon.log(), 2, said)

    def is_logged(name):
        lab.gw.api.put(f"/zones/{name}", {}).expect(201)
        return f"/zones/{name} by" in daemon.log()

    lab.gw.api.put("/zones/before", {}).expect(201)
    lab.wait(lambda: "/zones/before by" in daemon.log(), 2, "it is logged")
    daemon.settings["log"]["level"] = "notice"
    daemon.write_settings()
    read_again("settings read again")
    assert not is_logged("after")
    with open(daemon.settings_path, "a", encoding="utf-8") as file:
        file.write("[log]\ncolour = red\nsize = 1\n[dns_update]\nzone = example.net\n")
    read_again("settings not read again, the old ones hold: ")
    # every fault, each with its line; that of two keys with that of the one that is there
    lab.wait(lambda: "[dns_update] server: is required" in daemon.log(), 2, "the last fault")
    said = [x for x in daemon.log().splitlines() if "settings not read again" in x]
    assert len(said) == 3 and all(f"{daemon.settings_path}:" in x for x in said), said
    assert 'unknown key "colour"' in said[0] and 'unknown key "size"' in said[1], said
    assert not is_logged("later")
    assert daemon.running()
    assert lab.who(count=2) == {"s1": 2}


@case
def a_zone_that_nobody_knows_is_told(lab):
    """[node] zones with a typo programs nothing: in the log, GET /system and `zonegate status`."""
    lab.network(1)
    lab.gw.daemon.settings["node"]["zones"] = "zone-aa"
    lab.gw.daemon.start()
    lab.gw.api.apply(web(lab))
    assert lab.gw.table() == {}
    found = lab.gw.api.get("/system").expect(200).json["advice"]
    advice = next(a["detail"] for a in found if a["code"] == "unknown_zones")
    assert "[node] zones names zone-aa" in advice, advice
    assert advice in lab.gw.cli("status").stdout
    with open(lab.gw.daemon.log_path, encoding="utf-8") as file:
        lines = [x for x in file if "node.zones_unknown" in x]
    assert len(lines) == 1 and "zone-aa" in lines[0], lines
    lab.gw.daemon.stop()
    lab.gw.daemon.settings["node"]["zones"] = "zone-a"
    lab.gw.daemon.start()
    found = lab.gw.api.get("/system").expect(200).json["advice"]
    assert "unknown_zones" not in [a["code"] for a in found], found


def http_get(lab, path, token=None):
    with lab.gw.ns:
        connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=5)
        connection.connect()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    connection.request("GET", path, headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


@case
def tcp_needs_a_token(lab):
    lab.network(1)
    token = "zg_" + "5f" * 20
    path = f"{lab.gw.daemon.folder}/token"
    with open(path, "w", encoding="ascii") as file:
        file.write(token + "\n")
    os.chmod(path, 0o600)
    os.chown(path, *lab.gw.daemon.ids)
    lab.gw.daemon.settings["api"].update(listen="127.0.0.1:8080", token_file=path)
    lab.gw.daemon.start()
    assert http_get(lab, "/api/v1/config") == 401
    assert http_get(lab, "/api/v1/config", token[:-1] + "0") == 401
    assert http_get(lab, "/api/v1/config", token) == 200


@case
def without_a_token_nobody_is_let_in_by_tcp(lab):
    lab.network(1)
    lab.gw.daemon.settings["api"]["listen"] = "127.0.0.1:8080"
    lab.gw.daemon.start()
    assert http_get(lab, "/api/v1/config") == 401
    assert http_get(lab, "/api/v1/config", "zg_" + "0" * 64) == 401


@case
def answers_live_ready_and_metrics(lab):
    lab.network(1)
    lab.start(web(lab))
    for path in ("/livez", "/readyz", "/metrics"):
        lab.gw.api.get(path).expect(200)
    assert b"zonegate_" in lab.gw.api.get("/metrics").body


@case
def other_users_may_not_speak_to_the_socket(lab):
    lab.network(1)
    lab.start(web(lab))
    done = subprocess.run(
        ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket",
         lab.gw.daemon.socket, "http://localhost/api/v1/config"],
        capture_output=True, text=True, check=False, timeout=20, user=65534, group=65534,
        extra_groups=[],
    )
    # kept out by the socket's rights, or by who it is
    assert done.returncode != 0 or done.stdout == "403", done
