// SPDX-License-Identifier: GPL-2.0-or-later
#include "access/role.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

static void roles_that_can_be_given_have_names(void **state)
{
	(void)state;
	for (enum role role = ROLE_METRICS; role < ROLE_COUNT; role++) {
		enum role parsed = ROLE_NOBODY;

		assert_int_equal(role_parse(role_name(role), &parsed), 0);
		assert_int_equal(parsed, role);
	}
}

static void nobody_is_no_role_to_give(void **state)
{
	static const char *const names[] = {"nobody", "", "Admin", "root", "admin "};
	enum role role = ROLE_VIEWER;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(role_parse(names[i], &role), -EINVAL);
	assert_int_equal(role, ROLE_VIEWER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roles_that_can_be_given_have_names),
		cmocka_unit_test(nobody_is_no_role_to_give),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
