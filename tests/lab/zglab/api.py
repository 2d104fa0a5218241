# SPDX-License-Identifier: GPL-2.0-or-later
"""The REST API over the daemon's unix socket. Every answer is judged by the daemon's own openapi.json."""

import http.client
import json
import socket

from . import contract

BASE = "/api/v1"
JUDGED_MAX = 1 << 20  # larger answers hold the same objects as small ones


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
    _contract = None  # of the first daemon of this process: all are built from one tree

    def __init__(self, path, timeout=15.0, judged=True):
        self._path = path
        self._timeout = timeout
        self._judged = judged

    def raw(self, method, path, body=None, headers=None):
        """A request as it is; its answer is not judged."""
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

    def call(self, method, path, body=None, headers=None):
        if not path.startswith(("/livez", "/readyz", "/metrics", "/openapi.json")):
            path = BASE + path
        answer = self.raw(method, path, body, headers)
        if self._judged:
            self._judge(method, path, body, answer)
        return answer

    def _judge(self, method, path, body, answer):
        if len(answer.body) > JUDGED_MAX:
            return
        if Api._contract is None:
            document = self.raw("GET", "/openapi.json")
            if document.status != 200:
                return  # it is stopping, or cannot: the answer stands alone
            Api._contract = contract.Contract(document.json)
        faults = Api._contract.check_answer(method, path, answer)
        if 200 <= answer.status < 300 and isinstance(body, (dict, list)):
            faults += Api._contract.check_request(method, path, json.dumps(body))
        if faults:
            raise AssertionError(f"not as openapi.json says: {'; '.join(faults)[:3000]}")

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
