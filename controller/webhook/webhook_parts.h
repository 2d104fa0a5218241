/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of this directory share. */
#ifndef ZG_WEBHOOK_WEBHOOK_PARTS_H
#define ZG_WEBHOOK_WEBHOOK_PARTS_H

#include <ev.h>

#include "base/vec.h"
#include "webhook/webhook.h"
#include "webhook/webhook_call.h"

struct webhook_target {
	struct webhook *hub;
	char *url;
	char origin[WEBHOOK_ORIGIN_MAX];
	char key[65];
	bool known;        /* a row said how far it was told */
	uint64_t position; /* up to here */
	uint64_t read;     /* the last event that was looked at */
	struct vec queue;  /* struct webhook_item, matching, behind `position` */
	bool behind;       /* there may be more in the store than in the queue */
	bool missed;       /* an event came while the store was asked */
	struct webhook_ask *ask;
	struct child *child;
	size_t in_flight; /* events of the call under way: the first of the queue */
	ev_timer wake;
	usec_t not_before;
	unsigned failures;  /* one after the other */
	uint64_t delivered; /* events since the start */
	usec_t success_wall;
	usec_t failure_wall;
	char error[WEBHOOK_ERROR_MAX];
	struct webhook_save *save; /* of the position, under way */
	bool moved;                /* meanwhile */
};

struct webhook {
	struct ev_loop *loop;
	struct webhook_ports ports;
	struct webhook_target targets[WEBHOOK_URLS_MAX];
	size_t count;
	char *secret_file;
	char *types;
	char *node;
	enum event_severity min_severity;
	usec_t pace;
	usec_t timeout;
	struct vec strangers; /* keys of rows whose URLs are no longer told */
	struct webhook_try *test;
	bool started;
};

struct webhook_message {
	const struct webhook_target *target;
	const char *body;
	void (*done)(void *ctx, const struct child_end *end);
	void *ctx;
};

/* Starts curl. 0, or a negative error with the sentence. */
int webhook_send(const struct webhook_message *m, struct child **ret_child,
		 char ret_error[WEBHOOK_ERROR_MAX]);

/* What waits because a call failed goes out now: the URL takes calls again. */
void webhook_retry(struct webhook_target *t);

/* webhook_try.c. NULL-safe: `done` gets NULL. */
void webhook_try_end(struct webhook_try *test);

#endif
