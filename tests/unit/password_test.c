// SPDX-License-Identifier: GPL-2.0-or-later
#include "access/password.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <time.h>

static void passwords_have_rules(void **state)
{
	char longest[PASSWORD_SIZE_MAX + 2];

	(void)state;
	assert_null(password_find_fault("ten chars!", "alice"));
	assert_non_null(password_find_fault("nine char", "alice"));
	assert_null(password_find_fault(
		"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc!",
		"alice"));
	assert_non_null(password_find_fault("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6", "alice"));
	assert_non_null(password_find_fault("ten chars\n", "alice"));
	assert_non_null(password_find_fault("ten chars\x7f", "alice"));
	assert_non_null(password_find_fault("ten chars\xc2\x85", "alice"));
	assert_non_null(password_find_fault("administrator", "administrator"));
	assert_non_null(password_find_fault("Administrator", "administrator"));
	memset(longest, 'x', sizeof(longest));
	longest[PASSWORD_SIZE_MAX] = '\0';
	assert_null(password_find_fault(longest, "alice"));
	longest[PASSWORD_SIZE_MAX] = 'x';
	longest[PASSWORD_SIZE_MAX + 1] = '\0';
	assert_non_null(password_find_fault(longest, "alice"));
}

static void passwords_are_hashed_with_yescrypt(void **state)
{
	const uint8_t salt[PASSWORD_SALT] = {1}, other[PASSWORD_SALT] = {2};
	char hash[PASSWORD_HASH_MAX], second[PASSWORD_HASH_MAX];

	(void)state;
	assert_int_equal(password_hash("correct horse", salt, hash), 0);
	assert_memory_equal(hash, "$y$", 3);
	assert_true(password_matches("correct horse", hash));
	assert_false(password_matches("correct horsf", hash));
	assert_false(password_matches("", hash));
	assert_int_equal(password_hash("correct horse", other, second), 0);
	assert_string_not_equal(hash, second);
	assert_false(password_matches("correct horse", "*0"));
	assert_false(password_matches("correct horse", "nonsense"));
}

static double seconds_of(const char *hash)
{
	struct timespec a, b;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (int i = 0; i < 5; i++)
		assert_false(password_matches("wrong password", hash));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

/* Who is not there takes as long as who is. */
static void nobody_costs_as_much_as_somebody(void **state)
{
	const uint8_t salt[PASSWORD_SALT] = {1};
	char hash[PASSWORD_HASH_MAX];
	double somebody, nobody;

	(void)state;
	assert_int_equal(password_hash("correct horse", salt, hash), 0);
	somebody = seconds_of(hash);
	nobody = seconds_of("");
	assert_true(nobody > somebody / 2 && nobody < somebody * 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passwords_have_rules),
		cmocka_unit_test(passwords_are_hashed_with_yescrypt),
		cmocka_unit_test(nobody_costs_as_much_as_somebody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
