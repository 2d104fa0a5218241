/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store of the API rig: commits, the journal, queries. */
#ifndef ZG_TESTS_API_RIG_STORE_H
#define ZG_TESTS_API_RIG_STORE_H

#include "api_rig_state.h"

/* An entry of the journal, as the daemon would write it. Before rig_start(), or from the loop. */
static inline void rig_note(struct rig *rig, const char *kind, const char *key, usec_t wall,
			    const char *value)
{
	if (!rig->journal)
		rig->journal = json_array();
	json_array_append_new(rig->journal,
			      json_pack("{s:I, s:s, s:s, s:I, s:s}", "id",
					strcmp(kind, STORE_EVENT_KIND) == 0
						? (json_int_t)strtoull(key, NULL, 10)
						: (json_int_t)json_array_size(rig->journal) + 1,
					"kind", kind, "key", key, "wall", (json_int_t)wall, "value",
					value));
}

static inline void rig_commit(void *ctx, struct batch *b, const struct store_row *rows,
			      size_t count, uint64_t token)
{
	struct rig *rig = ctx;

	if (b && !rig->fail_commits)
		fake_history_note(&rig->history, b);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].wall)
			rig_note(rig, rows[i].kind, rows[i].key, rows[i].wall, rows[i].value);
	}
	rig_push(ctx, RIG_COMMIT)->token = token;
}

static inline bool rig_matches_event(const struct store_query *q, const json_t *entry)
{
	json_t *event = json_loads(json_string_value(json_object_get(entry, "value")), 0, NULL);
	json_int_t id = json_integer_value(json_object_get(entry, "id"));
	bool matches = strcmp(json_string_value(json_object_get(entry, "kind")),
			      STORE_EVENT_KIND) == 0 &&
		       (!q->before || id < (json_int_t)q->before) && id >= (json_int_t)q->after &&
		       engine_event_matches(q->events.types,
					    json_string_value(json_object_get(event, "type"))) &&
		       engine_event_concerns(q->events.object,
					     json_string_value(json_object_get(event, "object")));

	json_decref(event);
	return matches;
}

/* Whether an entry (newest first) is one that is asked for. */
static inline bool rig_matches(const struct store_query *q, const json_t *entry)
{
	if (q->what == STORE_EVENTS)
		return rig_matches_event(q, entry);
	if (q->before && (uint64_t)json_integer_value(json_object_get(entry, "id")) >= q->before)
		return false;
	if (q->what == STORE_AUDIT && q->audit.actor &&
	    !strstr(json_string_value(json_object_get(entry, "value")), q->audit.actor))
		return false;
	return strcmp(json_string_value(json_object_get(entry, "kind")),
		      q->what == STORE_AUDIT ? STORE_AUDIT_KIND : q->kind) == 0 &&
	       (!q->key || strcmp(json_string_value(json_object_get(entry, "key")), q->key) == 0);
}

static inline void rig_query(void *ctx, const struct store_query *q, store_items_fn *done,
			     void *done_ctx)
{
	struct rig *rig = ctx;
	struct rig_event *ev = rig_push(rig, RIG_QUERY);

	ev->give = done;
	ev->ctx = done_ctx;
	if (rig->fail_queries) {
		err_set(&ev->fault, ERR_UNAVAILABLE, "", "the disk is gone");
		return;
	}
	if (q->what != STORE_JOURNAL && q->what != STORE_AUDIT && q->what != STORE_EVENTS) {
		ev->items = fake_history_query(&rig->history, q, &ev->fault);
		return;
	}
	ev->items = json_array();
	for (size_t i = json_array_size(rig->journal); i > 0; i--) {
		json_t *entry = json_array_get(rig->journal,
					       q->events.forward ? json_array_size(rig->journal) - i
								 : i - 1);

		if (rig_matches(q, entry) && json_array_size(ev->items) < q->limit)
			json_array_append(ev->items, entry);
	}
}

#endif
