# SPDX-License-Identifier: GPL-2.0-or-later
"""The TLS listener against hostile clients, on the host itself in a network of its own.

Whatever is thrown at it: others are served meanwhile, and memory and descriptors are as before. Those others come from
127.0.0.1, the hostile ones from 127.0.0.2: caps are for each address.
"""

import contextlib
import hashlib
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import time
import warnings

from zglab import case, rtnl, sysc
from zglab.alone import Daemon

LAB_SECONDS = 60
TOKEN = "a-token-of-the-lab-0123456789"
PORT = 7443
CONNECTIONS, KEPT = 10_000, 800
GROWN_KIB = 4096
BODY_MAX = 8 * 1024 * 1024
GOOD, EVIL = "127.0.0.1", "127.0.0.2"
API = "tls_listen = 127.0.0.1:7443\nlisten = 127.0.0.1:7480\ntoken_file = {folder}/token\n"
FILES = "tls_cert = {folder}/cert.pem\ntls_key = {folder}/key.pem\n"


@contextlib.contextmanager
def daemon(config, api=API, prepare=None):
    sysc.unshare(sysc.CLONE_NEWNET)
    rtnl.Netlink().link_set("lo")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    one = Daemon(config, api=api)
    try:
        with open(f"{one.folder}/token", "w", encoding="ascii", opener=private) as file:
            file.write(TOKEN + "\n")
        if prepare:
            prepare(one)
        one.start()
        yield one
        assert one.process.poll() is None, f"it ended: {one.process.returncode}"
    finally:
        one.dispose()


def private(path, flags):
    return os.open(path, flags, 0o600)


def context(version=None):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    if version:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old versions are what it is about
            made.minimum_version = made.maximum_version = version
        made.set_ciphers("ALL:@SECLEVEL=0")
    return made


def connect(source=GOOD, timeout=10.0):
    sock = socket.socket()
    sock.settimeout(timeout)
    sock.bind((source, 0))
    sock.connect((GOOD, PORT))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as clients of TLS do
    return sock


def wrapped(source=GOOD, made=None):
    return (made or context()).wrap_socket(connect(source))


def head(method="GET", path="/api/v1/system", host="localhost", token=TOKEN, more=""):
    bearer = f"Authorization: Bearer {token}\r\n" if token else ""
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{bearer}{more}".encode("latin-1")


def answer(sock):
    """Status and body, read to the end of the connection."""
    text = b""
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        while piece := sock.recv(65536):
            text += piece
    if not text:
        return 0, b""
    top, _, body = text.partition(b"\r\n\r\n")
    return int(top.split(b" ", 2)[1]), body


def ask(data, source=GOOD):
    with wrapped(source) as sock:
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            sock.sendall(data)
        return answer(sock)


def is_served():
    start = time.monotonic()
    status, body = ask(head(more="Connection: close\r\n\r\n"))
    assert status == 200, (status, body)
    took = time.monotonic() - start
    assert took < 5, f"an answer took {took:.2f} s"


def resident_kib(one):
    with open(f"/proc/{one.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"RssAnon:\s+(\d+) kB", file.read()).group(1))


def opened(one):
    """What its descriptors are of."""
    folder, links = f"/proc/{one.process.pid}/fd", []
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            links.append(os.readlink(f"{folder}/{name}"))
    return sorted(links)


def settles(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what()
        time.sleep(0.1)


@contextlib.contextmanager
def unharmed(one, grown=GROWN_KIB):
    """Others are served before and after, and nothing is left behind."""
    is_served()
    looks = [None]
    settles(lambda: looks.append(opened(one)) or looks[-1] == looks[-2], lambda: f"{looks[-2]} became {looks[-1]}")
    memory, files = resident_kib(one), opened(one)
    yield
    is_served()
    settles(lambda: len(opened(one)) <= len(files), lambda: f"{files} became {opened(one)}")
    assert resident_kib(one) - memory <= grown, f"{memory} KiB became {resident_kib(one)}"


def client_hello():
    """The first bytes of a handshake."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    object_ = context().wrap_bio(incoming, outgoing)
    with contextlib.suppress(ssl.SSLWantReadError):
        object_.do_handshake()
    return outgoing.read()


@case
def half_handshakes_lock_out_nobody(config):
    hello = client_hello()
    with daemon(config) as one:
        for _ in range(KEPT):  # what the allocator keeps of a full house is there from here on
            connect(EVIL).close()
        with unharmed(one):
            kept = []
            for number in range(CONNECTIONS):
                sock = connect(EVIL)
                with contextlib.suppress(ConnectionError):
                    sock.send((b"", hello[: len(hello) // 2], hello)[number % 3])
                kept.append(sock)
                if len(kept) > KEPT:
                    kept.pop(0).close()
                if number % 1000 == 0:
                    is_served()
            is_served()
            for sock in kept:
                sock.close()


@case
def what_is_no_tls_is_closed(config):
    with daemon(config) as one, unharmed(one):
        for garbage in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\xff\xff" + b"\x00" * 2000,
                        b"\x80\x2e\x01\x00\x02" + b"\x00" * 60, os.urandom(4096), b"\x15\x03\x03\x00\x02\x02\x00"):
            with connect(EVIL) as sock:
                with contextlib.suppress(ConnectionError):
                    sock.sendall(garbage)
                    while sock.recv(4096):
                        pass
        with connect(EVIL) as sock:  # half a hello, and the end
            sock.sendall(client_hello()[:60])
            sock.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                assert len(sock.recv(4096)) < 100


@case
def old_versions_are_refused(config):
    with daemon(config) as one, unharmed(one):
        for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
            try:
                with wrapped(EVIL, context(version)) as sock:
                    raise AssertionError(f"{sock.version()} was taken")
            except (ssl.SSLError, ConnectionError):
                pass
        for version, name in ((ssl.TLSVersion.TLSv1_2, "TLSv1.2"), (ssl.TLSVersion.TLSv1_3, "TLSv1.3")):
            made = context(version)
            made.set_alpn_protocols(["h2", "http/1.1"])
            with wrapped(GOOD, made) as sock:
                assert sock.version() == name
                assert sock.selected_alpn_protocol() == "http/1.1", sock.selected_alpn_protocol()
                assert "GCM" in sock.cipher()[0] or "CHACHA" in sock.cipher()[0] or "CCM" in sock.cipher()[0]


@case
def renegotiation_ends_the_connection(config):
    with daemon(config) as one, unharmed(one):
        program = shutil.which("openssl")
        assert program, "openssl is needed"
        client = subprocess.Popen(
            [program, "s_client", "-connect", f"{GOOD}:{PORT}", "-tls1_2", "-legacy_renegotiation"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        time.sleep(0.5)
        with contextlib.suppress(BrokenPipeError):
            client.stdin.write(b"R\n")
            client.stdin.flush()
            time.sleep(0.5)
            client.stdin.write(head(more="Connection: close\r\n\r\n"))
        text, _ = client.communicate(timeout=20)
        assert b"RENEGOTIATING" in text
        assert b"HTTP/1.1 200" not in text, text[-500:]


@case
def heads_and_paths_are_judged(config):
    end = "Connection: close\r\n\r\n"
    requests = (
        (401, head(token=None, more=end)),
        (401, head(token="not-the-token-of-anybody", more=end)),
        (421, head(host="evil.example", more=end)),
        (421, head(host="127.0.0.3", more=end)),
        (404, head(path="/api/v1/../v1/system", more=end)),
        (404, head(path="/api/v1//system", more=end)),
        (404, head(path="/api/v1/zones%2fx", more=end)),
        (404, head(path="/api/v1/zones/%2e%2e/system", more=end)),
        (404, head(path="/api/v1/system;x=1", more=end)),
        (400, head(path="/api/v1/zones/%00", more=end)),
        (400, head(path="/api/v1/zones/%zz", more=end)),
        (414, head(path="/api/v1/" + "x" * 5000, more=end)),
        (405, head(method="DELETE", path="/api/v1/system", more=end)),
        (405, head(method="TRACE", more=end)),
        (400, head(more="Host: localhost\r\n" + end)),
        (400, head(method="PUT", path="/api/v1/zones/z",
                   more="Content-Length: 2\r\nContent-Length: 3\r\n" + end)),
        (400, head(method="PUT", path="/api/v1/zones/z",
                   more="Content-Length: 2\r\nTransfer-Encoding: chunked\r\n" + end)),
    )
    with daemon(config) as one, unharmed(one):
        for expected, data in requests:
            status, body = ask(data, EVIL if b"evil" in data else GOOD)
            assert status == expected, (status, data, body)
        status, _ = ask(head(more="X: " + "y" * 140_000 + "\r\n" + end))
        assert status in (0, 400, 413, 414, 431), status


@case
def bodies_are_judged(config):
    def put(body, more=""):
        return head("PUT", "/api/v1/zones/z", more=f"Content-Type: application/json\r\n{more}"
                    f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n") + body

    deep = b'{"description":' + b"[" * 32 + b"]" * 32 + b"}"
    with daemon(config) as one, unharmed(one, 3 * 8192):
        for body in (b"", b"{", b"[]", b"\xff\xfe\x00", deep, b'{"description":"\xff"}',
                     b'{"description":"a","description":"b"}', b'{"description":"\\u0000"}',
                     b'{"description":"a\x00b"}', b'{"description":99999999999999999999999}',
                     b'{"description":1e999}'):
            status, text = ask(put(body))
            assert status == 400, (status, body, text)
        status, _ = ask(put(b'{"description":"' + b"a" * BODY_MAX + b'"}'))
        assert status == 413, status
        status, _ = ask(head("PUT", "/api/v1/zones/z", more="Content-Type: application/json\r\n"
                             f"Content-Length: {BODY_MAX + 1}\r\n\r\n"))  # not one byte of it
        assert status == 413, status
        status, _ = ask(put(b'{"description":"good"}'))
        assert status == 201, status


@case
def slow_clients_hold_up_nobody(config):
    with daemon(config) as one, unharmed(one):
        slow = [wrapped(EVIL) for _ in range(200)]
        for number, sock in enumerate(slow):
            sock.send(head("PUT", "/api/v1/zones/z", more="Content-Length: 1000\r\n\r\n")
                      if number % 2 else b"GET /api")
        for _ in range(3):
            time.sleep(0.5)
            for sock in slow:
                with contextlib.suppress(OSError):
                    sock.send(b" ")
            is_served()
        for sock in slow:
            sock.close()


@case
def refusals_are_counted_in_the_audit(config):
    """A flood writes a few entries, whatever paths it takes."""
    with daemon(config) as one, unharmed(one):
        before = os.path.getsize(f"{one.folder}/state/zonegate.db-wal")
        for number in range(600):
            status, _ = ask(head("DELETE", f"/api/v1/zones/z{number % 300}", token="x" * 20,
                                 more="Connection: close\r\n\r\n"), EVIL)
            assert status in (401, 429), status
        time.sleep(0.5)
        status, body = ask(head(path="/api/v1/audit?limit=1000&result=unauthorized",
                                more="Connection: close\r\n\r\n"))
        assert status == 200, body
        entries = body.count(b'"request_id"')
        assert 1 <= entries <= 64, entries
        assert b"xxxxxxxx" not in body
        assert os.path.getsize(f"{one.folder}/state/zonegate.db-wal") - before < 1 << 20


def make_certificate(one, name):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-keyout", f"{one.folder}/key.pem", "-out", f"{one.folder}/cert.pem", "-days", "90",
         "-subj", f"/CN={name}"], check=True, capture_output=True,
    )
    os.chmod(f"{one.folder}/key.pem", 0o600)


def fingerprint(sock):
    return hashlib.sha256(sock.getpeercert(binary_form=True)).hexdigest()


def system(sock):
    """Head and body, which come as records of their own."""
    sock.sendall(head(more="\r\n"))
    text = b""
    while not text.endswith(b"}"):
        piece = sock.recv(65536)
        assert piece, text
        text += piece
    assert text.startswith(b"HTTP/1.1 200"), text
    return text


@case
def a_new_certificate_breaks_no_connection(config):
    with daemon(config, API + FILES, lambda one: make_certificate(one, "first")) as one, unharmed(one):
        with wrapped() as old:
            first = fingerprint(old)
            assert b"CN=first" in system(old)
            half = connect()  # its handshake goes on under another certificate
            half.send(client_hello()[:50])
            make_certificate(one, "second")
            one.process.send_signal(signal.SIGHUP)
            settles(lambda: b"CN=second" in system(old), lambda: "it is not read again")
            with wrapped() as new:
                second = fingerprint(new)
                assert second != first
            with open(f"{one.folder}/cert.pem", "w", encoding="ascii") as file:
                file.write("rubbish")
            one.process.send_signal(signal.SIGHUP)
            settles(lambda: b"was not replaced" in system(old), lambda: "nothing is said of it")
            with wrapped() as new:
                assert fingerprint(new) == second
            half.close()
            with open(one._settings, "a", encoding="ascii") as file:
                file.write("[nonsense\n")
            make_certificate(one, "third")
            one.process.send_signal(signal.SIGHUP)
            settles(lambda: b"CN=third" in system(old), lambda: "faulty settings keep it from being read again")


@case
def its_own_certificate_stays(config):
    with daemon(config) as one:
        with wrapped() as sock:
            first = fingerprint(sock)
            text = system(sock)
            assert first.upper().encode() in text.replace(b":", b""), text
            assert b'"self_signed":true' in text and b"Strict-Transport" not in text
        assert os.stat(f"{one.folder}/state/tls-key.pem").st_mode & 0o777 == 0o600
        one.process.terminate()
        one.process.wait(10)
        one.start()
        with wrapped() as sock:
            assert fingerprint(sock) == first
