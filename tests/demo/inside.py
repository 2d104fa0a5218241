#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo inside its lab: inside.py KIND OUT

A gateway with two zones, four HTTP servers, a client that asks for a name and sends
steady traffic to what it is told. It writes what happens as lines of JSON to OUT/demo.jsonl, and ends when OUT/stop
appears. The host's side (tests/demo/run) shows it.
"""

import json
import os
import shutil
import socket
import sys
import threading
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "../lab"))

from zglab import boot, relay, tap  # noqa: E402
from zglab.filters import NETFILTER, make_lock  # noqa: E402
from zglab.lab import Lab  # noqa: E402

from demo_client import Client, NameWatch  # noqa: E402
from demo_document import DNS_SETTINGS, NAME, ZONES, configuration  # noqa: E402

API_PORT, CONTROL_PORT, DNS_PORT = 8443, 8444, 53


class Demo:
    def __init__(self, kind, out):
        with open(f"{out}/config.json", encoding="utf-8") as file:
            self._config = json.load(file)
        self._config.update(out=out, case="demo")
        self._out = out
        self._kind = kind
        self._events = open(f"{out}/demo.jsonl", "a", encoding="utf-8")
        self._writing = threading.Lock()
        self._lab = Lab(self._config)
        self._servers = {}
        self._code_until = 0.0
        self._before = {}

    def write(self, **event):
        with self._writing:
            self._events.write(json.dumps(event) + "\n")
            self._events.flush()

    def _build(self):
        lab = self._lab
        loader = boot.loader(self._kind)
        if loader:  # so that guards, access lists and ranges can be tried
            loader.load(list(NETFILTER) + ["xt_mark"])
        make_lock()
        lab.network(4)
        for number, server in enumerate(lab.servers, 1):
            server.name = f"web-{number}"
            self._servers[server.name] = server
        token = f"{lab.gw.daemon.folder}/token"
        shutil.copy(f"{self._out}/token", token)
        os.chmod(token, 0o600)
        os.chown(token, *lab.gw.daemon.ids)
        lab.gw.daemon.settings["api"].update(listen=f"127.0.0.1:{API_PORT}", token_file=token)
        lab.gw.daemon.settings["log"]["level"] = "info"
        lab.gw.daemon.settings["dns"] = DNS_SETTINGS
        lab.gw.daemon.start()
        lab.gw.api.apply(configuration(lab.servers))
        lab.wait_in_service(5)

    def _open_doors(self):
        """The API, the control port and DNS, for the host's loopback."""
        ports = API_PORT, CONTROL_PORT, DNS_PORT
        api, control, dns, datagrams = tap.doors(self._kind, self._config, ports, [DNS_PORT])

        def connect(port, kind=socket.SOCK_STREAM):
            with self._lab.gw.ns:
                sock = socket.socket(socket.AF_INET, kind)
            sock.connect(("127.0.0.1", port))
            return sock

        relay.forward(api, lambda: connect(API_PORT))
        relay.forward(dns, lambda: connect(DNS_PORT))
        relay.forward_datagrams(datagrams, lambda: connect(DNS_PORT, socket.SOCK_DGRAM))
        relay.start(control, self._control)

    def _control(self, connection):
        with connection, connection.makefile("rw", encoding="utf-8") as file:
            with open(f"{self._out}/token", encoding="ascii") as token:
                known = token.read().strip()
            words = file.readline().split()
            if not words or words[0] != known:
                file.write("error: not allowed\n")
            elif words[1:] == ["code"]:
                file.write(self._make_code() + "\n")
            elif len(words) == 3:
                file.write(self._act(*words[1:]) + "\n")
            else:
                file.write("error: say kill NAME, start NAME or code\n")

    def _act(self, verb, name):
        one = self._lab.gw.daemon if name == "daemon" else self._servers.get(name)
        if not one:
            return f"error: no server {name}; there are {', '.join(self._servers)}, and the daemon"
        alive = one.running() if name == "daemon" else bool(one.listening())
        if verb == "kill" and alive:
            one.kill()
            self.write(note=f"{name} was killed")
        elif verb == "start" and not alive:
            one.start()
            self.write(note=f"{name} was started")
            if name == "daemon":
                self._make_code()  # a code does not outlive the daemon that made it
        elif verb not in ("kill", "start"):
            return f"error: {verb} is neither kill nor start"
        return f"{name} is {'dead' if verb == 'kill' else 'alive'}"

    def _make_code(self):
        """The one before is void from now on."""
        made = self._lab.gw.api.call("POST", "/auth/setup").expect(200).json
        self._code_until = time.monotonic() + self._config["code_seconds"]
        self.write(code=made["code"], pages=made["pages"])
        return made["code"]

    def _kernel_connections(self):
        """Connections that IPVS has counted, each CPU's count in hexadecimal.

        The totals, here in the row "~" and in ip_vs_stats, are up to 2 s old.
        """
        lines = self._lab.gw.ns.proc_net("ip_vs_stats_percpu").splitlines()
        rows = [line.split() for line in lines[2:] if line.strip()]
        return sum(int(row[1], 16) for row in rows if row[0] != "~" and len(row) > 5)

    def _rate(self, name, count, seconds):
        rate = (count - self._before.get(name, 0)) / seconds
        self._before[name] = count
        return round(rate, 1)

    def _row(self, name, answers, seconds):
        api, gateway, server = self._lab.gw.api, self._lab.gw, self._servers[name]
        try:
            health = api.get(f"/server-groups/web/servers/{name}/health").json
        except (OSError, ValueError):
            health = {}
        weights = [gateway.weights(vip=vip).get(server.address4) for vip in ZONES.values()]
        return {
            "name": name, "address": f"{server.address4}:80", "state": health.get("state", "?"),
            "reason": health.get("detail", ""), "weights": weights,
            # the count of new connections that the server itself has seen
            "rate": self._rate(name, server.requests, seconds), "answers": answers.get(name, 0),
        }

    def _zones(self, visits, seconds):
        """What the daemon says of the zones; what DNS answers is asked by the client."""
        try:
            listed = self._lab.gw.api.get("/load-balancers/shop/status").json["zones"]
            told = {x["zone"]: x["publication"][0] for x in listed}
        except (OSError, ValueError, LookupError):
            told = {}
        return [
            {
                "zone": zone, "vip": vip, "published": told.get(zone, {}).get("published"),
                "reason": told.get(zone, {}).get("detail", ""),
                "rate": self._rate(zone, visits.get(vip, 0), seconds),
            }
            for zone, vip in ZONES.items()
        ]

    def _tick(self, client, seconds):
        answers, visits, errors = client.counts()
        quiet = time.monotonic() - client.last_answer if client.last_answer else None
        self.write(
            rows=[self._row(name, answers, seconds) for name in self._servers],
            zones=self._zones(visits, seconds),
            answers=sum(answers.values()), errors=errors,
            quiet=None if quiet is None else round(quiet, 2),
            kernel=self._kernel_connections(),
        )

    def run(self):
        tap.prepare(self._kind, self._config)
        self._build()
        self._open_doors()
        self._make_code()
        self.write(ready=True, name=NAME)
        client = Client(self._lab.client)
        watch = NameWatch(self._lab.client, lambda answer: self.write(dns=answer))
        last = time.monotonic()
        while not os.path.exists(f"{self._out}/stop"):
            time.sleep(1)
            now = time.monotonic()
            self._tick(client, now - last)
            last = now
            if now > self._code_until and self._lab.gw.daemon.running():
                self._make_code()
        watch.stop()

    def close(self):
        faults = self._lab.close()
        self.write(ended=True, faults=faults)


def main():
    kind, out_folder = sys.argv[1:3]
    status = 1
    try:
        demo = Demo(kind, boot.enter(kind, out_folder))
        try:
            demo.run()
        except BaseException:
            demo.write(fault=traceback.format_exc() + demo._lab.describe())
            raise
        finally:
            demo.close()
        status = 0
    except BaseException:  # whatever it is, the machine must be switched off
        traceback.print_exc()
    sys.stdout.flush()
    if os.getpid() == 1 and kind == "uml":
        boot.power_off()
    return status


if __name__ == "__main__":
    sys.exit(main())
