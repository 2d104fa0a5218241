// SPDX-License-Identifier: GPL-2.0-or-later
// Calculators: they answer questions about settings and change nothing.
#include "api/handlers.h"

#include "api/advice_json.h"
#include "api/health_json.h"
#include "api/request.h"
#include "model/object.h"
#include "model/validate.h"

#include <errno.h>
#include <string.h>

/* The members of the body that are of the calculator itself; *ret_d: microseconds. Faults go to `e`. */
static void tools_read_members(const json_t *body, struct err *e, usec_t *ret_d)
{
	const json_t *d = json_object_get(body, "d_ms");
	const char *name;
	json_t *value;

	/* jansson's iterators take a mutable object, which they do not change. */
	json_object_foreach ((json_t *)(uintptr_t)body, name, value) {
		char pointer[ERR_POINTER_MAX] = "";

		if (strcmp(name, "d_ms") == 0 || strcmp(name, "protocol") == 0 ||
		    strcmp(name, "health_check") == 0)
			continue;
		err_pointer_push(pointer, name);
		err_set(e, ERR_UNKNOWN, pointer,
			"unknown member; there are health_check, protocol and d_ms");
	}
	*ret_d = 0;
	if (!d)
		return;
	if (!json_is_integer(d))
		err_set(e, ERR_TYPE, "/d_ms", "must be a whole number of milliseconds");
	else if (json_integer_value(d) < 0 || json_integer_value(d) > 300000)
		err_set(e, ERR_RANGE, "/d_ms", "must be from 0 to timeout_ms, not %lld",
			(long long)json_integer_value(d));
	else
		*ret_d = (usec_t)json_integer_value(d) * USEC_PER_MS;
}

/* The check in a group of its own, or NULL with faults. The caller drops the reference. */
static struct object *tools_read_group(const json_t *body, struct err *e)
{
	const json_t *protocol = json_object_get(body, "protocol");
	const json_t *check = json_object_get(body, "health_check");
	json_t *group = json_pack("{s:s}", "protocol", "tcp");
	struct object *made = NULL;

	if (protocol)
		json_object_set(group, "protocol", (json_t *)(uintptr_t)protocol);
	if (check)
		json_object_set(group, "health_check", (json_t *)(uintptr_t)check);
	if (object_decode(OBJECT_SERVER_GROUP, "estimate", group, "", e, &made) == 0)
		validate_health_check(&((struct server_group *)made)->health_check, "/health_check",
				      e);
	json_decref(group);
	return made;
}

void handlers_tools_detection_time(struct request *r)
{
	AUTO_ERR struct err faults = {0};
	struct server_group *g;
	usec_t d;
	json_t *group;

	tools_read_members(r->json, &faults, &d);
	g = (struct server_group *)tools_read_group(r->json, &faults);
	if (g && d > g->health_check.timeout_ms * USEC_PER_MS && !err_any(&faults))
		err_set(&faults, ERR_RANGE, "/d_ms", "must be from 0 to timeout_ms, %u",
			g->health_check.timeout_ms);
	if (err_any(&faults)) {
		request_fail_faults(r, &faults);
	} else {
		group = object_encode_row(&g->o);
		request_reply_json(r, 200,
				   json_pack("{s:O, s:o, s:o}", "health_check",
					     json_object_get(group, "health_check"), "windows",
					     health_json_windows(&g->health_check, d), "advice",
					     advice_json_check(g)));
		json_decref(group);
	}
	if (g)
		object_unref(&g->o);
}
