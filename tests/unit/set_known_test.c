// SPDX-License-Identifier: GPL-2.0-or-later
// What is remembered of lists, and for how long their entries live.
#include "kernel/set_known.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void lists_are_put_found_and_dropped(void **state)
{
	struct ruleset_list list = {.entries = entries_new(), .fallback = ACCESS_ALLOW};
	struct ruleset_list other = {.entries = entries_new()};
	const struct ruleset_id v4 = {.kind = RULESET_LIST, .uid = 1};
	const struct ruleset_id v6 = {.kind = RULESET_LIST, .uid = 1, .family = RULESET_V6};
	struct set_known k = {0};

	(void)state;
	assert_null(set_known_find(&k, &v4));
	set_known_drop(&k, &v4);
	set_known_put(&k, &v4, &list, 5);
	set_known_put(&k, &v6, &other, 6);
	assert_true(ruleset_same_list(&set_known_find(&k, &v4)->list, &list));
	assert_int_equal(set_known_find(&k, &v6)->checked, 6);
	set_known_put(&k, &v4, &other, 7);
	assert_true(ruleset_same_list(&set_known_find(&k, &v4)->list, &other));
	assert_int_equal(k.count, 2);
	entries_unref(list.entries); /* not held any more */
	set_known_drop(&k, &v6);
	assert_null(set_known_find(&k, &v6));
	entries_unref(other.entries);
	assert_int_equal(entries_count(set_known_find(&k, &v4)->list.entries), 0);
	set_known_clear(&k);
	assert_null(set_known_find(&k, &v4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_put_found_and_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
