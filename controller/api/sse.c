// SPDX-License-Identifier: GPL-2.0-or-later
// Streams of events. A stream is a place in the sequence of events and at most one page of text: a client that reads slowly costs
// no memory, and a burst costs none for each client.
#include "api/sse.h"

#include "api/auth.h"
#include "api/context.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "engine/events.h"
#include "engine/status.h"

#include <ev.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_EVENTS 100            /* of the store at once */
#define PAGE_BYTES  (16U * 1024)   /* of what is in memory at once */
#define OUT_MAX     (1024U * 1024) /* a page of the store is far below it */

struct sse_item {
	uint64_t id;
	char *text; /* as it goes out; in the same block, behind it: */
	const char *type;
	const char *object;
	size_t size;
};

struct sse {
	struct api_context *api;
	struct sse_item items[SSE_RECENT_MAX]; /* a ring, rising */
	size_t first;
	size_t count;
	size_t bytes;
	uint64_t before; /* the newest that is no longer, or never was, in memory */
	uint64_t last;   /* the newest of all */
	struct sse_stream *streams;
	size_t stream_count;
	ev_timer heartbeat;
};

struct sse_ask { /* a question to the store; outlives its stream */
	struct sse_stream *stream;
};

struct sse_stream {
	struct sse *hub;
	struct sse_stream *next;
	struct sse_stream **link;
	void (*wake)(void *ctx);
	void *ctx;
	char *types;
	char *object;
	char token[ACCESS_ID_MAX];
	char session[ACCESS_ID_MAX];
	unsigned token_version;
	usec_t expires_wall;
	uint64_t position; /* of the last event that was looked at */
	uint64_t told;     /* the position that the client knows */
	bool verify;       /* whether there is an event at `position` is to be seen in the store */
	bool idle;         /* sse_read() had nothing */
	bool beat;         /* something is to be sent to see whether he is there */
	bool ended;
	struct sse_ask *ask; /* NULL: nothing is asked */
	struct buf_writer out;
	size_t sent;
};

/* ---- the newest events --------------------------------------------------------------------------- */

static struct sse_item *sse_item(struct sse *h, size_t index)
{
	return &h->items[(h->first + index) % SSE_RECENT_MAX];
}

static void sse_drop_oldest(struct sse *h)
{
	struct sse_item *item = sse_item(h, 0);

	h->before = item->id;
	h->bytes -= item->size;
	free(item->text);
	h->first = (h->first + 1) % SSE_RECENT_MAX;
	h->count--;
}

/* Index of the first event behind `id`. */
static size_t sse_find_behind(struct sse *h, uint64_t id)
{
	size_t low = 0, high = h->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (sse_item(h, middle)->id > id)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static bool sse_has(struct sse *h, uint64_t id)
{
	size_t behind = sse_find_behind(h, id);

	return id == h->last || (behind > 0 && sse_item(h, behind - 1)->id == id);
}

static char *sse_format(uint64_t id, const char *type, const char *text)
{
	return mem_printf("id: %" PRIu64 "\nevent: %s\ndata: %s\n\n", id, type, text);
}

static void sse_init_item(struct sse_item *item, const struct event_record *r)
{
	char *text AUTO_FREE = sse_format(r->id, r->type, r->text);
	size_t type_size = strlen(r->type) + 1, object_size = strlen(r->object) + 1;
	char *end;

	item->id = r->id;
	item->size = strlen(text);
	item->text = mem_alloc(item->size + 1 + type_size + object_size);
	memcpy(item->text, text, item->size);
	end = item->text + item->size + 1;
	item->type = memcpy(end, r->type, type_size);
	item->object = memcpy(end + type_size, r->object, object_size);
}

static void sse_keep(struct sse *h, const struct event_record *r)
{
	size_t most = h->stream_count ? SSE_RECENT_MAX : SSE_ALONE_MAX;
	struct sse_item item;

	sse_init_item(&item, r);
	while (h->count > 0 && (h->count >= most || h->bytes + item.size > SSE_BYTES_MAX))
		sse_drop_oldest(h);
	*sse_item(h, h->count) = item;
	h->count++;
	h->bytes += item.size;
}

/* ---- streams ------------------------------------------------------------------------------------- */

static void sse_wake(struct sse_stream *s)
{
	if (!s->idle)
		return;
	s->idle = false;
	s->wake(s->ctx);
}

static bool sse_wants(const struct sse_stream *s, const char *type, const char *object)
{
	return engine_event_matches(s->types, type) && engine_event_concerns(s->object, object);
}

void sse_note(struct sse *h, const struct event_record *r)
{
	uint64_t former = h->last;

	sse_keep(h, r);
	h->last = r->id;
	for (struct sse_stream *s = h->streams, *next; s; s = next) {
		next = s->next;
		if (sse_wants(s, r->type, r->object))
			sse_wake(s);
		else if (s->position == former && !s->verify)
			s->position = r->id;
	}
}

static void sse_reset(struct sse_stream *s, const char *reason)
{
	s->position = s->told = s->hub->last;
	s->verify = false;
	buf_write_format(&s->out,
			 "id: %" PRIu64 "\nevent: stream.reset\ndata: {\"reason\":\"%s\"}\n\n",
			 s->position, reason);
}

static void sse_take_entry(struct sse_stream *s, const json_t *entry)
{
	const char *text = json_string_value(json_object_get(entry, "value"));
	json_t *json = json_loads(text ? text : "", 0, NULL);
	const char *type = json_string_value(json_object_get(json, "type"));
	const char *object = json_string_value(json_object_get(json, "object"));

	s->position = (uint64_t)json_integer_value(json_object_get(entry, "id"));
	if (type && object && sse_wants(s, type, object)) {
		AUTO_FREE char *line = sse_format(s->position, type, text);

		buf_write_text(&s->out, line);
		s->told = s->position;
	}
	json_decref(json);
}

static void sse_take_page(struct sse_stream *s, const json_t *items)
{
	size_t count = json_array_size(items);
	size_t i = 0;

	if (s->verify) {
		const json_t *id = json_object_get(json_array_get(items, 0), "id");

		s->verify = false;
		if ((uint64_t)json_integer_value(id) != s->position) {
			sse_reset(s, "the event that was received last is not known here any more");
			return;
		}
		i = 1;
	}
	/* There is nothing more in the store, and what is in memory begins later. */
	if (count == i && s->position < s->hub->before)
		sse_reset(s, "events were lost: the store took none");
	for (; i < count; i++)
		sse_take_entry(s, json_array_get(items, i));
}

static void sse_on_page(void *ctx, json_t *items, const struct err *e)
{
	struct sse_ask *ask = ctx;
	struct sse_stream *s = ask->stream;

	(void)e;
	free(ask);
	if (s) {
		s->ask = NULL;
		if (items)
			sse_take_page(s, items);
		else
			sse_reset(s, "the store cannot be read");
		sse_wake(s);
	}
	json_decref(items);
}

static void sse_ask_store(struct sse_stream *s)
{
	const struct store_query q = {.what = STORE_EVENTS,
				      .after = s->verify ? s->position : s->position + 1,
				      .limit = PAGE_EVENTS,
				      .events = {.forward = true}};

	s->ask = mem_new(struct sse_ask);
	s->ask->stream = s;
	engine_query(s->hub->api->engine, &q, sse_on_page, s->ask);
}

static void sse_take_recent(struct sse_stream *s)
{
	struct sse *h = s->hub;

	for (size_t i = sse_find_behind(h, s->position); i < h->count && s->out.size < PAGE_BYTES;
	     i++) {
		const struct sse_item *item = sse_item(h, i);

		s->position = item->id;
		if (!sse_wants(s, item->type, item->object))
			continue;
		buf_write(&s->out, item->text, item->size);
		s->told = item->id;
	}
}

/* The number alone is no event to the client, but the place from which he resumes. */
static void sse_beat(struct sse_stream *s)
{
	buf_write_text(&s->out, ": heartbeat\n");
	if (s->told != s->position)
		buf_write_format(&s->out, "id: %" PRIu64 "\n", s->position);
	buf_write_text(&s->out, "\n");
	s->told = s->position;
}

static void sse_fill(struct sse_stream *s)
{
	buf_writer_free(&s->out);
	buf_writer_init(&s->out, OUT_MAX);
	s->sent = 0;
	if (!s->ask) {
		if (s->verify && sse_has(s->hub, s->position))
			s->verify = false;
		if (s->verify || s->position < s->hub->before)
			sse_ask_store(s);
		else
			sse_take_recent(s);
	}
	if (s->out.size == 0 && s->beat && !s->verify)
		sse_beat(s);
	s->beat = false;
}

/* Whoever was let in may not be any more. */
static bool sse_may(const struct sse_stream *s)
{
	struct access *access = s->hub->api->access;
	struct auth_token *file = s->hub->api->token;
	struct access_token_view token;
	struct access_session_view session;

	if (s->expires_wall && time_wall() >= s->expires_wall)
		return false;
	if (file && s->token_version && auth_token_version(file) != s->token_version)
		return false;
	if (access && s->token[0] && !access_find_token(access, s->token, &token))
		return false;
	return !access || !s->session[0] || access_find_session(access, s->session, &session);
}

ssize_t sse_read(struct sse_stream *s, char *buf, size_t max)
{
	size_t size;

	if (s->ended || !sse_may(s))
		return -1;
	if (s->sent == s->out.size)
		sse_fill(s);
	size = s->out.size - s->sent;
	if (size > max)
		size = max;
	if (size > 0)
		memcpy(buf, s->out.data + s->sent, size);
	s->sent += size;
	s->idle = size == 0;
	return (ssize_t)size;
}

/* ---- life ---------------------------------------------------------------------------------------- */

static void sse_on_heartbeat(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct sse *h = timer->data;

	(void)loop;
	(void)events;
	for (struct sse_stream *s = h->streams, *next; s; s = next) {
		next = s->next;
		s->beat = true;
		sse_wake(s);
	}
}

struct sse *sse_new(struct api_context *api, usec_t heartbeat)
{
	struct sse *h = mem_new(struct sse);
	double pause = (double)heartbeat / (double)USEC_PER_SEC;

	h->api = api;
	h->before = h->last = engine_last_event(api->engine);
	ev_timer_init(&h->heartbeat, sse_on_heartbeat, pause, pause);
	h->heartbeat.data = h;
	return h;
}

void sse_free(struct sse *h)
{
	if (!h)
		return;
	assert(!h->streams);
	while (h->count > 0)
		sse_drop_oldest(h);
	free(h);
}

static void sse_greet(struct sse_stream *s)
{
	buf_write_text(&s->out, ": ok\n\nretry: 2000\n");
	if (!s->verify) {
		buf_write_format(&s->out, "id: %" PRIu64 "\n", s->position);
		s->told = s->position;
	}
	buf_write_text(&s->out, "\n");
}

static void sse_link(struct sse *h, struct sse_stream *s)
{
	s->hub = h;
	s->next = h->streams;
	s->link = &h->streams;
	if (s->next)
		s->next->link = &s->next;
	h->streams = s;
	metrics_set(METRIC_EVENT_STREAMS, (int64_t)h->stream_count + 1);
	if (h->stream_count++ == 0)
		ev_timer_again(h->api->loop, &h->heartbeat);
}

struct sse_stream *sse_open(struct sse *h, const struct sse_wish *w, void (*wake)(void *ctx),
			    void *ctx)
{
	struct sse_stream *s;

	if (h->stream_count >= SSE_STREAMS_MAX)
		return NULL;
	s = mem_new(struct sse_stream);
	s->wake = wake;
	s->ctx = ctx;
	s->types = w->types ? mem_strdup(w->types) : NULL;
	s->object = w->object ? mem_strdup(w->object) : NULL;
	strncpy(s->token, w->token, sizeof(s->token) - 1);
	strncpy(s->session, w->session, sizeof(s->session) - 1);
	s->token_version = w->token_version;
	s->expires_wall = w->expires_wall;
	s->position = w->resume ? w->last : h->last;
	s->verify = w->resume && w->last != 0;
	buf_writer_init(&s->out, OUT_MAX);
	sse_greet(s);
	sse_link(h, s);
	return s;
}

void sse_set_wake(struct sse_stream *s, void (*wake)(void *ctx), void *ctx)
{
	s->wake = wake;
	s->ctx = ctx;
}

void sse_end(struct sse_stream *s)
{
	s->ended = true;
	sse_wake(s);
}

void sse_close(struct sse_stream *s)
{
	struct sse *h;

	if (!s)
		return;
	h = s->hub;
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	metrics_set(METRIC_EVENT_STREAMS, (int64_t)h->stream_count - 1);
	if (--h->stream_count == 0) {
		ev_timer_stop(h->api->loop, &h->heartbeat);
		while (h->count > SSE_ALONE_MAX)
			sse_drop_oldest(h);
	}
	if (s->ask)
		s->ask->stream = NULL;
	buf_writer_free(&s->out);
	free(s->types);
	free(s->object);
	free(s);
}

size_t sse_count(const struct sse *h)
{
	return h->stream_count;
}
