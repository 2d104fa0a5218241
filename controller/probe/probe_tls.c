// SPDX-License-Identifier: GPL-2.0-or-later
// GnuTLS reads and writes through two functions of ours, so that the errno of the net is not lost. It never waits: what
// would block is taken up again when the descriptor is ready.
#include "probe/probe_tls.h"

#include "base/mem.h"
#include "late/late_gnutls.h"
#include "probe/probe_trust.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define EMPTY_RECORDS 64 /* without a byte for us, in one go */

struct probe_tls {
	struct probe_trust_wait wait;
	struct probe_trust *trust;
	gnutls_session_t session; /* NULL while the trust is read */
	int fd;
	int error;                     /* the last errno of the net */
	bool blocked;                  /* the socket had nothing more, or no room */
	bool local;                    /* the fault is of this host */
	char name[MODEL_TEXT_MAX + 1]; /* that the certificate is for; "" = any */
	char fault[PROBE_EVIDENCE_MAX];
};

/* ---- to and from the socket ---- */

static void tls_note_error(struct probe_tls *t, int error)
{
	t->error = error;
	t->blocked = error == EAGAIN;
	gnutls_transport_set_errno(t->session, error);
}

static ssize_t tls_pull(gnutls_transport_ptr_t transport, void *data, size_t size)
{
	struct probe_tls *t = transport;
	ssize_t n = recv(t->fd, data, size, 0);

	if (n < 0)
		tls_note_error(t, errno);
	return n;
}

static ssize_t tls_push(gnutls_transport_ptr_t transport, const giovec_t *iov, int count)
{
	struct probe_tls *t = transport;
	struct iovec *vec = (struct iovec *)(uintptr_t)iov;
	const struct msghdr message = {.msg_iov = vec, .msg_iovlen = (size_t)count};
	ssize_t n = sendmsg(t->fd, &message, MSG_NOSIGNAL);

	if (n < 0)
		tls_note_error(t, errno);
	return n;
}

/* ---- the session ---- */

/* The name without port and brackets; "" = none. Bounded by the model. */
static void tls_copy_host(const char *host, char name[MODEL_TEXT_MAX + 1])
{
	size_t size = strcspn(host, ":");

	if (host[0] == '[') {
		host++;
		size = strcspn(host, "]");
	} else if (size < strlen(host) && strchr(host + size + 1, ':')) {
		size = strlen(host); /* an IPv6 address without brackets */
	}
	assert(size <= MODEL_TEXT_MAX);
	memcpy(name, host, size);
	name[size] = '\0';
}

/* What the certificate must be for; "" = anything. */
static void tls_copy_name(const struct health_check *c, char name[MODEL_TEXT_MAX + 1])
{
	name[0] = '\0';
	if (c->sni)
		tls_copy_host(c->sni, name);
	else if (c->host)
		tls_copy_host(c->host, name);
}

static int tls_set_name(struct probe_tls *t, const struct health_check *c)
{
	struct addr address;
	size_t size;

	tls_copy_name(c, t->name);
	size = strlen(t->name);
	if (c->verify)
		gnutls_session_set_verify_cert(t->session, size ? t->name : NULL, 0);
	/* Unlike in a certificate, a dot at the end is not part of the name on the wire; addresses are no names. */
	if (size && t->name[size - 1] == '.')
		size--;
	if (!size || addr_parse(t->name, &address) == 0)
		return 0;
	return gnutls_server_name_set(t->session, GNUTLS_NAME_DNS, t->name, size);
}

static int tls_set_up(struct probe_tls *t, const struct health_check *c)
{
	int code = gnutls_priority_set(t->session, t->trust->priority);

	if (!code)
		code = gnutls_credentials_set(t->session, GNUTLS_CRD_CERTIFICATE,
					      t->trust->credentials);
	if (!code)
		code = tls_set_name(t, c);
	gnutls_transport_set_ptr(t->session, t);
	gnutls_transport_set_pull_function(t->session, tls_pull);
	gnutls_transport_set_vec_push_function(t->session, tls_push);
	return code;
}

static int tls_fail_locally(struct probe_tls *t, int error)
{
	t->local = true;
	return error;
}

/* 0 once the session is there. */
static int tls_start(struct probe_run *r)
{
	/* A key for one group only, which every server has: making it is a good part of the cost. */
	const unsigned flags = GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL |
			       GNUTLS_NO_TICKETS | GNUTLS_KEY_SHARE_TOP;
	struct probe_tls *t = r->tls;
	int code;

	if (!t) {
		t = r->tls = mem_new(struct probe_tls);
		t->wait.run = r;
		t->fd = r->fd;
	} else if (t->wait.link) {
		return -EAGAIN;
	}
	code = probe_trust_take(&t->wait, t->fault, &t->trust);
	if (code == -EINPROGRESS)
		return -EAGAIN;
	if (code)
		return tls_fail_locally(t, code);
	if (gnutls_init(&t->session, flags) < 0)
		return tls_fail_locally(t, -ENOMEM);
	code = tls_set_up(t, r->target->check);
	if (!code)
		return 0;
	snprintf(t->fault, sizeof(t->fault), "%s", gnutls_strerror(code));
	return tls_fail_locally(t, -EINVAL);
}

/* ---- faults ---- */

static void tls_tell_certificate(struct probe_tls *t)
{
	unsigned status = gnutls_session_get_verify_cert_status(t->session);
	gnutls_datum_t text = {0};

	if (gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &text, 0) < 0)
		return;
	snprintf(t->fault, sizeof(t->fault), "%s", (const char *)text.data);
	gnutls_free(text.data);
	for (size_t size = strlen(t->fault); size && t->fault[size - 1] == ' '; size--)
		t->fault[size - 1] = '\0';
}

/* What a code of GnuTLS means for the probe. */
static int tls_fail(struct probe_tls *t, int code)
{
	const char *alert;

	if (code == GNUTLS_E_PULL_ERROR || code == GNUTLS_E_PUSH_ERROR)
		return t->error ? -t->error : -EPROTO;
	if (code == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR) {
		tls_tell_certificate(t);
	} else if (code == GNUTLS_E_PREMATURE_TERMINATION) {
		snprintf(t->fault, sizeof(t->fault), "the server closed the connection");
	} else if (code == GNUTLS_E_FATAL_ALERT_RECEIVED) {
		alert = gnutls_alert_get_name(gnutls_alert_get(t->session));
		snprintf(t->fault, sizeof(t->fault), "the server sent the alert \"%s\"",
			 alert ? alert : "unknown");
	} else {
		snprintf(t->fault, sizeof(t->fault), "%s", gnutls_strerror(code));
	}
	return -EPROTO;
}

/* "Again" may also mean a record that was not for us. */
static bool tls_is_blocked(const struct probe_tls *t, int code)
{
	return code == GNUTLS_E_AGAIN && t->blocked;
}

static bool tls_is_fatal(int code)
{
	return code != GNUTLS_E_AGAIN && code != GNUTLS_E_INTERRUPTED &&
	       gnutls_error_is_fatal(code);
}

/* ---- what probes call ---- */

int probe_tls_shake(struct probe_run *r)
{
	struct probe_tls *t;
	int code = 0;

	if (!r->tls || !r->tls->session)
		code = tls_start(r);
	if (code)
		return code;
	t = r->tls;
	t->blocked = false;
	for (int i = 0; i < EMPTY_RECORDS; i++) {
		code = gnutls_handshake(t->session);
		if (!code)
			return 0;
		if (tls_is_blocked(t, code))
			return -EAGAIN;
		if (tls_is_fatal(code))
			break;
	}
	if (code == GNUTLS_E_UNEXPECTED_PACKET) { /* the wording of GnuTLS sounds like TLS */
		snprintf(t->fault, sizeof(t->fault), "what it answered is not TLS");
		return -EPROTO;
	}
	return tls_fail(t, code);
}

ssize_t probe_tls_send(struct probe_run *r, const void *data, size_t size)
{
	ssize_t n = gnutls_record_send(r->tls->session, data, size);

	if (n >= 0)
		return n;
	return tls_is_fatal((int)n) ? tls_fail(r->tls, (int)n) : -EAGAIN;
}

/* Many servers just close: an end without goodbye is an end. */
ssize_t probe_tls_recv(struct probe_run *r, void *data, size_t size)
{
	struct probe_tls *t = r->tls;
	ssize_t n = 0;

	t->blocked = false;
	for (int i = 0; i < EMPTY_RECORDS; i++) {
		n = gnutls_record_recv(t->session, data, size);
		if (n >= 0)
			return n;
		if (n == GNUTLS_E_PREMATURE_TERMINATION)
			return 0;
		if (tls_is_blocked(t, (int)n))
			return -EAGAIN;
		if (tls_is_fatal((int)n))
			break;
	}
	return tls_fail(t, (int)n);
}

const char *probe_tls_fault(const struct probe_run *r, char buf[PROBE_EVIDENCE_MAX])
{
	memcpy(buf, r->tls->fault, PROBE_EVIDENCE_MAX);
	return buf;
}

bool probe_tls_is_local(const struct probe_run *r)
{
	return r->tls && r->tls->local;
}

const char *probe_tls_describe(const struct probe_run *r, char buf[PROBE_EVIDENCE_MAX])
{
	char *text = gnutls_session_get_desc(r->tls->session);

	snprintf(buf, PROBE_EVIDENCE_MAX, "%s", text ? text : "");
	gnutls_free(text);
	return buf;
}

void probe_tls_bye(struct probe_run *r)
{
	if (r->tls && r->tls->session && r->tls_usec)
		(void)gnutls_bye(r->tls->session, GNUTLS_SHUT_WR);
}

void probe_tls_free(struct probe_run *r)
{
	struct probe_tls *t = r->tls;

	if (!t)
		return;
	probe_trust_forget(&t->wait);
	if (t->session)
		gnutls_deinit(t->session);
	probe_trust_release(t->trust);
	free(t);
	r->tls = NULL;
}
