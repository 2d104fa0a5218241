// SPDX-License-Identifier: GPL-2.0-or-later
// Every rule of a group, case by case: what the virtual service of a zone holds for given states of its servers.
#include "plan/desired.h"

#include "unit/desired_fixture.h"

static void weights_follow_states(void **state)
{
	static const struct rule_case cases[] = {
		{"{}", "", "1=0 2=0 3=0 4=0 0/3!"},
		{"{}", "w1=H w2=H w3=H w4=H", "1=100 2=50 3=10 4=0 3/3"},
		{"{}", "w1=H w2=U w3=I w4=H", "1=100 2=0 3=0 4=0 1/3"},
		{"{}", "w1=T w2=U", "1=100 2=0 3=0 4=0 1/3"},
		{WEB("'health_check':{'enabled':false}"), "w1=U", "1=100 2=50 3=10 4=0 3/3"},
		{WEB("'servers':{'w1':{'weight':0}}"), "w1=H w2=H", "1=0 2=50 3=0 4=0 1/2"},
		{WEB("'servers':{'w4':{'enabled':true,'weight':65535}}"), "w4=H",
		 "1=0 2=0 3=0 4=65535 1/4"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void scope_is_by_zone_and_family(void **state)
{
	static const struct rule_case za[] = {
		/* Cross-zone: those of enabled zones and those without one. */
		{"{'load_balancers':{'shop':{'zones':{'zb':{'enabled':false}}}}}", "w1=H w2=H w3=H",
		 "1=100 3=10 4=0 2/2"},
		{"{'load_balancers':{'shop':{'zones':{'zb':null}}}}", "w1=H w2=H w3=H",
		 "1=100 3=10 4=0 2/2"},
		/* Off: those of this zone; no server may be without one then. */
		{BOTH("'servers':{'w3':null,'w4':null}", "'cross_zone':false"), "w1=H w2=H",
		 "1=100 1/1"},
	};
	static const struct rule_case zb[] = {
		{BOTH("'servers':{'w3':null,'w4':null}", "'cross_zone':false"), "w1=H w2=H",
		 "2=50 1/1"},
		{BOTH("'servers':{'w2':null,'w3':null,'w4':null}", "'cross_zone':false"), "w1=H",
		 "0/0!"},
	};
	struct world w;
	char *seen;

	(void)state;
	JUDGE_ALL(za, "za");
	JUDGE_ALL(zb, "zb");

	world_open(&w, WEB("'servers':{'w6':{'address':'2001:db8:1::6','port':80}}"), "za");
	w.states = "w1=H w6=H";
	w.in.place.family = AF_INET6;
	seen = world_describe(&w);
	assert_string_equal(seen, "6=100 1/1");
	free(seen);
	snapshot_unref(w.s);
	/* A tunnel carries either family. */
	world_open(&w, WEB("'forward_method':'tunnel'"), "za");
	w.states = "w1=H";
	w.in.place.family = AF_INET6;
	seen = world_describe(&w);
	assert_string_equal(seen, "1=100 2=0 3=0 4=0 1/3");
	free(seen);
	snapshot_unref(w.s);
}

static void min_healthy_is_count_or_percent(void **state)
{
	static const struct rule_case cases[] = {
		{WEB(MIN(1, 0)), "w1=H", "1=100 2=0 3=0 4=0 1/3"},
		{WEB(MIN(2, 0)), "w1=H", "1=100 2=0 3=0 4=0 1/3!"},
		{WEB(MIN(0, 0)), "", "1=0 2=0 3=0 4=0 0/3"},
		/* Rounded up: 34 % of 3 are 2, 33 % are 1, 1 % is 1, 67 % are 3. */
		{WEB(MIN(0, 33)), "w1=H", "1=100 2=0 3=0 4=0 1/3"},
		{WEB(MIN(0, 34)), "w1=H", "1=100 2=0 3=0 4=0 1/3!"},
		{WEB(MIN(0, 1)), "", "1=0 2=0 3=0 4=0 0/3!"},
		{WEB(MIN(0, 66)), "w1=H w2=H", "1=100 2=50 3=0 4=0 2/3"},
		{WEB(MIN(0, 67)), "w1=H w2=H", "1=100 2=50 3=0 4=0 2/3!"},
		{WEB(MIN(0, 100)), "w1=H w2=H w3=H", "1=100 2=50 3=10 4=0 3/3"},
		/* Either one missed. */
		{WEB(MIN(3, 1)), "w1=H w2=H", "1=100 2=50 3=0 4=0 2/3!"},
		{WEB(MIN(1, 100)), "w1=H w2=H", "1=100 2=50 3=0 4=0 2/3!"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void open_adds_the_unhealthy(void **state)
{
#define OPEN "'when_none_healthy':'open'"
	static const struct rule_case cases[] = {
		{WEB(OPEN), "w1=U w2=U w3=I w4=U", "1=100 2=50 3=0 4=0 0/3!"},
		{WEB(OPEN), "w1=U w2=H w3=I", "1=0 2=50 3=0 4=0 1/3"},
		{WEB(OPEN "," MIN(2, 0)), "w1=U w2=H w3=I", "1=100 2=50 3=0 4=0 1/3!"},
		{WEB(OPEN ",'servers':{'w1':{'weight':0}}"), "w1=U w2=U w3=U",
		 "1=0 2=50 3=10 4=0 0/2!"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void backup_adds_those_in_service(void **state)
{
#define BACKUP "'when_none_healthy':'backup','backup_group':'spare'"
	static const struct rule_case cases[] = {
		{WEB(BACKUP), "w1=H s1=H s2=H", "1=100 2=0 3=0 4=0 11=0 12=0 1/3"},
		{WEB(BACKUP), "w1=U s1=H s2=U", "1=0 2=0 3=0 4=0 11=7 12=0 0/3!"},
		{WEB(BACKUP), "w1=U s1=T s2=I", "1=0 2=0 3=0 4=0 11=7 12=0 0/3!"},
		/* They count in no threshold, and those in service keep their weight. */
		{WEB(BACKUP "," MIN(2, 0)), "w1=H s1=H s2=H", "1=100 2=0 3=0 4=0 11=7 12=8 1/3!"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void terminated_ones_leave(void **state)
{
#define CUT "'on_unhealthy':'terminate'"
	static const struct rule_case cases[] = {
		{WEB(CUT), "w1=H w2=U w3=I", "1=100 3=0 4=0 1/3"},
		/* Not when it serves for want of a better one. */
		{WEB(CUT "," OPEN), "w1=U w2=U w3=U", "1=100 2=50 3=10 4=0 0/3!"},
		{WEB(CUT ",'health_check':{'enabled':false}"), "w1=U", "1=100 2=50 3=10 4=0 3/3"},
		{BOTH("", HTTP("'scheduler':'dh'")), "w1=H w2=U w3=I", "1=100 1/3"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void slow_start_steps(void **state)
{
#define SLOW "'slow_start_ms':10000"
	static const struct rule_case cases[] = {
		/* One factor for all: 10 here. */
		{WEB(SLOW), "w1=H w2=H w3=H", "1=1000 2=500 3=100 4=0 3/3"},
		{WEB(SLOW), "w1=H w2=H w3=H1", "1=1000 2=500 3=10 4=0 3/3"},
		{WEB(SLOW), "w1=H5 w2=H w3=H9", "1=500 2=500 3=90 4=0 3/3"},
		/* The only one in service does not ramp. */
		{WEB(SLOW), "w1=H1 w2=U w3=U", "1=1000 2=0 3=0 4=0 1/3"},
		/* 65535 / 10000 = 6: no weight leaves its bounds, a step of a small weight is at least 1. */
		{WEB(SLOW ",'servers':{'w1':{'weight':10000},'w3':{'weight':1}}"),
		 "w1=H w2=H w3=H1", "1=60000 2=300 3=1 4=0 3/3"},
		{WEB(SLOW ",'servers':{'w1':{'weight':65535},'w3':{'weight':1}}"),
		 "w1=H5 w2=H w3=H", "1=32767 2=50 3=1 4=0 3/3"},
		/* Off: neither factor nor ramp. */
		{"{}", "w1=H1 w2=H w3=H", "1=100 2=50 3=10 4=0 3/3"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void sh_weights_are_reduced(void **state)
{
#define SH HTTP("'scheduler':'sh'")
	static const struct rule_case cases[] = {
		{BOTH("", SH), "w1=H w2=H w3=H", "1=10 2=5 3=1 4=0 3/3"},
		/* A dead one is in the sum still: no other is rewritten. */
		{BOTH("", SH), "w1=U w2=H w3=H", "1=0 2=5 3=1 4=0 2/3"},
		{BOTH("'servers':{'w1':{'weight':3000},'w2':{'weight':2999},'w3':{'weight':1}}",
		      SH),
		 "w1=H w2=H w3=H", "1=128 2=127 3=1 4=0 3/3"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void reduction_holds_256_slots(void **state)
{
	uint32_t weights[256];
	uint64_t sum = 0;

	(void)state;
	for (size_t i = 0; i < 256; i++)
		weights[i] = i == 0 ? 65535 : 1;
	desired_reduce_sh(weights, 256);
	for (size_t i = 0; i < 256; i++) {
		assert_true(weights[i] >= 1);
		sum += weights[i];
	}
	assert_true(sum <= 256);

	uint32_t zero[] = {0, 0};
	desired_reduce_sh(zero, 2);
	assert_int_equal(zero[0] + zero[1], 0);
	uint32_t two[] = {0, 300};
	desired_reduce_sh(two, 2);
	assert_int_equal(two[1], 1);
	uint32_t coprime[] = {129, 128};
	desired_reduce_sh(coprime, 2);
	assert_true(coprime[0] + coprime[1] <= 256 && coprime[0] >= coprime[1] && coprime[1] > 120);
	desired_reduce_sh(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_follow_states),
		cmocka_unit_test(scope_is_by_zone_and_family),
		cmocka_unit_test(min_healthy_is_count_or_percent),
		cmocka_unit_test(open_adds_the_unhealthy),
		cmocka_unit_test(backup_adds_those_in_service),
		cmocka_unit_test(terminated_ones_leave),
		cmocka_unit_test(slow_start_steps),
		cmocka_unit_test(sh_weights_are_reduced),
		cmocka_unit_test(reduction_holds_256_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
