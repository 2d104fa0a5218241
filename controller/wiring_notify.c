// SPDX-License-Identifier: GPL-2.0-or-later
// From the settings of [notify] to the webhooks: lists become texts, failures log lines.
#include "wiring_notify.h"

#include <errno.h>

#include "api/api.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "settings.h"
#include "store/store.h"
#include "webhook/webhook.h"
#include "webhook/webhook_call.h"
#include "wiring_parts.h"

#define TYPES_MAX 4096

/* The list as one text, or NULL. Caller frees. */
static char *join_types(const struct settings *s)
{
	struct buf_writer w;

	if (s->notify_types.count == 0)
		return NULL;
	buf_writer_init(&w, TYPES_MAX);
	for (size_t i = 0; i < s->notify_types.count; i++) {
		buf_write_text(&w, i ? "," : "");
		buf_write_text(&w, s->notify_types.items[i]);
	}
	return buf_take(&w);
}

int wiring_notify_check(const struct settings *s, struct err *e)
{
	size_t before = e->total;
	char fault[EVENT_TYPE_MAX];
	char *types AUTO_FREE = join_types(s);

	if (s->notify_url.count > WEBHOOK_URLS_MAX)
		err_set(e, ERR_LIMIT, "[notify] url", "at most %d URLs", WEBHOOK_URLS_MAX);
	for (size_t i = 0; i < s->notify_url.count; i++) {
		const char *what = webhook_call_url_fault(s->notify_url.items[i]);

		if (what)
			err_set(e, ERR_FORMAT, "[notify] url", "number %zu %s", i + 1, what);
	}
	if (types && !engine_event_list_is_valid(types, fault))
		err_set(e, ERR_FORMAT, "[notify] types",
			"\"%s\" is no type of event, nor a family as server.*", fault);
	return e->total == before ? 0 : -EINVAL;
}

static void port_query(void *ctx, const struct store_query *q, store_items_fn *done, void *done_ctx)
{
	const struct wiring *w = ctx;

	store_query(w->store, q, done, done_ctx);
}

static void port_commit(void *ctx, const struct store_row *row, webhook_commit_fn *done,
			void *done_ctx)
{
	const struct wiring *w = ctx;

	store_commit(w->store, NULL, row, 1, done, done_ctx);
}

static void port_told(void *ctx, const char *origin, const char *error)
{
	(void)ctx;
	if (error)
		log_write(LOG_LEVEL_ERROR,
			  "notify.failed: %s: %s; it is tried again with growing pauses", origin,
			  error);
	else
		log_write(LOG_LEVEL_NOTICE, "notify.recovered: %s takes events again", origin);
}

static void on_row(void *ctx, const struct store_row *row)
{
	webhook_load_row(ctx, row);
}

int wiring_notify_start(struct wiring *w, struct err *e)
{
	const struct settings *s = w->settings;
	const struct webhook_ports ports = {
		.ctx = w, .query = port_query, .commit = port_commit, .told = port_told};
	char *types AUTO_FREE = join_types(s);
	struct webhook_settings ws = {.secret_file = s->notify_secret_file,
				      .types = types,
				      .min_severity = (enum event_severity)s->notify_min_severity,
				      .node = s->node_name,
				      .pace = s->notify_pace_ms * USEC_PER_MS,
				      .timeout = s->notify_timeout_s * USEC_PER_SEC};

	if (wiring_notify_check(s, e) != 0)
		return -EINVAL;
	if (s->notify_url.count == 0)
		return 0;
	for (size_t i = 0; i < s->notify_url.count; i++)
		ws.urls[ws.url_count++] = s->notify_url.items[i];
	w->webhook = webhook_new(w->ev, &ws, &ports);
	store_load_rows(w->store, WEBHOOK_ROW_KIND, on_row, w->webhook);
	webhook_start(w->webhook, engine_last_event(w->engine));
	return 0;
}

static json_t *read_status(void *ctx)
{
	return webhook_status(ctx);
}

static int try_all(void *ctx, void (*done)(void *done_ctx, json_t *results), void *done_ctx)
{
	return webhook_try_all(ctx, done, done_ctx);
}

void wiring_notify_fill(struct wiring *w, struct api_notify *ret_notify)
{
	*ret_notify = (struct api_notify){
		.ctx = w->webhook, .status = read_status, .test = try_all};
}
