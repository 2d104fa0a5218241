// SPDX-License-Identifier: GPL-2.0-or-later
// The servers that line 21 probes, on every address of one port.
//   responder PORT udp     sends each datagram back from where it was sent to, marked as an answer of DNS
//   responder PORT accept  makes connections, and closes them
//   responder PORT tls     makes handshakes, with a certificate of its own, and closes
//   responder PORT https   the same, and answers one request
//   responder PORT grpc    answers one call of Health/Check: SERVING
// A client that says nothing holds up one of several workers. Prints a line when it listens.
#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BATCH         64
#define SIZE          1500
#define BACKLOG       65535
#define BUFFER        (8 << 20)
#define HANDSHAKE_MS  1000
#define WORKERS       8
#define VALID_SECONDS (24 * 3600)

struct slot {
	struct sockaddr_in from;
	struct iovec in;
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(struct in_pktinfo))];
	uint8_t data[SIZE];
};

static void must(int code)
{
	if (code >= 0)
		return;
	fprintf(stderr, "responder: %s\n", gnutls_strerror(code));
	exit(1);
}

static int open_port(uint16_t port, int type)
{
	const int on = 1;
	const int size = BUFFER;
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (fd < 0 || setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)) < 0 ||
	    bind(fd, (const struct sockaddr *)&any, sizeof(any)) < 0 ||
	    (type == SOCK_STREAM && listen(fd, BACKLOG) < 0)) {
		perror("responder");
		exit(1);
	}
	return fd;
}

static void say_ready(void)
{
	puts("listens");
	fflush(stdout);
}

/* They end with the one that was started. */
static void share_work(void)
{
	for (int i = 1; i < WORKERS; i++) {
		if (fork() == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			return;
		}
	}
	say_ready();
}

/* ---- datagrams ---- */

static void prepare(struct slot *s, struct mmsghdr *m)
{
	s->in = (struct iovec){s->data, SIZE};
	m->msg_hdr = (struct msghdr){.msg_name = &s->from,
				     .msg_namelen = sizeof(s->from),
				     .msg_iov = &s->in,
				     .msg_iovlen = 1,
				     .msg_control = s->control,
				     .msg_controllen = sizeof(s->control)};
}

/* The message that came becomes the one that goes, with its destination as source. */
static void turn(struct slot *s, struct mmsghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(&m->msg_hdr);
	struct in_pktinfo info;

	if (c && c->cmsg_type == IP_PKTINFO) {
		memcpy(&info, CMSG_DATA(c), sizeof(info));
		info.ipi_spec_dst = info.ipi_addr;
		info.ipi_ifindex = 0;
		memcpy(CMSG_DATA(c), &info, sizeof(info));
	}
	if (m->msg_len > 2)
		s->data[2] |= 0x80;
	s->in.iov_len = m->msg_len;
}

static void serve_datagrams(int fd)
{
	static struct slot slots[BATCH];
	static struct mmsghdr messages[BATCH];

	say_ready();
	for (;;) {
		int n;

		for (int i = 0; i < BATCH; i++)
			prepare(&slots[i], &messages[i]);
		n = recvmmsg(fd, messages, BATCH, MSG_WAITFORONE, NULL);
		for (int i = 0; i < n; i++)
			turn(&slots[i], &messages[i]);
		if (n > 0)
			(void)sendmmsg(fd, messages, (unsigned)n, 0);
	}
}

/* ---- handshakes ---- */

static void make_identity(gnutls_certificate_credentials_t credentials)
{
	const uint8_t serial = 1;
	time_t now = time(NULL);
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t crt;

	must(gnutls_x509_privkey_init(&key));
	must(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
					  GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0));
	must(gnutls_x509_crt_init(&crt));
	must(gnutls_x509_crt_set_version(crt, 3));
	must(gnutls_x509_crt_set_serial(crt, &serial, sizeof(serial)));
	must(gnutls_x509_crt_set_activation_time(crt, now - VALID_SECONDS));
	must(gnutls_x509_crt_set_expiration_time(crt, now + VALID_SECONDS));
	must(gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, "bench", 5));
	must(gnutls_x509_crt_set_key(crt, key));
	must(gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0));
	must(gnutls_certificate_set_x509_key(credentials, &crt, 1, key));
}

/* One request, in one record. */
static void serve_request(gnutls_session_t session)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	char bytes[SIZE];

	if (gnutls_record_recv(session, bytes, sizeof(bytes)) > 0)
		(void)gnutls_record_send(session, answer, sizeof(answer) - 1);
}

static void serve_one(int fd, gnutls_certificate_credentials_t credentials, bool request)
{
	gnutls_session_t session;
	int code = GNUTLS_E_AGAIN;

	must(gnutls_init(&session, GNUTLS_SERVER | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS));
	must(gnutls_set_default_priority(session));
	must(gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials));
	gnutls_transport_set_int(session, fd);
	gnutls_handshake_set_timeout(session, HANDSHAKE_MS);
	for (int i = 0; i < 16 && code < 0 && !gnutls_error_is_fatal(code); i++)
		code = gnutls_handshake(session);
	if (!code && request)
		serve_request(session);
	gnutls_deinit(session);
}

static void serve_handshakes(int fd, bool requests)
{
	gnutls_certificate_credentials_t credentials;

	must(gnutls_certificate_allocate_credentials(&credentials));
	make_identity(credentials);
	share_work();
	for (;;) {
		int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

		if (peer < 0)
			continue;
		serve_one(peer, credentials, requests);
		close(peer);
	}
}

/* ---- calls ---- */

/* Settings, their acknowledgement, the status 200 and the type, the message, and the status of the call. */
static const char call_answer[] = "\0\0\0\x04\0\0\0\0\0"
				  "\0\0\0\x04\x01\0\0\0\0"
				  "\0\0\x14\x01\x04\0\0\0\x01\x88\x0f\x10\x10"
				  "application/grpc"
				  "\0\0\x07\0\0\0\0\0\x01\0\0\0\0\x02\x08\x01"
				  "\0\0\x0f\x01\x05\0\0\0\x01\0\x0b"
				  "grpc-status\x01"
				  "0";

static void serve_calls(int fd)
{
	char bytes[SIZE];

	share_work();
	for (;;) {
		int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

		if (peer < 0)
			continue;
		if (recv(peer, bytes, sizeof(bytes), 0) > 0)
			(void)send(peer, call_answer, sizeof(call_answer) - 1, MSG_NOSIGNAL);
		while (recv(peer, bytes, sizeof(bytes), 0) > 0)
			;
		close(peer);
	}
}

static void serve_connections(int fd)
{
	say_ready();
	for (;;)
		close(accept4(fd, NULL, NULL, SOCK_CLOEXEC));
}

int main(int argc, char **argv)
{
	uint16_t port = argc == 3 ? (uint16_t)strtoul(argv[1], NULL, 10) : 0;

	if (!port)
		return 64;
	if (strcmp(argv[2], "udp") == 0)
		serve_datagrams(open_port(port, SOCK_DGRAM));
	else if (strcmp(argv[2], "accept") == 0)
		serve_connections(open_port(port, SOCK_STREAM));
	else if (strcmp(argv[2], "tls") == 0)
		serve_handshakes(open_port(port, SOCK_STREAM), false);
	else if (strcmp(argv[2], "https") == 0)
		serve_handshakes(open_port(port, SOCK_STREAM), true);
	else if (strcmp(argv[2], "grpc") == 0)
		serve_calls(open_port(port, SOCK_STREAM));
	return 64;
}
