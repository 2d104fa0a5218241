// SPDX-License-Identifier: GPL-2.0-or-later
// Servers of load balancers with snat stand in one set of their family, which a rule of the table nat looks into.
#include "plan/snat_sets.h"

#include <inttypes.h>

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

static struct snapshot *snapshot_of(const char *patch)
{
	return fixture_snapshot(fixture_patched(patch));
}

#define NET(a, b, c, bits)                 \
	{                                  \
		{AF_INET, {a, b, c}}, bits \
	}

/* For some clients: by network, where this host is on one with a server, and by group. */
static void some_clients_are_told_by_network_and_by_group(void **state)
{
	static const struct model_prefix networks[] = {
		NET(10, 0, 0, 24), NET(10, 9, 9, 24), {{AF_INET6, {0xfd}}, 64}};
	const struct ruleset_id some = {.kind = RULESET_AUTO, .family = RULESET_V4};
	struct snapshot *s = snapshot_of("{'load_balancers':{'shop':{'snat':'auto'}}}");
	const struct guard_input in = {.snapshot = s,
				       .has_zone = has_zone,
				       .ctx = (char[]){"za zb"},
				       .networks = networks,
				       .network_count = 3};
	uint64_t uid = snapshot_find_group(s, "web")->o.uid;
	struct ruleset r;
	char text[512];

	(void)state;
	guard_build(&in, &r);
	assert_true(guard_wanted(&in));
	assert_non_null(ruleset_find_set(&r, &some));
	assert_int_equal(r.count, 6); /* two servers, in three sets */
	snprintf(text, sizeof(text),
		 "-N ZONEGATE\n-A ZONEGATE -m set ! --match-set zg4-auto dst,dst -j RETURN\n"
		 "-A ZONEGATE -s 10.0.0.0/24 -d 10.0.0.0/24 -m ipvs --ipvs -j MASQUERADE\n"
		 "-A ZONEGATE -m ipvs --ipvs -m set --match-set zg4-%" PRIx64 "-to dst,dst "
		 "-m set --match-set zg4-%" PRIx64 "-from src -j MASQUERADE\n",
		 uid, uid);
	assert_string_equal(r.rules[RULESET_V4][RULESET_NAT], text);
	assert_null(r.rules[RULESET_V6][RULESET_NAT]);
	assert_null(r.rules[RULESET_V4][RULESET_FILTER]);
	assert_true(ruleset_may_have_rules(&r, RULESET_V4, RULESET_NAT));
	ruleset_clear(&r);
	snapshot_unref(s);
}

#define KEEPING                                                                          \
	"'server_groups':{'web':{'health_check':{'port':80},'servers':{'w1':{'port':0}," \
	"'w2':{'port':8080}}}}"

/* A server that keeps the port of a range is told by the mark of ours that the packet has. */
static void servers_of_a_range_keep_its_port(void **state)
{
	static const struct model_prefix networks[] = {NET(10, 0, 0, 24)};
	struct snapshot *s = snapshot_of(
		"{" KEEPING
		",'load_balancers':{'shop':{'snat':'on','listeners':{'http':{'port':null,"
		"'port_range':[8000,8100]}}}}}");
	struct guard_input in = {.snapshot = s,
				 .has_zone = has_zone,
				 .ctx = (char[]){"za zb"},
				 .networks = networks,
				 .network_count = 1,
				 .marks = MARKS_DEFAULT};
	struct ruleset r;
	char text[900];
	uint64_t uid;

	(void)state;
	guard_build(&in, &r);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.entries[0].set.kind, RULESET_SNAT);
	assert_int_equal(r.entries[0].port, 8080);
	assert_int_equal(r.entries[1].set.kind, RULESET_SNAT_KEEP);
	assert_int_equal(r.entries[1].port | r.entries[1].protocol, 0);
	assert_string_equal(
		r.rules[RULESET_V4][RULESET_NAT],
		"-N ZONEGATE\n-A ZONEGATE -m ipvs --ipvs -m set --match-set zg4-snat dst,dst "
		"-j MASQUERADE\n-A ZONEGATE -m ipvs --ipvs -m mark --mark 0x5a000000/0xfffff000 "
		"-m set --match-set zg4-snat-keep dst -j MASQUERADE\n");
	ruleset_clear(&r);
	snapshot_unref(s);
	s = snapshot_of("{" KEEPING
			",'load_balancers':{'shop':{'snat':'auto','listeners':{'http':{'port':null,"
			"'port_range':[8000,8100]}}}}}");
	in.snapshot = s;
	uid = snapshot_find_group(s, "web")->o.uid;
	guard_build(&in, &r);
	snprintf(
		text, sizeof(text),
		"-N ZONEGATE\n"
		"-A ZONEGATE -m set ! --match-set zg4-auto dst,dst -m mark ! --mark "
		"0x5a000000/0xfffff000 -j RETURN\n"
		"-A ZONEGATE -m set ! --match-set zg4-auto dst,dst -m set ! --match-set "
		"zg4-auto-keep dst -j RETURN\n"
		"-A ZONEGATE -s 10.0.0.0/24 -d 10.0.0.0/24 -m ipvs --ipvs -j MASQUERADE\n"
		"-A ZONEGATE -m ipvs --ipvs -m set --match-set zg4-%" PRIx64 "-to dst,dst "
		"-m set --match-set zg4-%" PRIx64 "-from src -j MASQUERADE\n"
		"-A ZONEGATE -m ipvs --ipvs -m mark --mark 0x5a000000/0xfffff000 -m set --match-set "
		"zg4-%" PRIx64 "-keep dst -m set --match-set zg4-%" PRIx64 "-from src "
		"-j MASQUERADE\n",
		uid, uid, uid, uid);
	assert_string_equal(r.rules[RULESET_V4][RULESET_NAT], text);
	ruleset_clear(&r);
	snapshot_unref(s);
	/* All of them without a port: the networks are told by them, too. */
	s = snapshot_of(
		"{'server_groups':{'web':{'health_check':{'port':80},'servers':{'w1':{'port':0},"
		"'w2':{'port':0}}}},'load_balancers':{'shop':{'snat':'auto','listeners':{'http':{"
		"'port':null,'port_range':[8000,8100]}}}}}");
	in.snapshot = s;
	guard_build(&in, &r);
	assert_non_null(strstr(r.rules[RULESET_V4][RULESET_NAT], "-s 10.0.0.0/24 -d 10.0.0.0/24"));
	assert_null(strstr(r.rules[RULESET_V4][RULESET_NAT], "-to dst,dst"));
	ruleset_clear(&r);
	snapshot_unref(s);
	/* Behind a listener with one port it is that. */
	s = snapshot_of("{" KEEPING ",'load_balancers':{'shop':{'snat':'on'}}}");
	in.snapshot = s;
	guard_build(&in, &r);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.entries[0].port, 80);
	assert_null(strstr(r.rules[RULESET_V4][RULESET_NAT], "keep"));
	ruleset_clear(&r);
	snapshot_unref(s);
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
		cmocka_unit_test(some_clients_are_told_by_network_and_by_group),
		cmocka_unit_test(servers_of_a_range_keep_its_port),
		cmocka_unit_test(elsewhere_nat_is_not_even_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
