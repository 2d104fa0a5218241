// SPDX-License-Identifier: GPL-2.0-or-later
// A call to every URL that somebody wants to see made, beside the queue: one that is taken ends the waiting after a failure.
#include "webhook/webhook_parts.h"

#include "base/mem.h"

#include <errno.h>

struct webhook_try_call {
	struct webhook_try *all;
	struct webhook_target *target;
	struct child *child;
	usec_t started;
	json_t *result;
};

struct webhook_try {
	struct webhook *hub;
	struct webhook_try_call calls[WEBHOOK_URLS_MAX];
	size_t left;
	ev_timer ended; /* the answer comes later, also when no call could be made */
	void (*done)(void *ctx, json_t *results);
	void *ctx;
};

static void webhook_try_free(struct webhook_try *all)
{
	ev_timer_stop(all->hub->loop, &all->ended);
	for (size_t i = 0; i < WEBHOOK_URLS_MAX; i++) {
		child_free(all->calls[i].child);
		json_decref(all->calls[i].result);
	}
	all->hub->test = NULL;
	free(all);
}

void webhook_try_end(struct webhook_try *all)
{
	if (!all)
		return;
	all->done(all->ctx, NULL);
	webhook_try_free(all);
}

static void webhook_try_on_ended(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct webhook_try *all = timer->data;
	json_t *results = json_array();

	(void)loop;
	(void)events;
	for (size_t i = 0; i < all->hub->count; i++)
		json_array_append(results, all->calls[i].result);
	all->done(all->ctx, results);
	webhook_try_free(all);
}

static void webhook_try_take(struct webhook_try_call *call, unsigned status, const char *error)
{
	call->result = json_pack("{s:s, s:b, s:o, s:s, s:I}", "url", call->target->origin, "ok",
				 error[0] == '\0', "status",
				 status ? json_integer((json_int_t)status) : json_null(), "detail",
				 error[0] ? error : "taken", "duration_ms",
				 (json_int_t)((time_monotonic() - call->started) / USEC_PER_MS));
	if (--call->all->left == 0)
		ev_timer_start(call->all->hub->loop, &call->all->ended);
}

static void webhook_try_on_called(void *ctx, const struct child_end *end)
{
	struct webhook_try_call *call = ctx;
	char error[WEBHOOK_ERROR_MAX];
	unsigned status;

	call->child = NULL;
	if (webhook_call_judge(end, &status, error))
		webhook_retry(call->target);
	webhook_try_take(call, status, error);
}

static char *webhook_try_body(const struct webhook *w)
{
	char at[TIME_TEXT_MAX];
	json_t *json = json_pack(
		"{s:s, s:b, s:[{s:s, s:s, s:s, s:s, s:s, s:s, s:{}}]}", "node", w->node, "test", 1,
		"events", "id", "0", "at", time_format_wall(time_wall(), at), "type", "notify.test",
		"object", "", "severity", "info", "detail", "somebody tests this webhook", "data");
	char *text = json_dumps(json, JSON_COMPACT);

	assert(text);
	json_decref(json);
	return text;
}

int webhook_try_all(struct webhook *w, void (*done)(void *ctx, json_t *results), void *ctx)
{
	char *body AUTO_FREE = NULL;
	struct webhook_try *all;

	if (w->test)
		return -EALREADY;
	all = mem_new(struct webhook_try);
	w->test = all;
	all->hub = w;
	all->done = done;
	all->ctx = ctx;
	all->left = w->count;
	ev_timer_init(&all->ended, webhook_try_on_ended, 0., 0.);
	all->ended.data = all;
	body = webhook_try_body(w);
	for (size_t i = 0; i < w->count; i++) {
		struct webhook_try_call *call = &all->calls[i];
		const struct webhook_message m = {.target = &w->targets[i],
						  .body = body,
						  .done = webhook_try_on_called,
						  .ctx = call};
		char error[WEBHOOK_ERROR_MAX];

		call->all = all;
		call->target = &w->targets[i];
		call->started = time_monotonic();
		if (webhook_send(&m, &call->child, error))
			webhook_try_take(call, 0, error);
	}
	if (w->count == 0)
		ev_timer_start(w->loop, &all->ended);
	return 0;
}
