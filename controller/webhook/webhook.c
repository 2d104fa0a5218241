// SPDX-License-Identifier: GPL-2.0-or-later
// Each URL by itself: a queue of events, one call at a time, a pause after each, longer ones after failures. What does not fit into
// the queue is read from the store when its turn comes.
#include "webhook/webhook.h"

#include "base/mem.h"
#include "webhook/webhook_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEBHOOK_PAGE        200 /* events that the store is asked for at once */
#define WEBHOOK_STORE_RETRY (5 * USEC_PER_SEC)
#define WEBHOOK_INPUT_MAX   (512U * 1024)

struct webhook_item {
	uint64_t id;
	char *text;
};

struct webhook_ask { /* a question to the store; outlives its URL */
	struct webhook_target *target;
};

struct webhook_save {
	struct webhook_target *target;
};

static void webhook_step(struct webhook_target *t);

/* ---- the queue ---------------------------------------------------------------------------------- */

static void webhook_item_free(struct webhook_item *item)
{
	free(item->text);
	free(item);
}

static void webhook_push(struct webhook_target *t, uint64_t id, const char *text)
{
	struct webhook_item *item = mem_new(struct webhook_item);

	item->id = id;
	item->text = mem_strdup(text);
	vec_push(&t->queue, item);
}

static bool webhook_wants(const struct webhook *w, const char *type, enum event_severity severity)
{
	return severity <= w->min_severity && engine_event_matches(w->types, type);
}

static void webhook_take_entry(struct webhook_target *t, const json_t *entry)
{
	const char *text = json_string_value(json_object_get(entry, "value"));
	json_t *json = json_loads(text ? text : "", 0, NULL);
	const char *type = json_string_value(json_object_get(json, "type"));
	int severity = engine_event_severity_parse(
		json_string_value(json_object_get(json, "severity")));

	t->read = (uint64_t)json_integer_value(json_object_get(entry, "id"));
	if (type && severity >= 0 && webhook_wants(t->hub, type, (enum event_severity)severity))
		webhook_push(t, t->read, text);
	json_decref(json);
}

static void webhook_on_page(void *ctx, json_t *items, const struct err *e)
{
	struct webhook_ask *ask = ctx;
	struct webhook_target *t = ask->target;

	(void)e;
	free(ask);
	if (t) {
		t->ask = NULL;
		for (size_t i = 0; i < json_array_size(items); i++)
			webhook_take_entry(t, json_array_get(items, i));
		if (!items)
			t->not_before = time_monotonic() + WEBHOOK_STORE_RETRY;
		else if (json_array_size(items) < WEBHOOK_PAGE && !t->missed)
			t->behind = false;
		webhook_step(t);
	}
	json_decref(items);
}

static void webhook_ask_store(struct webhook_target *t)
{
	const struct store_query q = {.what = STORE_EVENTS,
				      .after = t->read + 1,
				      .limit = WEBHOOK_PAGE,
				      .events = {.forward = true}};

	t->missed = false;
	t->ask = mem_new(struct webhook_ask);
	t->ask->target = t;
	t->hub->ports.query(t->hub->ports.ctx, &q, webhook_on_page, t->ask);
}

/* ---- how far it has been told ------------------------------------------------------------------- */

static void webhook_save(struct webhook_target *t);

static void webhook_on_saved(void *ctx, int result, const struct err *e)
{
	struct webhook_save *save = ctx;
	struct webhook_target *t = save->target;

	(void)e;
	free(save);
	if (!t)
		return;
	t->save = NULL;
	/* A store that fails: the next success says it again. */
	if (result == 0 && t->moved)
		webhook_save(t);
}

static void webhook_save(struct webhook_target *t)
{
	char *value AUTO_FREE = mem_printf("{\"position\":\"%" PRIu64 "\"}", t->position);
	struct store_row row = {.kind = WEBHOOK_ROW_KIND, .key = t->key, .value = value};

	t->moved = t->save != NULL;
	if (t->save)
		return;
	t->save = mem_new(struct webhook_save);
	t->save->target = t;
	t->hub->ports.commit(t->hub->ports.ctx, &row, webhook_on_saved, t->save);
}

void webhook_load_row(struct webhook *w, const struct store_row *row)
{
	json_t *json = json_loads(row->value, 0, NULL);
	const char *position = json_string_value(json_object_get(json, "position"));
	bool ours = false;

	for (size_t i = 0; i < w->count && position; i++) {
		struct webhook_target *t = &w->targets[i];

		if (strcmp(t->key, row->key) != 0)
			continue;
		t->position = t->read = strtoull(position, NULL, 10);
		t->known = t->behind = ours = true;
	}
	if (!ours)
		vec_push(&w->strangers, mem_strdup(row->key));
	json_decref(json);
}

/* ---- calls -------------------------------------------------------------------------------------- */

int webhook_send(const struct webhook_message *m, struct child **ret_child,
		 char ret_error[WEBHOOK_ERROR_MAX])
{
	static const char *const argv[] = {"curl", "-q", "--config", "-", NULL};
	const struct webhook *w = m->target->hub;
	char secret[WEBHOOK_SECRET_MAX + 1];
	char signature[WEBHOOK_SIGNATURE_MAX];
	struct buf_writer input;
	struct child_job job = {
		.argv = argv, .timeout = w->timeout + USEC_PER_SEC, .ctx = m->ctx, .done = m->done};
	int r;

	/* With a secret nothing goes out without a signature. */
	if (w->secret_file && webhook_call_read_secret(w->secret_file, secret, ret_error))
		return -EINVAL;
	if (w->secret_file)
		webhook_call_sign(secret, time_wall(), m->body, signature);
	explicit_bzero(secret, sizeof(secret));
	buf_writer_init(&input, WEBHOOK_INPUT_MAX);
	webhook_call_write(m->target->url, m->body, w->secret_file ? signature : NULL, w->timeout,
			   &input);
	job.input = buf_text(&input);
	job.input_size = input.size;
	r = input.failed ? -E2BIG : child_start(w->loop, &job, ret_child);
	if (r < 0)
		snprintf(ret_error, WEBHOOK_ERROR_MAX, "curl cannot be run: %s",
			 r == -ENOENT ? "apt install curl" : strerror(-r));
	buf_writer_free(&input);
	return r;
}

static usec_t webhook_pause(const struct webhook_target *t)
{
	usec_t pause = t->hub->pace;

	for (unsigned i = 1; i < t->failures && pause < WEBHOOK_PAUSE_MAX; i++)
		pause *= 2;
	return pause < WEBHOOK_PAUSE_MAX ? pause : WEBHOOK_PAUSE_MAX;
}

static void webhook_note_failure(struct webhook_target *t, const char *error)
{
	snprintf(t->error, sizeof(t->error), "%s", error);
	t->failure_wall = time_wall();
	if (t->failures++ == 0)
		t->hub->ports.told(t->hub->ports.ctx, t->origin, t->error);
}

static void webhook_note_success(struct webhook_target *t)
{
	if (t->failures)
		t->hub->ports.told(t->hub->ports.ctx, t->origin, NULL);
	t->failures = 0;
	t->error[0] = '\0';
	t->success_wall = time_wall();
	t->delivered += t->in_flight;
	for (size_t i = 0; i < t->in_flight; i++) {
		struct webhook_item *item = t->queue.items[i];

		t->position = item->id;
		webhook_item_free(item);
	}
	t->queue.count -= t->in_flight;
	memmove(t->queue.items, t->queue.items + t->in_flight,
		t->queue.count * sizeof(*t->queue.items));
	if (t->queue.count == 0)
		t->position = t->read; /* what was not wanted behind it, too */
	webhook_save(t);
}

static void webhook_on_called(void *ctx, const struct child_end *end)
{
	struct webhook_target *t = ctx;
	char error[WEBHOOK_ERROR_MAX];
	unsigned status;

	t->child = NULL;
	if (webhook_call_judge(end, &status, error))
		webhook_note_success(t);
	else
		webhook_note_failure(t, error);
	t->in_flight = 0;
	t->not_before = time_monotonic() + webhook_pause(t);
	webhook_step(t);
}

/* The first of the queue, as many as go into one call. Caller frees. */
static char *webhook_make_body(struct webhook_target *t)
{
	struct buf_writer body;
	json_t *node = json_string(t->hub->node);
	char *name AUTO_FREE = json_dumps(node, JSON_ENCODE_ANY);

	json_decref(node);
	buf_writer_init(&body, WEBHOOK_INPUT_MAX);
	buf_write_format(&body, "{\"node\":%s,\"events\":[", name ? name : "\"\"");
	for (t->in_flight = 0; t->in_flight < t->queue.count && t->in_flight < WEBHOOK_BATCH_MAX &&
			       body.size < WEBHOOK_BATCH_BYTES;
	     t->in_flight++) {
		const struct webhook_item *item = t->queue.items[t->in_flight];

		buf_write_text(&body, t->in_flight ? "," : "");
		buf_write_text(&body, item->text);
	}
	buf_write_text(&body, "]}");
	return buf_take(&body);
}

static void webhook_call(struct webhook_target *t)
{
	char *body AUTO_FREE = webhook_make_body(t);
	const struct webhook_message m = {
		.target = t, .body = body, .done = webhook_on_called, .ctx = t};
	char error[WEBHOOK_ERROR_MAX];

	if (webhook_send(&m, &t->child, error) == 0)
		return;
	t->in_flight = 0;
	webhook_note_failure(t, error);
	t->not_before = time_monotonic() + webhook_pause(t);
	webhook_step(t);
}

static void webhook_wake_later(struct webhook_target *t, usec_t delay)
{
	ev_timer_stop(t->hub->loop, &t->wake);
	ev_now_update(t->hub->loop);
	ev_timer_set(&t->wake, (double)delay / (double)USEC_PER_SEC, 0.);
	ev_timer_start(t->hub->loop, &t->wake);
}

static void webhook_step(struct webhook_target *t)
{
	usec_t now = time_monotonic();

	if (!t->hub->started || t->child || t->ask || (t->queue.count == 0 && !t->behind))
		return;
	if (now < t->not_before)
		webhook_wake_later(t, t->not_before - now);
	else if (t->queue.count == 0)
		webhook_ask_store(t);
	else
		webhook_call(t);
}

void webhook_retry(struct webhook_target *t)
{
	if (t->failures == 0)
		return;
	t->not_before = 0;
	webhook_step(t);
}

static void webhook_on_wake(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	webhook_step(timer->data);
}

static void webhook_note_one(struct webhook_target *t, const struct event_record *r)
{
	if (t->behind || t->queue.count >= WEBHOOK_QUEUE_MAX) {
		t->behind = t->missed = true;
		return;
	}
	t->read = r->id;
	if (webhook_wants(t->hub, r->type, r->severity))
		webhook_push(t, r->id, r->text);
	webhook_step(t);
}

void webhook_note(struct webhook *w, const struct event_record *r)
{
	for (size_t i = 0; i < w->count; i++)
		webhook_note_one(&w->targets[i], r);
}

/* ---- what is shown ------------------------------------------------------------------------------ */

static json_t *webhook_time(usec_t wall)
{
	char text[TIME_TEXT_MAX];

	return wall ? json_string(time_format_wall(wall, text)) : json_null();
}

json_t *webhook_status(const struct webhook *w)
{
	json_t *urls = json_array();

	for (size_t i = 0; i < w->count; i++) {
		const struct webhook_target *t = &w->targets[i];

		json_array_append_new(
			urls, json_pack("{s:s, s:I, s:b, s:I, s:I, s:o, s:o, s:s?}", "url",
					t->origin, "pending", (json_int_t)t->queue.count, "behind",
					t->behind, "delivered", (json_int_t)t->delivered,
					"failures", (json_int_t)t->failures, "last_success",
					webhook_time(t->success_wall), "last_failure",
					webhook_time(t->failure_wall), "error",
					t->error[0] ? t->error : NULL));
	}
	return json_pack("{s:s, s:s?, s:b, s:o}", "min_severity",
			 engine_event_severity_name(w->min_severity), "types", w->types, "signed",
			 w->secret_file != NULL, "urls", urls);
}

/* ---- life --------------------------------------------------------------------------------------- */

static void webhook_target_init(struct webhook *w, struct webhook_target *t, const char *url)
{
	t->hub = w;
	t->url = mem_strdup(url);
	webhook_call_origin(url, t->origin);
	webhook_call_key(url, t->key);
	ev_timer_init(&t->wake, webhook_on_wake, 0., 0.);
	t->wake.data = t;
}

struct webhook *webhook_new(struct ev_loop *loop, const struct webhook_settings *s,
			    const struct webhook_ports *ports)
{
	struct webhook *w = mem_new(struct webhook);

	assert(s->url_count <= WEBHOOK_URLS_MAX);
	w->loop = loop;
	w->ports = *ports;
	w->secret_file = s->secret_file ? mem_strdup(s->secret_file) : NULL;
	w->types = s->types ? mem_strdup(s->types) : NULL;
	w->node = mem_strdup(s->node);
	w->min_severity = s->min_severity;
	w->pace = s->pace ? s->pace : WEBHOOK_PACE;
	w->timeout = s->timeout ? s->timeout : WEBHOOK_TIMEOUT;
	for (size_t i = 0; i < s->url_count; i++)
		webhook_target_init(w, &w->targets[w->count++], s->urls[i]);
	return w;
}

static void webhook_on_forgotten(void *ctx, int result, const struct err *e)
{
	(void)ctx;
	(void)result;
	(void)e;
}

void webhook_start(struct webhook *w, uint64_t last)
{
	w->started = true;
	for (size_t i = 0; i < w->strangers.count; i++) {
		struct store_row row = {.kind = WEBHOOK_ROW_KIND, .key = w->strangers.items[i]};

		w->ports.commit(w->ports.ctx, &row, webhook_on_forgotten, NULL);
		free(w->strangers.items[i]);
	}
	vec_clear(&w->strangers);
	for (size_t i = 0; i < w->count; i++) {
		struct webhook_target *t = &w->targets[i];

		if (!t->known) {
			t->position = t->read = last;
			webhook_save(t);
		}
		webhook_step(t);
	}
}

static void webhook_target_clear(struct webhook_target *t)
{
	child_free(t->child);
	ev_timer_stop(t->hub->loop, &t->wake);
	if (t->ask)
		t->ask->target = NULL;
	if (t->save)
		t->save->target = NULL;
	for (size_t i = 0; i < t->queue.count; i++)
		webhook_item_free(t->queue.items[i]);
	vec_clear(&t->queue);
	free(t->url);
}

void webhook_free(struct webhook *w)
{
	if (!w)
		return;
	webhook_try_end(w->test);
	for (size_t i = 0; i < w->count; i++)
		webhook_target_clear(&w->targets[i]);
	for (size_t i = 0; i < w->strangers.count; i++)
		free(w->strangers.items[i]);
	vec_clear(&w->strangers);
	free(w->secret_file);
	free(w->types);
	free(w->node);
	free(w);
}
