// SPDX-License-Identifier: GPL-2.0-or-later
#include "access/secret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

static void secrets_have_one_form(void **state)
{
	uint8_t bytes[SECRET_BYTES];
	char text[SECRET_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 9);
	assert_true(secret_is_formed(secret_format(bytes, text)));
	assert_memory_equal(text, "0009121b", 8);
	text[5] = 'A';
	assert_false(secret_is_formed(text));
	text[5] = '9';
	text[63] = '\0';
	assert_false(secret_is_formed(text));
	assert_false(secret_is_formed(""));
}

/* FIPS 180-4. */
static void digests_are_sha256(void **state)
{
	struct secret_hash hash, same, other;
	char text[SECRET_TEXT_MAX];

	(void)state;
	secret_digest("abc", &hash);
	assert_string_equal(secret_format_hash(&hash, text),
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_int_equal(secret_parse_hash(text, &same), 0);
	assert_true(secret_same(&hash, &same));
	secret_digest("abd", &other);
	assert_false(secret_same(&hash, &other));
	assert_int_equal(secret_parse_hash("zz", &same), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_have_one_form),
		cmocka_unit_test(digests_are_sha256),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
