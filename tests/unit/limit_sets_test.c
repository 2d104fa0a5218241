// SPDX-License-Identifier: GPL-2.0-or-later
// Listeners of a rate stand in one set; a rate that is in use is a rule.
#include "plan/limit_sets.h"

#include "unit/model_fixture.h"

static bool has_zone(void *ctx, const char *zone)
{
	(void)ctx;
	return strcmp(zone, "zb") != 0;
}

static struct ruleset build(const char *patch)
{
	struct snapshot *s = fixture_snapshot(fixture_patched(patch));
	const struct guard_input in = {.snapshot = s, .has_zone = has_zone};
	struct ruleset r;

	guard_build(&in, &r);
	assert_int_equal(limit_sets_wanted(&in), r.count > 0);
	assert_int_equal(guard_wanted(&in), r.count > 0);
	snapshot_unref(s);
	return r;
}

/* "zg4-5-lt 192.0.2.1 6:80 …" */
static void expect_entries(const struct ruleset *r, const char *wanted)
{
	char all[600] = "", name[RULESET_NAME_MAX], text[ADDR_TEXT_MAX];
	size_t at = 0;

	for (size_t i = 0; i < r->count && at < sizeof(all); i++)
		at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%s %s %u:%u", i ? ", " : "",
				       ruleset_format_id(&r->entries[i].set, name),
				       addr_format(&r->entries[i].address, text),
				       r->entries[i].protocol, r->entries[i].port);
	assert_string_equal(all, wanted);
}

static unsigned count_rules(const struct ruleset *r, enum ruleset_family f, const char *word)
{
	unsigned count = 0;

	for (const char *p = r->rules[f][RULESET_FILTER]; p && (p = strstr(p, word)); p++)
		count++;
	return count;
}

static void without_a_limit_there_is_nothing(void **state)
{
	struct ruleset r = build("{}");

	(void)state;
	assert_true(ruleset_is_empty(&r));
	ruleset_clear(&r);
	r = build(
		"{'load_balancers':{'shop':{'enabled':false,'listeners':{'http':{'rate_limit':5}}}}}");
	assert_true(ruleset_is_empty(&r));
	ruleset_clear(&r);
}

static void listeners_of_one_rate_share_it(void **state)
{
	struct ruleset r = build(
		"{'load_balancers':{'shop':{'zones':{'zb':null,'za':{'vip4':'192.0.2.1','vip6':'2001:db8::1'}},"
		"'listeners':{'http':{'rate_limit':30},'more':{'protocol':'tcp','port':81,'server_group':'web','rate_limit':30},"
		"'other':{'protocol':'tcp','port':82,'server_group':'web','rate_limit':7}}}}}");

	(void)state;
	expect_entries(
		&r,
		"zg4-7-lt 192.0.2.1 6:82, zg4-1e-lt 192.0.2.1 6:80, zg4-1e-lt 192.0.2.1 6:81, "
		"zg6-7-lt 2001:db8::1 6:82, zg6-1e-lt 2001:db8::1 6:80, zg6-1e-lt 2001:db8::1 6:81");
	assert_int_equal(r.set_count, 4);
	assert_int_equal(count_rules(&r, RULESET_V4, "--hashlimit-above"), 2);
	assert_int_equal(
		count_rules(&r, RULESET_V4, "--hashlimit-above 30/sec --hashlimit-burst 30 "), 1);
	assert_int_equal(count_rules(&r, RULESET_V4, "srcmask"), 0);
	assert_int_equal(count_rules(&r, RULESET_V6, "--hashlimit-srcmask 64"), 2);
	/* No connection tracking for TCP. */
	assert_int_equal(count_rules(&r, RULESET_V4, "conntrack"), 0);
	ruleset_clear(&r);
}

static void udp_goes_by_new_flows(void **state)
{
	struct ruleset r = build(
		"{'load_balancers':{'names':{'listeners':{'dns':{'rate_limit':7}}}}}");

	(void)state;
	assert_true(r.count > 0);
	for (size_t i = 0; i < r.count; i++)
		assert_int_equal(r.entries[i].set.kind, RULESET_LIMIT_UDP);
	assert_int_equal(
		count_rules(
			&r, RULESET_V4,
			"-A ZONEGATE -p udp -m set --match-set zg4-7-lu dst,dst ! --update-counters "
			"-m conntrack ! --ctstatus CONFIRMED -m hashlimit "),
		1);
	assert_int_equal(
		count_rules(&r, RULESET_V4, "-m set --match-set zg4-7-lu dst,dst -j DROP\n"), 1);
	ruleset_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_there_is_nothing),
		cmocka_unit_test(listeners_of_one_rate_share_it),
		cmocka_unit_test(udp_goes_by_new_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
