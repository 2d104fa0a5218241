// SPDX-License-Identifier: GPL-2.0-or-later
// Kinds `tcp` and `tls`: pass when the handshake completes, of TCP or of TLS.
#include "probe/probe_conn.h"
#include "probe/probe_tls.h"

#include <errno.h>

static void probe_tcp_start(struct probe_run *r)
{
	probe_conn_start(r);
}

static void probe_tcp_ready(struct probe_run *r, uint32_t events)
{
	static const struct probe_outcome pass = {.verdict = PROBE_PASS};
	int error = probe_conn_check(r, events);

	if (error == -EINPROGRESS)
		return;
	/* A reset after the handshake (one before it is a refusal): what it completed counts, whether or not we were quick
	 * enough to see it before. */
	if (error && error != -ECONNRESET && error != -EPIPE) {
		probe_conn_fail(r, -error, NULL);
		return;
	}
	if (!r->connect_usec)
		r->connect_usec = probe_run_elapsed(r);
	if (error)
		probe_conn_close(r);
	else
		probe_conn_leave(r);
	probe_run_end(r, &pass);
}

static void probe_tcp_expire(struct probe_run *r)
{
	probe_conn_expire(r, NULL);
}

static void probe_tcp_ready_tls(struct probe_run *r, uint32_t events)
{
	char text[PROBE_EVIDENCE_MAX];
	struct probe_outcome pass = {.verdict = PROBE_PASS, .text = text};

	if (!probe_conn_open(r, events))
		return;
	probe_tls_describe(r, text);
	probe_conn_close(r);
	probe_run_end(r, &pass);
}

const struct probe_kind probe_tcp_kind = {
	.size = sizeof(struct probe_run),
	.start = probe_tcp_start,
	.ready = probe_tcp_ready,
	.expire = probe_tcp_expire,
	.cancel = probe_conn_close,
};

const struct probe_kind probe_tls_kind = {
	.size = sizeof(struct probe_run),
	.tls = true,
	.start = probe_tcp_start,
	.ready = probe_tcp_ready_tls,
	.expire = probe_tcp_expire,
	.cancel = probe_conn_close,
};
