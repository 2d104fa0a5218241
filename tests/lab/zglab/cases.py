# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases of a test file: registration, running one after the other, results.

Results are lines of JSON in OUT/results.jsonl, written as they come, so that
nothing is lost when the machine dies.
"""

import importlib.util
import json
import os
import shutil
import signal
import sys
import time
import traceback

from . import boot, contract, documents, modules
from .lab import Lab

_registered = []
_MODULES = modules.NETWORK + modules.IPVS + modules.CONNTRACK


class Skip(Exception):
    """The case cannot run here; the text says why. LAB=auto never skips."""


def case(function=None, **options):
    """Register a case: a function of the lab. Options:

    name          instead of the function's own
    timeout       seconds, 120: a machine that does other things needs several times as long
    load          names of more kernel modules
    without_ipvs  IPVS is not loaded
    must_fail     passes only if this exception comes out
    """

    def register(function):
        _registered.append(
            {
                "name": options.get("name", function.__name__),
                "function": function,
                "timeout": options.get("timeout", 120.0),
                "modules": list(options.get("load", ())),
                "without_ipvs": options.get("without_ipvs", False),
                "must_fail": options.get("must_fail"),
            }
        )
        return function

    return register(function) if function else register


class CaseTimeout(BaseException):
    """The case took longer than it may. No handler of a test catches it."""


def _on_alarm(*_):
    raise CaseTimeout("the case took too long")


class OutsideLab:
    """Stands in for the lab of cases that run on the host itself."""

    gateways = ()

    def describe(self):
        return ""

    def close(self):
        return []


class _Runner:
    def __init__(self, kind, out):
        self._kind = kind
        self._out = out
        self._loader = boot.loader(kind)  # None outside user-mode linux
        self._results = open(f"{out}/results.jsonl", "a", encoding="utf-8")
        with open(f"{out}/config.json", encoding="utf-8") as file:
            self._config = json.load(file)
        self._config["out"] = out
        self._config["kind"] = kind
        contract.Contract.shelf = contract.Shelf(f"{self._config['build']}/lab/judges", f"{out}/judges")
        # Under valgrind a healthy server does not always answer within a quarter of a second.
        documents.QUICK["timeout_ms"] = max(250, int(100 * self._config["slow"]))
        os.chmod(out, 0o755)
        if self._config["gcov"]:
            os.makedirs(f"{out}/gcov", exist_ok=True)
            os.chmod(f"{out}/gcov", 0o777)

    def wanted(self):
        return self._config["wanted"]

    def write(self, **result):
        self._results.write(json.dumps(result) + "\n")
        self._results.flush()

    def install_binaries(self):
        """Copies, so that the service user reaches them wherever the tree lives."""
        folder = "/run/zglab/bin"
        os.makedirs(folder, exist_ok=True)
        for name in ("zonegated", "zonegate"):
            source = f"{self._config['build']}/{name}"
            self._config[name] = f"{folder}/{name}"
            if os.path.exists(source):
                shutil.copy(source, folder)
                os.chmod(f"{folder}/{name}", 0o755)

    def load(self, one):
        if not self._loader:
            return
        names = [x for x in _MODULES if not (one["without_ipvs"] and x.startswith("ip_vs"))]
        self._loader.load(names + one["modules"])

    def run(self, one):
        start = time.monotonic()
        status, detail = "passed", ""
        config = dict(self._config, case=one["name"], loader=self._loader)
        lab = Lab(config) if self._kind != "outside" else OutsideLab()
        signal.signal(signal.SIGALRM, _on_alarm)
        signal.setitimer(signal.ITIMER_REAL, one["timeout"] * config["slow"])
        try:
            self.load(one)
            one["function"](lab if self._kind != "outside" else config)
            if one["must_fail"]:
                status, detail = "failed", "it should have failed, and did not"
        except Skip as reason:
            status, detail = "skipped", str(reason)
        except BaseException as fault:  # a failure of any kind is a result
            if not (one["must_fail"] and isinstance(fault, one["must_fail"])):
                status, detail = "failed", traceback.format_exc()
        signal.setitimer(signal.ITIMER_REAL, 0)
        if status == "failed":
            detail += "\n" + self._describe(lab)
        status, detail = self._close(lab, status, detail)
        self.write(
            case=one["name"], status=status, detail=detail, seconds=time.monotonic() - start
        )

    @staticmethod
    def _describe(lab):
        try:
            return lab.describe()
        except Exception:
            return traceback.format_exc()

    @staticmethod
    def _close(lab, status, detail):
        try:
            faults = lab.close()
        except Exception:
            faults = [traceback.format_exc()]
        if faults and status != "skipped":
            # a daemon that ended badly has the reason at the end of its log
            logs = "\n".join(g.daemon.log()[-4000:] for g in lab.gateways)
            status, detail = "failed", detail + "\n" + "\n".join(faults) + "\n" + logs
        return status, detail


def run_file(kind, out, path):
    """Run the cases of one test file, or those of them that the runner wants."""
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("lab_test_file", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    runner = _Runner(kind, out)
    wanted = runner.wanted()
    chosen = [x for x in _registered if not wanted or x["name"] in wanted]
    runner.write(plan=[x["name"] for x in chosen])
    known = [x["name"] for x in _registered]
    for name in wanted:
        if name not in known:
            runner.write(unknown=name, known=known)
    if kind != "outside":
        runner.install_binaries()
    for one in chosen:
        runner.run(one)
    runner.write(done=True)
    return 0
