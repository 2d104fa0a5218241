# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Prometheus beside the daemon: the shipped rules with short times, and its API."""

import http.client
import json
import os
import re
import shutil
import subprocess
import time
import urllib.parse

from . import sysc

PORT = 19090
SETTINGS = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: [{folder}/rules.yml]
scrape_configs:
  - job_name: zonegate
    scheme: https
    tls_config: {{insecure_skip_verify: true}}
    authorization: {{credentials_file: {folder}/token}}
    static_configs: [{{targets: ["{target}"]}}]
"""


def shortened(rules):
    """Waits of a second and windows of some, so that a test sees alerts come and go."""
    rules = re.sub(r"\bfor: \w+", "for: 1s", rules)
    rules = re.sub(r"\[(?:2m|5m)\]", "[10s]", rules)
    return re.sub(r"\[15m\]", "[20s]", rules)


class Prometheus:
    def __init__(self, lab, target, token, rules):
        self._lab = lab
        self._folder = f"{lab.gw.daemon.folder}/prometheus"
        shutil.rmtree(self._folder, ignore_errors=True)
        os.makedirs(self._folder)
        for name, text in (
            ("prometheus.yml", SETTINGS.format(folder=self._folder, target=target)),
            ("rules.yml", shortened(rules)), ("token", token),
        ):
            with open(f"{self._folder}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        self._log = open(f"{lab.config['out']}/{lab.config['case']}.prometheus.log", "wb")
        self._process = subprocess.Popen(
            ["prometheus", f"--config.file={self._folder}/prometheus.yml",
             f"--storage.tsdb.path={self._folder}/data", "--log.level=warn",
             f"--web.listen-address=127.0.0.1:{PORT}"],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, cwd="/",
            env={**os.environ, "GOMAXPROCS": "1", "GOGC": "200"},  # a lab has one processor, and memory
            preexec_fn=lambda: sysc.setns(lab.gw.ns.descriptor),
        )
        self.started = time.time()

    def ask(self, path, **query):
        """The data of an answer; None while Prometheus starts (503, in plain text)."""
        target = f"/api/v1/{path}?{urllib.parse.urlencode(query)}"
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
        try:
            with self._lab.gw.ns:
                connection.connect()
            connection.request("GET", target)
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()
        if response.status != 200:
            return None
        found = json.loads(text)
        assert found["status"] == "success", (target, found)
        return found["data"]

    def wait_up(self, seconds):
        self._lab.wait(self._scrapes, seconds, "Prometheus scrapes the daemon", pause=0.3)

    def _scrapes(self):
        targets = self.ask("targets")
        return targets and [x["health"] for x in targets["activeTargets"]] == ["up"]

    def _answer(self, path, **query):
        """The data of an answer, however long a busy machine takes for one."""
        answers = []

        def comes():
            answers.append(self.ask(path, **query))
            return answers[-1]

        self._lab.wait(comes, 30, "Prometheus answers", pause=0.3)
        return answers[-1]

    def firing(self):
        return {
            one["labels"]["alertname"] for one in self._answer("alerts")["alerts"]
            if one["state"] == "firing"
        }

    def varied(self, expression):
        """Whether it had more than one value, or came or went, in all the time so far."""
        data = self._answer(
            "query_range", query=expression, start=self.started, end=time.time(), step=1)
        values = [[value for _, value in one["values"]] for one in data["result"]]
        longest = max(map(len, values), default=0)
        return any(len(set(one)) > 1 for one in values) or any(
            0 < len(one) < longest for one in values)

    def stop(self):
        self._process.terminate()
        self._process.wait(10)
        self._log.close()
