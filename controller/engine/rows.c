// SPDX-License-Identifier: GPL-2.0-or-later
// Rows beside the configuration on their way to the store: collected, and committed together once an iteration.
#include "engine/parts.h"

#include <string.h>

#include "base/mem.h"

#define ROWS_RETRY       (5 * USEC_PER_SEC)
#define ROWS_BURST       2000
#define ROWS_JOURNAL_MAX 1000  /* entries kept while the store fails: the newest */
#define ROWS_WAITING_MAX 20000 /* more wait only for a store that is too slow: as if it failed */

void rows_add(struct vec *rows, const char *kind, const char *key, char *value)
{
	struct engine_row *r = mem_new(struct engine_row);

	r->kind = mem_strdup(kind);
	r->key = mem_strdup(key);
	r->value = value;
	vec_push(rows, r);
}

void rows_put(struct engine *e, const char *kind, const char *key, char *value)
{
	rows_add(&e->rows, kind, key, value);
	engine_mark(e, MARK_STORE);
}

static void rows_bound(struct engine *e);

static struct engine_row *append(struct engine *e, const char *kind, const char *key, char *value)
{
	struct engine_row *r;

	rows_put(e, kind, key, value);
	r = e->rows.items[e->rows.count - 1];
	r->wall = e->ports.wall(e->ports.ctx);
	return r;
}

void rows_append(struct engine *e, const char *kind, const char *key, char *value)
{
	(void)append(e, kind, key, value);
	rows_bound(e);
}

void rows_append_event(struct engine *e, const char *key, char *value,
		       const struct event_record *as)
{
	struct engine_row *r = append(e, STORE_EVENT_KIND, key, value);

	r->severity = (int)as->severity;
	r->type = as->type;
	r->object = mem_strdup(as->object);
	rows_bound(e);
}

void engine_audit(struct engine *e, const char *key, char *value)
{
	rows_append(e, STORE_AUDIT_KIND, key, value);
}

static void row_free(struct engine_row *r)
{
	free(r->kind);
	free(r->key);
	free(r->value);
	free(r->object);
	free(r);
}

void rows_free(struct vec *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		row_free(rows->items[i]);
	vec_clear(rows);
}

static bool row_is(const struct engine_row *r, const char *kind, const char *key)
{
	return !r->wall && strcmp(r->kind, kind) == 0 && strcmp(r->key, key) == 0;
}

void rows_forget(struct engine *e, const char *kind, const char *key)
{
	for (size_t i = e->rows.count; i-- > 0;) {
		struct engine_row *r = e->rows.items[i];

		if (!row_is(r, kind, key))
			continue;
		vec_remove(&e->rows, i);
		row_free(r);
	}
	for (size_t i = 0; i < e->rows_in_flight.count; i++) {
		struct engine_row *r = e->rows_in_flight.items[i];

		r->stale = r->stale || row_is(r, kind, key);
	}
}

void rows_export(const struct vec *rows, struct store_row **ret_rows)
{
	struct store_row *out = mem_alloc_array(rows->count + 1, sizeof(*out));

	for (size_t i = 0; i < rows->count; i++) {
		const struct engine_row *r = rows->items[i];

		out[i] = (struct store_row){
			.kind = r->kind, .key = r->key, .value = r->value, .wall = r->wall};
	}
	*ret_rows = out;
}

void rows_commit(struct engine *e)
{
	struct store_row *out AUTO_FREE = NULL;

	if (e->rows_retry_at != USEC_NEVER && !e->rows_in_flight.count)
		events_publish(e, &e->rows); /* that the store fails must not keep it from others */
	if (e->rows_in_flight.count || e->rows.count == 0 || e->rows_retry_at != USEC_NEVER)
		return;
	e->rows_in_flight = e->rows;
	memset(&e->rows, 0, sizeof(e->rows));
	rows_export(&e->rows_in_flight, &out);
	e->rows_token = e->next_token++;
	e->ports.commit(e->ports.ctx, NULL, out, e->rows_in_flight.count, e->rows_token);
}

bool rows_idle(const struct engine *e)
{
	return e->rows_in_flight.count == 0 &&
	       (e->rows.count == 0 || e->rows_retry_at != USEC_NEVER);
}

static bool row_same_place(const void *key, const void *item)
{
	const struct engine_row *a = key;
	const struct engine_row *b = item;

	return strcmp(a->key, b->key) == 0 && strcmp(a->kind, b->kind) == 0;
}

/* Whether a newer one makes it needless; `newer` holds the rows behind it, `*journal` counts the entries there. */
static bool row_is_superseded(struct table *newer, struct engine_row *r, size_t *journal)
{
	uint64_t hash = hash_text(r->key, hash_text(r->kind, 0));

	if (r->wall)
		return (*journal)++ >= ROWS_JOURNAL_MAX;
	if (table_find(newer, hash, r, row_same_place))
		return true;
	table_add(newer, hash, r);
	return false;
}

/* What waits does not grow with the time that the store fails: of each row the newest stays. */
static void rows_compact(struct vec *rows)
{
	struct table newer = {0};
	size_t journal = 0;
	size_t kept = rows->count;

	for (size_t i = rows->count; i-- > 0;) {
		struct engine_row *r = rows->items[i];

		if (r->stale || row_is_superseded(&newer, r, &journal))
			row_free(r);
		else
			rows->items[--kept] = r;
	}
	rows->count -= kept;
	memmove(rows->items, rows->items + kept, rows->count * sizeof(*rows->items));
	table_clear(&newer);
}

/* Not at each: what stays is walked once for as many that come. */
static void rows_bound(struct engine *e)
{
	if (e->rows.count < ROWS_WAITING_MAX || e->rows.count < 2 * e->rows_kept)
		return;
	events_publish(e, &e->rows_in_flight);
	events_publish(e, &e->rows);
	rows_compact(&e->rows);
	e->rows_kept = e->rows.count;
}

/* A failed commit: the rows wait again, in front of newer ones. */
static void rows_requeue(struct engine *e)
{
	struct vec again = e->rows_in_flight;

	memset(&e->rows_in_flight, 0, sizeof(e->rows_in_flight));
	for (size_t i = 0; i < e->rows.count; i++)
		vec_push(&again, e->rows.items[i]);
	vec_clear(&e->rows);
	rows_compact(&again);
	e->rows = again;
	e->rows_retry_at = e->ports.now(e->ports.ctx) + ROWS_RETRY;
}

static void nothing(void *arg)
{
	(void)arg;
}

bool rows_note_commit(struct engine *e, uint64_t token, int result, const struct err *err)
{
	if (token != e->rows_token || e->rows_in_flight.count == 0)
		return false;
	(void)err;
	events_publish(e, &e->rows_in_flight);
	if (result) {
		rows_requeue(e);
		return true;
	}
	/* Ten thousand transitions at once take as much memory as all else together. The worker gives back what is free when it
	 * has nothing to do for a while, but only after some work. */
	e->rows_gone += e->rows_in_flight.count;
	if (e->rows_gone >= ROWS_BURST) {
		e->rows_gone = 0;
		e->ports.offload(e->ports.ctx, nothing, nothing, NULL);
	}
	rows_free(&e->rows_in_flight);
	engine_mark(e, MARK_STORE);
	return true;
}
