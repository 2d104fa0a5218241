# SPDX-License-Identifier: GPL-2.0-or-later
"""What a test holds in its hands: a topology, gateways, servers, a client.

The usual network (`lab.network()`):

    client 10.1.0.9 ── front 10.1.0.0/24 ── 10.1.0.1 gw 10.2.0.1 ── back 10.2.0.0/24 ── s1..sN
           fd01::9           fd01::/64                                fd02::/64   10.2.0.11..
           10.2.0.9 ──────────────────────── back

The client's way to every VIP is the gateway. Servers answer through the
gateway (NAT), or straight to the client (direct, tunnel).
"""

import os
import subprocess
import time

from . import client, daemon, ipvs, net, pace, servers

VIP4, VIP6 = "192.0.2.10", "2001:db8::10"
OTHER_VIP4, OTHER_VIP6 = "192.0.2.20", "2001:db8::20"
CLIENT4, CLIENT6 = "10.1.0.9", "fd01::9"
MARGIN = 1.0  # one CPU, labs side by side: see the design of the lab
REST_MAX = 0.1
OWED = 2.0    # for each second that the machine was late, this much more is waited


def run_in(namespace, *command, stdin=None, check=True):
    """A command inside a namespace (30 ms each: not in loops)."""
    with namespace:  # and not by preexec_fn: a fork that copies this process takes three times as long
        done = subprocess.run(
            command, input=stdin, capture_output=True, text=True, timeout=30, check=False,
        )
    if check and done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def rest(pause, began):
    """How long who looks again and again sleeps: what takes long to ask, since BEGAN, is asked less often."""
    return max(pause, min(2 * (time.monotonic() - began), REST_MAX))


class Gateway:
    """A gateway host: its namespace, its kernel table and the daemon on it."""

    def __init__(self, config, namespace, name):
        self._config = config
        self.name = name
        self.ns = namespace
        self.daemon = daemon.Daemon(config, namespace, name)

    @property
    def api(self):
        return self.daemon.api

    def cli(self, *arguments, **options):
        return self.daemon.cli(*arguments, **options)

    def table(self):
        """/proc/net/ip_vs, parsed; empty without IPVS."""
        try:
            return ipvs.parse_table(self.ns.proc_net("ip_vs"))
        except FileNotFoundError:
            return {}

    def service(self, protocol, vip, port):
        table = self.table()
        key = (protocol.upper(), vip, port)
        if key not in table:
            raise AssertionError(f"no service {key} in {sorted(map(str, table))}")
        return table[key]

    def weights(self, protocol="TCP", vip=VIP4, port=80):
        """{address of a server: kernel weight}; empty when there is no service."""
        service = self.table().get((protocol.upper(), vip, port))
        return service.weights() if service else {}

    def capture(self):
        return ipvs.Capture(self.ns)

    def run(self, *command, stdin=None, check=True):
        return run_in(self.ns, *command, stdin=stdin, check=check)

    def ipvsadm(self, *arguments):
        return self.run("ipvsadm", *arguments)

    def ipvsadm_restore(self, rules):
        return self.run("ipvsadm", "-R", stdin=rules)

    def addresses(self, device="zonegate0"):
        """Addresses on a device, as `ip -o addr` shows them."""
        out = self.run("ip", "-o", "addr", "show", "dev", device, check=False)
        return sorted(
            line.split()[3] for line in out.splitlines() if "scope link" not in line
        )


class Lab:
    def __init__(self, config):
        self.config = config
        self.slow = config["slow"]
        self.full = config["full"]  # LAB_FULL: all of a long case
        self._pace = pace.Pace()
        self.gateways = []
        self.servers = []
        self._namespaces = []
        self._captures = []
        self._traffic = []
        self._loop = None

    @property
    def margin(self):
        """Seconds that anything may take longer than it should: more while the machine is late itself."""
        return MARGIN * self.slow + OWED * self._pace.recent

    def load(self, names):
        """Load kernel modules in the middle of a case (user-mode linux only)."""
        self.config["loader"].load(names)

    def unload(self, names):
        self.config["loader"].unload(names)

    # Building

    def keep(self, namespace):
        """It ends with the case."""
        self._namespaces.append(namespace)
        return namespace

    def namespace(self, name):
        return self.keep(net.Namespace(name))

    def gateway(self, name="gw"):
        namespace = self.namespace(name)
        namespace.set_sysctl("net.ipv4.ip_forward", 1)
        namespace.set_sysctl("net.ipv6.conf.all.forwarding", 1)
        gateway = Gateway(self.config, namespace, name)
        self.gateways.append(gateway)
        return gateway

    def server(self, number, switch, answers_by):
        """One server host `sNUMBER` whose default way is ANSWERS_BY (4 and 6)."""
        namespace = self.namespace(f"s{number}")
        address4, address6 = f"10.2.0.{10 + number}", f"fd02::{10 + number}"
        switch.plug(namespace, "eth0", "back", (f"{address4}/24", f"{address6}/64"))
        namespace.add_route("0.0.0.0/0", answers_by[0])
        namespace.add_route("::/0", answers_by[1])
        if self._loop is None:
            self._loop = servers.ServerLoop()
        server = servers.Server(self._loop, namespace, f"s{number}", address4, address6)
        self.servers.append(server)
        return server

    def network(self, count=2, direct=False, tcp=(80,), udp=()):
        """The usual network. DIRECT: servers answer the client without the gateway."""
        switch = net.Switch()
        self.keep(switch.namespace)
        switch.segment("front")
        switch.segment("back")
        self.switch = switch
        self.client = self.namespace("client")
        self.gw = self.gateway()
        switch.plug(self.gw.ns, "front0", "front", ("10.1.0.1/24", "fd01::1/64"))
        switch.plug(self.gw.ns, "back0", "back", ("10.2.0.1/24", "fd02::1/64"))
        switch.plug(self.client, "eth0", "front", (f"{CLIENT4}/24", f"{CLIENT6}/64"))
        switch.plug(self.client, "eth1", "back", ("10.2.0.9/24", "fd02::9/64"))
        self.client.add_route("0.0.0.0/0", "10.1.0.1")
        self.client.add_route("::/0", "fd01::1")
        way = ("10.2.0.9", "fd02::9") if direct else ("10.2.0.1", "fd02::1")
        for number in range(1, count + 1):
            server = self.server(number, switch, way)
            if tcp:
                server.listen_tcp(*tcp)
            for port in udp:
                server.listen_udp(port)
        return self

    # Configuring

    def start(self, configuration=None, **settings):
        """Start the daemon of the gateway, send a configuration, wait for the weights.

        SETTINGS are sections with members: kernel={"audit_interval_s": 1}.
        """
        for section, members in settings.items():
            self.gw.daemon.settings.setdefault(section, {}).update(members)
        self.gw.daemon.start()
        if configuration:
            self.gw.api.apply(configuration)
            self.wait_in_service()
        return self

    def wait_in_service(self, timeout=3.0):
        """Until every destination of every service has a weight."""

        def all_weighted():
            table = self.gw.table()
            found = [d.weight for s in table.values() for d in s.destinations.values()]
            return table and found and all(found)

        self.wait(all_weighted, timeout * self.slow, "every destination has a weight")

    def wait_weight(self, server, weight, timeout, **service):
        """Seconds until SERVER has this kernel weight."""
        address = server.address4
        return self.wait(
            lambda: self.gw.weights(**service).get(address) == weight,
            timeout, f"weight {weight} of {server.name}",
        )

    @staticmethod
    def run_in(namespace, *command, stdin=None):
        return run_in(namespace, *command, stdin=stdin)

    # Asking

    def who(self, vip=VIP4, port=80, count=100, protocol="tcp", source=None, flow=False):
        """Counter of names over COUNT requests; with FLOW, datagrams of one flow."""
        if flow:
            return client.ask_flow(self.client, vip, port, count, 2.0 * self.slow)
        return client.who(self.client, vip, port, count, protocol, 2.0 * self.slow, source)

    def traffic(self, vip=VIP4, port=80, connections=8, pause=0.05):
        traffic = client.Traffic(self.client, vip, port, connections, pause)
        self._traffic.append(traffic)
        return traffic

    def wait(self, condition, timeout, what, pause=0.01):
        """Seconds until CONDITION() was true. Late is a failure that shows `what`.

        What the machine is late meanwhile is no fault of the daemon and comes on top.
        """
        start, late = time.monotonic(), self._pace.late
        while True:
            began = time.monotonic()
            value = condition()
            now = time.monotonic() - start
            if value:
                return now
            owed = OWED * (self._pace.late - late)
            if now > timeout + owed:
                raise AssertionError(f"not within {timeout:.2f} s and {owed:.2f} for a late machine: {what}")
            time.sleep(rest(pause, began))

    def holds(self, condition, seconds, what, pause=0.02):
        """CONDITION() stays true for SECONDS; what was found out later than that says nothing."""
        end = time.monotonic() + seconds
        while (began := time.monotonic()) < end:
            if not condition() and time.monotonic() < end:
                raise AssertionError(f"did not hold for {seconds} s: {what}")
            time.sleep(rest(pause, began))

    def stored(self):
        """Verdicts are told and applied first and stored behind that: a kill -9 at once may forget the last one."""
        time.sleep(0.3 * self.slow)

    # Ending

    def describe(self):
        """For a failed case: the daemon's log and the kernel's table."""
        parts = []
        for gateway in self.gateways:
            for name in ("ip_vs", "ip_vs_conn"):
                try:
                    text = gateway.ns.proc_net(name)
                except OSError as error:
                    text = f"{error}\n"
                parts.append(f"-- {gateway.name}: /proc/net/{name}\n{text[-2500:]}")
            log = gateway.daemon.log()
            lines = log.splitlines()[-120:]
            parts.append(f"-- {gateway.name}: the daemon's log ({gateway.daemon.log_path})\n")
            parts.append("\n".join(lines))
        return "\n".join(parts)

    def close(self):
        """Returns the faults that showed only at the end."""
        faults = []
        for traffic in self._traffic:
            traffic.stop()
        for gateway in self.gateways:
            fault = gateway.daemon.dispose()
            if fault:
                faults.append(fault)
        if self._loop:
            self._loop.stop()
        self._pace.stop()
        for namespace in self._namespaces:
            namespace.close()
        faults += self._valgrind_faults()
        return faults

    def _valgrind_faults(self):
        faults = []
        if not self.config["valgrind"]:
            return faults
        for name in sorted(os.listdir(self.config["out"])):
            if name.startswith(self.config["case"] + ".") and name.endswith(".valgrind"):
                with open(f"{self.config['out']}/{name}", encoding="utf-8") as file:
                    text = file.read()
                if "==" in text:
                    faults.append(f"valgrind found faults:\n{text[:4000]}")
        return faults
