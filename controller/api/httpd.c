// SPDX-License-Identifier: GPL-2.0-or-later
// The HTTP server. One exchange per request: begin (head), take (body), run (handler), answer. libmicrohttpd calls us from
// MHD_run() only; a suspended connection is resumed from anywhere else, and MHD_run() follows from the loop.
#include "api/httpd.h"

#include "api/body.h"
#include "api/conns.h"
#include "api/context.h"
#include "api/exchange.h"
#include "api/exchange_body.h"
#include "api/head.h"
#include "api/refusal.h"
#include "api/sockets.h"
#include "api/tls.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/vec.h"
#include "late/late_http.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define HTTPD_MEMORY       (128U * 1024) /* for one connection: head of 64 KiB and more */
#define HTTPD_ACCEPT_BATCH 32
#define HTTPD_ACCEPT_PAUSE 0.1 /* seconds, when there are no descriptors */
#define HTTPD_STOP_ROUNDS  64
#define HTTPD_FLAGS        (MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET)

/* A daemon of the library speaks in the clear or TLS, not both: one for each, made when somebody first speaks so. Until then the
 * library need not be there. */
struct httpd_transport {
	struct httpd *httpd;
	struct MHD_Daemon *daemon; /* NULL: not yet */
	ev_io ready;               /* the library's epoll descriptor */
	ev_timer wake;             /* what it wants to do without an event */
};

struct httpd_listener {
	struct httpd *httpd;
	struct httpd_transport *transport;
	ev_io watcher;
	struct front is;
};

struct httpd {
	struct httpd_settings settings;
	struct ev_loop *loop;
	struct httpd_transport plain;
	struct httpd_transport tls;
	struct conns *conns;
	struct exchange_list exchanges;
	struct conn *arriving; /* handed to the library just now */
	struct vec listeners;
	ev_timer pause;
};

static void httpd_run(struct httpd_transport *t)
{
	struct ev_loop *loop = t->httpd->loop;
	MHD_UNSIGNED_LONG_LONG timeout;

	MHD_run(t->daemon);
	ev_timer_stop(loop, &t->wake);
	if (MHD_get_timeout(t->daemon, &timeout) != MHD_YES)
		return;
	ev_timer_set(&t->wake, (double)timeout / 1000., 0.);
	ev_timer_start(loop, &t->wake);
}

static void httpd_on_ready(struct ev_loop *loop, ev_io *watcher, int events)
{
	(void)loop;
	(void)events;
	httpd_run(watcher->data);
}

static void httpd_on_wake(struct ev_loop *loop, ev_timer *watcher, int events)
{
	(void)loop;
	(void)events;
	httpd_run(watcher->data);
}

/* ---- accepting -------------------------------------------------------------------------------- */

/* Over TLS there is nothing to say before the handshake. */
static void httpd_refuse(const struct httpd_listener *l, int fd, enum conns_verdict verdict)
{
	metrics_add(METRIC_HTTP_REJECTED, 1);
	if (l->is.trust == FRONT_TLS)
		;
	else if (verdict == CONNS_SOURCE_FULL)
		refusal_send(fd, PROBLEM_TOO_MANY_REQUESTS,
			     "too many connections of yours are busy");
	else
		refusal_send(fd, PROBLEM_BUSY, "all connections are busy");
	close(fd);
}

static int httpd_identify(const struct httpd_listener *l, int fd, const struct sockaddr_storage *sa,
			  struct conn *ret_who)
{
	uint16_t port;

	ret_who->fd = fd;
	ret_who->trust = l->is.trust;
	switch (l->is.trust) {
	case FRONT_UNIX:
		return sockets_peer_uid(fd, &ret_who->uid);
	case FRONT_LOOPBACK:
		break;
	case FRONT_TLS:
		sockets_set_nodelay(fd);
		ret_who->tls = l->httpd->settings.tls;
		if (sockets_local_address(fd, &ret_who->local))
			return -EINVAL;
		break;
	}
	return addr_from_sockaddr((const struct sockaddr *)sa, &ret_who->source, &port);
}

static void httpd_admit(const struct httpd_listener *l, int fd, const struct sockaddr_storage *sa,
			socklen_t length)
{
	struct httpd *h = l->httpd;
	struct conn who = {0};
	enum conns_verdict verdict;

	if (httpd_identify(l, fd, sa, &who)) {
		close(fd);
		return;
	}
	verdict = conns_admit(h->conns, &who, &h->arriving);
	if (verdict != CONNS_ADMITTED) {
		httpd_refuse(l, fd, verdict);
		return;
	}
	/* Closes the descriptor when it fails. */
	if (MHD_add_connection(l->transport->daemon, fd, (const struct sockaddr *)sa, length) !=
	    MHD_YES)
		conns_remove(h->arriving);
	h->arriving = NULL;
}

/* No descriptors left: the listeners rest a while instead of spinning. */
static void httpd_pause(struct httpd *h)
{
	for (size_t i = 0; i < h->listeners.count; i++)
		ev_io_stop(h->loop, &((struct httpd_listener *)h->listeners.items[i])->watcher);
	ev_timer_stop(h->loop, &h->pause);
	ev_timer_set(&h->pause, HTTPD_ACCEPT_PAUSE, 0.);
	ev_timer_start(h->loop, &h->pause);
}

static void httpd_on_pause_over(struct ev_loop *loop, ev_timer *watcher, int events)
{
	struct httpd *h = watcher->data;

	(void)events;
	for (size_t i = 0; i < h->listeners.count; i++)
		ev_io_start(loop, &((struct httpd_listener *)h->listeners.items[i])->watcher);
}

static bool httpd_open_transport(struct httpd *h, struct httpd_transport *t);

static void httpd_on_connection(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct httpd_listener *l = watcher->data;

	(void)loop;
	(void)events;
	if (!httpd_open_transport(l->httpd, l->transport)) {
		httpd_pause(l->httpd); /* who knocks waits in the queue of the socket */
		return;
	}
	for (int i = 0; i < HTTPD_ACCEPT_BATCH; i++) {
		struct sockaddr_storage sa = {0};
		socklen_t length = sizeof(sa);
		int fd = accept4(watcher->fd, (struct sockaddr *)&sa, &length,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0 &&
		    (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
			httpd_pause(l->httpd);
		if (fd < 0)
			break;
		httpd_admit(l, fd, &sa, length);
	}
	httpd_run(l->transport);
}

static void httpd_let_go(struct conn *conn)
{
	if (conn)
		tls_credential_unref(conn->credential);
	conns_remove(conn);
}

/* The library asks once a handshake. What it got stays until the connection is gone, whatever is in force by then. */
static int httpd_on_handshake(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
			      gnutls_pcert_st **certs, unsigned *cert_count,
			      gnutls_ocsp_data_st **ocsp, unsigned *ocsp_count,
			      gnutls_privkey_t *key, unsigned *flags)
{
	const union MHD_ConnectionInfo *context = MHD_get_connection_info(
		gnutls_session_get_ptr(session), MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct conn *conn = context->socket_context;

	(void)info;
	tls_credential_unref(conn->credential);
	conn->credential = tls_take(conn->tls);
	tls_credential_show(conn->credential, certs, cert_count, key);
	*ocsp = NULL;
	*ocsp_count = 0;
	*flags = 0;
	return 0;
}

static void httpd_on_notify(void *cls, struct MHD_Connection *mhd, void **socket_context,
			    enum MHD_ConnectionNotificationCode code)
{
	struct httpd *h = cls;

	(void)mhd;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*socket_context = h->arriving;
		return;
	}
	exchange_free_of(&h->exchanges, *socket_context);
	httpd_let_go(*socket_context);
	*socket_context = NULL;
}

/* ---- one exchange ------------------------------------------------------------------------------ */

static void *httpd_on_uri(void *cls, const char *uri, struct MHD_Connection *mhd)
{
	struct httpd *h = cls;
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return exchange_new(&h->exchanges, mhd, info->socket_context, uri);
}

static enum MHD_Result httpd_on_access(void *cls, struct MHD_Connection *mhd, const char *url,
				       const char *method, const char *version, const char *data,
				       size_t *size, void **request_context)
{
	struct exchange *x = *request_context;

	(void)cls;
	(void)mhd;
	(void)url;
	if (!x->begun)
		return exchange_begin(x, method, version);
	if (*size > 0) {
		exchange_body_take(x, data, *size);
		*size = 0;
		return MHD_YES;
	}
	return exchange_run(x);
}

static void httpd_on_completed(void *cls, struct MHD_Connection *mhd, void **request_context,
			       enum MHD_RequestTerminationCode code)
{
	(void)cls;
	(void)mhd;
	(void)code;
	exchange_free(*request_context);
	*request_context = NULL;
}

static struct httpd_transport *httpd_find_transport(struct httpd *h, enum front_trust trust)
{
	switch (trust) {
	case FRONT_UNIX:
	case FRONT_LOOPBACK:
		break;
	case FRONT_TLS:
		return &h->tls;
	}
	return &h->plain;
}

/* A connection was resumed: the library acts on it in its next run. */
static void httpd_on_resumed(void *ctx, const struct conn *conn)
{
	struct httpd *h = ctx;

	ev_feed_event(h->loop, &httpd_find_transport(h, conn->trust)->wake, EV_TIMER);
}

/* ---- life ------------------------------------------------------------------------------------- */

/* Not strict: a head without Host, or with blanks in its target, is ours to refuse, with a problem document. */
#define HTTPD_OPTIONS(h)                                                                           \
	MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTPD_MEMORY, MHD_OPTION_CONNECTION_LIMIT,     \
		2U * CONNS_TOTAL_MAX, MHD_OPTION_CONNECTION_TIMEOUT, 0U,                           \
		MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_NOTIFY_CONNECTION, httpd_on_notify, h, \
		MHD_OPTION_NOTIFY_COMPLETED, httpd_on_completed, h, MHD_OPTION_URI_LOG_CALLBACK,   \
		httpd_on_uri, h

static struct MHD_Daemon *httpd_start_plain(struct httpd *h)
{
	return MHD_start_daemon(HTTPD_FLAGS, 0, NULL, NULL, httpd_on_access, h, HTTPD_OPTIONS(h),
				MHD_OPTION_END);
}

static struct MHD_Daemon *httpd_start_tls(struct httpd *h)
{
	return MHD_start_daemon(HTTPD_FLAGS | MHD_USE_TLS, 0, NULL, NULL, httpd_on_access, h,
				HTTPD_OPTIONS(h), MHD_OPTION_HTTPS_PRIORITIES, TLS_PRIORITIES,
				MHD_OPTION_HTTPS_CERT_CALLBACK2, httpd_on_handshake,
				MHD_OPTION_END);
}

/* False: no descriptors or memory. */
static bool httpd_open_transport(struct httpd *h, struct httpd_transport *t)
{
	if (t->daemon)
		return true;
	t->daemon = t == &h->tls ? httpd_start_tls(h) : httpd_start_plain(h);
	if (!t->daemon) {
		log_write(LOG_LEVEL_ERROR,
			  "api: the HTTP server does not start: no descriptors or memory");
		return false;
	}
	ev_io_init(&t->ready, httpd_on_ready,
		   MHD_get_daemon_info(t->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, EV_READ);
	ev_timer_init(&t->wake, httpd_on_wake, 0., 0.);
	t->ready.data = t->wake.data = t;
	ev_io_start(h->loop, &t->ready);
	return true;
}

static void httpd_close_transport(struct httpd_transport *t)
{
	struct ev_loop *loop;

	if (!t->daemon)
		return;
	loop = t->httpd->loop;
	MHD_stop_daemon(t->daemon);
	ev_io_stop(loop, &t->ready);
	ev_timer_stop(loop, &t->wake);
	ev_clear_pending(loop, &t->wake);
}

struct httpd *httpd_new(const struct httpd_settings *s)
{
	struct httpd *h = mem_new(struct httpd);

	h->settings = *s;
	h->loop = s->context->loop;
	h->exchanges = (struct exchange_list){.settings = &h->settings,
					      .hangups = hangup_new(h->loop),
					      .values = body_budget_new(HTTPD_VALUES_MAX),
					      .resumed = httpd_on_resumed,
					      .ctx = h};
	h->plain.httpd = h->tls.httpd = h;
	if (!h->exchanges.hangups) {
		body_budget_unref(h->exchanges.values);
		free(h);
		return NULL;
	}
	h->conns = conns_new(h->loop, s->timeout);
	ev_timer_init(&h->pause, httpd_on_pause_over, 0., 0.);
	h->pause.data = h;
	return h;
}

void httpd_listen(struct httpd *h, int fd, const struct front *is)
{
	struct httpd_listener *l = mem_new(struct httpd_listener);

	l->httpd = h;
	l->is = *is;
	l->transport = httpd_find_transport(h, is->trust);
	ev_io_init(&l->watcher, httpd_on_connection, fd, EV_READ);
	l->watcher.data = l;
	ev_io_start(h->loop, &l->watcher);
	vec_push(&h->listeners, l);
}

void httpd_stop(struct httpd *h)
{
	for (size_t i = 0; i < h->listeners.count; i++) {
		struct httpd_listener *l = h->listeners.items[i];

		ev_io_stop(h->loop, &l->watcher);
		close(l->watcher.fd);
		free(l);
	}
	vec_clear(&h->listeners);
	exchange_abort_all(&h->exchanges);
	for (int i = 0; i < HTTPD_STOP_ROUNDS && h->exchanges.first; i++) {
		if (h->plain.daemon)
			MHD_run(h->plain.daemon);
		if (h->tls.daemon)
			MHD_run(h->tls.daemon);
	}
}

void httpd_free(struct httpd *h)
{
	if (!h)
		return;
	httpd_stop(h);
	httpd_close_transport(&h->plain);
	httpd_close_transport(&h->tls);
	assert(!h->exchanges.first);
	hangup_free(h->exchanges.hangups);
	body_budget_unref(h->exchanges.values);
	ev_timer_stop(h->loop, &h->pause);
	conns_free(h->conns);
	free(h);
}
