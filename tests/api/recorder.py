# SPDX-License-Identifier: GPL-2.0-or-later
"""A socket between the command line and the daemon, which keeps what was asked for."""

import http.server
import os
import socketserver
import threading


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def _relay(self):
        length = int(self.headers['Content-Length'] or 0)
        body = self.rfile.read(length) if length else None
        self.server.seen.append((self.command, self.path))
        headers = {name: value for name, value in self.headers.items()
                   if name not in ('Host', 'Connection', 'Content-Length')}
        answer = self.server.daemon.call(self.command, self.path, body, headers)
        self.send_response(answer.status)
        for name in ('Content-Type', 'ETag', 'Location'):
            if answer.headers[name]:
                self.send_header(name, answer.headers[name])
        if answer.status not in (204, 304):
            self.send_header('Content-Length', answer.headers['Content-Length'] or str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_POST = do_DELETE = _relay

    def address_string(self):
        return 'unix'

    def log_message(self, *_):
        pass


class Recorder(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(self, daemon, folder):
        self.path = os.path.join(folder, 'recorder.sock')
        super().__init__(self.path, _Handler)
        self.daemon = daemon
        self.seen = []

    def handle_error(self, *_):
        """A command that has read enough may go."""

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()
        os.unlink(self.path)
