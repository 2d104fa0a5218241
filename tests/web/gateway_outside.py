#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts the gateway of the browser's stories in a lab, with its doors on the loopback of the network that it is called in.

    gateway_outside.py OUT API_PORT CONTROL_PORT

Prints "ready" when the doors are open, and ends the lab when its standard input ends. Status 0: it ended well.
"""

import json
import os
import shutil
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.join(HERE, "../lab")
sys.path.insert(0, LAB)
sys.dont_write_bytecode = True

from zglab import launch, relay, tap  # noqa: E402

API_PORT, CONTROL_PORT = 8443, 8444
START_SECONDS, END_SECONDS = 60, 15


def wait(process, condition, seconds):
    limit = time.monotonic() + seconds
    while not condition():
        if process.poll() is not None or time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


def console(out):
    with open(f"{out}/console.log", encoding="utf-8", errors="replace") as file:
        return file.read()[-6000:]


def serve(settings, out, listeners):
    inside = settings.kind == "uml"
    if inside:
        tap.make_device()
    process = tap.start(settings, os.path.join(HERE, "gateway_inside.py"), out, listeners)
    try:
        if inside:
            for listener, port in zip(listeners, (API_PORT, CONTROL_PORT)):
                relay.forward(listener, lambda port=port: tap.connect(port))
        if not wait(process, lambda: os.path.exists(f"{out}/ready"), START_SECONDS):
            print(f"the lab does not start:\n{console(out)}", file=sys.stderr)
            return 1
        print("ready", flush=True)
        sys.stdin.read()
        if not wait(process, lambda: os.path.exists(f"{out}/faults"), END_SECONDS):
            print(f"the lab does not end:\n{console(out)}", file=sys.stderr)
            return 1
        with open(f"{out}/faults", encoding="utf-8") as file:
            faults = file.read()
        print(faults, file=sys.stderr, end="")
        return 1 if faults else 0
    finally:
        launch.stop_group(process)


def main():
    out, *ports = sys.argv[1:4]
    settings = launch.Settings.from_environment(LAB)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    listeners = [relay.listen("127.0.0.1", int(x)) for x in ports]
    configuration = dict(settings.configuration(), listeners=[x.fileno() for x in listeners])
    with open(f"{out}/config.json", "w", encoding="utf-8") as file:
        json.dump(configuration, file)
    try:
        return serve(settings, out, listeners)
    finally:
        settings.close()


if __name__ == "__main__":
    sys.exit(main())
