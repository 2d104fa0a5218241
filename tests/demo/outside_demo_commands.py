# SPDX-License-Identifier: GPL-2.0-or-later
"""`make demo` as a person uses it: servers die and come back while it runs."""

import io
import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request

import screen
from demo_process import run, start
from zglab import case


@case
def goes_on_when_one_is_killed(config):
    status, text = run(config, 14, DEMO_KILL="web-3")
    assert status == 0 and "demo: ok" in text, text
    assert re.search(r"web-3: healthy -> unhealthy: .", text), text


def introduction(process):
    """Lines that are printed for pasting, but for that of the code."""
    commands = []
    while len(commands) < 8:
        line = process.stdout.readline()
        assert line, "the demo ended early"
        if line.startswith("  "):
            commands.append(line.strip())
    return commands


def paste(*lines):
    """Into one shell; status and output."""
    done = subprocess.run(
        ["/bin/sh", "-c", "\n".join(lines)], capture_output=True, text=True, timeout=20, check=False
    )
    return done.returncode, done.stdout + done.stderr


def ask(command):
    """Addresses that the printed command gets."""
    status, text = paste(command)
    assert status == 0, text
    return set(text.split())


def ends(process, build, port):
    process.terminate()
    text, _ = process.communicate(timeout=30)
    assert "demo: ok" in text and process.returncode == 0, text
    assert not os.path.exists(os.path.join(build, "demo", port)), "nothing is left"
    return text


@case
def servers_die_and_come_back_by_what_is_printed(config):
    process = start(config, 40)
    names, status, _, _, _, kill, why, bring = introduction(process)
    time.sleep(3)
    code, text = paste(names, status)
    assert code == 0 and "shop" in text, text
    code, text = paste(kill)
    assert code == 0 and "web-2 is dead" in text, text
    time.sleep(3)
    code, text = paste(names, why)
    assert code == 1 and "unhealthy" in text, text
    code, text = paste(bring)
    assert code == 0 and "web-2 is alive" in text, text
    time.sleep(4)
    code, text = paste(names, why)
    assert code == 0 and "healthy" in text, text
    code, text = paste(kill.replace("web-2", "daemon"))
    assert code == 0 and "daemon is dead" in text, text
    assert paste(names, status)[0] == 7
    code, text = paste(bring.replace("web-2", "daemon"))
    assert code == 0 and "daemon is alive" in text, text
    code, text = paste(names, status)
    assert code == 0 and "shop" in text, text
    time.sleep(1)  # the name is answered again, and the client by a server
    text = ends(process, config["build"], re.search(r"--port (\d+)", kill).group(1))
    assert "web-2 was killed" in text and "web-2 was started" in text, text


@case
def a_shift_changes_the_answer_at_once(config):
    both, rest = {"192.0.2.10", "192.0.2.20"}, {"192.0.2.10"}
    process = start(config, 40)
    names, _, dig, shift, bring, kill, _, _ = introduction(process)
    assert shift.endswith("zone shift zone-b --lb shop --for 2m --comment try"), shift
    assert ask(dig) == both and ask(f"{dig} +tcp") == both
    time.sleep(2)  # the first table has been printed
    code, text = paste(names, shift)
    assert code == 0, text
    assert ask(dig) == rest, "with the answer of the command"
    time.sleep(7)  # until the table is printed once more
    code, text = paste(names, bring)
    assert code == 0, text
    limit = time.monotonic() + 5 * config["slow"]
    while ask(dig) != both:
        assert time.monotonic() < limit, "the zone is not handed out again"
    time.sleep(0.5)
    text = ends(process, config["build"], re.search(r"--port (\d+)", kill).group(1))
    name = r"DNS: shop\.lb\.example\.net"
    all_, one = r"192\.0\.2\.10 192\.0\.2\.20 \(TTL 10 s\)", r"192\.0\.2\.10 \(TTL 5 s\)"
    assert re.search(rf"{name} {all_} -> {one}", text), text
    assert re.search(rf"{name} {one} -> {all_}", text), text
    assert re.search(r"zone-b +192\.0\.2\.20 +withdrawn +0\.0  left out: shifted away", text), text


@case
def what_nobody_knows_is_not_called_withdrawn(config):
    """While the daemon is dead."""
    stream = io.StringIO()
    zones = [{"zone": f"zone-{x}", "vip": "192.0.2.10", "published": known, "reason": "", "rate": 0.0}
             for x, known in (("a", None), ("b", False))]
    shown = screen.Screen(stream)
    shown.table({"rows": [], "zones": zones, "answers": 0, "errors": 0, "quiet": None, "kernel": 0})
    shown.close()
    assert re.search(r"zone-a +192\.0\.2\.10 +\? ", stream.getvalue()), stream.getvalue()
    assert re.search(r"zone-b +192\.0\.2\.10 +withdrawn ", stream.getvalue()), stream.getvalue()


def shown_code(process, other_than=()):
    """The next line that tells a code: (the API's address, the code)."""
    while True:
        line = process.stdout.readline()
        assert line, "the demo ended early"
        found = re.search(r"(http://\S+)/ui/#/setup with the one-time code (\S+)", line)
        if found and found.group(2) not in other_than:
            return found.groups()


def make_user(address, code, name):
    """Status of the answer to who has this code."""
    body = json.dumps({"code": code, "user": name, "password": "a long password"}).encode()
    request = urllib.request.Request(
        f"{address}/api/v1/auth/first-user", body, {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as refusal:
        return refusal.code


@case
def the_code_shown_works_and_another_can_be_had(config):
    process = start(config, 40, DEMO_CODE_SECONDS="4")
    address, first = shown_code(process)
    command = [process.stdout.readline() for _ in range(11)][-1].split("#")[0].strip()
    assert command.endswith(" code"), command
    _, second = shown_code(process, [first])
    assert make_user(address, first, "early") == 401, "the one before is void"
    assert make_user(address, second, "anna") in (200, 201)
    assert make_user(address, second, "again") == 401, "it is for once"
    status, third = paste(command)
    assert status == 0 and make_user(address, third.strip(), "berta") in (200, 201), third
    ends(process, config["build"], re.search(r"--port (\d+)", command).group(1))
