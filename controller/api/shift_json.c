// SPDX-License-Identifier: GPL-2.0-or-later
// Zone shifts as JSON. What is allowed is the engine's business; here only the form counts.
#include "api/shift_json.h"

#include "api/plan_json.h"
#include "api/problem.h"
#include "api/status_json.h"
#include "base/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- encoding --------------------------------------------------------------------------------- */

static json_t *shift_json_wall(const json_t *object, const char *member)
{
	return status_json_time((usec_t)json_integer_value(json_object_get(object, member)));
}

static json_t *shift_json_history(const json_t *history)
{
	json_t *list = json_array();
	const json_t *entry;
	size_t i;

	json_array_foreach (history, i, entry)
		json_array_append_new(list,
				      json_pack("{s:o, s:O*, s:O*, s:o}", "at",
						shift_json_wall(entry, "at"), "who",
						json_object_get(entry, "who"), "comment",
						json_object_get(entry, "comment"), "expires_at",
						shift_json_wall(entry, "expires_at")));
	return list;
}

json_t *shift_json_encode(const struct shift_status *s)
{
	return json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:o, s:o, s:b, s:b, s:o}", "id", s->id,
			 "zone", s->zone, "load_balancer", s->load_balancer, "comment", s->comment,
			 "who", s->who, "created_at", status_json_time(s->created_wall),
			 "expires_at", status_json_time(s->expires_wall), "evacuate_servers",
			 s->evacuate_servers, "forced", s->forced, "history",
			 shift_json_history(s->history));
}

static json_t *shift_json_addresses(const struct addr *list, size_t count)
{
	json_t *json = json_array();
	char text[ADDR_TEXT_MAX];

	for (size_t i = 0; i < count; i++)
		json_array_append_new(json, json_string(addr_format(&list[i], text)));
	return json;
}

json_t *shift_json_effects(const struct shift_effect *effects, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct shift_effect *f = &effects[i];

		json_array_append_new(
			list,
			json_pack("{s:s, s:s?, s:I, s:I, s:i, s:o, s:o}", "load_balancer",
				  f->load_balancer, "dns_name", f->dns_name, "zones_left",
				  (json_int_t)f->zones_left, "servers_moved",
				  (json_int_t)f->servers_moved, "share_percent",
				  (int)f->share_percent, "answers_before",
				  shift_json_addresses(f->before, f->before_count), "answers_after",
				  shift_json_addresses(f->after, f->after_count)));
	}
	return list;
}

/* ---- dry runs --------------------------------------------------------------------------------- */

static json_t *shift_json_of_family(const struct addr *list, size_t count, unsigned family)
{
	json_t *json = json_array();
	char text[ADDR_TEXT_MAX];

	for (size_t i = 0; i < count; i++)
		if (list[i].family == family)
			json_array_append_new(json, json_string(addr_format(&list[i], text)));
	return json;
}

/* What the name is answered with in one family, if that changes; without addresses there is no TTL. */
static void shift_json_add_name(json_t *list, const struct shift_effect *f, unsigned family)
{
	json_t *before = shift_json_of_family(f->before, f->before_count, family);
	json_t *after = shift_json_of_family(f->after, f->after_count, family);
	const bool had = json_array_size(before) > 0, has = json_array_size(after) > 0;

	if (!json_equal(before, after) || (has && f->ttl_before != f->ttl_after))
		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:O, s:O, s:o, s:o}", "name", f->dns_name, "type",
				  family == AF_INET ? "A" : "AAAA", "before", before, "after",
				  after, "ttl_before_s",
				  had ? json_integer((json_int_t)f->ttl_before) : json_null(),
				  "ttl_after_s",
				  has ? json_integer((json_int_t)f->ttl_after) : json_null()));
	json_decref(before);
	json_decref(after);
}

void shift_json_add_effects(json_t *answer, const struct shift_effect *effects, size_t count)
{
	json_t *names = json_array();
	size_t total = 0;

	json_object_set_new(answer, "effects", shift_json_effects(effects, count));
	for (size_t i = 0; i < count && json_object_get(answer, "diff"); i++) {
		if (!effects[i].dns_name)
			continue;
		shift_json_add_name(names, &effects[i], AF_INET);
		shift_json_add_name(names, &effects[i], AF_INET6);
	}
	total = json_array_size(names);
	while (json_array_size(names) > PLAN_JSON_LIST_MAX)
		json_array_remove(names, json_array_size(names) - 1);
	if (json_object_get(answer, "diff")) {
		json_object_set(answer, "dns_changes", names);
		json_object_set_new(answer, "dns_changes_total", json_integer((json_int_t)total));
	}
	json_decref(names);
}

/* What of a shift is wished. Takes the reference. */
static json_t *shift_json_wished(json_t *shift)
{
	static const char *const members[] = {"zone",       "load_balancer",    "comment",
					      "expires_at", "evacuate_servers", "forced"};
	json_t *json = shift ? json_object() : NULL;

	for (size_t i = 0; shift && i < sizeof(members) / sizeof(members[0]); i++)
		json_object_set(json, members[i], json_object_get(shift, members[i]));
	json_decref(shift);
	return json;
}

json_t *shift_json_plan(const struct shift_request *r, const struct shift_result *result,
			json_t *old)
{
	json_t *shift = result->shift ? shift_json_encode(result->shift) : NULL;
	json_t *new = r->verb == SHIFT_CANCEL ? NULL : json_incref(shift);
	json_t *path = r->id ? json_sprintf("/zone_shifts/%s", r->id) : json_string("/zone_shifts");
	json_t *diff = json_array(), *warnings = json_array(), *change;
	const size_t ops = result->ops ? result->ops->count : 0;

	change = plan_json_difference(path, shift_json_wished(old), shift_json_wished(new));
	if (change)
		json_array_append_new(diff, change);
	if (result->next)
		json_array_append_new(warnings,
				      json_pack("{s:s, s:o, s:s}", "code",
						result->returns ? "checked_first" : "still_shifted",
						"pointer", json_sprintf("/zone_shifts/%s", r->id),
						"detail", result->next));
	return json_pack("{s:o*, s:o, s:o, s:I, s:o, s:I, s:o}", "shift", shift, "refusals",
			 result->refusals ? problem_encode_faults(result->refusals) : json_array(),
			 "diff", diff, "diff_total", (json_int_t)json_array_size(diff),
			 "kernel_ops", ops ? plan_json_ops(result->ops) : json_array(),
			 "kernel_ops_total", (json_int_t)ops, "warnings", warnings);
}

/* ---- decoding --------------------------------------------------------------------------------- */

int shift_json_parse_time(const char *text, usec_t *ret_time)
{
	return time_parse_span(text, 366 * 86400ULL * USEC_PER_SEC, ret_time);
}

enum shift_type { SHIFT_TEXT, SHIFT_TIME, SHIFT_BOOL };

/* Members of a body. `start`: only of a POST; `required`: there. */
struct shift_member {
	const char *name;
	enum shift_type type;
	bool start;
	bool required;
	size_t offset;
};

static const struct shift_member shift_members[] = {
	{"zone", SHIFT_TEXT, true, true, offsetof(struct shift_request, zone)},
	{"load_balancer", SHIFT_TEXT, true, true, offsetof(struct shift_request, load_balancer)},
	{"expires_in", SHIFT_TIME, false, true, offsetof(struct shift_request, expires_in)},
	{"comment", SHIFT_TEXT, false, true, offsetof(struct shift_request, comment)},
	{"evacuate_servers", SHIFT_BOOL, true, false,
	 offsetof(struct shift_request, evacuate_servers)},
	{"force", SHIFT_BOOL, true, false, offsetof(struct shift_request, force)},
};
#define SHIFT_MEMBERS (sizeof(shift_members) / sizeof(shift_members[0]))

static const struct shift_member *shift_json_find(const char *name, bool start)
{
	for (size_t i = 0; i < SHIFT_MEMBERS; i++) {
		if (strcmp(shift_members[i].name, name) == 0 && (start || !shift_members[i].start))
			return &shift_members[i];
	}
	return NULL;
}

/* As descriptions: what people write is shown on terminals. */
static void shift_json_take_text(const json_t *value, const char *pointer, struct err *e,
				 const char **ret_text)
{
	if (!json_is_string(value)) {
		err_set(e, ERR_TYPE, pointer, "must be a string");
		return;
	}
	*ret_text = json_string_value(value);
	if (!text_is_clean(*ret_text))
		err_set(e, ERR_FORMAT, pointer, "must not hold control characters");
}

static void shift_json_take(const struct shift_member *m, const json_t *value, struct err *e,
			    struct shift_request *wish)
{
	void *at = (char *)wish + m->offset;
	char pointer[32];

	snprintf(pointer, sizeof(pointer), "/%s", m->name);
	switch (m->type) {
	case SHIFT_TEXT:
		shift_json_take_text(value, pointer, e, at);
		return;
	case SHIFT_TIME:
		if (!json_is_string(value))
			err_set(e, ERR_TYPE, pointer,
				"must be a string as \"90s\", \"30m\", \"2h\"");
		else if (shift_json_parse_time(json_string_value(value), at))
			err_set(e, ERR_FORMAT, pointer,
				"must be a number above 0 with a unit: \"90s\", \"30m\", \"2h\", \"3d\"");
		return;
	case SHIFT_BOOL:
		if (json_is_boolean(value))
			*(bool *)at = json_is_true(value);
		else
			err_set(e, ERR_TYPE, pointer, "must be true or false");
		return;
	}
}

int shift_json_decode(const json_t *body, struct err *e, struct shift_request *ret_wish)
{
	const bool start = ret_wish->verb == SHIFT_START;
	json_t *members = (json_t *)(uintptr_t)body; /* the iterator does not change it */
	char pointer[ERR_POINTER_MAX] = "";
	const char *name;
	json_t *value;

	json_object_foreach (members, name, value) {
		const struct shift_member *m = shift_json_find(name, start);
		size_t length = err_pointer_push(pointer, name);

		if (m)
			shift_json_take(m, value, e, ret_wish);
		else
			err_set(e, ERR_UNKNOWN, pointer, "unknown member");
		err_pointer_pop(pointer, length);
	}
	for (size_t i = 0; i < SHIFT_MEMBERS && start; i++) {
		snprintf(pointer, sizeof(pointer), "/%s", shift_members[i].name);
		if (shift_members[i].required && !json_object_get(body, shift_members[i].name))
			err_set(e, ERR_MISSING, pointer, "is required");
	}
	if (!start && json_object_size(body) == 0)
		err_set(e, ERR_MISSING, "", "give expires_in, comment or both");
	return err_any(e) ? -EINVAL : 0;
}
