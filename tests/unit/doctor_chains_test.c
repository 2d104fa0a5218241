// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/doctor_chains.h"

#include "model_fixture.h"

static const char text[] =
	"# Generated\n*nat\n:OUTPUT ACCEPT [0:0]\n:A - [0:0]\nCOMMIT\n"
	"*filter\n:INPUT ACCEPT [0:0]\n:FORWARD DROP [1:60]\n:A - [0:0]\n:B - [0:0]\n:C - [0:0]\n"
	"-A INPUT -g A\n-A FORWARD -j B\n-A B -j A\n"
	"-A A -m comment --comment \"a \\\"b\\\" -j DROP\" ! -s 10.0.0.0/8 -m mark ! --mark 0x1 -j B\n"
	"-A A -m connmark --mark 0x2 -m mark --mark 0x3 -j MARK --set-xmark 0x4/0xff\n"
	"-A C -i eth0\n-A NOWHERE -j ACCEPT\nCOMMIT\n";

static void chains_and_rules_are_found(void **state)
{
	const struct chain_rule *r;
	const struct chain *a;
	struct vec chains;

	(void)state;
	doctor_chains_read(text, &chains);
	assert_int_equal(chains.count, 7);
	assert_true(doctor_chains_find(&chains, "filter", "FORWARD")->drops);
	assert_false(doctor_chains_find(&chains, "filter", "INPUT")->drops);
	assert_null(doctor_chains_find(&chains, "filter", "NOWHERE"));
	assert_int_equal(doctor_chains_find(&chains, "nat", "A")->rules.count, 0);
	a = doctor_chains_find(&chains, "filter", "A");
	assert_int_equal(a->rules.count, 2);
	r = a->rules.items[0];
	assert_string_equal(r->target, "B");
	assert_ptr_equal(r->to, doctor_chains_find(&chains, "filter", "B"));
	assert_int_equal(r->words.count, 10);
	assert_null(doctor_chains_value(r, "mark", "--mark"));
	r = a->rules.items[1];
	assert_string_equal(doctor_chains_value(r, "mark", "--mark"), "0x3");
	assert_string_equal(doctor_chains_value(r, "connmark", "--mark"), "0x2");
	assert_string_equal(doctor_chains_value(r, "MARK", "--set-xmark"), "0x4/0xff");
	assert_null(r->to);
	r = doctor_chains_find(&chains, "filter", "INPUT")->rules.items[0];
	assert_true(r->gone);
	r = doctor_chains_find(&chains, "filter", "C")->rules.items[0];
	assert_string_equal(r->target, "");
	doctor_chains_clear(&chains);
}

static void what_leads_where_is_known(void **state)
{
	struct vec chains;

	(void)state;
	doctor_chains_read(text, &chains);
	assert_int_equal(doctor_chains_find(&chains, "filter", "A")->hooks,
			 CHAIN_INPUT | CHAIN_FORWARD);
	assert_int_equal(doctor_chains_find(&chains, "filter", "B")->hooks,
			 CHAIN_INPUT | CHAIN_FORWARD);
	assert_int_equal(doctor_chains_find(&chains, "filter", "C")->hooks, 0);
	assert_int_equal(doctor_chains_find(&chains, "nat", "A")->hooks, 0);
	assert_int_equal(doctor_chains_find(&chains, "nat", "OUTPUT")->hooks, CHAIN_OUTPUT);
	doctor_chains_clear(&chains);
}

/* Nothing of it is believed; what is shown is UTF-8. */
static void any_text_may_come(void **state)
{
	static const char *const all[] = {
		"",
		"\n\n",
		"*",
		"-A",
		"-A \n-A X",
		":\n:X\n: Y",
		"*filter\n:A - [\n-A A -m\n-A A \"",
		"*filter\n:A -\n-A A -j\n-A A --comment\n-A A -m comment\n",
		"*filter\n:A -\n-A A -m comment --comment \"\xff\xfe\\"};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct vec chains;

		doctor_chains_read(all[i], &chains);
		for (size_t j = 0; j < chains.count; j++) {
			const struct chain *c = chains.items[j];

			for (size_t k = 0; k < c->rules.count; k++) {
				const struct chain_rule *r = c->rules.items[k];
				json_t *shown = json_string(r->line);

				assert_non_null(shown);
				json_decref(shown);
				assert_null(doctor_chains_value(r, "mark", "--mark"));
			}
		}
		doctor_chains_clear(&chains);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_and_rules_are_found),
		cmocka_unit_test(what_leads_where_is_known),
		cmocka_unit_test(any_text_may_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
