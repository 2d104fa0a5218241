// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/netfilter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "base/mem.h"

static void sorted_and_bounded(void **state)
{
	struct netfilter *f = mem_new(struct netfilter);

	(void)state;
	for (int i = 0; i < NETFILTER_SETS_MAX + 3; i++) {
		struct netfilter_set *s = netfilter_push(f);

		if (i < NETFILTER_SETS_MAX)
			snprintf(s->name, sizeof(s->name), "s%05d", 99999 - i);
		else
			assert_null(s);
	}
	netfilter_sort(f);
	assert_int_equal(f->count, NETFILTER_SETS_MAX);
	assert_int_equal(f->left_out, 3);
	assert_string_equal(f->sets[NETFILTER_SETS_MAX - 1].name, "s99999");
	netfilter_free(f);
	netfilter_free(NULL);
}

static void what_is_in_memory_only(void **state)
{
	const struct ruleset_id drop = {.kind = RULESET_DROP, .family = RULESET_V6};
	const struct ruleset_id list = {.kind = RULESET_LIST, .uid = 0x1f};
	struct netfilter *f = mem_new(struct netfilter);
	struct ruleset_entry *e;

	(void)state;
	ruleset_push_set(&f->ruleset, &drop);
	ruleset_push_set(&f->ruleset, &list)->list.entries = entries_new();
	e = ruleset_push(&f->ruleset);
	e->set = drop;
	assert_int_equal(addr_parse("2001:db8::1", &e->address), 0);
	ruleset_sort(&f->ruleset);
	netfilter_take_memory(f);
	assert_int_equal(f->count, 2);
	assert_string_equal(f->sets[0].name, "zg4-1f");
	assert_string_equal(f->sets[0].type, "hash:net");
	assert_int_equal(f->sets[0].family, AF_INET);
	assert_int_equal(f->sets[0].entries, 0);
	assert_string_equal(f->sets[1].name, "zg6-drop");
	assert_string_equal(f->sets[1].type, "hash:ip");
	assert_int_equal(f->sets[1].entries, 1);
	assert_int_equal(f->sets[1].memory, 0);
	netfilter_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorted_and_bounded),
		cmocka_unit_test(what_is_in_memory_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
