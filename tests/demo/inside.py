#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo inside its lab: inside.py KIND OUT

A gateway with two zones, four HTTP servers, a client with steady traffic. It
writes what happens as lines of JSON to OUT/demo.jsonl, and ends when OUT/stop
appears. The host's side (tests/demo/run) shows it.
"""

import collections
import json
import os
import shutil
import socket
import sys
import threading
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lab"))

from zglab import boot, documents, modules, relay, rtnl  # noqa: E402
from zglab.client import ask_tcp  # noqa: E402
from zglab.lab import OTHER_VIP4, VIP4, Lab  # noqa: E402

API_PORT, CONTROL_PORT = 8443, 8444
GUEST, GUEST_NET = "10.77.0.2", "10.77.0.2/24"
ZONES = {"hall-1": VIP4, "hall-2": OTHER_VIP4}
REQUESTS_PER_SECOND = 20


def configuration(servers):
    check = {
        "type": "http", "path": "/healthz", "interval_ms": 1000, "timeout_ms": 500,
        "healthy_threshold": 2, "unhealthy_threshold": 3,
    }
    group = documents.group(servers, health_check=check, drain_timeout_ms=10000)
    group["servers"] = {
        server.name: {**group["servers"][server.name], "zone": list(ZONES)[number // 2]}
        for number, server in enumerate(servers)
    }
    balancer = documents.balancer({"http": documents.listener()})
    balancer["zones"] = {zone: {"vip4": vip} for zone, vip in ZONES.items()}
    document = documents.document({"web": group}, {"shop": balancer}, list(ZONES))
    for number, zone in enumerate(ZONES, 1):
        document["zones"][zone] = {"description": f"Hall {number}"}
    return document


class Client:
    """Steady traffic to both VIPs, one new connection a request."""

    def __init__(self, namespace):
        self._namespace = namespace
        self._lock = threading.Lock()
        self.answers = collections.Counter()
        self.errors = collections.Counter()
        self.last_answer = None
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        vips = list(ZONES.values())
        turn = 0
        following = time.monotonic()
        while True:
            turn += 1
            self._ask(vips[turn % len(vips)])
            following = max(following + 1 / REQUESTS_PER_SECOND, time.monotonic() - 0.5)
            time.sleep(max(0, following - time.monotonic()))

    def _ask(self, vip):
        try:
            name = ask_tcp(self._namespace, vip, 80, 0.5)
            with self._lock:
                self.answers[name] += 1
            self.last_answer = time.monotonic()
        except OSError as error:
            with self._lock:
                self.errors[type(error).__name__] += 1

    def counts(self):
        with self._lock:
            return dict(self.answers), sum(self.errors.values())


class Demo:
    def __init__(self, kind, out):
        with open(f"{out}/config.json", encoding="utf-8") as file:
            self._config = json.load(file)
        self._config.update(out=out, case="demo")
        self._out = out
        self._kind = kind
        self._events = open(f"{out}/demo.jsonl", "a", encoding="utf-8")
        self._lab = Lab(self._config)
        self._servers = {}
        self._before = {}

    def write(self, **event):
        self._events.write(json.dumps(event) + "\n")
        self._events.flush()

    def _load_modules(self):
        loader = boot.loader(self._kind)
        if loader:
            loader.load(modules.NETWORK + ["ip_vs", "ip_vs_wrr", "nf_conntrack"])

    def _install(self):
        folder = f"{boot.LAB_RUN}/bin"
        os.makedirs(folder, exist_ok=True)
        for name in ("zonegated", "zonegate"):
            shutil.copy(f"{self._config['build']}/{name}", folder)
            os.chmod(f"{folder}/{name}", 0o755)
            self._config[name] = f"{folder}/{name}"

    def _build(self):
        lab = self._lab
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
        lab.gw.daemon.start()
        lab.gw.api.apply(configuration(lab.servers))
        lab.wait_in_service(5)

    def _open_doors(self):
        """The API and the control port, for the host's loopback."""
        if self._kind == "uml":
            netlink = rtnl.Netlink()
            netlink.link_set("lo")
            netlink.link_set("vec0")
            netlink.address_add("vec0", GUEST_NET)
            netlink.close()
            api, control = relay.listen(GUEST, API_PORT), relay.listen(GUEST, CONTROL_PORT)
        else:
            api, control = (socket.socket(fileno=fd) for fd in self._config["listeners"])
        gateway = self._lab.gw.ns

        def connect():
            with gateway:
                sock = socket.socket()
            sock.connect(("127.0.0.1", API_PORT))
            return sock

        relay.forward(api, connect)
        relay.start(control, self._control)

    def _control(self, connection):
        with connection, connection.makefile("rw", encoding="utf-8") as file:
            with open(f"{self._out}/token", encoding="ascii") as token:
                known = token.read().strip()
            words = file.readline().split()
            if len(words) != 3 or words[0] != known:
                file.write("error: not allowed\n")
                return
            file.write(self._act(*words[1:]) + "\n")

    def _act(self, verb, name):
        server = self._servers.get(name)
        if not server:
            return f"error: no server {name}; there are {', '.join(self._servers)}"
        alive = bool(server.listening())
        if verb == "kill" and alive:
            server.kill()
            self.write(note=f"{name} was killed")
        elif verb == "start" and not alive:
            server.start()
            self.write(note=f"{name} was started")
        elif verb not in ("kill", "start"):
            return f"error: {verb} is neither kill nor start"
        return f"{name} is {'dead' if verb == 'kill' else 'alive'}"

    def _kernel_connections(self):
        """Connections that IPVS has counted, each CPU's count in hexadecimal.

        The totals, here in the row "~" and in ip_vs_stats, are up to 2 s old.
        """
        lines = self._lab.gw.ns.proc_net("ip_vs_stats_percpu").splitlines()
        rows = [line.split() for line in lines[2:] if line.strip()]
        return sum(int(row[1], 16) for row in rows if row[0] != "~" and len(row) > 5)

    def _row(self, name, answers, seconds):
        api, gateway, server = self._lab.gw.api, self._lab.gw, self._servers[name]
        try:
            health = api.get(f"/server-groups/web/servers/{name}/health").json
        except (OSError, ValueError):
            health = {}
        weights = [gateway.weights(vip=vip).get(server.address4) for vip in ZONES.values()]
        # the count of new connections that the server itself has seen
        rate = (server.requests - self._before.get(name, 0)) / seconds
        self._before[name] = server.requests
        return {
            "name": name, "address": f"{server.address4}:80", "state": health.get("state", "?"),
            "reason": health.get("detail", ""), "weights": weights,
            "rate": round(rate, 1), "answers": answers.get(name, 0),
        }

    def _tick(self, client, seconds):
        answers, errors = client.counts()
        quiet = time.monotonic() - client.last_answer if client.last_answer else None
        self.write(
            rows=[self._row(name, answers, seconds) for name in self._servers],
            answers=sum(answers.values()), errors=errors,
            quiet=None if quiet is None else round(quiet, 2),
            kernel=self._kernel_connections(),
        )

    def run(self):
        self._load_modules()
        self._install()
        self._build()
        self._open_doors()
        self.write(ready=True)
        client = Client(self._lab.client)
        last = time.monotonic()
        while not os.path.exists(f"{self._out}/stop"):
            time.sleep(1)
            now = time.monotonic()
            self._tick(client, now - last)
            last = now

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
