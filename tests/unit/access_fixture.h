/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Access with a clock, chance and a store in memory. */
#ifndef ZG_TESTS_ACCESS_FIXTURE_H
#define ZG_TESTS_ACCESS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "access/access.h"
#include "base/mem.h"

#define MINUTE (60 * USEC_PER_SEC)
#define GOOD   "correct horse battery"
#define OTHER  "another long sentence"

struct world {
	struct access *access;
	usec_t now;
	usec_t wall;
	uint8_t chance[4];
	json_t *rows; /* "kind/key" -> text */
	bool full;    /* the store takes nothing */
	bool hold;    /* answers of the store wait for world_answer() */
	bool hold_hashes;
	access_commit_fn *done;
	void *done_ctx;
	void (*work)(void *arg);
	void (*worked)(void *arg);
	void *held[32];
	size_t held_count;
	unsigned commits;
	unsigned failures;
	char failed_user[80];
	/* Of the last wish. */
	enum access_refusal refusal;
	enum err_code code;
	char pointer[64];
	usec_t wait;
	char secret[ACCESS_TOKEN_TEXT_MAX];
	char id[ACCESS_ID_MAX];
	bool created;
	unsigned answers;
};

static inline usec_t world_now(void *ctx)
{
	return ((struct world *)ctx)->now;
}

static inline usec_t world_wall(void *ctx)
{
	return ((struct world *)ctx)->wall;
}

static inline void world_random(void *ctx, void *bytes, size_t size)
{
	struct world *w = ctx;

	memset(bytes, 0, size);
	for (size_t i = 0; i < sizeof(w->chance) && ++w->chance[i] == 0; i++)
		;
	memcpy(bytes, w->chance, size < sizeof(w->chance) ? size : sizeof(w->chance));
}

static inline void world_give(struct world *w)
{
	AUTO_ERR struct err e = {0};

	if (w->full)
		err_set(&e, ERR_UNAVAILABLE, "", "the disk is full");
	w->done(w->done_ctx, w->full ? -ENOSPC : 0, &e);
}

static inline void world_commit(void *ctx, const struct store_row *rows, size_t count,
				access_commit_fn *done, void *done_ctx)
{
	struct world *w = ctx;

	w->commits++;
	for (size_t i = 0; i < count && !w->full; i++) {
		AUTO_FREE char *key = mem_printf("%s/%s", rows[i].kind, rows[i].key);

		if (rows[i].value)
			json_object_set_new(w->rows, key, json_string(rows[i].value));
		else
			json_object_del(w->rows, key);
	}
	w->done = done;
	w->done_ctx = done_ctx;
	if (!w->hold)
		world_give(w);
}

static inline void world_offload(void *ctx, void (*work)(void *arg), void (*done)(void *arg),
				 void *arg)
{
	struct world *w = ctx;

	if (w->hold_hashes) {
		w->work = work;
		w->worked = done;
		w->held[w->held_count++] = arg;
		return;
	}
	work(arg);
	done(arg);
}

static inline void world_release_hashes(struct world *w)
{
	size_t count = w->held_count;

	w->held_count = 0;
	for (size_t i = 0; i < count; i++) {
		w->work(w->held[i]);
		w->worked(w->held[i]);
	}
}

static inline void world_login_failed(void *ctx, const char *user, const char *source,
				      const char *why)
{
	struct world *w = ctx;

	assert_true(*source && *why);
	w->failures++;
	snprintf(w->failed_user, sizeof(w->failed_user), "%s", user);
}

static inline void world_open(struct world *w)
{
	const struct access_ports ports = {.ctx = w,
					   .now = world_now,
					   .wall = world_wall,
					   .random = world_random,
					   .commit = world_commit,
					   .offload = world_offload,
					   .login_failed = world_login_failed};
	const char *key;
	json_t *value;

	w->access = access_new(&ports);
	json_object_foreach (w->rows, key, value) {
		AUTO_FREE char *kind = mem_strdup(key);
		char *slash = strchr(kind, '/');

		*slash = '\0';
		assert_int_equal(
			access_load_row(w->access,
					&(struct store_row){.kind = kind,
							    .key = slash + 1,
							    .value = json_string_value(value)}),
			0);
	}
}

/* What a crash leaves: the rows. */
static inline void world_restart(struct world *w)
{
	access_free(w->access);
	w->now = 5 * USEC_PER_SEC; /* of another boot */
	world_open(w);
}

static inline int world_setup(void **state)
{
	struct world *w = mem_new(struct world);

	w->now = 100000 * USEC_PER_SEC;
	w->wall = 1800000000 * USEC_PER_SEC;
	w->rows = json_object();
	world_open(w);
	*state = w;
	return 0;
}

static inline int world_teardown(void **state)
{
	struct world *w = *state;

	access_free(w->access);
	json_decref(w->rows);
	free(w);
	return 0;
}

static inline void world_pass(struct world *w, usec_t time)
{
	w->now += time;
	w->wall += time;
}

static inline void world_done(struct access_wish *wish, const struct access_result *r)
{
	struct world *w = wish->ctx;

	w->answers++;
	w->refusal = r->refusal;
	w->wait = r->wait;
	w->created = r->created;
	w->code = err_any(r->faults) ? r->faults->faults[0].code : ERR_CODE_COUNT;
	snprintf(w->pointer, sizeof(w->pointer), "%s",
		 err_any(r->faults) ? r->faults->faults[0].pointer : "-");
	snprintf(w->secret, sizeof(w->secret), "%s", r->secret ? r->secret : "");
	snprintf(w->id, sizeof(w->id), "%s", r->id ? r->id : "");
}

static inline enum access_refusal world_wish(struct world *w, struct access_wish *wish)
{
	unsigned before = w->answers;

	wish->ctx = w;
	wish->done = world_done;
	access_wish(w->access, wish);
	assert_int_equal(w->answers, before + 1);
	return w->refusal;
}

static inline struct addr world_addr(const char *text)
{
	struct addr a;

	assert_int_equal(addr_parse(text, &a), 0);
	return a;
}

static inline enum access_refusal world_login(struct world *w, const char *user,
					      const char *password, const char *source)
{
	return world_wish(w, &(struct access_wish){.verb = ACCESS_LOGIN,
						   .user = user,
						   .password = password,
						   .source = world_addr(source)});
}

static inline enum access_refusal world_put(struct world *w, const char *user, enum role role,
					    const char *password)
{
	return world_wish(w, &(struct access_wish){.verb = ACCESS_PUT_USER,
						   .user = user,
						   .role = role,
						   .password = password});
}

/* The role that a session's secret gives now; ROLE_NOBODY = none. */
static inline enum role world_session(struct world *w, const char *secret)
{
	struct access_identity who;

	return access_identify_session(w->access, secret, &who) ? who.role : ROLE_NOBODY;
}

static inline enum role world_token(struct world *w, const char *secret, const char *source)
{
	struct addr from = source ? world_addr(source) : (struct addr){0};
	struct access_identity who;

	return access_identify_token(w->access, secret, &from, &who) ? who.role : ROLE_NOBODY;
}

#endif
