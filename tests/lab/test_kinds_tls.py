# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks over TLS and gRPC, and connections beside the probes, against real servers.

nginx with certificates of every sort, servers that misbehave with and without
TLS: each gives its state, its reason and its sentence. A kept connection may
end between two probes; the end of a watched one is noticed at once.
"""

import os
import socket
import ssl
import struct
import subprocess
import threading
import time

from zglab import case, sysc
from zglab.documents import balancer, check, document, group, listener, web

LAB_SECONDS = 30

FOLDER = "/run/zglab/tls"
SHOP, OTHER = "shop.example.net", "other.example.net"
CALM = {"interval_ms": 1000, "timeout_ms": 700, "healthy_threshold": 1, "unhealthy_threshold": 1}


def make_certificates():
    os.makedirs(FOLDER, exist_ok=True)
    source = f"{os.path.dirname(os.path.abspath(__file__))}/fixtures/certificates.c"
    program = f"{FOLDER}/certificates"
    subprocess.run(["cc", "-o", program, source, "-lgnutls"], check=True, timeout=60)
    subprocess.run([program, FOLDER], check=True, timeout=20)
    os.chmod(FOLDER, 0o755)


# Many groups of one server, each on a port of its own


def begin(lab, checks):
    """CHECKS: {group: (port, members of the check)}; all in one document."""
    groups, listeners = {}, {}
    for number, (name, (port, members)) in enumerate(checks.items()):
        groups[name] = group(lab.servers, port=port, health_check={**CALM, **members})
        listeners[name] = listener(name, port=1000 + number)
    lab.gw.daemon.start()
    lab.gw.api.apply(document(groups, {"shop": balancer(listeners)}))


def health(lab, name):
    return lab.gw.api.get(f"/server-groups/{name}/servers/s1/health").expect(200).json


def expect(lab, name, state, reason, sentence):
    """The verdict of a group, its reason code, and a part of what a person reads.

    A late machine may fail a probe at an earlier step than the server does: a later probe tells."""
    def told():
        found = health(lab, name)
        return found["state"] == state and sentence in (found["last_probe"] or {}).get("detail", "")

    lab.wait(told, 2.0 + lab.margin, f"{name} {state}: {health(lab, name)}")
    found = health(lab, name)
    probe = found["last_probe"]
    assert probe["reason_code"] == reason, (name, found)
    assert sentence in probe["detail"], (name, found)
    if state == "unhealthy":
        assert found["reason_code"] == reason, (name, found)
        assert sentence in found["detail"], (name, found)
    return probe


# Servers that misbehave


def hold(conn):
    try:
        while conn.recv(4096):
            pass
    except OSError:
        pass


def says_nothing(conn):
    hold(conn)


def drips(conn):
    for byte in b"HTTP/1.1 200 OK\r\n\r\n":
        conn.sendall(bytes((byte,)))
        time.sleep(1)


def resets(conn):
    conn.sendall(b"HTTP/1.1 200 OK\r\nServer: x")
    time.sleep(0.05)
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def floods(conn):
    conn.sendall(b"HTTP/1.1 200 OK\r\nX-Huge: ")
    block = b"x" * 65536
    for _ in range(1600):  # 100 MB
        conn.sendall(block)


def cuts(conn):
    conn.sendall(b"HTTP/1.1 20")
    time.sleep(0.05)
    conn.sendall(b"0 OK\r\nContent-Length: 0\r\n\r\n")
    hold(conn)


def is_old(conn):
    conn.sendall(b"HTTP/1.0 200 OK\r\n\r\n")


def continues(conn):
    conn.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    time.sleep(0.02)
    conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    hold(conn)


MISBEHAVIOUR = {
    "silent": (says_nothing, "unhealthy", "recv_timeout",
               "accepted the connection, but sent no answer to HEAD / within 700 ms"),
    "drips": (drips, "unhealthy", "recv_timeout",
              'did not complete its answer to HEAD / within 700 ms; it began with "H'),
    "resets": (resets, "unhealthy", "connect_reset",
               'in the middle of its answer "HTTP/1.1 200 OK"'),
    "floods": (floods, "unhealthy", "http_invalid_response",
               'more than 16 KiB of headers, after "HTTP/1.1 200 OK"'),
    "cuts": (cuts, "healthy", "none", "answered HEAD / with status 200 after"),
    "old": (is_old, "healthy", "none", "answered HEAD / with status 200 after"),
    "continues": (continues, "healthy", "none", "answered HEAD / with status 200 after"),
}


def serve(server, port, handler, context=None):
    """A thread that accepts, and one for each connection."""
    with server.namespace:
        listening = socket.create_server(("", port), backlog=64)

    def talk(conn):
        try:
            with conn:
                conn.settimeout(10)
                if context:
                    conn = context.wrap_socket(conn, server_side=True)
                with conn:
                    conn.recv(4096)
                    handler(conn)
        except OSError:
            pass  # the probe has gone

    def accept():
        while True:
            conn, _ = listening.accept()
            threading.Thread(target=talk, args=(conn,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


@case
def misbehaving_servers(lab):
    lab.network(1, tcp=())
    make_certificates()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{FOLDER}/good.pem")
    checks = {}
    for number, (name, (handler, *_)) in enumerate(MISBEHAVIOUR.items()):
        for kind, base in (("http", 8000), ("https", 9000)):
            serve(lab.servers[0], base + number, handler, context if kind == "https" else None)
            checks[f"{kind}-{name}"] = (base + number, {"type": kind})
    begin(lab, checks)
    for kind in ("http", "https"):
        for name, (_, state, reason, sentence) in MISBEHAVIOUR.items():
            probe = expect(lab, f"{kind}-{name}", state, reason, sentence)
            assert ("tls_ms" in probe) == (kind == "https"), probe


# nginx

NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log {folder}/access.log; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b;
  fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  ssl_protocols TLSv1.2 TLSv1.3;
  server {{ listen 8080; location / {{ return 204; }} }}
  server {{ listen 8443 ssl default_server; ssl_certificate {folder}/good.pem;
           ssl_certificate_key {folder}/good.pem; location / {{ return 204; }} }}
  server {{ listen 8443 ssl; server_name other.example.net; ssl_certificate {folder}/other.pem;
           ssl_certificate_key {folder}/other.pem; location / {{ return 205; }} }}
  server {{ listen 8444 ssl; ssl_certificate {folder}/expired.pem;
           ssl_certificate_key {folder}/expired.pem; location / {{ return 204; }} }}
}}
"""


class Nginx:
    def __init__(self, server):
        with open(f"{FOLDER}/nginx.conf", "w", encoding="ascii") as file:
            file.write(NGINX.format(folder=FOLDER))
        self._process = subprocess.Popen(
            ["/usr/sbin/nginx", "-p", FOLDER, "-c", f"{FOLDER}/nginx.conf"],
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: sysc.setns(server.namespace.descriptor),
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()


CA = f"{FOLDER}/ca.pem"
VERIFIED = {"verify": True, "ca_file": CA}
NGINX_CHECKS = {
    "plain": (8080, {"type": "http"}, "healthy", "none", "status 204"),
    "off": (8444, {"type": "https"}, "healthy", "none", "status 204"),
    "off-tls": (8444, {"type": "tls"}, "healthy", "none", "completed the TLS handshake after"),
    "good": (8443, {"type": "https", "host": SHOP, **VERIFIED}, "healthy", "none", "status 204"),
    "good-tls": (8443, {"type": "tls", "sni": SHOP, "close": "fin", **VERIFIED}, "healthy", "none",
                 "(TLS1.3)"),
    "chain-only": (8443, {"type": "tls", **VERIFIED}, "healthy", "none", "(TLS1.3)"),
    # The name in the handshake chooses the certificate, the one in the request the page.
    "names-apart": (8443, {"type": "https", "sni": OTHER, "host": OTHER, **VERIFIED,
                           "expected_status": "205"}, "healthy", "none", "status 205"),
    "expired": (8444, {"type": "https", "host": SHOP, **VERIFIED}, "unhealthy", "tls_failed",
                "The certificate chain uses expired certificate"),
    "expired-tls": (8444, {"type": "tls", "sni": SHOP, **VERIFIED}, "unhealthy", "tls_failed",
                    "The certificate chain uses expired certificate"),
    "other-name": (8443, {"type": "tls", "sni": "third.example.net", **VERIFIED}, "unhealthy",
                   "tls_failed", "The name in the certificate does not match"),
    "no-tls": (8080, {"type": "tls"}, "unhealthy", "tls_failed", "the TLS handshake with"),
    "no-listener": (8999, {"type": "tls"}, "unhealthy", "connect_refused", "refused"),
    "plain-to-tls": (8443, {"type": "http"}, "unhealthy", "http_status_mismatch", "status 400"),
    "grpc-to-http": (8080, {"type": "grpc"}, "unhealthy", "http_invalid_response",
                     "an answer that is not HTTP/2"),
}


@case
def nginx_certificates(lab):
    lab.network(1, tcp=())
    make_certificates()
    checks = {name: (port, members) for name, (port, members, *_) in NGINX_CHECKS.items()}
    checks["no-ca"] = (8443, {"type": "tls", "verify": True, "ca_file": f"{FOLDER}/none.pem"})
    with Nginx(lab.servers[0]):
        begin(lab, checks)
        for name, (_, _, state, reason, sentence) in NGINX_CHECKS.items():
            expect(lab, name, state, reason, sentence)
        # A file of ours counts against nobody, and is read as soon as it is there.
        expect(lab, "no-ca", "initial", "prober_error", f"({FOLDER}/none.pem)")
        os.link(CA, f"{FOLDER}/none.pem")
        expect(lab, "no-ca", "healthy", "none", "(TLS1.3)")
        # So is one that is replaced.
        with open(CA, encoding="ascii") as file:
            authority = file.read()
        os.unlink(f"{FOLDER}/none.pem")
        with open(f"{FOLDER}/expired.pem", encoding="ascii") as file:
            stranger = file.read()
        with open(f"{FOLDER}/none.new", "w", encoding="ascii") as file:
            file.write(stranger)
        os.replace(f"{FOLDER}/none.new", f"{FOLDER}/none.pem")
        expect(lab, "no-ca", "unhealthy", "tls_failed", "NOT trusted")
        with open(f"{FOLDER}/none.pem", "w", encoding="ascii") as file:
            file.write(authority)
        expect(lab, "no-ca", "healthy", "none", "(TLS1.3)")


# gRPC


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + struct.pack(">BBI", kind, flags, stream) + payload


def header(name, value):
    return b"\0" + bytes((len(name),)) + name + bytes((len(value),)) + value


class HealthService:
    """grpc.health.v1 as far as one call goes: it answers when the request has ended."""

    def __init__(self, *answer):
        self._answer = answer

    def __call__(self, conn):
        conn.sendall(frame(4, 0, 0))
        conn.sendall(b"".join(self._answer))
        hold(conn)


HEADERS = b"\x88" + header(b"content-type", b"application/grpc")


def says(status):
    return HealthService(
        frame(1, 4, 1, HEADERS), frame(0, 0, 1, b"\0\0\0\0\2\x08" + bytes((status,))),
        frame(1, 5, 1, header(b"grpc-status", b"0")),
    )


GRPC = {
    "serving": (says(1), "healthy", "none", "that it serves"),
    "not-serving": (says(2), "unhealthy", "grpc_not_serving", "does not serve: NOT_SERVING"),
    "unknown": (says(3), "unhealthy", "grpc_not_serving", "does not serve: SERVICE_UNKNOWN"),
    "unimplemented": (
        HealthService(frame(1, 5, 1, HEADERS + header(b"grpc-status", b"12") +
                            header(b"grpc-message", b"unknown%20service"))),
        "unhealthy", "grpc_not_serving", "does not serve: UNIMPLEMENTED (12): unknown service"),
    "busy": (HealthService(frame(1, 5, 1, header(b":status", b"503"))), "unhealthy",
             "http_status_mismatch", "answered Health/Check with status 503, expected 200"),
    "silent": (says_nothing, "unhealthy", "recv_timeout",
               "sent no answer to Health/Check within 700 ms"),
}


@case
def grpc_health(lab):
    lab.network(1, tcp=())
    checks = {}
    for number, (name, (handler, *_)) in enumerate(GRPC.items()):
        serve(lab.servers[0], 7000 + number, handler)
        checks[name] = (7000 + number, {"type": "grpc", "service": "shop.v1"})
    begin(lab, checks)
    for name, (_, state, reason, sentence) in GRPC.items():
        expect(lab, name, state, reason, sentence)


# Connections beside the probes


@case
def kept_connection(lab):
    lab.network(1)
    server = lab.servers[0]
    lab.start(web(lab, health_check=check(type="http", reuse_connection=True, timeout_ms=1000)))
    seen = server.health_checks
    lab.wait(lambda: server.health_checks >= seen + 8, 2 + lab.margin, "eight more probes")
    assert server.connections() == 1, server.connections()
    probe = health(lab, "web")["last_probe"]
    assert probe["reused_connection"] and "connect_ms" not in probe, probe

    # The end of the connection between two probes is no failure.
    def closes_and_stays():
        answered = server.health_checks
        lab.wait(lambda: server.health_checks > answered, 2 + lab.margin, "an answer, then a pause")
        server.close_connections()
        return lab.gw.weights()[server.address4] == 100

    lab.holds(closes_and_stays, 1.0, "in service while its connections end")
    found = health(lab, "web")
    assert found["state"] == "healthy" and not found["last_failure"], found
    server.kill()
    lab.wait_weight(server, 0, 0.6 + lab.margin)
    assert health(lab, "web")["reason_code"] == "connect_refused"


def dies_watched(lab, **members):
    """Five seconds between two probes, but it is out of service in a fraction of one."""
    lab.network(1)
    server = lab.servers[0]
    lab.start(web(lab, health_check=check(
        interval_ms=5000, timeout_ms=1000, unhealthy_threshold=2, watch=True, **members)))
    lab.wait(lambda: server.connections() == 1, 1 + lab.margin, "one watched connection")
    server.kill()
    lab.wait_weight(server, 0, 0.3 + lab.margin)
    assert health(lab, "web")["reason_code"] == "connect_refused"


@case
def watched_tcp(lab):
    dies_watched(lab, type="tcp")


@case
def watched_http(lab):
    dies_watched(lab, type="http")
