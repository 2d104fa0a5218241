// SPDX-License-Identifier: GPL-2.0-or-later
// Publication of zones: who may be handed out, who is healthy among them, and all of them if nobody is.
#include "zone/zone.h"

#include <stdint.h>

const char *zone_reason_name(enum zone_reason r)
{
	static const char *const names[] = {
		[ZONE_REASON_HEALTHY] = "healthy",
		[ZONE_REASON_UNDECIDED] = "undecided",
		[ZONE_REASON_FAIL_OPEN] = "fail_open",
		[ZONE_REASON_VIP_UNHEALTHY] = "withdrawn_vip_unhealthy",
		[ZONE_REASON_GROUP] = "withdrawn_group",
		[ZONE_REASON_MANUAL] = "withdrawn_manual",
		[ZONE_REASON_DISABLED] = "disabled",
	};

	_Static_assert(sizeof(names) / sizeof(names[0]) == ZONE_REASON_COUNT, "a name per reason");
	return names[r];
}

const char *zone_reason_phrase(enum zone_reason r)
{
	static const char *const phrases[] = {
		[ZONE_REASON_HEALTHY] = "healthy",
		[ZONE_REASON_UNDECIDED] = "undecided, no verdict yet",
		[ZONE_REASON_FAIL_OPEN] = "no zone is healthy, so all are handed out",
		[ZONE_REASON_VIP_UNHEALTHY] = "its VIP is unhealthy",
		[ZONE_REASON_GROUP] = "too few healthy servers",
		[ZONE_REASON_MANUAL] = "shifted away by hand",
		[ZONE_REASON_DISABLED] = "disabled in the configuration",
	};

	_Static_assert(sizeof(phrases) / sizeof(phrases[0]) == ZONE_REASON_COUNT,
		       "a phrase per reason");
	return phrases[r];
}

enum zone_verdict zone_judge_group(const struct zone_count *c, const struct threshold *dns)
{
	uint64_t wanted = ((uint64_t)c->eligible * dns->percent + 99) / 100;

	if (c->eligible == 0)
		return ZONE_UNHEALTHY;
	if (c->initial == c->eligible)
		return ZONE_UNDECIDED;
	return c->in_service >= dns->count && c->in_service >= wanted ? ZONE_HEALTHY
								      : ZONE_UNHEALTHY;
}

/* What is worse decides: unhealthy before undecided before healthy. */
static enum zone_verdict worse(enum zone_verdict a, enum zone_verdict b)
{
	if (a == ZONE_UNHEALTHY || b == ZONE_UNHEALTHY)
		return ZONE_UNHEALTHY;
	return a == ZONE_UNDECIDED || b == ZONE_UNDECIDED ? ZONE_UNDECIDED : ZONE_HEALTHY;
}

/* The reason of a zone that is not handed out for want of health. */
static enum zone_reason withdrawal(const struct zone_input *in)
{
	if (in->vip == ZONE_UNHEALTHY)
		return ZONE_REASON_VIP_UNHEALTHY;
	if (in->groups == ZONE_UNHEALTHY)
		return ZONE_REASON_GROUP;
	return ZONE_REASON_UNDECIDED;
}

static bool may_be_published(const struct zone_input *in)
{
	return in->enabled && !in->shift;
}

/* Why a zone that is not healthy is handed out, for all zones of a load balancer: ZONE_REASON_COUNT = it is not. */
static enum zone_reason judge_all(const struct zone_input *in, size_t count)
{
	bool any = false;
	bool unhealthy = false;

	for (size_t i = 0; i < count; i++) {
		enum zone_verdict health = worse(in[i].vip, in[i].groups);

		if (!may_be_published(&in[i]))
			continue;
		if (health == ZONE_HEALTHY)
			return ZONE_REASON_COUNT;
		any = true;
		unhealthy = unhealthy || health == ZONE_UNHEALTHY;
	}
	if (!any)
		return ZONE_REASON_COUNT;
	return unhealthy ? ZONE_REASON_FAIL_OPEN : ZONE_REASON_UNDECIDED;
}

static void judge_one(const struct zone_input *in, enum zone_reason anyhow, struct zone_output *out)
{
	*out = (struct zone_output){.health = worse(in->vip, in->groups)};
	if (out->health != ZONE_HEALTHY && in->groups != ZONE_HEALTHY)
		out->group = in->group;
	if (!in->enabled) {
		out->reason = ZONE_REASON_DISABLED;
	} else if (in->shift) {
		out->reason = ZONE_REASON_MANUAL;
		out->shift = in->shift;
	} else if (out->health == ZONE_HEALTHY) {
		out->reason = ZONE_REASON_HEALTHY;
		out->published = true;
	} else if (anyhow != ZONE_REASON_COUNT) {
		out->reason = anyhow;
		out->published = true;
	} else {
		out->reason = withdrawal(in);
	}
}

size_t zone_judge(const struct zone_input *in, size_t count, struct zone_output *ret_out,
		  bool *ret_fail_open)
{
	enum zone_reason anyhow = judge_all(in, count);
	size_t published = 0;

	*ret_fail_open = anyhow == ZONE_REASON_FAIL_OPEN;
	for (size_t i = 0; i < count; i++) {
		judge_one(&in[i], anyhow, &ret_out[i]);
		if (ret_out[i].published)
			published++;
	}
	return published;
}
