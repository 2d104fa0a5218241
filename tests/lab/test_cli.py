# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line tool against the real daemon: what it prints and its exit codes."""

import json
import os

from zglab import VIP4, case
from zglab.documents import check, web

LAB_SECONDS = 8


def ready(lab):
    lab.network(2)
    lab.start(web(lab, health_check=check(type="http")))
    return lab.gw.cli


def saved(lab, document):
    path = f"{lab.gw.daemon.folder}/document.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return path


def code(done, expected):
    assert done.returncode == expected, (done.args, done.returncode, done.stdout, done.stderr)
    return done.stdout


@case
def status(lab):
    cli = ready(lab)
    text = code(cli("status"), 0)
    assert "shop" in text, text
    json.loads(code(cli("-o", "json", "status"), 0))


@case
def version_is_told_without_a_daemon(lab):
    lab.network(0)
    done = code(lab.gw.cli("version"), 0)
    assert done == code(lab.gw.cli("--version"), 0) and done.startswith("zonegate "), done
    wrong = lab.gw.cli("versoin")
    code(wrong, 64)
    assert 'Did you mean "version"?' in wrong.stderr, wrong.stderr


@case
def a_killed_daemon_is_not_passed_over(lab):
    """The start after it says that it ended without a stop, the one after a stop does not."""
    cli = ready(lab)
    lab.gw.daemon.kill()
    lab.gw.daemon.start()
    lab.gw.daemon.stop()
    lab.gw.daemon.start()

    def starts():
        found = lab.gw.api.get("/events?type=daemon.started").expect(200).json["items"]
        return [x["data"]["unclean"] for x in found]

    lab.wait(lambda: len(starts()) == 3, 2, "the last start is stored")
    assert sorted(starts()) == [False, False, True], starts()
    text = code(cli("server", "history", "web/s1"), 0)
    assert text.count("it had ended without a stop") == 1, text


@case
def config_round_trip(lab):
    cli = ready(lab)
    exported = json.loads(code(cli("config", "export"), 0))
    path = saved(lab, exported)
    with lab.gw.capture() as capture:
        code(cli("config", "diff", "-f", path), 0)
        code(cli("config", "apply", "-f", path), 0)
        assert capture.changes(0.1) == {}, capture.changes()
        exported["server_groups"]["web"]["servers"]["s1"]["weight"] = 42
        path = saved(lab, exported)
        text = code(cli("config", "diff", "-f", path), 2)
        assert "42" in text, text
        assert lab.gw.weights()["10.2.0.11"] == 100
        code(cli("config", "apply", "-f", path), 0)
        assert lab.gw.weights()["10.2.0.11"] == 42
        assert capture.changes(0.1) == {"SET_DEST": 1}, capture.changes()


@case
def an_invalid_document(lab):
    cli = ready(lab)
    bad = web(lab)
    bad["server_groups"]["web"]["servers"]["s1"]["weight"] = -1
    bad["load_balancers"]["shop"]["listeners"]["http"]["server_group"] = "absent"
    done = cli("config", "apply", "-f", saved(lab, bad))
    code(done, 3)
    said = done.stdout + done.stderr
    assert "/server_groups/web/servers/s1/weight" in said, said
    assert "/load_balancers/shop/listeners/http/server_group" in said, said


@case
def servers(lab):
    cli = ready(lab)
    text = code(cli("server", "list"), 0)
    assert "s1" in text and "s2" in text and "healthy" in text, text
    lab.servers[0].http_status = 418
    lab.wait_weight(lab.servers[0], 0, 1 + lab.margin)
    done = cli("server", "why", "web/s1")
    assert "418" in done.stdout, (done.stdout, done.stderr)
    assert done.returncode in (0, 1), done
    code(cli("server", "why", "web/s9"), 6)


@case
def kernel_show(lab):
    cli = ready(lab)
    text = code(cli("kernel", "show"), 0)
    assert VIP4 in text and "10.2.0.11" in text, text


@case
def api_call(lab):
    cli = ready(lab)
    group = json.loads(code(cli("api", "GET", "/api/v1/server-groups/web"), 0))
    assert group["servers"]["s1"]["weight"] == 100
    code(cli("api", "PATCH", "/api/v1/server-groups/web/servers/s1", "-d", '{"weight": 9}'), 0)
    assert lab.gw.weights()["10.2.0.11"] == 9
    code(cli("api", "GET", "/api/v1/server-groups/none"), 6)


@case
def codes_for_scripts(lab):
    """Each exit code once: what scripts go by."""
    lab.network(2)
    token = f"{lab.gw.daemon.folder}/token"
    with open(token, "w", encoding="utf-8") as file:
        file.write("a-token-of-the-lab-0123456789\n")
    os.chmod(token, 0o400)
    os.chown(token, *lab.gw.daemon.ids)
    lab.gw.daemon.settings["api"].update(listen="127.0.0.1:7480", token_file=token)
    lab.start(web(lab, health_check=check(type="http")))
    cli = lab.gw.cli
    code(cli("server", "why", "web/s1"), 0)
    code(cli("server", "set", "web/s2", "enabled=false"), 0)
    code(cli("server", "why", "web/s2"), 1)
    code(cli("server", "set", "web/s2", "weight=3", "--dry-run"), 2)
    code(cli("server", "set", "web/s2", "weight=-3"), 3)
    code(cli("group", "delete", "web"), 4)
    code(cli("--server", "http://127.0.0.1:7480", "status"), 5)
    code(cli("--server", "http://127.0.0.1:7480", "--token-file", token, "status"), 0)
    code(cli("lb", "show", "none"), 6)
    for wrong in (
        ["colour"], [], ["server", "colour"], ["lb", "show"], ["status", "more"], ["status", "--colour"],
        ["-o", "yaml", "status"], ["config", "apply"], ["config", "apply", "-f", "/nonexistent"],
        ["group", "set", "web", "-f", "/nonexistent"], ["api", "PUT", "config", "-d", "@/nonexistent"],
        ["--server", "http://127.0.0.1:7480", "--token-file", "/nonexistent", "status"],
    ):
        code(cli(*wrong), 64)
    said = cli("server", "lits").stderr
    assert 'Did you mean "server list"?' in said, said
    lab.gw.daemon.stop()
    code(cli("status"), 7)


@case
def every_list_is_json_too(lab):
    cli = ready(lab)
    for words in (
        "status", "config export", "lb list", "lb show shop", "lb status shop", "listener list shop",
        "listener show shop/http", "group list", "group show web", "server list", "server list web",
        "server show web/s1", "server why web/s1", "server history web/s1", "zone list",
        "override list", "kernel show", "check estimate",
    ):
        done = cli("-o", "json", *words.split())
        assert done.returncode == 0, (words, done.stderr)
        json.loads(done.stdout)
        assert cli(*words.split(), "--help").returncode == 0, words
