// SPDX-License-Identifier: GPL-2.0-or-later
// The API object: opens the sockets, joins server, worker and token.
#include "api/api.h"

#include "api/audit.h"
#include "api/auth.h"
#include "api/body_charge.h"
#include "api/context.h"
#include "api/handlers.h"
#include "api/httpd.h"
#include "api/sockets.h"
#include "api/sse.h"
#include "api/tls.h"
#include "api/tls_names.h"
#include "api/worker.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define API_ANSWERS_MAX     ((size_t)256 * 1024 * 1024)
#define API_REQUEST_TIMEOUT (30 * USEC_PER_SEC)

struct api {
	struct api_context context;
	struct api_notify notify;
	struct httpd *httpd;
	struct auth_token *token;
	char *version;
	char *socket_path; /* ours to remove, or NULL */
	char *hosts[API_HOSTS_MAX];
	size_t host_count;
	struct tls *tls; /* NULL: no listener speaks it */
	char *node_name;
	unsigned ports[2 * API_LISTEN_MAX];
	size_t port_count;
};

static void api_copy_settings(struct api *api, const struct api_settings *s)
{
	api->version = mem_strdup(s->version);
	api->context.version = api->version;
	api->node_name = s->node_name ? mem_strdup(s->node_name) : NULL;
	for (size_t i = 0; i < s->host_count; i++)
		api->hosts[api->host_count++] = mem_strdup(s->hosts[i]);
}

static int api_start_httpd(struct api *api, const struct api_settings *s, struct err *e)
{
	struct httpd_settings hs = {
		.context = &api->context,
		.identity = {.access = api->context.access,
			     .token = api->token,
			     .hosts = (const char *const *)api->hosts,
			     .host_count = api->host_count,
			     .node_name = api->node_name},
		.tls = api->tls,
		.timeout = s->request_timeout ? s->request_timeout : API_REQUEST_TIMEOUT,
	};

	api->httpd = httpd_new(&hs);
	return api->httpd ? 0
			  : err_set(e, ERR_UNAVAILABLE, "/api",
				    "the HTTP server does not start: no descriptors or memory");
}

static int api_listen_unix(struct api *api, const struct api_settings *s, struct err *e)
{
	int fd = s->socket_fd;

	if (fd < 0 && !s->socket_path)
		return 0;
	if (fd < 0) {
		if (sockets_open_unix(s->socket_path, e, &fd))
			return -EINVAL;
		api->socket_path = mem_strdup(s->socket_path);
	}
	httpd_listen(api->httpd, fd, &(struct front){FRONT_UNIX});
	return 0;
}

/* An address that stands for all of them is no place to go to: the node's name is. */
static void api_add_url(struct api *api, const char *listen, unsigned port, enum front_trust trust)
{
	int host = (int)(strrchr(listen, ':') - listen);
	bool any = strncmp(listen, "0.0.0.0:", 8) == 0 || strncmp(listen, "[::]:", 5) == 0;
	char *more = mem_printf("%s%s%s://%.*s:%u/ui/", api->context.urls ? api->context.urls : "",
				api->context.urls ? "\n" : "",
				trust == FRONT_TLS ? "https" : "http",
				any && api->node_name ? (int)strlen(api->node_name) : host,
				any && api->node_name ? api->node_name : listen, port);

	free(api->context.urls);
	api->context.urls = more;
}

static int api_listen_tcp(struct api *api, const char *const *list, size_t count,
			  enum front_trust trust, struct err *e)
{
	int fd;

	for (size_t i = 0; i < count; i++) {
		if (sockets_open_tcp(list[i], trust, e, &fd))
			return -EINVAL;
		api_add_url(api, list[i], sockets_port(fd), trust);
		api->ports[api->port_count++] = sockets_port(fd);
		httpd_listen(api->httpd, fd, &(struct front){trust});
	}
	return 0;
}

static void api_log_certificate(const struct api *api)
{
	struct tls_status st;
	char end[TIME_TEXT_MAX];

	tls_read_status(api->tls, &st);
	log_write(LOG_LEVEL_NOTICE, "api: certificate %s%s until %s, SHA-256 %s", st.subject,
		  st.self_signed ? " (signed by itself)" : "",
		  time_format_wall(st.not_after_wall, end), st.fingerprint);
	if (st.not_after_wall < time_wall())
		log_write(LOG_LEVEL_WARNING,
			  "api: the certificate has ended: replace [api] tls_cert and reload");
}

static int api_start_tls(struct api *api, const struct api_settings *s, struct err *e)
{
	struct tls_settings ts = {.cert = s->tls_cert, .key = s->tls_key, .state = s->state_folder};
	struct tls_names names = {0};

	if (s->tls_listen_count == 0)
		return 0;
	tls_names_collect(&names, s);
	ts.name_count = names.count;
	for (size_t i = 0; i < names.count; i++)
		ts.names[i] = names.list[i];
	if (tls_new(&ts, e, &api->tls))
		return -EINVAL;
	api->context.tls = api->tls;
	api_log_certificate(api);
	return 0;
}

static int api_open(struct api *api, const struct api_settings *s, struct err *e)
{
	if (s->token_file && auth_token_new(s->token_file, e, &api->token))
		return -EINVAL;
	api->context.token = api->token;
	if (api_start_tls(api, s, e) || api_start_httpd(api, s, e) ||
	    api_listen_tcp(api, s->listen, s->listen_count, FRONT_LOOPBACK, e) ||
	    api_listen_tcp(api, s->tls_listen, s->tls_listen_count, FRONT_TLS, e))
		return -EINVAL;
	/* The last one: who finds it there finds the others, too. */
	return api_listen_unix(api, s, e);
}

int api_new(struct ev_loop *loop, const struct api_settings *s, struct engine *engine,
	    struct err *e, struct api **ret_api)
{
	struct api *api = mem_new(struct api);

	assert(s->listen_count <= API_LISTEN_MAX && s->tls_listen_count <= API_LISTEN_MAX &&
	       s->host_count <= API_HOSTS_MAX);
	api->context = (struct api_context){.loop = loop,
					    .engine = engine,
					    .access = s->access,
					    .stats = s->stats,
					    .started_wall = time_wall()};
	if (getrandom(&api->context.id_seed, sizeof(api->context.id_seed), GRND_NONBLOCK) < 0)
		api->context.id_seed = time_wall();
	api_copy_settings(api, s);
	api->notify = s->notify;
	api->context.notify = &api->notify;
	api->context.audit = audit_new(loop, engine, AUDIT_WINDOW);
	api->context.worker = worker_new(loop, WORKER_TRIM_AFTER);
	api->context.answers = body_budget_new(s->answers_max ? s->answers_max : API_ANSWERS_MAX);
	api->context.sse = sse_new(&api->context, s->heartbeat ? s->heartbeat : SSE_HEARTBEAT);
	if (api_open(api, s, e)) {
		api_free(api);
		return -EINVAL;
	}
	*ret_api = api;
	return 0;
}

void api_reload(struct api *api)
{
	AUTO_ERR struct err e = {0};

	if (!api->tls)
		return;
	if (tls_reload(api->tls, &e))
		log_write(LOG_LEVEL_ERROR,
			  "api: the certificate is not replaced, the old one holds: %s",
			  err_first(&e));
	else
		api_log_certificate(api);
}

void api_stop(struct api *api)
{
	httpd_stop(api->httpd);
	audit_flush(api->context.audit);
	if (api->socket_path)
		unlink(api->socket_path);
	free(api->socket_path);
	api->socket_path = NULL;
}

void api_free(struct api *api)
{
	if (!api)
		return;
	if (api->httpd)
		api_stop(api);
	handlers_probe_close(&api->context);
	worker_free(api->context.worker);
	httpd_free(api->httpd);
	sse_free(api->context.sse);
	body_budget_unref(api->context.answers);
	auth_token_free(api->token);
	audit_free(api->context.audit);
	tls_free(api->tls);
	free(api->node_name);
	for (size_t i = 0; i < api->host_count; i++)
		free(api->hosts[i]);
	http_counts_clear(&api->context.http);
	free(api->context.urls);
	free(api->version);
	free(api);
}

void api_note_event(struct api *api, const struct event_record *r)
{
	sse_note(api->context.sse, r);
}

unsigned api_port(const struct api *api, size_t index)
{
	return index < api->port_count ? api->ports[index] : 0;
}
