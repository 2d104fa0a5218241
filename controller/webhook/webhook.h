/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Webhooks: events as JSON to URLs, in order and at least once for each, also over restarts. The store is the queue: of each URL
 * it is kept how far it has been told. Calls are made by curl, one child for each URL; nothing waits for them. */
#ifndef ZG_WEBHOOK_WEBHOOK_H
#define ZG_WEBHOOK_WEBHOOK_H

#include <jansson.h>

#include "engine/events.h"

struct ev_loop;
struct webhook;

#define WEBHOOK_URLS_MAX    8
#define WEBHOOK_QUEUE_MAX   1000        /* events held for one URL; the others wait in the store */
#define WEBHOOK_BATCH_MAX   50          /* events of one call, … */
#define WEBHOOK_BATCH_BYTES (32 * 1024) /* … and about their size */
#define WEBHOOK_PACE        USEC_PER_SEC
#define WEBHOOK_TIMEOUT     (10 * USEC_PER_SEC)
#define WEBHOOK_PAUSE_MAX   (60 * USEC_PER_SEC) /* between two tries */
#define WEBHOOK_ROW_KIND    "notify"

struct webhook_settings {
	const char *urls[WEBHOOK_URLS_MAX]; /* see webhook_call_url_fault() */
	size_t url_count;
	const char *secret_file; /* NULL = calls are not signed; read at each call */
	const char *types;       /* see engine_event_matches(); NULL = all */
	enum event_severity min_severity;
	const char *node;
	usec_t pace; /* between two calls of an URL, and the first pause after a failure; 0 = WEBHOOK_PACE */
	usec_t timeout; /* of a call; 0 = WEBHOOK_TIMEOUT */
};

typedef void webhook_commit_fn(void *ctx, int result, const struct err *e);

struct webhook_ports {
	void *ctx;
	void (*query)(void *ctx, const struct store_query *q, store_items_fn *done, void *done_ctx);
	void (*commit)(void *ctx, const struct store_row *row, webhook_commit_fn *done,
		       void *done_ctx);
	/* An URL fails from now on, or works again: once each. */
	void (*told)(void *ctx, const char *origin, const char *error);
};

/* On the default loop. Strings are copied. */
struct webhook *webhook_new(struct ev_loop *loop, const struct webhook_settings *s,
			    const struct webhook_ports *ports);
/* Kills what is under way: it will be told again. NULL-safe. */
void webhook_free(struct webhook *w);

/* Rows of WEBHOOK_ROW_KIND, before webhook_start(). */
void webhook_load_row(struct webhook *w, const struct store_row *row);
/* An URL that was never told of anything begins behind the event `last`. */
void webhook_start(struct webhook *w, uint64_t last);

void webhook_note(struct webhook *w, const struct event_record *r);

/* {min_severity, types, signed, urls: [{url, pending, …}]}. New reference. */
json_t *webhook_status(const struct webhook *w);

/* Calls every URL once, beside what is under way. `done` gets [{url, ok, status, detail, duration_ms}] (NULL: the daemon stops),
 * later. -EALREADY: one is under way. */
int webhook_try_all(struct webhook *w, void (*done)(void *ctx, json_t *results), void *ctx);

#endif
