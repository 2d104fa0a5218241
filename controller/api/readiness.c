// SPDX-License-Identifier: GPL-2.0-or-later
// What is refused for one object does not make a whole node unready: who goes by /readyz would take away all that it serves.
#include "api/readiness.h"

#include "api/publication_json.h"

#include <stdlib.h>

#define READINESS_OFF "off: ipvs = off, and nothing of the kernel is used"

/* What is wrong with zones in DNS; NULL: nothing. */
static const char *readiness_zones(const struct engine *e)
{
	struct publication_list all;
	const char *fault = NULL;

	publication_json_collect(e, NULL, &all);
	if (publication_json_fail_open(&all))
		fault = "fail-open: some load balancer has no healthy zone, or none of one family, and "
			"all are handed out: zonegate status names it";
	else if (publication_json_no_address(e, &all))
		fault = "no address: DNS hands out no zone of some load balancer, as all are shifted "
			"away or disabled: zonegate status names it";
	free(all.list);
	return fault;
}

static const char *readiness_or(const char *fault, const char *otherwise)
{
	return fault ? fault : otherwise;
}

static enum readiness_state readiness_sum(const struct readiness *r)
{
	enum readiness_state state = READINESS_WHOLE;

	for (size_t i = 0; i < READINESS_CHECKS; i++) {
		if (r->checks[i].ok)
			continue;
		if (r->checks[i].decides)
			return READINESS_NONE;
		state = READINESS_PART;
	}
	return state;
}

void readiness_judge(const struct engine *e, struct readiness *ret_readiness)
{
	struct node_status n;

	const char *zones = readiness_zones(e);

	engine_node_status(e, &n);
	*ret_readiness = (struct readiness){
		.checks = {
			{"kernel_available", n.kernel_off || n.kernel_available, true, n.kernel_off,
			 "IPVS cannot be used: modprobe ip_vs"},
			{"kernel_known", n.kernel_off || n.kernel_known, true, n.kernel_off,
			 "the kernel's table was not read yet"},
			{"store", n.store_ok, true, false,
			 readiness_or(n.store_fault, "the store does not take commits")},
			{"applied", n.applied_revision >= n.revision, false, n.kernel_off,
			 "the kernel has not taken the whole configuration: zonegate events says "
			 "what it refused"},
			{"zones", !zones, false, false, readiness_or(zones, "")},
			{"vip_device", !n.vip_device_fault, false, n.kernel_off,
			 readiness_or(n.vip_device_fault, "")},
			{"guard", !n.guard_fault, false, n.kernel_off,
			 readiness_or(n.guard_fault, "")},
		}};
	ret_readiness->state = readiness_sum(ret_readiness);
}

const char *readiness_word(const struct readiness *r)
{
	static const char *const words[] = {[READINESS_WHOLE] = "ok",
					    [READINESS_PART] = "degraded",
					    [READINESS_NONE] = "not ready"};

	return words[r->state];
}

json_t *readiness_json(const struct readiness *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < READINESS_CHECKS; i++) {
		const struct readiness_check *c = &r->checks[i];
		const char *good = c->off ? READINESS_OFF : "";

		json_array_append_new(list, json_pack("{s:s, s:b, s:b, s:s}", "check", c->name,
						      "ok", c->ok, "decides", c->decides, "detail",
						      c->ok ? good : c->detail));
	}
	return list;
}
