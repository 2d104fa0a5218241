// SPDX-License-Identifier: GPL-2.0-or-later
// Overrides as JSON. What is allowed is the engine's business; here only the form counts.
#include "api/override_json.h"

#include "api/plan_json.h"
#include "api/shift_json.h"
#include "api/status_json.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

/* ---- encoding --------------------------------------------------------------------------------- */

/* The names by which the object is found; what does not belong to it is null. */
static json_t *override_json_names(const struct override_place *p)
{
	const bool server = p->target == OVERRIDE_SERVER, zone = p->target == OVERRIDE_GROUP_ZONE;
	const bool listener = p->target == OVERRIDE_LISTENER, lb = p->target == OVERRIDE_LB;
	json_t *json = json_pack("{s:s?, s:s?}", "server_group", server || zone ? p->parent : NULL,
				 "server", server ? p->name : NULL);
	json_t *rest = json_pack("{s:s?, s:s?, s:s?}", "zone", zone ? p->name : NULL,
				 "load_balancer",
				 lb         ? p->name
				 : listener ? p->parent
					    : NULL,
				 "listener", listener ? p->name : NULL);

	if (p->kind == OVERRIDE_DRAIN)
		json_object_update(json, rest);
	json_decref(rest);
	return json;
}

static void override_json_add_drain(json_t *json, const struct override_status *s)
{
	json_t *more = json_pack("{s:s, s:I, s:o, s:I, s:o, s:I, s:I, s:I}", "state",
				 s->finished ? "finished" : "draining", "timeout_ms",
				 (json_int_t)(s->timeout / USEC_PER_MS), "deadline_at",
				 status_json_time(s->deadline_wall), "time_left_ms",
				 (json_int_t)(s->finished ? 0 : s->left / USEC_PER_MS),
				 "finished_at", status_json_time(s->finished_wall), "connections",
				 (json_int_t)s->connections, "active", (json_int_t)s->active,
				 "destinations", (json_int_t)s->destinations);

	json_object_update(json, more);
	json_decref(more);
}

static void override_json_add_weight(json_t *json, const struct override_status *s)
{
	json_object_set_new(json, "weight", json_integer((json_int_t)s->weight));
	json_object_set_new(json, "weight_configured",
			    json_integer((json_int_t)s->weight_configured));
	json_object_set_new(json, "expires_at", status_json_time(s->deadline_wall));
}

json_t *override_json_encode(const struct override_status *s)
{
	char object[OVERRIDE_OBJECT_MAX];
	json_t *json = json_pack("{s:s, s:s, s:s}", "kind", override_kind_name(s->place.kind), "id",
				 s->id, "object", override_object(&s->place, object));
	json_t *names = override_json_names(&s->place);
	json_t *rest = json_pack("{s:s, s:s, s:o, s:o, s:s}", "who", s->who, "comment", s->comment,
				 "created_at", status_json_time(s->created_wall), "changed_at",
				 status_json_time(s->changed_wall), "detail", s->sentence);

	json_object_update(json, names);
	json_decref(names);
	json_object_update(json, rest);
	json_decref(rest);
	if (s->place.kind == OVERRIDE_DRAIN)
		override_json_add_drain(json, s);
	else
		override_json_add_weight(json, s);
	return json;
}

json_t *override_json_whole(const struct override_status *s)
{
	json_t *json = override_json_encode(s), *list = json_array();
	const json_t *entry;
	size_t i;

	json_array_foreach (s->history, i, entry)
		json_array_append_new(list,
				      json_pack("{s:o, s:O*, s:O*}", "at",
						status_json_time((usec_t)json_integer_value(
							json_object_get(entry, "at"))),
						"who", json_object_get(entry, "who"), "comment",
						json_object_get(entry, "comment")));
	json_object_set_new(json, "history", list);
	return json;
}

json_t *override_json_shift(const struct shift_status *s)
{
	return json_pack(
		"{s:s, s:s, s:o, s:s?, s:s?, s:o, s:o, s:s, s:s, s:b, s:b}", "kind", "zone_shift",
		"id", s->id, "object",
		json_sprintf("load_balancers/%s/zones/%s", s->load_balancer, s->zone), "who",
		s->who, "comment", s->comment, "created_at", status_json_time(s->created_wall),
		"expires_at", status_json_time(s->expires_wall), "zone", s->zone, "load_balancer",
		s->load_balancer, "evacuate_servers", s->evacuate_servers, "forced", s->forced);
}

json_t *override_json_removal(const struct drain_status *d)
{
	char endpoint[ADDR_ENDPOINT_TEXT_MAX];

	return json_pack("{s:s, s:n, s:o, s:n, s:s, s:o, s:o, s:s, s:s, s:s, s:s, s:s, s:I, s:I}",
			 "kind", "removal", "id", "object",
			 json_sprintf("server_groups/%s/servers/%s", d->group, d->server), "who",
			 "comment", "removed; its connections may finish", "created_at",
			 status_json_time(d->started_wall), "deadline_at",
			 status_json_time(d->deadline_wall), "load_balancer", d->lb, "listener",
			 d->listener, "server_group", d->group, "server", d->server, "endpoint",
			 addr_format_endpoint(&d->address, d->port, endpoint), "connections",
			 (json_int_t)d->connections, "active", (json_int_t)d->active);
}

json_t *override_json_change(const struct confirm_status *s)
{
	return json_pack("{s:s, s:n, s:s, s:s, s:s?, s:o, s:o, s:I, s:s}", "kind",
			 "unconfirmed_change", "id", "object", "config", "who", s->who, "comment",
			 s->comment, "created_at", status_json_time(s->made_wall), "expires_at",
			 status_json_time(s->undone_wall), "revision", (json_int_t)s->revision,
			 "detail", "undoes itself unless it is confirmed");
}

/* What of an override is wished. Takes the reference. */
static json_t *override_json_wished(json_t *override)
{
	static const char *const members[] = {"comment", "timeout_ms", "weight", "expires_at"};
	json_t *json = override ? json_object() : NULL, *value;

	for (size_t i = 0; override && i < sizeof(members) / sizeof(members[0]); i++)
		if ((value = json_object_get(override, members[i])))
			json_object_set(json, members[i], value);
	json_decref(override);
	return json;
}

static json_t *override_json_difference(const struct override_result *result,
					enum override_verb verb, const struct override_status *old)
{
	const struct override_place *place = &result->status->place;
	const struct override_status *new = verb == OVERRIDE_DELETE ? NULL : result->status;
	char object[OVERRIDE_OBJECT_MAX];
	json_t *diff = json_array(), *change;

	change = plan_json_difference(
		json_sprintf("/%s/%s", override_object(place, object),
			     place->kind == OVERRIDE_DRAIN ? "drain" : "weight_override"),
		override_json_wished(old ? override_json_encode(old) : NULL),
		override_json_wished(new ? override_json_encode(new) : NULL));
	if (change)
		json_array_append_new(diff, change);
	return diff;
}

json_t *override_json_plan(const struct override_result *result, enum override_verb verb,
			   const struct override_status *old)
{
	json_t *diff = override_json_difference(result, verb, old);
	const size_t ops = result->ops ? result->ops->count : 0;
	const size_t names = result->dns_changes ? result->dns_changes->count : 0;

	return json_pack(
		"{s:o, s:o, s:I, s:o, s:I, s:o, s:I, s:o}", "override",
		override_json_encode(result->status), "diff", diff, "diff_total",
		(json_int_t)json_array_size(diff), "kernel_ops",
		ops ? plan_json_ops(result->ops) : json_array(), "kernel_ops_total",
		(json_int_t)ops, "dns_changes",
		names ? plan_json_dns(result->dns_changes) : json_array(), "dns_changes_total",
		(json_int_t)names, "warnings",
		plan_json_foreseen(result->warnings, result->starved, result->dns_changes));
}

/* ---- decoding --------------------------------------------------------------------------------- */

/* As descriptions: what people write is shown on terminals. */
static void override_json_take_comment(const json_t *value, struct err *e,
				       struct override_request *wish)
{
	const char *text = json_string_value(value);

	if (!text) {
		err_set(e, ERR_TYPE, "/comment", "must be a string");
		return;
	}
	wish->comment = text;
	if (!text_is_clean(text))
		err_set(e, ERR_FORMAT, "/comment", "must not hold control characters");
}

static bool override_json_take_number(const json_t *value, const char *pointer, unsigned max,
				      struct err *e, uint32_t *ret_number)
{
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value))
		err_set(e, ERR_TYPE, pointer, "must be an integer");
	else if (n < 0 || n > (json_int_t)max)
		err_set(e, ERR_RANGE, pointer, "is not within 0 and %u", max);
	else
		*ret_number = (uint32_t)n;
	return true; /* it was given */
}

static void override_json_take_expiry(const json_t *value, struct err *e,
				      struct override_request *wish)
{
	if (!json_is_string(value))
		err_set(e, ERR_TYPE, "/expires_in", "must be a string as \"90s\", \"30m\", \"2h\"");
	else if (shift_json_parse_time(json_string_value(value), &wish->expires_in))
		err_set(e, ERR_FORMAT, "/expires_in",
			"must be a number above 0 with a unit: \"90s\", \"30m\", \"2h\", \"3d\"");
}

static void override_json_take(const char *name, const json_t *value, struct err *e,
			       struct override_request *wish)
{
	const bool drain = wish->place.kind == OVERRIDE_DRAIN;
	char pointer[ERR_POINTER_MAX] = "";

	if (strcmp(name, "comment") == 0) {
		override_json_take_comment(value, e, wish);
	} else if (drain && strcmp(name, "timeout_ms") == 0) {
		wish->has_timeout = override_json_take_number(
			value, "/timeout_ms", OVERRIDE_TIMEOUT_MAX, e, &wish->timeout_ms);
	} else if (!drain && strcmp(name, "weight") == 0) {
		wish->has_weight = override_json_take_number(value, "/weight", OVERRIDE_WEIGHT_MAX,
							     e, &wish->weight);
	} else if (!drain && strcmp(name, "expires_in") == 0) {
		override_json_take_expiry(value, e, wish);
	} else {
		err_pointer_push(pointer, name);
		err_set(e, ERR_UNKNOWN, pointer, "unknown member");
	}
}

int override_json_decode(const json_t *body, struct err *e, struct override_request *ret_wish)
{
	json_t *members = (json_t *)(uintptr_t)body; /* the iterator does not change it */
	const char *name;
	json_t *value;

	json_object_foreach (members, name, value)
		override_json_take(name, value, e, ret_wish);
	if (!json_object_get(body, "comment"))
		err_set(e, ERR_MISSING, "/comment", "is required: why is this done?");
	if (ret_wish->place.kind == OVERRIDE_WEIGHT && !ret_wish->has_weight)
		err_set(e, ERR_MISSING, "/weight", "is required");
	return err_any(e) ? -EINVAL : 0;
}
