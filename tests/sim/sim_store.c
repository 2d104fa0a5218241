// SPDX-License-Identifier: GPL-2.0-or-later
// The store of the plays: what is written is there at the next start, what was only asked for is not.
#include "sim/sim_store.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "engine/engine.h"
#include "sim/sim_world.h"

static void row_free(struct sim_row *r)
{
	free(r->kind);
	free(r->key);
	free(r->value);
	free(r);
}

static void rows_clear(struct vec *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		row_free(rows->items[i]);
	vec_clear(rows);
}

void sim_store_init(struct sim_store *s)
{
	memset(s, 0, sizeof(*s));
	s->snapshot = snapshot_new();
}

void sim_store_disconnect(struct sim_store *s)
{
	for (size_t i = 0; i < s->commits.count; i++) {
		struct sim_commit *c = s->commits.items[i];

		rows_clear(&c->rows);
		free(c);
	}
	vec_clear(&s->commits);
}

void sim_store_clear(struct sim_store *s)
{
	sim_store_disconnect(s);
	rows_clear(&s->rows);
	snapshot_unref(s->snapshot);
	fake_history_clear(&s->history);
}

static struct sim_row *find_row(const struct sim_store *s, const char *kind, const char *key,
				size_t *ret_index)
{
	for (size_t i = 0; i < s->rows.count; i++) {
		struct sim_row *r = s->rows.items[i];

		*ret_index = i;
		if (strcmp(r->kind, kind) == 0 && strcmp(r->key, key) == 0)
			return r;
	}
	return NULL;
}

const char *sim_store_find(const struct sim_store *s, const char *kind, const char *key)
{
	size_t index;
	const struct sim_row *r = find_row(s, kind, key, &index);

	return r ? r->value : NULL;
}

static void write_row(struct sim_store *s, const struct sim_row *from)
{
	if (strcmp(from->kind, STORE_EVENT_KIND) == 0)
		return; /* plays look at them where they are told */

	size_t index;
	struct sim_row *r = find_row(s, from->kind, from->key, &index);

	if (!from->value) {
		if (r) {
			row_free(r);
			vec_remove(&s->rows, index);
		}
		return;
	}
	if (!r) {
		r = mem_new(struct sim_row);
		r->kind = mem_strdup(from->kind);
		r->key = mem_strdup(from->key);
		vec_push(&s->rows, r);
	}
	free(r->value);
	r->value = mem_strdup(from->value);
}

static void write_commit(struct sim_store *s, struct sim_commit *c)
{
	if (c->batch) {
		struct snapshot *old = s->snapshot;

		if (c->batch->revision != old->revision + 1)
			sim_world_fail("revision %llu is committed on %llu",
				       (unsigned long long)c->batch->revision,
				       (unsigned long long)old->revision);
		if (!c->batch->who || !c->batch->via)
			sim_world_fail("a commit does not say who made it");
		s->snapshot = snapshot_apply(old, c->batch);
		snapshot_unref(old);
		s->batch_count++;
		fake_history_note(&s->history, c->batch);
	}
	for (size_t i = 0; i < c->rows.count; i++)
		write_row(s, c->rows.items[i]);
	c->written = true;
}

void sim_store_commit(struct sim_store *s, struct batch *b, const struct store_row *rows,
		      size_t count, uint64_t token, usec_t now)
{
	struct sim_commit *c = mem_new(struct sim_commit);

	c->batch = b;
	c->token = token;
	c->due = now + s->delay;
	s->last_rows = count;
	for (size_t i = 0; i < count; i++) {
		struct sim_row *r = mem_new(struct sim_row);

		r->kind = mem_strdup(rows[i].kind);
		r->key = mem_strdup(rows[i].key);
		r->value = rows[i].value ? mem_strdup(rows[i].value) : NULL;
		vec_push(&c->rows, r);
	}
	vec_push(&s->commits, c);
	if (s->early && !s->fail_count)
		write_commit(s, c);
}

usec_t sim_store_due(const struct sim_store *s)
{
	return s->commits.count ? ((const struct sim_commit *)s->commits.items[0])->due
				: USEC_NEVER;
}

void sim_store_answer(struct sim_store *s, struct engine *e)
{
	struct sim_commit *c = s->commits.items[0];
	struct err err AUTO_ERR = {0};
	int result = 0;

	vec_remove(&s->commits, 0);
	if (s->fail_count && !c->written) {
		if (s->fail_count != SIM_FOREVER)
			s->fail_count--;
		result = -ENOSPC;
		err_set(&err, ERR_UNAVAILABLE, "", "the disk is full");
	} else if (!c->written) {
		write_commit(s, c);
	}
	engine_note_commit(e, c->token, result, &err);
	rows_clear(&c->rows);
	free(c);
}

void sim_store_load(const struct sim_store *s, const char *kind, struct engine *e)
{
	for (size_t i = 0; i < s->rows.count; i++) {
		const struct sim_row *r = s->rows.items[i];
		struct store_row row = {.kind = r->kind, .key = r->key, .value = r->value};

		if (strcmp(r->kind, kind) == 0)
			engine_load_row(e, &row);
	}
}
