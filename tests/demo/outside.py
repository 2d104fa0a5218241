# SPDX-License-Identifier: GPL-2.0-or-later
"""The host's side of the demo: starts the lab, opens its doors, shows it, judges it.

The process makes its two listeners on the host's loopback and then leaves for
a network namespace without a name, in which the tap of user-mode linux stands.
Nothing of it is left when the processes are gone, however they end.
"""

import json
import os
import secrets
import shlex
import shutil
import signal
import sys
import time

import control
import screen
from zglab import launch, relay, tap

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.abspath(os.path.join(HERE, "../.."))
API_PORT, CONTROL_PORT, DNS_PORT = 8443, 8444, 53
START_SECONDS = 30
KILL_AFTER = 6  # seconds of traffic before DEMO_KILL strikes
CODE_SECONDS = 890  # a code for the pages holds for 15 minutes: then another is shown
QUIET = 3.0  # seconds without an answer: the traffic does not flow


class Demo:
    def __init__(self):
        self._seconds = float(os.environ.get("DEMO_SECONDS") or 0)
        self._kill = (os.environ.get("DEMO_KILL") or "").replace(",", " ").split()
        self._settings = launch.Settings.from_environment(os.path.join(TOP, "tests/lab"))
        self._api = relay.listen("127.0.0.1", int(os.environ.get("DEMO_PORT") or 0))
        self._control = relay.listen("127.0.0.1")
        self._dns, self._datagrams = self._listen_dns()
        self._control_port = self._control.getsockname()[1]
        self._out = control.folder(self._control_port)
        self._process = None
        self._position = 0
        self._screen = screen.Screen(sys.stdout)
        self._stopping = False
        self._ready_at = None
        self._name, self._code, self._pages = "", "", True
        self._last = None
        self._fault = None
        self._named = False  # DNS has given an address
        self._ended = False

    @staticmethod
    def _listen_dns():
        """TCP and UDP on one port of the loopback."""
        for _ in range(20):
            stream = relay.listen("127.0.0.1")
            try:
                return stream, relay.bind_datagrams("127.0.0.1", stream.getsockname()[1])
            except OSError:
                stream.close()  # another program's datagrams
        raise SystemExit("demo: no port is free for both TCP and UDP")

    def _doors(self):
        return self._api, self._control, self._dns, self._datagrams

    def _prepare(self):
        for name in ("zonegated", "zonegate"):
            path = f"{self._settings.build}/{name}"
            if not os.access(path, os.X_OK):
                raise SystemExit(f"demo: {path} is not there; make it first")
        shutil.rmtree(self._out, ignore_errors=True)
        os.makedirs(self._out)
        with open(f"{self._out}/token", "w", encoding="ascii") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write("zg_" + secrets.token_hex(20) + "\n")
        configuration = self._settings.configuration()
        configuration["code_seconds"] = float(os.environ.get("DEMO_CODE_SECONDS") or CODE_SECONDS)
        configuration["listeners"] = [x.fileno() for x in self._doors()]
        with open(f"{self._out}/config.json", "w", encoding="utf-8") as file:
            json.dump(configuration, file)

    def _start(self):
        inside = self._settings.kind == "uml"
        if inside:
            tap.leave_network()
            tap.make_device()
        script = os.path.join(HERE, "inside.py")
        self._process = tap.start(self._settings, script, self._out, self._doors())
        if inside:
            ports = API_PORT, CONTROL_PORT, DNS_PORT
            for listener, port in zip(self._doors(), ports):
                relay.forward(listener, lambda port=port: tap.connect(port))
            relay.forward_datagrams(self._datagrams, lambda: tap.connect_datagrams(DNS_PORT))

    def _events(self):
        path = f"{self._out}/demo.jsonl"
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            file.seek(self._position)
            text = file.read()
        whole = text[: text.rfind("\n") + 1]
        self._position += len(whole.encode())
        for line in whole.splitlines():
            self._take(json.loads(line))

    def _take(self, event):
        if "ready" in event:
            self._ready_at = time.monotonic()
            self._name = event["name"]
            self._screen.introduce(self._name, self._introduction())
        elif "code" in event:
            self._code, self._pages = event["code"], event["pages"]
            if self._ready_at:
                self._screen.renew(self._introduction())
        elif "dns" in event:
            self._named = self._named or bool(event["dns"]["addresses"])
            self._screen.answer(event["dns"])
        elif "rows" in event:
            self._last = event
            self._screen.table(event)
        elif "note" in event:
            self._screen.note(event["note"])
        elif "fault" in event:
            self._fault = event["fault"]
        elif "ended" in event:
            self._ended = True
            if event["faults"]:
                self._fault = "\n".join(event["faults"])

    def _introduction(self):
        """The line of the code first: it is the one that changes."""
        address = f"http://127.0.0.1:{self._api.getsockname()[1]}"
        build = self._settings.build
        run = shlex.quote(os.path.join(HERE, "run"))
        prefix = f"BUILD={shlex.quote(build)} " if build != os.path.join(TOP, "build") else ""
        token = shlex.quote(f"{self._out}/token")
        return [
            f"In a browser: {address}/ui/#/setup with the one-time code {self._code}" if self._pages
            else "In a browser: nothing, the pages were not built in (make deps && make)",
            f"API: {address}/api/v1 (token in {token})",
            "Try in another terminal:",
            f"  export ZONEGATE_SERVER={address} ZONEGATE_TOKEN_FILE={token} "
            f"PATH={shlex.quote(build)}:$PATH",
            "  zonegate status",
            f"  dig +short @127.0.0.1 -p {self._dns.getsockname()[1]} {self._name}",
            "  zonegate zone shift zone-b --lb shop --for 2m --comment try",
            "  zonegate zone return zone-b",
            f"  {prefix}{run} --port {self._control_port} kill web-2",
            "  zonegate server why web/web-2",
            f"  {prefix}{run} --port {self._control_port} start web-2",
            f"  {prefix}{run} --port {self._control_port} code     # when the one above was used",
            f"  {prefix}{run} --port {self._control_port} kill daemon     # the kernel balances on",
            f"  {prefix}{run} --port {self._control_port} start daemon",
        ]

    def _strike(self):
        if not self._kill or time.monotonic() < self._ready_at + KILL_AFTER:
            return
        names = [f"web-{n}" for n in range(1, 5)] if self._kill == ["all"] else self._kill
        self._kill = []
        inside = self._settings.kind == "uml"  # this process has left the host's network
        connect = (lambda: tap.connect(CONTROL_PORT)) if inside else None
        for name in names:
            control.send(self._control_port, "kill", name, connect)

    def _over(self):
        if self._stopping or self._process.poll() is not None:
            return True
        if not self._ready_at:
            return time.monotonic() > self._started + START_SECONDS
        return self._seconds > 0 and time.monotonic() > self._ready_at + self._seconds

    def _stop(self):
        """Ask it to end, wait a little, end what is left."""
        with open(f"{self._out}/stop", "w", encoding="ascii"):
            pass
        limit = time.monotonic() + 8
        while self._process.poll() is None and time.monotonic() < limit:
            time.sleep(0.05)
        launch.stop_group(self._process)
        self._events()

    def _verdict(self):
        """None if traffic flowed through the VIPs to the servers, else what was missing."""
        if self._fault:
            return self._fault
        if not self._last:
            return "the demo did not start"
        last = self._last
        if not last["answers"]:
            return "no request was answered"
        if last["quiet"] > QUIET:
            return f"no request was answered in the last {last['quiet']} s"
        if last["kernel"] < last["answers"]:
            return f"IPVS counted {last['kernel']} connections, the client {last['answers']}"
        if not self._named:
            return "the name never had an address"
        silent = [x["name"] for x in last["rows"] if not x["answers"]]
        if silent:
            return f"never reached: {', '.join(silent)}"
        if not self._ended:
            return "the lab ended before its time"
        return None

    def run(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        self._prepare()
        self._started = time.monotonic()
        fault = "interrupted"
        try:
            self._start()
            while not self._over():
                self._events()
                if self._ready_at:
                    self._strike()
                time.sleep(0.1)
            self._stop()
            fault = self._verdict()
            self._report(fault)
        finally:
            if self._process and self._process.poll() is None:
                launch.stop_group(self._process)
            self._settings.close()
            shutil.rmtree(self._out, ignore_errors=True)
        return 1 if fault else 0

    def _on_signal(self, *_):
        self._stopping = True

    def _report(self, fault):
        self._screen.close()
        if fault:
            print(f"demo: FAILED: {fault}")
            if not self._last:
                with open(f"{self._out}/console.log", encoding="utf-8", errors="replace") as file:
                    print(file.read()[-4000:])
            return
        shares = ", ".join(f"{x['name']} {x['answers']}" for x in self._last["rows"])
        print(
            f"demo: ok: {self._last['answers']} requests answered ({shares}), "
            f"{self._last['errors']} not; IPVS counted {self._last['kernel']} connections"
        )
