// SPDX-License-Identifier: GPL-2.0-or-later
// A listener with max_connections has a set of its own and a rule, which counts.
#include "plan/ceilings.h"

#include <inttypes.h>

#include "unit/model_fixture.h"

static bool has_zone(void *ctx, const char *zone)
{
	(void)ctx;
	return strcmp(zone, "zb") != 0;
}

struct built {
	struct snapshot *snapshot;
	struct ruleset r;
};

static void build(struct built *b, const char *patch)
{
	b->snapshot = fixture_snapshot(fixture_patched(patch));
	const struct guard_input in = {.snapshot = b->snapshot, .has_zone = has_zone};

	guard_build(&in, &b->r);
	assert_int_equal(ceilings_wanted(&in), b->r.count > 0);
	assert_int_equal(guard_wanted(&in), b->r.count > 0);
}

static void built_clear(struct built *b)
{
	ruleset_clear(&b->r);
	snapshot_unref(b->snapshot);
}

static void expect_rule(const struct built *b, enum ruleset_family f, const char *rule)
{
	if (!b->r.rules[f][RULESET_FILTER] || !strstr(b->r.rules[f][RULESET_FILTER], rule))
		fail_msg("no rule\n%s\nin\n%s", rule, b->r.rules[f][RULESET_FILTER]);
}

static void without_one_there_is_nothing(void **state)
{
	struct built b;

	(void)state;
	build(&b, "{}");
	assert_true(ruleset_is_empty(&b.r));
	built_clear(&b);
	build(&b,
	      "{'load_balancers':{'shop':{'enabled':false,'listeners':{'http':{'max_connections':5}}}}}");
	assert_true(ruleset_is_empty(&b.r));
	built_clear(&b);
	build(&b,
	      "{'load_balancers':{'shop':{'zones':{'za':null},'listeners':{'http':{'max_connections':5}}}}}");
	assert_true(ruleset_is_empty(&b.r)); /* another node's */
	built_clear(&b);
}

static void a_listener_counts_at_all_its_vips(void **state)
{
	struct built b;
	char rule[400];

	(void)state;
	build(&b,
	      "{'load_balancers':{'shop':{'zones':{'zb':null,'za':{'vip4':'192.0.2.1','vip6':'2001:db8::1'},"
	      "'zc':{'vip4':'192.0.2.9'}},'listeners':{'http':{'max_connections':30}}}},'zones':{'zc':{}}}");
	const struct load_balancer *lb = snapshot_find_lb(b.snapshot, "shop");
	const uint64_t uid = ((const struct listener *)lb->listeners.items[0])->o.uid;

	assert_int_equal(b.r.count, 3);
	assert_int_equal(b.r.set_count, 2);
	for (enum ruleset_family f = RULESET_V4; f <= RULESET_V6; f++) {
		const char n = f == RULESET_V4 ? '4' : '6';

		snprintf(
			rule, sizeof(rule),
			"\n-A ZONEGATE -p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN -m set --match-set "
			"zg%c-%" PRIx64
			"-mt dst,dst ! --update-counters -m connlimit --connlimit-above 30 "
			"--connlimit-mask %d --connlimit-saddr -m set --match-set zg%c-%" PRIx64
			"-mt dst,dst -j DROP\n",
			n, uid, f == RULESET_V4 ? 32 : 64, n, uid);
		expect_rule(&b, f, rule);
		assert_null(strstr(strstr(b.r.rules[f][RULESET_FILTER], "connlimit-saddr") + 1,
				   "connlimit-saddr"));
	}
	built_clear(&b);
}

static void udp_goes_by_new_flows(void **state)
{
	struct built b;

	(void)state;
	build(&b, "{'load_balancers':{'names':{'listeners':{'dns':{'max_connections':7}}}}}");
	assert_true(b.r.count > 0);
	for (size_t i = 0; i < b.r.count; i++)
		assert_int_equal(b.r.entries[i].set.kind, RULESET_MAX_UDP);
	expect_rule(&b, RULESET_V4,
		    "! --update-counters -m conntrack ! --ctstatus CONFIRMED -m connlimit "
		    "--connlimit-above 7 --connlimit-mask 32 --connlimit-saddr ");
	built_clear(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_one_there_is_nothing),
		cmocka_unit_test(a_listener_counts_at_all_its_vips),
		cmocka_unit_test(udp_goes_by_new_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
