// SPDX-License-Identifier: GPL-2.0-or-later
// Webhooks with the real curl, a receiver on loopback in the same loop, and a store in memory.
#include "webhook/webhook.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "webhook/webhook_call.h"
#include "webhook_receiver.h"

struct world {
	struct ev_loop *loop;
	struct receiver receiver;
	struct webhook *webhook;
	json_t *stored; /* entries {id, value} */
	char position[200];
	size_t asked;
	size_t told;
	bool store_fails;
	json_t *results;
	ev_timer limit;
	bool late;
};

/* ---- the world ---- */

struct answer_later {
	ev_timer timer;
	store_items_fn *items_done;
	json_t *items;
	webhook_commit_fn *commit_done;
	void *ctx;
	bool failed;
};

static void on_answer(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct answer_later *a = timer->data;

	(void)loop;
	(void)events;
	if (a->items_done)
		a->items_done(a->ctx, a->items, NULL);
	else
		a->commit_done(a->ctx, a->failed ? -EIO : 0, NULL);
	free(a);
}

static struct answer_later *answer_soon(struct world *w)
{
	struct answer_later *a = mem_new(struct answer_later);

	ev_timer_init(&a->timer, on_answer, 0.001, 0.);
	a->timer.data = a;
	ev_timer_start(w->loop, &a->timer);
	return a;
}

static void fake_query(void *ctx, const struct store_query *q, store_items_fn *done, void *done_ctx)
{
	struct world *w = ctx;
	struct answer_later *a = answer_soon(w);
	json_t *entry;
	size_t i;

	assert_int_equal(q->what, STORE_EVENTS);
	assert_true(q->events.forward);
	w->asked++;
	a->items_done = done;
	a->ctx = done_ctx;
	a->items = w->store_fails ? NULL : json_array();
	json_array_foreach (w->stored, i, entry)
		if (a->items && json_array_size(a->items) < q->limit &&
		    json_integer_value(json_object_get(entry, "id")) >= (json_int_t)q->after)
			json_array_append(a->items, entry);
}

static void fake_commit(void *ctx, const struct store_row *row, webhook_commit_fn *done,
			void *done_ctx)
{
	struct world *w = ctx;
	struct answer_later *a = answer_soon(w);

	assert_string_equal(row->kind, WEBHOOK_ROW_KIND);
	snprintf(w->position, sizeof(w->position), "%s", row->value ? row->value : "removed");
	a->commit_done = done;
	a->ctx = done_ctx;
	a->failed = w->store_fails;
}

static void fake_told(void *ctx, const char *origin, const char *error)
{
	struct world *w = ctx;

	(void)error;
	assert_null(strstr(origin, "token"));
	w->told++;
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct world *w = timer->data;

	(void)events;
	w->late = true;
	ev_break(loop, EVBREAK_ALL);
}

/* Runs the loop until it is so, at most 20 s. */
#define RUN_UNTIL(w, what)                              \
	do {                                            \
		ev_now_update((w)->loop);               \
		ev_timer_set(&(w)->limit, 20., 0.);     \
		ev_timer_start((w)->loop, &(w)->limit); \
		while (!(what) && !(w)->late)           \
			ev_run((w)->loop, EVRUN_ONCE);  \
		ev_timer_stop((w)->loop, &(w)->limit);  \
		assert_false((w)->late);                \
	} while (0)

static void run_for(struct world *w, double seconds)
{
	ev_now_update(w->loop);
	ev_timer_set(&w->limit, seconds, 0.);
	ev_timer_start(w->loop, &w->limit);
	while (!w->late)
		ev_run(w->loop, EVRUN_ONCE);
	w->late = false;
}

static void world_open(struct world *w, const struct webhook_settings *more)
{
	const struct webhook_ports ports = {
		.ctx = w, .query = fake_query, .commit = fake_commit, .told = fake_told};
	struct webhook_settings s = *more;
	AUTO_FREE char *url = NULL;

	url = mem_printf("http://user:token@127.0.0.1:%u/hook/token", w->receiver.port);
	s.urls[0] = url;
	s.url_count = 1;
	s.node = "gw \"1\"";
	s.pace = s.pace ? s.pace : 20 * USEC_PER_MS;
	if (!s.timeout)
		s.timeout = 5 * USEC_PER_SEC;
	w->webhook = webhook_new(w->loop, &s, &ports);
}

static void world_begin(struct world *w)
{
	*w = (struct world){.loop = ev_default_loop(0), .stored = json_array()};
	ev_timer_init(&w->limit, on_limit, 0., 0.);
	w->limit.data = w;
	receiver_open(&w->receiver, w->loop);
}

static void world_end(struct world *w)
{
	webhook_free(w->webhook);
	run_for(w, 0.05); /* what still answers finds nobody */
	receiver_close(&w->receiver);
	json_decref(w->stored);
}

static char *format_event(uint64_t id)
{
	return mem_printf("{\"id\":\"%" PRIu64 "\",\"type\":\"server.health_changed\",\"object\":"
			  "\"server_groups/web\",\"severity\":\"warning\"}",
			  id);
}

static void store_event(struct world *w, uint64_t id)
{
	AUTO_FREE char *text = format_event(id);

	json_array_append_new(w->stored,
			      json_pack("{s:I, s:s}", "id", (json_int_t)id, "value", text));
}

static void happen(struct world *w, uint64_t id)
{
	AUTO_FREE char *text = format_event(id);

	store_event(w, id);
	webhook_note(w->webhook, &(struct event_record){.id = id,
							.severity = SEVERITY_WARNING,
							.type = "server.health_changed",
							.object = "server_groups/web",
							.text = text});
}

/* Each of first … last, in order; some may have come more than once. */
static void assert_in_order(const struct receiver *r, uint64_t first, uint64_t last)
{
	uint64_t next = first;

	for (size_t i = 0; i < r->count; i++) {
		assert_true(r->got[i] <= next);
		if (r->got[i] == next)
			next++;
	}
	assert_int_equal(next, last + 1);
}

/* ---- tests ---- */

static void events_go_out_in_few_calls(void **state)
{
	const struct webhook_settings s = {.min_severity = SEVERITY_NOTICE};
	struct world w;

	(void)state;
	world_begin(&w);
	world_open(&w, &s);
	webhook_start(w.webhook, 100);
	for (uint64_t i = 101; i <= 300; i++)
		happen(&w, i);
	RUN_UNTIL(&w, w.receiver.count >= 200);
	assert_int_equal(w.receiver.count, 200);
	assert_in_order(&w.receiver, 101, 300);
	assert_in_range(w.receiver.calls, 4, 6);
	assert_false(w.receiver.is_signed);
	RUN_UNTIL(&w, strcmp(w.position, "{\"position\":\"300\"}") == 0);
	assert_int_equal(w.told, 0);
	world_end(&w);
}

static void what_is_not_wanted_stays(void **state)
{
	const struct webhook_settings severe = {.min_severity = SEVERITY_ERROR};
	const struct webhook_settings typed = {.min_severity = SEVERITY_INFO, .types = "zone.*"};
	struct world w;

	(void)state;
	world_begin(&w);
	world_open(&w, &severe);
	webhook_start(w.webhook, 0);
	happen(&w, 1);
	run_for(&w, 0.2);
	webhook_free(w.webhook);
	world_open(&w, &typed);
	webhook_start(w.webhook, 0);
	happen(&w, 2);
	run_for(&w, 0.2);
	assert_int_equal(w.receiver.calls, 0);
	world_end(&w);
}

/* A receiver that answers 500, drops the connection, hangs, and is down: all arrives, in order. */
static void a_bad_receiver_loses_nothing(void **state)
{
	const struct webhook_settings s = {.min_severity = SEVERITY_NOTICE,
					   .timeout = 300 * USEC_PER_MS};
	static const enum receiver_mood moods[] = {RECEIVER_FAILS, RECEIVER_DROPS, RECEIVER_HANGS};
	struct world w;
	uint64_t id = 1;

	(void)state;
	world_begin(&w);
	world_open(&w, &s);
	webhook_start(w.webhook, 0);
	for (size_t i = 0; i < sizeof(moods) / sizeof(moods[0]); i++) {
		w.receiver.mood = moods[i];
		for (int n = 0; n < 10; n++)
			happen(&w, id++);
		run_for(&w, 0.5);
	}
	receiver_close(&w.receiver);
	happen(&w, id++);
	run_for(&w, 0.5);
	receiver_open(&w.receiver, w.loop);
	w.receiver.mood = RECEIVER_TAKES;
	happen(&w, id++);
	RUN_UNTIL(&w, w.told == 2);
	RUN_UNTIL(&w, w.receiver.got[w.receiver.count - 1] == id - 1);
	assert_in_order(&w.receiver, 1, id - 1);
	world_end(&w);
}

/* More than the queue holds, while nobody takes it: the rest is read from the store. */
static void the_queue_is_bounded(void **state)
{
	const struct webhook_settings s = {.min_severity = SEVERITY_NOTICE};
	struct world w;
	json_t *status;

	(void)state;
	world_begin(&w);
	world_open(&w, &s);
	w.receiver.mood = RECEIVER_HANGS;
	webhook_start(w.webhook, 0);
	for (uint64_t i = 1; i <= WEBHOOK_QUEUE_MAX + 500; i++)
		happen(&w, i);
	status = webhook_status(w.webhook);
	const json_t *url = json_array_get(json_object_get(status, "urls"), 0);

	assert_int_equal(json_integer_value(json_object_get(url, "pending")), WEBHOOK_QUEUE_MAX);
	assert_true(json_is_true(json_object_get(url, "behind")));
	assert_null(strstr(json_string_value(json_object_get(url, "url")), "token"));
	json_decref(status);
	webhook_free(w.webhook);

	world_open(&w, &s);
	w.receiver.mood = RECEIVER_TAKES;
	webhook_start(w.webhook, 0);
	for (uint64_t i = WEBHOOK_QUEUE_MAX + 501; i <= 2 * WEBHOOK_QUEUE_MAX + 700; i++)
		happen(&w, i);
	RUN_UNTIL(&w, w.receiver.count &&
			      w.receiver.got[w.receiver.count - 1] == 2 * WEBHOOK_QUEUE_MAX + 700);
	assert_true(w.asked > 0);
	assert_in_order(&w.receiver, WEBHOOK_QUEUE_MAX + 501, 2 * WEBHOOK_QUEUE_MAX + 700);
	world_end(&w);
}

static void a_restart_goes_on_where_it_was(void **state)
{
	const struct webhook_settings s = {.min_severity = SEVERITY_NOTICE};
	struct world w;
	char key[65];

	(void)state;
	world_begin(&w);
	for (uint64_t i = 1; i <= 450; i++)
		store_event(&w, i);
	world_open(&w, &s);
	AUTO_FREE char *url = mem_printf("http://user:token@127.0.0.1:%u/hook/token",
					 w.receiver.port);
	webhook_call_key(url, key);
	webhook_load_row(w.webhook, &(struct store_row){.kind = WEBHOOK_ROW_KIND,
							.key = key,
							.value = "{\"position\":\"5\"}"});
	w.store_fails = true;
	webhook_start(w.webhook, 450);
	happen(&w, 451);
	run_for(&w, 0.1);
	assert_int_equal(w.receiver.count, 0);
	w.store_fails = false;
	RUN_UNTIL(&w, w.receiver.count && w.receiver.got[w.receiver.count - 1] == 451);
	assert_int_equal(w.receiver.count, 446);
	assert_in_order(&w.receiver, 6, 451);
	world_end(&w);
}

/* The row of an URL that is no longer told leaves. */
static void a_stranger_is_forgotten(void **state)
{
	const struct webhook_settings s = {.min_severity = SEVERITY_NOTICE};
	struct world w;

	(void)state;
	world_begin(&w);
	world_open(&w, &s);
	webhook_load_row(w.webhook, &(struct store_row){.kind = WEBHOOK_ROW_KIND,
							.key = "other",
							.value = "{\"position\":\"5\"}"});
	webhook_start(w.webhook, 7);
	RUN_UNTIL(&w, strcmp(w.position, "{\"position\":\"7\"}") == 0);
	world_end(&w);
}

static void on_results(void *ctx, json_t *results)
{
	struct world *w = ctx;

	w->results = results ? results : json_null();
}

static void a_test_calls_and_tells(void **state)
{
	const struct webhook_settings s = {.min_severity = SEVERITY_NOTICE,
					   .secret_file = "/nonexistent/secret"};
	const struct webhook_settings plain = {.min_severity = SEVERITY_NOTICE};
	struct world w;

	(void)state;
	world_begin(&w);
	/* Without its secret nothing goes out. */
	world_open(&w, &s);
	assert_int_equal(webhook_try_all(w.webhook, on_results, &w), 0);
	assert_int_equal(webhook_try_all(w.webhook, on_results, &w), -EALREADY);
	RUN_UNTIL(&w, w.results);
	assert_true(json_is_false(json_object_get(json_array_get(w.results, 0), "ok")));
	assert_int_equal(w.receiver.calls, 0);
	json_decref(w.results);
	w.results = NULL;
	webhook_free(w.webhook);

	world_open(&w, &plain);
	assert_int_equal(webhook_try_all(w.webhook, on_results, &w), 0);
	RUN_UNTIL(&w, w.results);
	assert_true(json_is_true(json_object_get(json_array_get(w.results, 0), "ok")));
	assert_int_equal(w.receiver.calls, 1);
	json_decref(w.results);
	w.results = NULL;
	/* The daemon stops in the middle of it. */
	w.receiver.mood = RECEIVER_HANGS;
	assert_int_equal(webhook_try_all(w.webhook, on_results, &w), 0);
	run_for(&w, 0.1);
	webhook_free(w.webhook);
	w.webhook = NULL;
	assert_true(json_is_null(w.results));
	world_end(&w);
}

/* Who mends a receiver, and tests it, does not have to wait until the next call is due. */
static void a_test_that_is_taken_ends_the_waiting(void **state)
{
	const struct webhook_settings s = {.min_severity = SEVERITY_NOTICE,
					   .pace = 60 * USEC_PER_SEC};
	struct world w;

	(void)state;
	world_begin(&w);
	world_open(&w, &s);
	webhook_start(w.webhook, 0);
	w.receiver.mood = RECEIVER_FAILS;
	happen(&w, 1);
	RUN_UNTIL(&w, w.told == 1);
	/* A test that fails, too, changes nothing. */
	assert_int_equal(webhook_try_all(w.webhook, on_results, &w), 0);
	RUN_UNTIL(&w, w.results);
	json_decref(w.results);
	w.results = NULL;
	run_for(&w, 0.1);
	assert_int_equal(w.receiver.calls, 2);
	w.receiver.mood = RECEIVER_TAKES;
	assert_int_equal(webhook_try_all(w.webhook, on_results, &w), 0);
	RUN_UNTIL(&w, w.results);
	RUN_UNTIL(&w, w.receiver.calls == 4);
	assert_int_equal(w.receiver.got[w.receiver.count - 1], 1);
	json_decref(w.results);
	w.results = NULL;
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_go_out_in_few_calls),
		cmocka_unit_test(what_is_not_wanted_stays),
		cmocka_unit_test(a_bad_receiver_loses_nothing),
		cmocka_unit_test(the_queue_is_bounded),
		cmocka_unit_test(a_restart_goes_on_where_it_was),
		cmocka_unit_test(a_stranger_is_forgotten),
		cmocka_unit_test(a_test_calls_and_tells),
		cmocka_unit_test(a_test_that_is_taken_ends_the_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
