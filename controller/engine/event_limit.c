// SPDX-License-Identifier: GPL-2.0-or-later
// Windows of events, one for each object and type that had any of late.
#include "engine/event_limit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/events.h"

#define TICK_MIN   USEC_PER_SEC
#define TICK_BATCH 500U  /* windows that end in one step: below a millisecond */
#define BLOCK_MIN  128U  /* windows whose memory is taken at once: as many as there are, */
#define BLOCK_MAX  4096U /* so that few blocks lie between what comes and goes */

struct event_held {
	char *object;
	unsigned count;
	bool bad;      /* the last one held */
	json_t *from;  /* of the first that was held, */
	json_t *data;  /* of the last, */
	json_t *kinds; /* and how many led where */
	char *detail;
};

/* Small, and all together: when all servers change at once there is one for each, and rows that come and go between them. The hash
 * stands for type and object. */
struct event_window {
	usec_t end;
	struct event_held *held; /* NULL = none */
	uint64_t hash;
	enum engine_event_id id;
	unsigned told;
};

/* What the network does, and who fails to sign in; not what a person wishes. */
static bool is_limited(enum engine_event_id id)
{
	static const char *const families[] = {"server.", "zone.", "auth.", "vip_device.",
					       "listener."};
	const char *name = engine_event_name(id);

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (strncmp(name, families[i], strlen(families[i])) == 0)
			return true;
	return false;
}

static uint64_t window_hash(enum engine_event_id id, const char *object)
{
	return hash_text(object, (uint64_t)id + 1);
}

static bool window_is(const void *key, const void *item)
{
	const uint64_t *hash = key;

	return *hash == ((const struct event_window *)item)->hash;
}

static void window_clear(struct event_window *w)
{
	if (w->held) {
		json_decref(w->held->from);
		json_decref(w->held->data);
		json_decref(w->held->kinds);
		free(w->held->detail);
		free(w->held->object);
		free(w->held);
	}
	w->held = NULL;
	w->told = 0;
}

static struct event_window *window_take(struct engine *e)
{
	struct vec *idle = &e->events.windows_idle;
	size_t size = e->events.windows.count;
	struct event_window *block;

	if (idle->count == 0) {
		size = size < BLOCK_MIN ? BLOCK_MIN : size > BLOCK_MAX ? BLOCK_MAX : size;
		block = mem_alloc_array(size, sizeof(*block));
		vec_push(&e->events.window_blocks, block);
		for (size_t i = size; i-- > 0;)
			vec_push(idle, &block[i]);
	}
	return idle->items[--idle->count];
}

static void window_blocks_free(struct engine *e)
{
	for (size_t i = 0; i < e->events.window_blocks.count; i++)
		free(e->events.window_blocks.items[i]);
	vec_clear(&e->events.window_blocks);
	vec_clear(&e->events.windows_idle);
	table_clear(&e->events.windows);
}

static void window_leave(struct engine *e, struct event_window *w)
{
	window_clear(w);
	table_remove(&e->events.windows, w->hash, &w->hash, window_is);
	vec_push(&e->events.windows_idle, w);
	if (e->events.windows.count == 0)
		window_blocks_free(e);
}

static struct event_window *find_window(struct engine *e, const struct emission *x)
{
	uint64_t hash = window_hash(x->id, x->object);
	struct event_window *w = table_find(&e->events.windows, hash, &hash, window_is);

	if (w)
		return w;
	w = window_take(e);
	*w = (struct event_window){
		.id = x->id, .hash = hash, .end = e->ports.now(e->ports.ctx) + EVENT_LIMIT_WINDOW};
	table_add(&e->events.windows, hash, w);
	if (w->end < e->events.tick_at)
		e->events.tick_at = w->end;
	return w;
}

static void count_kind(struct event_held *h, const char *to)
{
	if (!to)
		return;
	if (!h->kinds)
		h->kinds = json_object();
	json_object_set_new(h->kinds, to,
			    json_integer(json_integer_value(json_object_get(h->kinds, to)) + 1));
}

static void hold(struct event_window *w, const struct emission *x, const char *detail)
{
	struct event_held *h = w->held;

	if (!h) {
		h = w->held = mem_new(struct event_held);
		h->object = mem_strdup(x->object);
		h->from = json_incref(json_object_get(x->data, "from"));
	}
	h->count++;
	json_decref(h->data);
	h->data = json_incref(x->data);
	h->bad = x->bad;
	free(h->detail);
	h->detail = mem_strdup(detail);
	count_kind(h, json_string_value(json_object_get(x->data, "to")));
}

bool event_limit_holds(struct engine *e, const struct emission *x, const char *detail)
{
	struct event_window *w;

	if (!is_limited(x->id))
		return false;
	w = find_window(e, x);
	if (w->told < EVENT_LIMIT_COUNT) {
		w->told++;
		return false;
	}
	hold(w, x, detail);
	return true;
}

/* It leads from the state before the first that was held to that after the last: who only looks at it is right. */
static void tell(struct engine *e, const struct event_window *w)
{
	const struct event_held *h = w->held;
	json_t *data = h->data ? json_copy(h->data) : json_object();
	char *text AUTO_FREE = mem_printf("%u more within a minute, the last one: %s", h->count,
					  h->detail);

	if (h->from)
		json_object_set(data, "from", h->from);
	json_object_set_new(
		data, "summary",
		json_pack("{s:I, s:O?}", "count", (json_int_t)h->count, "to", h->kinds));
	events_tell(
		e,
		&(struct emission){.id = w->id, .object = h->object, .bad = h->bad, .data = data},
		text);
	json_decref(data);
}

static void end_window(struct engine *e, struct event_window *w, usec_t now)
{
	if (!w->held) {
		window_leave(e, w);
		return;
	}
	tell(e, w);
	window_clear(w);
	w->end = now + EVENT_LIMIT_WINDOW;
}

/* Those that tell, by object and type; the others have no order. */
static int window_compare(const void *a, const void *b)
{
	const struct event_window *x = a;
	const struct event_window *y = b;
	int order;

	if (!x->held || !y->held)
		return (x->held != NULL) - (y->held != NULL);
	order = strcmp(x->held->object, y->held->object);
	return order ? order : (int)x->id - (int)y->id;
}

/* At most so many. Whether there are more. */
static bool end_windows(struct engine *e, usec_t until, usec_t now, size_t most)
{
	struct event_window *w;
	struct vec over = {0};
	size_t cursor = 0;
	bool more;

	while (over.count < most && (w = table_next(&e->events.windows, &cursor)))
		if (w->end <= until)
			vec_push(&over, w);
	vec_sort(&over, window_compare);
	for (size_t i = 0; i < over.count; i++)
		end_window(e, over.items[i], now);
	more = over.count == most;
	vec_clear(&over);
	return more;
}

usec_t event_limit_tick(struct engine *e, usec_t now)
{
	struct event_window *w;
	size_t cursor = 0;

	if (now < e->events.tick_at)
		return e->events.tick_at;
	if (end_windows(e, now, now, TICK_BATCH)) {
		e->events.tick_at = now + 1; /* the rest in the next step */
		return e->events.tick_at;
	}
	e->events.tick_at = USEC_NEVER;
	while ((w = table_next(&e->events.windows, &cursor)))
		if (w->end < e->events.tick_at)
			e->events.tick_at = w->end;
	/* All of them are walked each time: not for each of many that end shortly one after the other. */
	if (e->events.tick_at != USEC_NEVER && e->events.tick_at < now + TICK_MIN)
		e->events.tick_at = now + TICK_MIN;
	return e->events.tick_at;
}

void event_limit_flush(struct engine *e)
{
	(void)end_windows(e, USEC_NEVER, e->ports.now(e->ports.ctx), SIZE_MAX);
}

void event_limit_free(struct engine *e)
{
	struct event_window *w;
	size_t cursor = 0;

	while ((w = table_next(&e->events.windows, &cursor)))
		window_clear(w);
	window_blocks_free(e);
}
