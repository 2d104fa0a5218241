// SPDX-License-Identifier: GPL-2.0-or-later
// Servers of load balancers with snat stand in one set of their family, which a rule of the table nat looks into.
#include "plan/snat_sets.h"

#include "unit/model_fixture.h"

static bool has_zone(void *ctx, const char *zone)
{
	return strstr(ctx, zone) != NULL;
}

static struct ruleset build(const char *patch, char *zones)
{
	struct snapshot *s = fixture_snapshot(fixture_patched(patch));
	const struct guard_input in = {.snapshot = s, .has_zone = has_zone, .ctx = zones};
	struct ruleset r;

	guard_build(&in, &r);
	assert_int_equal(guard_wanted(&in), r.count > 0);
	snapshot_unref(s);
	return r;
}

#define ON "{'load_balancers':{'shop':{'snat':'on'}}}"

static void servers_stand_in_the_set(void **state)
{
	const struct ruleset_id v4 = {.kind = RULESET_SNAT, .family = RULESET_V4};
	struct ruleset r = build(ON, (char[]){"za zb"});

	(void)state;
	assert_non_null(ruleset_find_set(&r, &v4));
	for (size_t i = 0; i < r.count; i++) {
		assert_int_equal(r.entries[i].set.kind, RULESET_SNAT);
		assert_int_equal(r.entries[i].protocol, IPPROTO_TCP);
		assert_int_not_equal(r.entries[i].port, 0);
	}
	assert_string_equal(
		r.rules[RULESET_V4][RULESET_NAT],
		"-N ZONEGATE\n-A ZONEGATE -m ipvs --ipvs -m set --match-set zg4-snat dst,dst "
		"-j MASQUERADE\n");
	assert_null(r.rules[RULESET_V4][RULESET_FILTER]);
	assert_true(ruleset_may_have_rules(&r, RULESET_V4, RULESET_NAT));
	assert_true(ruleset_may_have_rules(&r, RULESET_V4, RULESET_FILTER));
	ruleset_clear(&r);
}

/* To look into nat alone would make the kernel track every connection of the host. */
static void elsewhere_nat_is_not_even_looked_at(void **state)
{
	static const struct ruleset nothing;
	struct ruleset r = build(ON, (char[]){"zz"});

	(void)state;
	assert_true(ruleset_is_empty(&r));
	ruleset_clear(&r);
	r = build("{'load_balancers':{'shop':{'snat':'on','enabled':false}}}", (char[]){"za zb"});
	assert_true(ruleset_is_empty(&r));
	ruleset_clear(&r);
	r = build("{'load_balancers':{'shop':{'vip_guard':'drop'}}}", (char[]){"za zb"});
	assert_null(r.rules[RULESET_V4][RULESET_NAT]);
	assert_false(ruleset_may_have_rules(&r, RULESET_V4, RULESET_NAT));
	assert_false(ruleset_may_have_rules(&nothing, RULESET_V4, RULESET_FILTER));
	ruleset_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(servers_stand_in_the_set),
		cmocka_unit_test(elsewhere_nat_is_not_even_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
