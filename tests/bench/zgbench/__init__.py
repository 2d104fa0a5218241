# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lines of the bench share. A line is a file of tests/bench/lines."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
TOP = os.path.dirname(os.path.dirname(BENCH))
LAB = os.path.join(TOP, "tests/lab")
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(TOP, "build")))
OUT = os.path.abspath(os.environ.get("OUT", os.path.join(BUILD, "default")))

sys.dont_write_bytecode = True
if LAB not in sys.path:
    sys.path.append(LAB)
