// SPDX-License-Identifier: GPL-2.0-or-later
// Windows of events, one for each object and type that had any of late.
#include "engine/event_limit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/events.h"

#define TICK_MIN   USEC_PER_SEC
#define TICK_BATCH 500U /* windows that end in one step: below a millisecond */

struct event_held {
	unsigned count;
	bool bad;      /* the last one held */
	json_t *from;  /* of the first that was held, */
	json_t *data;  /* of the last, */
	json_t *kinds; /* and how many led where */
	char *detail;
};

/* Small: when all servers change at once there is one for each. */
struct event_window {
	usec_t end;
	struct event_held *held; /* NULL = none */
	enum engine_event_id id;
	unsigned told;
	char object[];
};

struct window_key {
	enum engine_event_id id;
	const char *object;
};

/* What the network does, and who fails to sign in; not what a person wishes. */
static bool is_limited(enum engine_event_id id)
{
	static const char *const families[] = {"server.", "zone.", "auth.", "vip_device."};
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
	const struct window_key *k = key;
	const struct event_window *w = item;

	return k->id == w->id && strcmp(k->object, w->object) == 0;
}

static void window_clear(struct event_window *w)
{
	if (w->held) {
		json_decref(w->held->from);
		json_decref(w->held->data);
		json_decref(w->held->kinds);
		free(w->held->detail);
		free(w->held);
	}
	w->held = NULL;
	w->told = 0;
}

static void window_free(struct event_window *w)
{
	window_clear(w);
	free(w);
}

static struct event_window *find_window(struct engine *e, const struct emission *x)
{
	const struct window_key key = {.id = x->id, .object = x->object};
	uint64_t hash = window_hash(x->id, x->object);
	struct event_window *w = table_find(&e->events.windows, hash, &key, window_is);
	size_t size = strlen(x->object) + 1;

	if (w)
		return w;
	w = mem_alloc(sizeof(*w) + size);
	w->id = x->id;
	memcpy(w->object, x->object, size);
	w->end = e->ports.now(e->ports.ctx) + EVENT_LIMIT_WINDOW;
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
		&(struct emission){.id = w->id, .object = w->object, .bad = h->bad, .data = data},
		text);
	json_decref(data);
}

static void end_window(struct engine *e, struct event_window *w, usec_t now)
{
	const struct window_key key = {.id = w->id, .object = w->object};

	if (w->held) {
		tell(e, w);
		window_clear(w);
		w->end = now + EVENT_LIMIT_WINDOW;
		return;
	}
	table_remove(&e->events.windows, window_hash(w->id, w->object), &key, window_is);
	window_free(w);
}

static int window_compare(const void *a, const void *b)
{
	const struct event_window *x = a;
	const struct event_window *y = b;
	int order = strcmp(x->object, y->object);

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
		window_free(w);
	table_clear(&e->events.windows);
}
