# SPDX-License-Identifier: GPL-2.0-or-later
"""Tiny real servers that answer with their own name.

All of them live in one thread of the driver; each socket was made inside its
server's namespace, so that the packets are as real as those of a process.
Over TCP a server answers HTTP requests with its name as the body, and any
other line with its name; over UDP it answers every datagram with its name.
"""

import os
import selectors
import socket
import struct
import threading
import time

SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
# One instruction of classic BPF: return 0, "keep nothing of this packet".
_DROP = struct.pack("=HBBI", 6, 0, 0, 0)
_DROP_BUFFER = None


def _drop_filter():
    import ctypes

    global _DROP_BUFFER
    if _DROP_BUFFER is None:
        _DROP_BUFFER = ctypes.create_string_buffer(_DROP)
    return struct.pack("@HP", 1, ctypes.addressof(_DROP_BUFFER))


class ServerLoop:
    """The thread that serves every server of a case."""

    def __init__(self):
        self._selector = selectors.DefaultSelector()
        self._lock = threading.RLock()
        self._wake_read, self._wake_write = os.pipe()
        self._stopping = False
        self._selector.register(self._wake_read, selectors.EVENT_READ, None)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, sock, handler):
        with self._lock:
            self._selector.register(sock, selectors.EVENT_READ, handler)
        os.write(self._wake_write, b".")

    def remove(self, sock):
        with self._lock:
            self._selector.unregister(sock)

    def lock(self):
        return self._lock

    def stop(self):
        self._stopping = True
        os.write(self._wake_write, b".")
        self._thread.join(5)

    def _run(self):
        while not self._stopping:
            events = self._selector.select(1)
            for key, _ in events:
                if key.fileobj == self._wake_read:
                    os.read(self._wake_read, 4096)
                    continue
                with self._lock:
                    if key.fileobj.fileno() >= 0:
                        key.data(key.fileobj)


class Server:
    def __init__(self, loop, namespace, name, address4, address6):
        self.name = name
        self.namespace = namespace
        self.address4 = address4
        self.address6 = address6
        self.http_status = 200
        self.next_statuses = []  # of the next health checks, before `http_status` counts
        self.silent = False  # accepts, reads, never answers
        self.requests = 0  # everything answered but health checks
        self.health_checks = 0
        self.came = None  # a list: when connections came, for who wants to know
        self._loop = loop
        self._listeners = {}
        self._datagrams = {}
        self._connections = {}
        self._filtered = False

    # What it listens on

    def listen_tcp(self, *ports):
        """Listen on ports of every address, v4 and v6."""
        with self._loop.lock():
            for port in ports:
                with self.namespace:
                    sock = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                sock.bind(("::", port))
                sock.listen(512)
                sock.setblocking(False)
                self._listeners[port] = sock
                self._filter(sock)
                self._loop.add(sock, self._accept)
        return self

    def listen_udp(self, port, *addresses):
        """Listen on the given addresses; an answer leaves from the one asked."""
        for address in addresses or (self.address4, self.address6):
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            with self.namespace:
                sock = socket.socket(family, socket.SOCK_DGRAM)
            sock.bind((address, port))
            sock.setblocking(False)
            self._datagrams[(address, port)] = sock
            self._filter(sock)
            self._loop.add(sock, self._datagram)
        return self

    # What can happen to it

    def kill(self):
        """The process dies: listeners gone, connections reset."""
        with self._loop.lock():
            self.kill_listeners()
            for sock in list(self._connections):
                self._close(sock, reset=True)
            for sock in self._datagrams.values():
                self._loop.remove(sock)
                sock.close()
            self._datagrams_were = list(self._datagrams)
            self._datagrams.clear()

    def kill_listeners(self):
        """New connections are refused, established ones live on."""
        with self._loop.lock():
            self._ports_were = list(self._listeners)
            for sock in self._listeners.values():
                self._loop.remove(sock)
                sock.close()
            self._listeners.clear()

    def start(self):
        """After kill() or kill_listeners()."""
        self.listen_tcp(*self._ports_were)
        for address, port in getattr(self, "_datagrams_were", ()):
            self.listen_udp(port, address)

    def close_connections(self):
        """Closes every connection politely, and listens on."""
        with self._loop.lock():
            for sock in list(self._connections):
                self._close(sock)

    def blackhole(self):
        """Every packet to its sockets is dropped, without any answer."""
        self._set_filter(True)

    def revive(self):
        self._set_filter(False)

    def listening(self):
        return bool(self._listeners)

    def connections(self):
        return len(self._connections)

    def hold_vip(self, *vips, device="lo"):
        """Own VIPs without answering for them on the segment (direct, tunnel)."""
        self.namespace.set_sysctl("net.ipv4.conf.all.arp_ignore", 1)
        self.namespace.set_sysctl("net.ipv4.conf.all.arp_announce", 2)
        for vip in vips:
            self.namespace.add_address(device, f"{vip}/{128 if ':' in vip else 32}")

    # How it serves

    def _set_filter(self, wanted):
        with self._loop.lock():
            self._filtered = wanted
            sockets = [*self._listeners.values(), *self._datagrams.values()]
            for sock in [*sockets, *self._connections]:
                if wanted:
                    self._filter(sock)
                else:
                    sock.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)

    def _filter(self, sock):
        if self._filtered:
            sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, _drop_filter())

    def _accept(self, listener):
        for _ in range(64):
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            if self.came is not None:
                self.came.append(time.monotonic())
            sock.setblocking(False)
            self._connections[sock] = b""
            self._loop.add(sock, self._read)

    def _close(self, sock, reset=False):
        self._connections.pop(sock, None)
        self._loop.remove(sock)
        if reset:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()

    def _read(self, sock):
        try:
            data = sock.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close(sock)
            return
        if self.silent:
            return
        pending = self._connections[sock] + data
        is_http = pending[:5] in (b"GET /", b"HEAD ", b"POST ")
        end = b"\r\n\r\n" if is_http else b"\n"
        while end in pending:
            request, _, pending = pending.partition(end)
            try:
                sock.send(self._http_answer(request) if is_http else self._line_answer())
            except OSError:
                self._close(sock)
                return
            if is_http and b" HTTP/1.0" in request:  # its client waits for the end: keepalived does
                self._close(sock)
                return
        self._connections[sock] = pending

    def _line_answer(self):
        self.requests += 1
        return self.name.encode() + b"\n"

    def _http_answer(self, request):
        status = self.http_status
        if b"Zonegate-Health" in request:
            self.health_checks += 1
            status = self.next_statuses.pop(0) if self.next_statuses else status
        else:
            self.requests += 1
        body = self.name.encode() + b"\n"
        head = f"HTTP/1.1 {status} Lab\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + (b"" if request.startswith(b"HEAD") else body)

    def _datagram(self, sock):
        try:
            _, peer = sock.recvfrom(65536)
        except OSError:
            return
        if not self.silent:
            self.requests += 1
            sock.sendto(self.name.encode(), peer)
