# SPDX-License-Identifier: GPL-2.0-or-later
"""`make demo` as a process, for the tests that look at it from outside."""

import os
import subprocess

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
