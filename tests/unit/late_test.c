// SPDX-License-Identifier: GPL-2.0-or-later
#include "late/late.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h> /* after the others, which it needs */

#include "late/late_gnutls.h"
#include "late/late_http.h"

/* Whether a library is in this process. */
static bool is_there(const char *name)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[4096];
	bool found = false;

	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, name) != NULL;
	fclose(file);
	return found;
}

/* The order of the cases matters: what was loaded stays. */
static void nothing_is_loaded_before_it_is_called(void **state)
{
	(void)state;
	assert_false(is_there("libgnutls.so"));
	assert_false(is_there("libmicrohttpd.so"));
}

#define THREADS 4

static void *digest(void *arg)
{
	uint8_t *bytes = arg;

	assert_int_equal(gnutls_hash_fast(GNUTLS_DIG_SHA256, "abc", 3, bytes), 0);
	return NULL;
}

static void the_first_calls_load_from_any_thread(void **state)
{
	/* FIPS 180-2, B.1 */
	static const uint8_t expected[] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea};
	uint8_t bytes[THREADS][32];
	pthread_t threads[THREADS];

	(void)state;
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, digest, bytes[i]), 0);
	for (size_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_memory_equal(bytes[i], expected, sizeof(expected));
	}
	assert_true(is_there("libgnutls.so"));
}

static void data_of_a_library_is_reached(void **state)
{
	gnutls_x509_crt_t *list = NULL;
	unsigned count = 0;
	gnutls_datum_t nothing = {(unsigned char *)(uintptr_t) "", 0};

	(void)state;
	assert_true(gnutls_x509_crt_list_import2(&list, &count, &nothing, GNUTLS_X509_FMT_PEM, 0) <
		    0);
	gnutls_free(NULL); /* a variable that holds a function */
}

static void all_are_loaded_at_once(void **state)
{
	char text[LATE_TEXT_MAX];

	(void)state;
	late_load_all();
	assert_true(is_there("libmicrohttpd.so"));
	assert_string_equal(MHD_get_reason_phrase_for(404), "Not Found");
	late_load_all(); /* again: nothing */
	assert_int_equal(late_check(text), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_loaded_before_it_is_called),
		cmocka_unit_test(the_first_calls_load_from_any_thread),
		cmocka_unit_test(data_of_a_library_is_reached),
		cmocka_unit_test(all_are_loaded_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
