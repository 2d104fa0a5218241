# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams of events whose clients are gone without a word, on the host itself in a network of its own."""

import os
import re
import socket
import ssl
import time

from zglab import api, case, net, rtnl, sysc
from zglab.alone import Daemon
from zglab.streams import Stream

LAB_SECONDS = 40
LAB_WAITS = 1
TOKEN = "a-token-of-the-lab-0123456789"
PORT = 7443
NEAR, FAR = "10.8.0.1", "10.8.0.9"
STREAMS = 64
# Who closes is found at once, without a heartbeat. Who vanishes is found by the first one that comes when nothing was
# acknowledged for 20 seconds.
CLOSED_SECONDS, BEAT_SECONDS, UNACKED_SECONDS, SPARE_SECONDS = 5, 15, 20, 15
GROWN_KIB = 512


def enter():
    sysc.unshare(sysc.CLONE_NEWNET)
    rtnl.Netlink().link_set("lo")


def resident_kib(one):
    with open(f"/proc/{one.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"RssAnon:\s+(\d+) kB", file.read()).group(1))


def far_network():
    """Who is FAR sits behind a link, in a network of his own."""
    enter()
    far = net.Namespace(f"zglab-far-{os.getpid()}")
    link = rtnl.Netlink()
    link.link_add("near0", "veth", "far0", far.descriptor)
    link.link_set("near0")
    link.address_add("near0", f"{NEAR}/24")
    with far:
        far.netlink.link_set("far0")
    return far


def far_streams(far):
    with far:
        streams = [FarStream() for _ in range(STREAMS)]
    end = time.monotonic() + 10
    while not all(stream.read().head for stream in streams):
        assert time.monotonic() < end, "not all of them begin"
        time.sleep(0.02)
    return streams


class FarStream(Stream):
    def _connect(self, path):
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
        plain = socket.socket()
        plain.bind((FAR, 0))
        plain.connect((NEAR, PORT))
        self.socket = made.wrap_socket(plain)
        return f"Authorization: Bearer {TOKEN}\r\n"

    def __init__(self):
        super().__init__(None)


def open_streams(one):
    text = api.Api(one.socket, judged=False).raw("GET", "/metrics").body.decode()
    return int(float(re.search(r"^zonegate_event_streams (\S+)", text, re.M).group(1)))


def all_gone(one, seconds):
    begin = time.monotonic()
    while open_streams(one):
        assert time.monotonic() - begin < seconds, f"{open_streams(one)} of them still stand"
        time.sleep(0.5)
    print(f"found after {time.monotonic() - begin:.0f} s, {resident_kib(one)} KiB")


@case(timeout=150)
def clients_that_vanish_are_found(config):
    """64 clients that close are found at once; 64 whose address is gone within the bound, and they cost no more memory."""
    far = far_network()
    one = Daemon(config, api=f"tls_listen = {NEAR}:{PORT}\ntoken_file = {{folder}}/token\n")
    try:
        with open(f"{one.folder}/token", "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(TOKEN + "\n")
        one.start()
        far.add_address("far0", f"{FAR}/24")
        streams = far_streams(far)
        assert open_streams(one) == STREAMS
        for stream in streams:
            stream.close()
        all_gone(one, CLOSED_SECONDS)
        closed = resident_kib(one)
        streams = far_streams(far)
        assert open_streams(one) == STREAMS
        far.del_address("far0", f"{FAR}/24")  # what is sent to him now vanishes without a word, as does this event
        api.Api(one.socket, judged=False).call("PUT", "/zones/zone-x", {}).expect(201)
        all_gone(one, UNACKED_SECONDS + BEAT_SECONDS + SPARE_SECONDS)
        assert resident_kib(one) - closed < GROWN_KIB, (closed, resident_kib(one))
        for stream in streams:
            stream.close()
    finally:
        one.dispose()
        far.close()
