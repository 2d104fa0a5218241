# SPDX-License-Identifier: GPL-2.0-or-later
"""The runner, seen from outside: whatever goes wrong in a lab is reported as failed."""

import os
import subprocess

from zglab import case

HERE = os.path.dirname(os.path.abspath(__file__))


def run(config, *arguments, **environment):
    done = subprocess.run(
        [f"{HERE}/run", *arguments], capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "BUILD": f"{config['out']}/build", **environment},
    )
    return done.returncode, done.stdout


@case
def reports_every_kind_of_end(config):
    status, text = run(config, f"{HERE}/fixtures/broken.py")
    lines = text.splitlines()

    def reported(word, name):
        return any(x.startswith(f"{word} lab broken.{name} ") for x in lines)

    assert status == 1, text
    assert reported("ok  ", "goes_well"), text
    assert reported("FAIL", "fails"), text
    assert "on purpose" in text and "TCP  C000020A:0050 sed" in text, text
    assert reported("skip", "skips"), text
    assert reported("FAIL", "has_no_daemon") and "the daemon ended: 1" in text, text
    assert reported("FAIL", "ends_the_lab"), text
    assert reported("FAIL", "comes_after_the_end"), text
    assert lines[-2:] == ["skipped: broken.skips", "1 passed, 4 failed, 1 skipped"], text


@case
def selects_one_case(config):
    status, text = run(config, "test_harness.balances")
    assert status == 0, text
    assert text.splitlines()[-1] == "1 passed, 0 failed, 0 skipped", text


@case
def refuses_an_unknown_name(config):
    status, text = run(config, "test_nothing")
    assert status != 0 and not text, text


@case
def names_an_unknown_case_and_those_there_are(config):
    status, text = run(config, "test_harness.balanced", "test_harness.balances")
    assert status == 1 and "ok   lab test_harness.balances " in text, text
    assert "FAIL lab test_harness.balanced " in text and "there is no case of this name" in text, text
    assert text.splitlines()[-1] == "1 passed, 1 failed, 0 skipped" and "ended" not in text, text
    status, text = run(config, "test_harness.nothing")
    assert status == 1 and "there are: " in text and "ended" not in text, text


@case
def leaves_nothing_behind(config):
    before = set(os.listdir("/run/netns")) if os.path.isdir("/run/netns") else set()
    run(config, "test_harness.balances")
    after = set(os.listdir("/run/netns")) if os.path.isdir("/run/netns") else set()
    assert after <= before, after - before
