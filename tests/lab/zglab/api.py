# SPDX-License-Identifier: GPL-2.0-or-later
"""The REST API over the daemon's unix socket."""

import http.client
import json
import socket

BASE = "/api/v1"


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def etag(self):
        return self.headers["ETag"]

    def pointers(self):
        """Pointers of a problem document, sorted."""
        return sorted(x["pointer"] for x in self.json.get("errors", []))

    def expect(self, *statuses):
        if self.status not in statuses:
            raise AssertionError(
                f"the API answered {self.status}, expected {statuses}: "
                f"{self.body[:2000].decode(errors='replace')}"
            )
        return self

    def __repr__(self):
        return f"<{self.status} {self.body[:500]!r}>"


class Api:
    def __init__(self, path, timeout=15.0):
        self._path = path
        self._timeout = timeout

    def call(self, method, path, body=None, headers=None):
        if not path.startswith(("/livez", "/readyz", "/metrics", "/openapi.json")):
            path = BASE + path
        connection = _UnixConnection(self._path, self._timeout)
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is not None:
            kind = "merge-patch+json" if method == "PATCH" else "json"
            headers.setdefault("Content-Type", f"application/{kind}")
        try:
            connection.request(method, path, body, headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.call("GET", path, headers=headers)

    def put(self, path, body, headers=None):
        return self.call("PUT", path, body, headers)

    def patch(self, path, body, headers=None):
        return self.call("PATCH", path, body, headers)

    def delete(self, path, headers=None):
        return self.call("DELETE", path, headers=headers)

    def apply(self, document):
        """Replace the whole configuration."""
        etag = self.get("/config").expect(200).etag
        return self.put("/config", document, {"If-Match": etag}).expect(200, 201)
