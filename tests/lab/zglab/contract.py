# SPDX-License-Identifier: GPL-2.0-or-later
"""openapi.json as a judge: is an answer one that the document tells of?"""

import functools
import hashlib
import ipaddress
import json
import marshal
import os
import re
import sys
import urllib.parse

sys.path.append("/usr/lib/python3/dist-packages")  # where another python than Debian's comes first
import fastjsonschema  # noqa: E402


def _is_address(text):
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


FORMATS = {"ip-address": _is_address}


class Shelf:
    """Judges that were made before: to make one takes a second inside user-mode linux, and many processes want the same.

    What a judge is made of names its file, so that no other one is ever taken for it.
    """

    def __init__(self, *folders):
        """FOLDERS to look into; a new one is put into the last."""
        self._folders = folders

    def find(self, name):
        for folder in self._folders:
            try:
                with open(f"{folder}/{name}", "rb") as file:
                    return marshal.loads(file.read())
            except (OSError, ValueError, EOFError, TypeError):
                pass
        return None

    def put(self, name, code):
        path = f"{self._folders[-1]}/{name}"
        os.makedirs(self._folders[-1], exist_ok=True)
        with open(f"{path}.{os.getpid()}", "wb") as file:
            file.write(marshal.dumps(code))
        os.replace(f"{path}.{os.getpid()}", path)


class Contract:
    shelf = None

    def __init__(self, document):
        self.document = document
        self._judges = {}
        made_of = fastjsonschema.VERSION, sys.version, json.dumps(document["components"], sort_keys=True)
        self._digest = hashlib.sha256("\0".join(made_of).encode())
        # Paths without a parameter come first: /zones/{zone} is not /zones/of.
        self._paths = [
            (re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))), path)
            for path in sorted(document["paths"], key=lambda path: path.count("{"))
        ]

    def find(self, target):
        """The path of the document that a request target is of, or None."""
        bare = urllib.parse.urlsplit(target).path
        for pattern, path in self._paths:
            if pattern.fullmatch(bare):
                return path
        return None

    def _judge(self, schema):
        text = json.dumps(schema, sort_keys=True)  # many places have the same one, and each takes a while
        if text not in self._judges:
            space = {}
            exec(self._code(schema, text), space)
            self._judges[text] = functools.partial(space["validate"], custom_formats=FORMATS)
        return self._judges[text]

    def _code(self, schema, text):
        digest = self._digest.copy()
        digest.update(text.encode())
        code = self.shelf.find(digest.hexdigest()) if self.shelf else None
        if code is None:
            root = {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "components": self.document["components"], "allOf": [schema],
            }
            source = fastjsonschema.compile_to_code(root, formats=FORMATS, use_default=False)
            code = compile(source, "<judge>", "exec")
            if self.shelf:
                self.shelf.put(digest.hexdigest(), code)
        return code

    def check_value(self, place, schema, value):
        """Faults of a value, as a list of one sentence or none."""
        try:
            self._judge(schema)(value)
        except fastjsonschema.JsonSchemaValueException as fault:
            return [f"{place}: {fault.message}{self._closer(place, schema, value)}"]
        return []

    def _closer(self, place, schema, value):
        """Of several alternatives: what each has against the value."""
        faults = []
        for i, one in enumerate(schema.get("anyOf", ())):
            faults += self.check_value(f"{place} alternative {i + 1}", one, value)
        return "".join(f"; {fault}" for fault in faults)

    def check_request(self, method, target, body):
        """What was taken is something that the document allows."""
        operation = self.document["paths"].get(self.find(target), {}).get(method.lower(), {})
        content = operation.get("requestBody", {}).get("content", {})
        if not body or not content:
            return []
        kind, media = next(iter(content.items()))
        return self.check_value(f"{method} {self.find(target)} body {kind}", media["schema"],
                                json.loads(body))

    def check_answer(self, method, target, answer):
        """Faults of an answer: status, type and body are those of the document."""
        path = self.find(target)
        place = f"{method} {path or target} {answer.status}"
        item = self.document["paths"].get(path, {})
        operation = item.get("get" if method == "HEAD" else method.lower())
        if operation is None:  # no such operation
            expected = 405 if path else 404
            if answer.status not in (expected, 400, 408, 414, 421, 429, 431, 503):
                return [f"{place}: not in the document"]
            return self._check_problem(place, answer) if method != "HEAD" else []
        response = operation["responses"].get(str(answer.status))
        if response is None:
            return [f"{place}: the document has no such status: {answer.body[:300]!r}"]
        return self._check_body(place, method, response, answer)

    def _check_problem(self, place, answer):
        if answer.headers["Content-Type"] != "application/problem+json":
            return [f"{place}: no problem document: {answer.headers['Content-Type']}"]
        return self.check_value("Problem", {"$ref": "#/components/schemas/Problem"},
                                json.loads(answer.body))

    def _check_body(self, place, method, response, answer):
        content = response.get("content", {})
        if method == "HEAD" or not content:
            return [f"{place}: a body: {answer.body[:300]!r}"] if answer.body else []
        kind = (answer.headers["Content-Type"] or "").split(";")[0]
        if kind not in content:
            return [f"{place}: Content-Type is {kind!r}, not one of {sorted(content)}"]
        value = json.loads(answer.body) if kind.endswith("json") else answer.body.decode()
        return self.check_value(f"{place} {kind}", content[kind]["schema"], value)
