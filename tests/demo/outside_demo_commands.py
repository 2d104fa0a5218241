# SPDX-License-Identifier: GPL-2.0-or-later
"""`make demo` as a person uses it: servers die and come back while it runs."""

import os
import re
import subprocess
import time

from zglab import case

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.join(HERE, "run")


def start(config, seconds, **environment):
    return subprocess.Popen(
        [RUN], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={
            **os.environ, "BUILD": config["build"], "DEMO_SECONDS": str(seconds), **environment
        },
    )


def run(config, seconds, **environment):
    process = start(config, seconds, **environment)
    text, _ = process.communicate(timeout=seconds + 60)
    return process.returncode, text


@case
def goes_on_when_one_is_killed(config):
    status, text = run(config, 14, DEMO_KILL="web-3")
    assert status == 0 and "demo: ok" in text, text
    assert re.search(r"web-3: healthy -> unhealthy: .", text), text


@case
def its_three_commands_work_when_pasted(config):
    process = start(config, 20)
    commands = []
    while len(commands) < 3:
        line = process.stdout.readline()
        assert line, "the demo ended early"
        if line.startswith("  ") and ("status" in line or "web-2" in line):
            commands.append(line.strip())
    time.sleep(4)
    done = [
        subprocess.run(
            ["/bin/sh", "-c", x], capture_output=True, text=True, timeout=20, check=False
        )
        for x in commands
    ]
    process.terminate()
    text, _ = process.communicate(timeout=30)
    assert all(x.returncode == 0 for x in done), done
    assert "shop" in done[0].stdout, done[0]
    assert "dead" in done[1].stdout and "alive" in done[2].stdout, done
    assert "web-2 was killed" in text and "web-2 was started" in text, text
    port = re.search(r"--port (\d+)", commands[1]).group(1)
    assert not os.path.exists(os.path.join(config["build"], "demo", port))
