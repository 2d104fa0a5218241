#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The gateway of the browser's stories, inside its lab: gateway_inside.py KIND OUT

A daemon without a configuration, four HTTP servers, a client. What the stories look at from outside, and what they make
happen to servers and daemon, is asked by lines of JSON at the control port: see `Gateway.act_*`.
"""

import json
import os
import sys
import threading
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("../demo", "../lab"):
    sys.path.insert(0, os.path.join(HERE, folder))

from zglab import boot, relay, tap  # noqa: E402
from zglab.client import Traffic  # noqa: E402
from zglab.filters import NETFILTER, knock, network  # noqa: E402
from zglab.lab import Lab, run_in  # noqa: E402

from demo_client import Client  # noqa: E402
from demo_document import DNS_SETTINGS, NAME, NAME_SERVER  # noqa: E402

API_PORT, CONTROL_PORT = 8443, 8444
HELD = 8  # connections that stay
REQUESTS_PER_SECOND = 10
STRANGER = "10.1.0.77"  # an address more of the client
KNOCKS = 5


class Gateway:
    def __init__(self, kind, out):
        with open(f"{out}/config.json", encoding="utf-8") as file:
            self._config = json.load(file)
        self._config.update(out=out, case="web")
        self._kind = kind
        self._out = out
        self._lab = Lab(self._config)
        self._client = None
        self._held = None
        self._over = threading.Event()

    def run(self):
        lab = self._lab
        tap.prepare(self._kind, self._config)
        loader = boot.loader(self._kind)
        if loader:  # guards, access lists and ranges of ports
            loader.load([*NETFILTER, "xt_mark"])
        network(lab, 4)
        lab.client.add_address("eth0", f"{STRANGER}/24")
        for number, server in enumerate(lab.servers, 1):
            server.name = f"web-{number}"
        daemon = lab.gw.daemon
        daemon.settings["node"]["name"] = "gateway-1"
        daemon.settings["api"].update(listen=f"127.0.0.1:{API_PORT}")
        daemon.settings["dns"] = DNS_SETTINGS
        daemon.settings["log"]["level"] = "info"
        daemon.start()
        api, control = tap.doors(self._kind, self._config, (API_PORT, CONTROL_PORT))
        relay.forward(api, self._connect)
        relay.start(control, self._control)
        with open(f"{self._out}/ready", "w", encoding="ascii"):
            pass
        self._over.wait()

    def close(self):
        return self._lab.close()

    def describe(self):
        return self._lab.describe()

    def _connect(self):
        with self._lab.gw.ns:
            sock = relay.socket.socket()
        sock.connect(("127.0.0.1", API_PORT))
        return sock

    def _control(self, connection):
        with connection, connection.makefile("rw", encoding="utf-8") as file:
            for line in file:
                words = json.loads(line)
                try:
                    answer = {"value": getattr(self, f"act_{words[0]}")(*words[1:])}
                except Exception:  # whatever it is, the story tells it
                    answer = {"fault": traceback.format_exc()}
                file.write(json.dumps(answer) + "\n")
                file.flush()

    # What is seen from outside

    def act_table(self):
        """{"TCP 192.0.2.10:80": {"10.2.0.11": weight}} of /proc/net/ip_vs"""
        table = self._lab.gw.table()
        return {f"{p} {vip}:{port}": s.weights() for (p, vip, port), s in table.items()}

    def act_dig(self):
        """Addresses that the client's dig gets, in order."""
        return sorted(run_in(self._lab.client, "dig", "+short", "+tries=1", "+time=2", f"@{NAME_SERVER}", NAME).split())

    def act_counts(self):
        """By server: new connections that the client was answered by; and those without an answer."""
        answers, _, errors = self._client.counts()
        return {"answers": answers, "errors": errors}

    def act_held(self):
        """Connections that stay: how many each server has, exchanges so far, which broke."""
        held = self._held
        return {"owners": held.owners(), "exchanges": held.exchanges, "broken": held.broken}

    def act_knock(self, address, port, source=None):
        """What a client sees of a port, "open", "refused" or "silent": the best of some, as packets of a late machine are late."""
        seen = [knock(self._lab, address, port, source=source) for _ in range(KNOCKS)]
        return next(x for x in ("open", "refused", "silent") if x in seen)

    def act_stranger(self):
        """An address that the client has besides the one that its traffic comes from."""
        return STRANGER

    # What happens

    def act_setup(self):
        return self._lab.gw.cli("setup").stdout

    def act_traffic(self):
        self._client = Client(self._lab.client, REQUESTS_PER_SECOND)

    def act_hold(self, vip):
        self._held = Traffic(self._lab.client, vip, 80, HELD, 0.5)

    def act_release(self):
        self._held.stop()

    def _server(self, name):
        return next(x for x in self._lab.servers if x.name == name)

    def act_kill(self, name):
        self._server(name).kill()

    def act_start(self, name):
        self._server(name).start()

    def act_daemon_kill(self):
        self._lab.gw.daemon.kill()

    def act_daemon_start(self):
        self._lab.gw.daemon.start()

    def act_end(self):
        self._over.set()


def main():
    kind, out_folder = sys.argv[1:3]
    status = 1
    try:
        out = boot.enter(kind, out_folder)
        gateway = Gateway(kind, out)
        try:
            gateway.run()
        except BaseException:
            print(gateway.describe())
            raise
        finally:
            faults = gateway.close()
            with open(f"{out}/faults", "w", encoding="utf-8") as file:
                file.write("\n".join(faults))
        status = 0
    except BaseException:  # whatever it is, the machine must be switched off
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    if os.getpid() == 1 and kind == "uml":
        boot.power_off()
    return status


if __name__ == "__main__":
    sys.exit(main())
