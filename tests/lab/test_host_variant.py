# SPDX-License-Identifier: GPL-2.0-or-later
"""LAB=host: a lab within the lab, whose kernel has IPVS as a gateway's has."""

import os
import subprocess

from zglab import case


def run_inside(lab, *names, variant="host"):
    return subprocess.run(
        [f"{lab.config['top']}/tests/lab/run", *names], capture_output=True, text=True,
        check=False, timeout=60,
        env={"PATH": os.environ["PATH"], "LAB": variant, "BUILD": f"{lab.config['out']}/inner"},
    )


@case
def the_harness_runs_on_the_host(lab):
    done = run_inside(lab, "harness.balances", "harness.counts_messages")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed, 0 failed, 0 skipped" in done.stdout, done.stdout


@case
def auto_takes_the_hosts_kernel(lab):
    done = run_inside(lab, "harness.balances", variant="auto")
    assert done.returncode == 0, done.stdout + done.stderr
    # user-mode linux does not run within itself: this can only have been the host variant
    assert "1 passed" in done.stdout, done.stdout


@case
def the_demo_runs_on_the_host(lab):
    done = subprocess.run(
        [f"{lab.config['top']}/tests/demo/run"], capture_output=True, text=True, check=False,
        timeout=40,
        env={
            "PATH": os.environ["PATH"], "LAB": "host", "DEMO_SECONDS": "6",
            "BUILD": lab.config["build"],
        },
    )
    assert done.returncode == 0 and "demo: ok" in done.stdout, done.stdout + done.stderr
