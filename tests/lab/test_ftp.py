# SPDX-License-Identifier: GPL-2.0-or-later
"""FTP over NAT: what the doctor misses, sessions that do without, and those that its mends bring."""

import ftplib
import re
import socket
import threading

from zglab import VIP4, case
from zglab.doctor import mend, visit
from zglab.documents import balancer, document, group, listener
from zglab.filters import NETFILTER, network

LAB_KIND = "uml"
LAB_SECONDS = 20


class FtpServer:
    """As much of RFC 959 as RETR needs, both ways of the data connection."""

    def __init__(self, lab, server):
        self.lab, self.server = lab, server
        self.wait = 1.5 * lab.slow
        with server.namespace:
            self.listening = socket.create_server(("", 21))
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listening.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self.listening.close()

    def _run(self):
        while True:
            try:
                sock = self.listening.accept()[0]
            except OSError:
                return
            with sock:
                sock.settimeout(self.wait)
                try:
                    self._serve(sock)
                except OSError:
                    pass

    def _serve(self, sock):
        sock.sendall(b"220 ready\r\n")
        data = None
        for line in sock.makefile("r", newline="\r\n"):
            verb, _, words = line.strip().partition(" ")
            if verb == "PASV":
                with self.server.namespace:
                    data = socket.create_server((self.server.address4, 0))
                port = data.getsockname()[1]
                self._say(sock, f"227 Entering Passive Mode ({self.server.address4.replace('.', ',')},{port >> 8},{port & 255}).")
            elif verb == "PORT":
                numbers = [int(x) for x in re.findall(r"\d+", words)]
                data = ".".join(map(str, numbers[:4])), numbers[4] * 256 + numbers[5]
                self._say(sock, "200 fine")
            elif verb == "RETR":
                self._say(sock, "150 here it comes")
                with self._data(data) as to:
                    to.sendall(self.server.name.encode())
                self._say(sock, "226 done")
            elif verb == "QUIT":
                self._say(sock, "221 bye")
                return
            else:
                self._say(sock, "230 in" if verb == "USER" else "200 fine")

    @staticmethod
    def _say(sock, text):
        sock.sendall(f"{text}\r\n".encode())

    def _data(self, to):
        if isinstance(to, socket.socket):
            with to:
                to.settimeout(self.wait)
                return to.accept()[0]
        with self.server.namespace:
            sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.settimeout(self.wait)
        sock.bind((self.server.address4, 20))
        sock.connect(to)
        return sock


def fetch(lab, passive):
    """What a session at the VIP brings, from the VIP; None: it does not come to an end, or somebody else brings it."""
    with lab.client:
        try:
            with ftplib.FTP(timeout=1.5 * lab.slow) as ftp:
                ftp.connect(VIP4, 21)
                ftp.login()
                ftp.trust_server_pasv_ipv4_address = True
                ftp.set_pasv(passive)
                with ftp.transfercmd("RETR name") as data:
                    if data.getpeername()[0] != VIP4:
                        return None
                    return data.recv(100).decode()
        except (OSError, EOFError, ftplib.Error):
            return None


def network_of_strangers(lab):
    """The client knows the VIP, and no way to the servers."""
    network(lab, 1)
    lab.client.set_link("eth1", up=False)
    lab.run_in(lab.client, "ip", "route", "add", "blackhole", "10.2.0.0/24")


def ftp(lab, **members):
    ranged = "port_range" in members
    files = {**listener("files", 21), **members}
    if ranged:
        del files["port"]
    return document(
        {"files": group(lab.servers, port=0 if ranged else 21, health_check={"enabled": False})},
        {"shop": balancer({"files": files})},
    )


def start(lab, **members):
    """The kernel does not load what is missing by itself: the mends are the only ones."""
    network_of_strangers(lab)
    lab.start(ftp(lab, **members))
    return FtpServer(lab, lab.servers[0])


def comes(lab, passive):
    """A late machine is no lost connection."""
    return "s1" in (fetch(lab, passive) for _ in range(3))


CODES = {"ftp_module_missing", "ftp_port_unwatched", "ftp_range_untracked"}


def told(lab):
    return CODES & set(visit(lab))


@case(load=("nf_nat",))
def the_module_is_missing(lab):
    with start(lab):
        assert told(lab) == {"ftp_module_missing"}
        assert fetch(lab, False) is None
        mend(lab, "ftp_module_missing")
        assert comes(lab, False) and comes(lab, True)
        assert lab.gw.ns.get_sysctl("net.ipv4.vs.conntrack") == "0", "IPVS tracks what it needs by itself"
        assert not told(lab)


@case(load=("nf_nat",))
def the_module_looks_elsewhere(lab):
    lab.run_in(lab.namespace("any"), "sh", "-c", "modprobe -r ip_vs_ftp; modprobe ip_vs_ftp ports=2121")
    with start(lab):
        assert told(lab) == {"ftp_port_unwatched"}
        assert "ports 2121, and not at 21" in visit(lab)["ftp_port_unwatched"]["what"]
        assert fetch(lab, False) is None
        mend(lab, "ftp_port_unwatched")
        assert comes(lab, False) and comes(lab, True)


@case(load=(*NETFILTER, "nf_nat", "xt_mark", "ip_vs_ftp"))
def a_range_has_nothing_tracked(lab):
    with start(lab, port_range=[1, 1023]):
        assert told(lab) == {"ftp_range_untracked"}
        assert comes(lab, False), "PORT is rewritten all the same"
        assert fetch(lab, True) is None
        mend(lab, "ftp_range_untracked")
        lab.wait(lambda: lab.gw.weights(port=21), 5 + lab.margin, "there is a service of the port", pause=0.1)
        assert comes(lab, True) and comes(lab, False)
