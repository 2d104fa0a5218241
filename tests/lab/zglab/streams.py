# SPDX-License-Identifier: GPL-2.0-or-later
"""Who listens to events: a stream of the API, and a receiver of webhooks; and what makes many of them."""

import http.server
import json
import select
import socket
import threading
import time


class Stream:
    """GET /events as a stream, over the unix socket. `events` are (id, type, data), with the time at which they came."""

    def __init__(self, path, query="", last=None):
        headers = self._connect(path) + "Accept: text/event-stream\r\n"
        if last:
            headers += f"Last-Event-ID: {last}\r\n"
        self.socket.sendall(
            f"GET /api/v1/events{query} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode()
        )
        self.head, self.text, self.events, self.ended = b"", b"", [], False

    def _connect(self, path):
        """What else is to be said there, as lines of the head."""
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        return ""

    def read(self, seconds=0.0):
        """Takes what has come, and what comes within SECONDS of each other."""
        while not self.ended and select.select([self.socket], [], [], seconds)[0]:
            try:
                more = self.socket.recv(1 << 16)
            except ConnectionError:
                more = b""
            self.ended = not more
            self.text += more
            self._parse()
        return self

    def _parse(self):
        *lines, self.text = self.text.split(b"\n")
        for line in lines:
            self.head = self.head or line
            if line.startswith(b'data: {"id":"'):
                event = json.loads(line[6:])
                self.events.append((event["id"], event["type"], event, time.time()))
            elif line.startswith(b"event: stream.reset"):
                self.events.append(("", "stream.reset", {}, time.time()))

    def ids(self):
        return [event[0] for event in self.events]

    def close(self):
        self.socket.close()


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.calls += 1
        mood = receiver.mood
        if mood == "hangs":
            receiver.gone.wait(30)
            return
        if mood == "slow":
            time.sleep(0.3)
        receiver.ids += [int(event["id"]) for event in json.loads(body)["events"]]
        self.send_response(500 if mood == "fails" else 204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Receiver:
    """Of webhooks, in the namespace in which it is made. `mood`: takes, slow, fails (after it has taken them), hangs."""

    def __init__(self, port=9000):
        self.mood, self.ids, self.calls, self.gone = "takes", [], 0, threading.Event()
        self.port = port
        self.server = None
        self.open()

    def open(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), _Handler)
        self.server.daemon_threads = True
        self.server.receiver = self
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def in_order(self):
        """What came, without its repetitions; each one behind those that came before it for the first time."""
        first = list(dict.fromkeys(self.ids))
        assert first == sorted(first), first
        return first


class Flapper:
    """Servers on loopback that take every other connection: the others are reset."""

    def __init__(self, count, port=7000):
        self.addresses = [f"127.0.1.{number + 1}" for number in range(count)]
        self.port = port
        self.stopping = False
        self.listeners = []
        for address in self.addresses:
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, port))
            listener.listen(64)
            self.listeners.append(listener)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        turns = {listener: 0 for listener in self.listeners}
        while not self.stopping:
            for listener in select.select(self.listeners, [], [], 0.1)[0]:
                connection = listener.accept()[0]
                turns[listener] += 1
                if turns[listener] % 2:
                    try:
                        connection.recv(1000)
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    except ConnectionError:
                        pass
                connection.close()

    def stop(self):
        self.stopping = True
        self.thread.join()
        for listener in self.listeners:
            listener.close()
