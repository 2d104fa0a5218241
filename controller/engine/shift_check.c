// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a wish about a zone shift can be: its form, what it names, and the other shifts.
#include <string.h>

#include "base/mem.h"
#include "engine/zones.h"

static void check_expiry(const struct shift_request *r, struct err *e)
{
	if (r->verb == SHIFT_START && r->expires_in == 0)
		err_set(e, ERR_MISSING, "/expires_in",
			"is required: 90s, 30m, 1h30m or 3d, at most 72h");
	else if (r->expires_in > SHIFT_EXPIRES_MAX)
		err_set(e, ERR_RANGE, "/expires_in",
			"is more than 72h from now; extend it later if it is still needed");
}

static void check_comment(const struct shift_request *r, struct err *e)
{
	if (r->verb == SHIFT_START && (!r->comment || !r->comment[0]))
		err_set(e, ERR_MISSING, "/comment", "is required: why is the zone taken out?");
	else if (r->comment && strlen(r->comment) > SHIFT_COMMENT_MAX)
		err_set(e, ERR_LIMIT, "/comment", "has %zu bytes; at most %d are allowed",
			strlen(r->comment), SHIFT_COMMENT_MAX);
}

static bool lb_has_zone(const struct load_balancer *lb, const char *zone)
{
	for (size_t i = 0; i < lb->zones.count; i++)
		if (strcmp(((const struct lb_zone *)lb->zones.items[i])->o.name, zone) == 0)
			return true;
	return false;
}

static void check_target(const struct engine *e, const struct shift_request *r, struct err *err)
{
	const struct load_balancer *lb = NULL;

	if (!r->zone || !snapshot_find_zone(e->snapshot, r->zone)) {
		err_set(err, ERR_REFERENCE, "/zone", "there is no zone \"%s\"",
			r->zone ? r->zone : "");
		return;
	}
	if (!r->load_balancer) {
		err_set(err, ERR_MISSING, "/load_balancer",
			"is required: a name, or \"*\" for all");
		return;
	}
	if (strcmp(r->load_balancer, "*") == 0)
		return;
	lb = snapshot_find_lb(e->snapshot, r->load_balancer);
	if (!lb)
		err_set(err, ERR_REFERENCE, "/load_balancer", "there is no load balancer \"%s\"",
			r->load_balancer);
	else if (!lb_has_zone(lb, r->zone))
		err_set(err, ERR_REFERENCE, "/zone", "load balancer %s has no zone \"%s\"",
			r->load_balancer, r->zone);
}

static void check_others(const struct engine *e, const struct shift_request *r, struct err *err)
{
	for (size_t i = 0; i < e->shifts.count; i++) {
		const struct engine_shift *s = e->shifts.items[i];

		if (strcmp(s->zone, r->zone) == 0 && strcmp(s->lb, r->load_balancer) == 0)
			err_set(err, ERR_IN_USE, "/zone",
				"shift %s takes zone %s out of %s already: extend or return that one",
				s->id, s->zone,
				strcmp(s->lb, "*") == 0 ? "all load balancers" : s->lb);
	}
	if (e->shifts.count >= SHIFTS_MAX)
		err_set(err, ERR_LIMIT, "", "there are %d shifts already", SHIFTS_MAX);
}

void shift_check_request(const struct engine *e, const struct shift_request *r, struct err *err)
{
	const struct engine_shift *s;
	size_t index;

	if (r->verb != SHIFT_CANCEL) {
		check_expiry(r, err);
		check_comment(r, err);
	}
	if (r->verb != SHIFT_START) {
		s = shifts_find(e, r->id, &index);
		if (!s)
			err_set(err, ERR_NOT_FOUND, "",
				"there is no shift \"%s\": it may have ended", r->id ? r->id : "");
		else if (r->noted_wall && r->noted_wall != engine_shift_noted(s->history))
			err_set(err, ERR_CONFLICT, "", "the shift was changed meanwhile");
		return;
	}
	check_target(e, r, err);
	if (!err_any(err))
		check_others(e, r, err);
}
