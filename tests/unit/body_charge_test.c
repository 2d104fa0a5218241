// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/body_charge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void what_is_kept_counts(void **state)
{
	struct body_budget *b = body_budget_new(100);
	struct body_charge *one = body_charge_new(b, 60), *kept = body_charge_ref(one), *two;

	(void)state;
	assert_int_equal(body_budget_most(b), 100);
	assert_non_null(one);
	assert_null(body_charge_new(b, 41));
	two = body_charge_new(b, 40);
	assert_non_null(two);
	body_charge_unref(one);
	assert_int_equal(body_budget_used(b), 100);
	body_charge_unref(kept);
	assert_int_equal(body_budget_used(b), 40);
	body_charge_unref(two);
	assert_int_equal(body_budget_used(b), 0);
	body_budget_unref(b);
}

/* An operation outlives the server. */
static void a_charge_outlives_the_maker_of_its_budget(void **state)
{
	struct body_budget *b = body_budget_new(100);
	struct body_charge *c = body_charge_new(b, 60);

	(void)state;
	body_budget_unref(b);
	assert_int_equal(body_budget_used(b), 60);
	body_charge_unref(c);
	body_charge_unref(body_charge_ref(NULL));
	body_budget_unref(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_counts),
		cmocka_unit_test(a_charge_outlives_the_maker_of_its_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
