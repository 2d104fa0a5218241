#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the cases of one file inside the lab: init.py KIND OUT FILE"""

import os
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from zglab import boot  # noqa: E402


def main():
    # user-mode linux adds words of its own behind ours
    kind, out_folder, path = sys.argv[1:4]
    status = 1
    try:
        out = out_folder if kind == "outside" else boot.enter(kind, out_folder)
        from zglab import cases

        status = cases.run_file(kind, out, path)
    except BaseException:  # whatever it is, the machine must be switched off
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    if os.getpid() == 1 and kind == "uml":
        boot.power_off()
    return status


if __name__ == "__main__":
    sys.exit(main())
