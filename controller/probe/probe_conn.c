// SPDX-License-Identifier: GPL-2.0-or-later
// One table of errno → verdict and reason. What only tells about this host (descriptors, memory, ports, permissions) counts
// against no server; what the net reports does, with an unreachable server as one that traffic would not reach either.
#include "probe/probe_conn.h"

#include "probe/probe_io.h"
#include "probe/probe_linger.h"
#include "probe/probe_spare.h"
#include "probe/probe_tls.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long the kernel holds back an ACK at most (TCP_DELACK_MAX): whoever will not send before it is acknowledged, such as a
 * proxy of handshakes, waits that long. */
#define ACK_DELAY_MS 200

struct conn_row {
	int error;
	enum probe_verdict local;
	enum probe_verdict remote;
	enum health_reason reason; /* of a failure */
};

static const struct conn_row conn_rows[] = {
	{ECONNREFUSED, PROBE_FAIL_ACTIVE, PROBE_FAIL_ACTIVE, REASON_CONNECT_REFUSED},
	{ECONNRESET, PROBE_FAIL_ACTIVE, PROBE_FAIL_ACTIVE, REASON_CONNECT_RESET},
	{EPIPE, PROBE_FAIL_ACTIVE, PROBE_FAIL_ACTIVE, REASON_CONNECT_RESET},
	{ETIMEDOUT, PROBE_FAIL_SILENT, PROBE_FAIL_SILENT, REASON_CONNECT_TIMEOUT},
	{ENETUNREACH, PROBE_FAIL_ACTIVE, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
	{EHOSTUNREACH, PROBE_FAIL_ACTIVE, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
	/* ICMPv6 "administratively prohibited" arrives as EACCES: then it is the firewall of the server that speaks. */
	{EACCES, PROBE_ERROR, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
	{EPERM, PROBE_ERROR, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
	{ENETDOWN, PROBE_FAIL_ACTIVE, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
	{EHOSTDOWN, PROBE_FAIL_ACTIVE, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
	{ENONET, PROBE_FAIL_ACTIVE, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
	{ENOPROTOOPT, PROBE_ERROR, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
	{EOPNOTSUPP, PROBE_ERROR, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
	{EPROTO, PROBE_ERROR, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
	{EMSGSIZE, PROBE_ERROR, PROBE_FAIL_ACTIVE, REASON_CONNECT_UNREACHABLE},
};

void probe_conn_judge(int error, enum probe_conn_origin origin, struct probe_outcome *ret_outcome)
{
	struct probe_outcome o = {PROBE_ERROR, REASON_PROBER_ERROR, error, 0, NULL};

	for (size_t i = 0; i < sizeof(conn_rows) / sizeof(conn_rows[0]); i++) {
		const struct conn_row *row = &conn_rows[i];

		if (row->error != error)
			continue;
		o.verdict = origin == CONN_LOCAL ? row->local : row->remote;
		if (o.verdict != PROBE_ERROR)
			o.reason = row->reason;
		break;
	}
	*ret_outcome = o;
}

/* The source and the mark of the check. A source of the other family is not for this server. */
int probe_conn_set_origin(int fd, const struct health_check *check, uint8_t family)
{
	const int on = 1;
	struct sockaddr_storage sa;
	socklen_t size;

	if (check->fwmark &&
	    setsockopt(fd, SOL_SOCKET, SO_MARK, &check->fwmark, sizeof(check->fwmark)) < 0)
		return -errno;
	if (check->source_address.family != family)
		return 0;
	/* The port is chosen at connect, by the whole four-tuple: one source has more than 28,000 of them. */
	if (setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on)) < 0)
		return -errno;
	size = addr_to_sockaddr(&check->source_address, 0, &sa);
	return bind(fd, (const struct sockaddr *)&sa, size) < 0 ? -errno : 0;
}

/* The request acknowledges the SYN-ACK, too: a packet less for us and for the server, which is woken once instead of twice. */
bool probe_conn_defers_ack(const struct probe_run *r)
{
	return r->kind->speaks && r->target->check->timeout_ms > 2 * ACK_DELAY_MS;
}

/* 0 or a negative errno; then r->fd may be open. */
static int probe_conn_make_socket(struct probe_run *r)
{
	const int on = 1;

	r->fd = socket(r->target->address.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		       IPPROTO_TCP);
	if (r->fd < 0)
		return -errno;
	if (probe_conn_defers_ack(r))
		(void)setsockopt(r->fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &on, sizeof(on));
	return probe_conn_set_origin(r->fd, r->target->check, r->target->address.family);
}

static int probe_conn_connect(struct probe_run *r)
{
	struct sockaddr_storage sa;
	socklen_t size = addr_to_sockaddr(&r->target->address, r->target->port, &sa);
	bool watched = probe_spare_take(r);
	int error = watched ? 0 : probe_conn_make_socket(r);

	if (error)
		return error;
	if (connect(r->fd, (const struct sockaddr *)&sa, size) < 0 && errno != EINPROGRESS)
		return -errno;
	return watched ? 0 : probe_io_watch(r->io, r);
}

int probe_conn_begin(struct probe_run *r)
{
	int error = probe_conn_connect(r);

	if (error)
		probe_conn_close(r);
	return error;
}

bool probe_conn_start(struct probe_run *r)
{
	struct probe_outcome o;
	int error = probe_conn_begin(r);

	if (!error)
		return true;
	probe_conn_judge(-error, CONN_LOCAL, &o);
	probe_run_end(r, &o);
	return false;
}

static int probe_conn_error(const struct probe_run *r)
{
	int error = 0;
	socklen_t size = sizeof(error);

	if (getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		return errno;
	return error;
}

int probe_conn_check(struct probe_run *r, uint32_t events)
{
	if (events & (EPOLLERR | EPOLLHUP)) {
		int error = probe_conn_error(r);

		if (error)
			return -error;
	}
	if (!(events & (EPOLLOUT | EPOLLIN | EPOLLRDHUP | EPOLLHUP)))
		return -EINPROGRESS;
	r->connect_usec = probe_run_elapsed(r);
	return 0;
}

static int probe_conn_advance(struct probe_run *r, uint32_t events)
{
	int error = r->connect_usec ? 0 : probe_conn_check(r, events);

	if (error || !r->kind->tls || r->tls_usec)
		return error;
	error = probe_tls_shake(r);
	if (!error)
		r->tls_usec = probe_run_elapsed(r);
	return error;
}

bool probe_conn_open(struct probe_run *r, uint32_t events)
{
	int error = probe_conn_advance(r, events);

	if (error && error != -EINPROGRESS && error != -EAGAIN)
		probe_conn_fail(r, -error, NULL);
	return !error;
}

ssize_t probe_conn_send(struct probe_run *r, const void *data, size_t size)
{
	ssize_t n;

	if (r->tls)
		return probe_tls_send(r, data, size);
	n = send(r->fd, data, size, MSG_NOSIGNAL);
	return n < 0 ? -errno : n;
}

ssize_t probe_conn_recv(struct probe_run *r, void *data, size_t size)
{
	ssize_t n;

	if (r->tls)
		return probe_tls_recv(r, data, size);
	n = recv(r->fd, data, size, 0);
	return n < 0 ? -errno : n;
}

static void probe_conn_reset(struct probe_run *r)
{
	static const struct linger reset = {.l_onoff = 1, .l_linger = 0};

	/* Without a connection there is nobody to tell. */
	if (r->connect_usec)
		(void)setsockopt(r->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	probe_tls_free(r);
	probe_io_forget(r->io, r);
	close(r->fd);
	r->fd = -1;
}

void probe_conn_close(struct probe_run *r)
{
	if (r->fd < 0)
		return;
	if (r->target->check->close == CLOSE_RST || !r->connect_usec) {
		probe_conn_reset(r);
		return;
	}
	probe_tls_bye(r);
	probe_tls_free(r);
	probe_linger_add(r);
}

void probe_conn_leave(struct probe_run *r)
{
	if (r->target->check->close != CLOSE_RST || !probe_spare_put(r))
		probe_conn_close(r);
}

/* What went wrong in the session, or in its making. Returns false if it is nothing of the kind. */
static bool probe_conn_judge_tls(const struct probe_run *r, int error,
				 char text[PROBE_EVIDENCE_MAX], struct probe_outcome *ret_outcome)
{
	bool local = probe_tls_is_local(r);

	if (!r->tls || (!local && error != EPROTO))
		return false;
	*ret_outcome = (struct probe_outcome){
		.verdict = local ? PROBE_ERROR : PROBE_FAIL_ACTIVE,
		.reason = local ? REASON_PROBER_ERROR : REASON_TLS_FAILED,
		.error = local ? error : 0,
		.text = probe_tls_fault(r, text),
	};
	return true;
}

void probe_conn_fail(struct probe_run *r, int error, const char *text)
{
	char fault[PROBE_EVIDENCE_MAX];
	struct probe_outcome o;

	if (!probe_conn_judge_tls(r, error, fault, &o)) {
		probe_conn_judge(error, CONN_REMOTE, &o);
		o.text = text;
	}
	if (o.reason == REASON_CONNECT_TIMEOUT && r->connect_usec)
		o.reason = REASON_RECV_TIMEOUT;
	probe_conn_close(r);
	probe_run_end(r, &o);
}

void probe_conn_expire(struct probe_run *r, const char *text)
{
	struct probe_outcome o = {PROBE_FAIL_SILENT, REASON_RECV_TIMEOUT, 0, 0, text};

	if (!r->connect_usec) {
		/* An ICMP error that the kernel took as no more than a hint tells more than "timeout". */
		int error = probe_conn_error(r);
		struct probe_outcome hint;

		probe_conn_judge(error, CONN_REMOTE, &hint);
		o.error = error;
		o.reason = hint.verdict == PROBE_FAIL_ACTIVE ? hint.reason : REASON_CONNECT_TIMEOUT;
	}
	probe_conn_close(r);
	probe_run_end(r, &o);
}
