/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The REST API: HTTP over a unix socket (peer credentials), in the clear over TCP on loopback, and over TLS. Reads the engine's
 * status and hands it proposals; decides nothing about the configuration. Lives in the thread of the loop, but for one worker
 * that parses and encodes what is large. */
#ifndef ZG_API_API_H
#define ZG_API_API_H

#include <jansson.h>

#include "base/err.h"
#include "base/time.h"

struct access;
struct api;
struct engine;
struct ev_loop;
struct stats;

#define API_LISTEN_MAX 8
#define API_HOSTS_MAX  16

/* Webhooks, as far as the API shows them. */
struct api_notify {
	void *ctx; /* NULL: there are none */
	json_t *(*status)(void *ctx);
	/* `done` later, once; NULL: the daemon stops. -EALREADY: one is under way. */
	int (*test)(void *ctx, void (*done)(void *done_ctx, json_t *results), void *done_ctx);
};

struct api_settings {
	struct api_notify notify;
	const char *socket_path; /* NULL = none, unless socket_fd is given */
	int socket_fd; /* a listening unix socket (socket activation); -1 = make one at socket_path */
	const char *listen[API_LISTEN_MAX]; /* "127.0.0.1:7480", "[::1]:7480": loopback only */
	size_t listen_count;
	const char *tls_listen[API_LISTEN_MAX]; /* the same for TLS, any address */
	size_t tls_listen_count;
	const char *tls_cert; /* files; NULL = a certificate of our own in `state_folder` */
	const char *tls_key;  /* with tls_cert */
	const char *state_folder;
	const char *node_name;
	struct access *access;  /* users and tokens; borrowed */
	struct stats *stats;    /* borrowed; NULL = there are none (ipvs = off) */
	const char *token_file; /* one more token, an admin's; NULL = none */
	const char *hosts
		[API_HOSTS_MAX]; /* names beside localhost, 127.0.0.1 and [::1] that TCP requests may ask for */
	size_t host_count;
	const char *version;
	usec_t heartbeat;       /* of a stream of events; 0 = 15 s */
	size_t answers_max;     /* bytes of large answers that are not read yet; 0 = 256 MiB */
	usec_t request_timeout; /* for a whole request; 0 = 30 s */
};

/* Opens the sockets and serves. Strings are copied. Returns 0, or -EINVAL with the reason in `e` (pointer: the setting). */
int api_new(struct ev_loop *loop, const struct api_settings *s, struct engine *engine,
	    struct err *e, struct api **ret_api);

/* Reads the certificate again; connections stay. What is at fault is logged, and the old one holds. */
void api_reload(struct api *api);

/* Stops taking connections and answers what waits with 503. Writes that the engine has begun are still its own. */
void api_stop(struct api *api);

/* Before engine_free(); after api_stop() or without. Proposals that the engine still holds stay valid. NULL-safe. */
void api_free(struct api *api);

/* An event goes out to the streams. */
struct event_record;
void api_note_event(struct api *api, const struct event_record *r);

/* The port of TCP listener `index` (the plain ones first): what was chosen for port 0. 0 if there is no such listener. */
unsigned api_port(const struct api *api, size_t index);

#endif
