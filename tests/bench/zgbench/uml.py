# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one measurement inside user-mode Linux, with the harness of the lab."""

import json
import os
import shutil
import subprocess
import time

from . import BUILD, HERE, LAB, OUT
from zglab import launch  # the import above made it reachable

ROUNDS = int(os.environ.get("ROUNDS", "9"))


class _Settings(launch.Settings):
    def configuration(self):
        return dict(super().configuration(), programs=f"{OUT}/tests/bench", rounds=ROUNDS)


def _first_of_all():
    """What else the machine does must not stop the clock of this one."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        pass  # then it is as good as the machine is quiet


def _boot(settings, name, out, seconds):
    path = os.path.join(HERE, "inside", f"{name}.py")
    command, environment = settings.uml_command(
        f"bench-{name}-{os.getpid()}", launch.PYTHON,
        [os.path.join(LAB, "init.py"), "uml", out, path], memory="1536M",
    )
    with open(f"{out}/console.log", "wb") as console:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=console,
            stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=_first_of_all,
        )
        end = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        launch.stop_group(process)


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def measure(name, case, seconds=280):
    """The figures of one case of zgbench/inside/NAME.py; dies with its words if it failed."""
    out = os.path.join(BUILD, "bench", case)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    settings = _Settings(LAB, BUILD, "uml", False, False)
    with open(f"{out}/config.json", "w", encoding="utf-8") as file:
        json.dump(dict(settings.configuration(), wanted=[case]), file)
    try:
        _boot(settings, name, out, seconds)
    finally:
        settings.close()
    results = [json.loads(x) for x in _read(f"{out}/results.jsonl").splitlines()]
    failed = [x["detail"] for x in results if x.get("status", "passed") != "passed"]
    if failed or not os.path.exists(f"{out}/figures.json"):
        raise SystemExit("\n".join(failed) or _read(f"{out}/console.log")[-4000:])
    return json.loads(_read(f"{out}/figures.json"))
