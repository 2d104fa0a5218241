// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

static void err_keeps_faults(void **state)
{
	AUTO_ERR struct err e = {0};
	char pointer[] = "/listeners/http/port";

	(void)state;
	assert_false(err_any(&e));
	assert_string_equal(err_first(&e), "");
	assert_int_equal(err_set(&e, ERR_RANGE, pointer, "%d is above 65535", 70000), -EINVAL);
	pointer[1] = 'X'; /* it was copied */
	err_set(&e, ERR_SYNTAX, "", "not JSON");
	assert_true(err_any(&e));
	assert_int_equal(e.count, 2);
	assert_string_equal(e.faults[0].pointer, "/listeners/http/port");
	assert_string_equal(e.faults[0].detail, "70000 is above 65535");
	assert_int_equal(e.faults[0].code, ERR_RANGE);
	assert_string_equal(e.faults[1].detail, "not JSON");
	assert_string_equal(err_first(&e), "/listeners/http/port: 70000 is above 65535");
	err_clear(&e);
	assert_false(err_any(&e));
	err_set(&e, ERR_SYNTAX, "", "not JSON");
	assert_string_equal(err_first(&e), "not JSON");
	err_clear(NULL);
}

static void err_is_bounded(void **state)
{
	AUTO_ERR struct err e = {0};

	(void)state;
	for (int i = 0; i < ERR_FAULTS_MAX + 5; i++)
		err_set(&e, ERR_LIMIT, "/x", "fault %d", i);
	assert_int_equal(e.count, ERR_FAULTS_MAX);
	assert_int_equal(e.total, ERR_FAULTS_MAX + 5);
	assert_string_equal(e.faults[ERR_FAULTS_MAX - 1].detail, "fault 99");
}

static void err_moves(void **state)
{
	AUTO_ERR struct err to = {0};
	AUTO_ERR struct err from = {0};

	(void)state;
	for (int i = 0; i < ERR_FAULTS_MAX - 1; i++)
		err_set(&to, ERR_LIMIT, "/to", "%d", i);
	for (int i = 0; i < ERR_FAULTS_MAX + 2; i++)
		err_set(&from, ERR_LIMIT, "/from", "%d", i);
	err_move(&to, &from);
	assert_int_equal(to.count, ERR_FAULTS_MAX);
	assert_int_equal(to.total, ERR_FAULTS_MAX - 1 + ERR_FAULTS_MAX + 2);
	assert_string_equal(to.faults[ERR_FAULTS_MAX - 1].pointer, "/from");
	assert_false(err_any(&from));
	assert_null(from.faults);
}

static void err_names_every_code(void **state)
{
	(void)state;
	for (int i = 0; i < ERR_CODE_COUNT; i++) {
		const char *name = err_code_name((enum err_code)i);

		assert_non_null(name);
		assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(name, err_code_name((enum err_code)j));
	}
	assert_string_equal(err_code_name(ERR_UNKNOWN), "unknown_member");
}

static void err_pointer_grows_and_shrinks(void **state)
{
	char p[ERR_POINTER_MAX] = "";
	size_t root;
	size_t inner;

	(void)state;
	root = err_pointer_push(p, "a/b~c");
	assert_int_equal(root, 0);
	assert_string_equal(p, "/a~1b~0c");
	inner = err_pointer_push(p, "0");
	assert_string_equal(p, "/a~1b~0c/0");
	err_pointer_pop(p, inner);
	assert_string_equal(p, "/a~1b~0c");
	err_pointer_pop(p, root);
	assert_string_equal(p, "");
}

static void err_pointer_is_cut(void **state)
{
	char p[ERR_POINTER_MAX + 4];
	char slashes[ERR_POINTER_MAX + 1];

	(void)state;
	memset(p, 0x5a, sizeof(p));
	p[0] = '\0';
	memset(slashes, '/', sizeof(slashes) - 1);
	slashes[sizeof(slashes) - 1] = '\0';
	err_pointer_push(p, slashes);
	assert_in_range(strlen(p), ERR_POINTER_MAX - 2, ERR_POINTER_MAX - 1);
	assert_string_equal(p + strlen(p) - 2, "~1"); /* no half escape */
	assert_int_equal(p[ERR_POINTER_MAX], 0x5a);
	err_pointer_push(p, "more");
	err_pointer_push(p, "more");
	assert_true(strlen(p) < ERR_POINTER_MAX);
	assert_int_equal(p[ERR_POINTER_MAX], 0x5a);
}

/* Wherever the end falls, no character is cut in two: a fault is sent as JSON. */
static void err_pointer_is_cut_between_characters(void **state)
{
	static const char sun[] = "\xe2\x98\x80"; /* U+2600 */
	char token[3 * ERR_POINTER_MAX];

	(void)state;
	for (size_t lead = 0; lead < 3; lead++) {
		char p[ERR_POINTER_MAX] = "";

		memset(token, 0, sizeof(token));
		memset(token, 'x', lead);
		for (size_t i = 0; i < ERR_POINTER_MAX / 2; i++)
			memcpy(token + lead + 3 * i, sun, 3);
		err_pointer_push(p, token);
		assert_in_range(strlen(p), ERR_POINTER_MAX - 3, ERR_POINTER_MAX - 1);
		assert_int_equal((strlen(p) - 1 - lead) % 3, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(err_keeps_faults),
		cmocka_unit_test(err_is_bounded),
		cmocka_unit_test(err_moves),
		cmocka_unit_test(err_names_every_code),
		cmocka_unit_test(err_pointer_grows_and_shrinks),
		cmocka_unit_test(err_pointer_is_cut),
		cmocka_unit_test(err_pointer_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
