/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store in memory: the document, its rows, and commits that are answered late or not at all. */
#ifndef ZG_TESTS_SIM_STORE_H
#define ZG_TESTS_SIM_STORE_H

#include "base/time.h"
#include "base/vec.h"
#include "model/row.h"
#include "model/snapshot.h"
#include "unit/fake_history.h"

struct engine;

struct sim_row {
	char *kind;
	char *key;
	char *value;
};

struct sim_commit {
	struct batch *batch; /* the engine's */
	struct vec rows;     /* struct sim_row; value NULL removes */
	uint64_t token;
	usec_t due;
	bool written; /* durable before it is answered */
};

struct sim_store {
	struct snapshot *snapshot;
	struct fake_history history;
	struct vec rows;    /* struct sim_row */
	struct vec commits; /* struct sim_commit, in order */
	usec_t delay;
	bool early;           /* a commit is durable at once, though answered late */
	uint32_t fail_count;  /* commits that are refused */
	uint64_t batch_count; /* that were written */
	size_t last_rows;     /* of the last commit that was asked for */
};

void sim_store_init(struct sim_store *s);
void sim_store_clear(struct sim_store *s);
/* The daemon is gone: commits that were not written yet never will be. */
void sim_store_disconnect(struct sim_store *s);

void sim_store_commit(struct sim_store *s, struct batch *b, const struct store_row *rows,
		      size_t count, uint64_t token, usec_t now);
usec_t sim_store_due(const struct sim_store *s);
void sim_store_answer(struct sim_store *s, struct engine *e);
/* Calls for each row of the kind. */
void sim_store_load(const struct sim_store *s, const char *kind, struct engine *e);
const char *sim_store_find(const struct sim_store *s, const char *kind, const char *key);

#endif
