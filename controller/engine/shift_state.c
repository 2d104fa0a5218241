// SPDX-License-Identifier: GPL-2.0-or-later
// A zone shift as a value: new, changed, copied.
#include <string.h>

#include "base/mem.h"
#include "engine/zones.h"

void shift_state_free(struct engine_shift *s)
{
	if (!s)
		return;
	free(s->id);
	free(s->zone);
	free(s->lb);
	free(s->who);
	free(s->comment);
	json_decref(s->history);
	free(s);
}

usec_t engine_shift_noted(const json_t *history)
{
	const json_t *last = json_array_get(history, json_array_size(history) - 1);

	return (usec_t)json_integer_value(json_object_get(last, "at"));
}

/* The beginning and the newest changes are kept. */
static void add_history(struct engine *e, struct engine_shift *s, const struct shift_request *r)
{
	if (json_array_size(s->history) == SHIFT_HISTORY_MAX)
		json_array_remove(s->history, 1);
	json_array_append_new(s->history,
			      json_pack("{s:I, s:s, s:s, s:I}", "at",
					(json_int_t)e->ports.wall(e->ports.ctx), "who",
					r->who ? r->who : "unknown", "comment", s->comment,
					"expires_at", (json_int_t)s->expires_wall));
}

static void set_expiry(struct engine *e, struct engine_shift *s, usec_t expires_in)
{
	s->expires = e->ports.now(e->ports.ctx) + expires_in;
	s->expires_wall = e->ports.wall(e->ports.ctx) + expires_in;
	s->expiry_told = expires_in <= 2 * SHIFT_EXPIRING_NOTICE;
}

struct engine_shift *shift_state_start(struct engine *e, const struct shift_request *r)
{
	struct engine_shift *s = mem_new(struct engine_shift);

	s->id = mem_printf("%012llx",
			   (unsigned long long)(e->ports.random(e->ports.ctx) & 0xffffffffffffULL));
	s->zone = mem_strdup(r->zone);
	s->lb = mem_strdup(r->load_balancer);
	s->who = mem_strdup(r->who ? r->who : "unknown");
	s->comment = mem_strdup(r->comment);
	s->history = json_array();
	s->created_wall = e->ports.wall(e->ports.ctx);
	s->evacuate = r->evacuate_servers;
	s->forced = r->force;
	set_expiry(e, s, r->expires_in);
	add_history(e, s, r);
	return s;
}

struct engine_shift *shift_state_copy(const struct engine_shift *from)
{
	struct engine_shift *s = mem_dup(from, sizeof(*from));

	s->id = mem_strdup(from->id);
	s->zone = mem_strdup(from->zone);
	s->lb = mem_strdup(from->lb);
	s->who = mem_strdup(from->who);
	s->comment = mem_strdup(from->comment);
	s->history = from->history ? json_deep_copy(from->history) : json_array();
	return s;
}

struct engine_shift *shift_state_change(struct engine *e, const struct engine_shift *old,
					const struct shift_request *r)
{
	struct engine_shift *s = shift_state_copy(old);

	if (r->comment) {
		free(s->comment);
		s->comment = mem_strdup(r->comment);
	}
	if (r->expires_in)
		set_expiry(e, s, r->expires_in);
	add_history(e, s, r);
	return s;
}
