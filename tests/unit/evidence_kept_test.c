// SPDX-License-Identifier: GPL-2.0-or-later
// What was seen comes back as it was, and takes no room for a text that is not there.
#include "health/evidence_kept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct probe_evidence seen(const char *text)
{
	struct probe_evidence ev = {.started_wall = 1,
				    .connect_usec = 2,
				    .tls_usec = 3,
				    .first_byte_usec = 4,
				    .duration_usec = 5,
				    .http_status = 503,
				    .error = -6,
				    .silence = SILENCE_UNTELLING,
				    .reused = true};

	strcpy(ev.text, text);
	return ev;
}

static void assert_recalled(const struct evidence_kept *k, const struct probe_evidence *ev)
{
	struct probe_evidence back;

	memset(&back, '#', sizeof(back));
	evidence_recall(k, &back);
	assert_int_equal(back.started_wall, ev->started_wall);
	assert_int_equal(back.connect_usec, ev->connect_usec);
	assert_int_equal(back.tls_usec, ev->tls_usec);
	assert_int_equal(back.first_byte_usec, ev->first_byte_usec);
	assert_int_equal(back.duration_usec, ev->duration_usec);
	assert_int_equal(back.http_status, ev->http_status);
	assert_int_equal(back.error, ev->error);
	assert_int_equal(back.silence, ev->silence);
	assert_int_equal(back.reused, ev->reused);
	assert_string_equal(back.text, ev->text);
}

static void test_all_of_it_comes_back(void **state)
{
	struct probe_evidence without = seen(""), with = seen("HTTP/1.1 503 Service Unavailable");
	struct probe_evidence longest = seen("");
	struct evidence_kept k = {0};

	(void)state;
	memset(longest.text, 'x', sizeof(longest.text) - 1);
	assert_recalled(&k, &(struct probe_evidence){0});
	evidence_keep(&k, &with);
	assert_recalled(&k, &with);
	evidence_keep(&k, &longest);
	assert_recalled(&k, &longest);
	evidence_keep(&k, &without);
	assert_recalled(&k, &without);
	evidence_keep(&k, &with);
	evidence_forget(&k);
	assert_recalled(&k, &(struct probe_evidence){0});
}

static void test_a_text_that_is_not_there_takes_nothing(void **state)
{
	struct probe_evidence without = seen(""), with = seen("ok");
	struct evidence_kept k = {0};
	const char *text;

	(void)state;
	evidence_keep(&k, &without);
	assert_null(k.text);
	evidence_keep(&k, &with);
	text = k.text;
	with.duration_usec = 7;
	evidence_keep(&k, &with);
	assert_ptr_equal(k.text, text); /* the same again: not taken anew */
	assert_recalled(&k, &with);
	evidence_keep(&k, &without);
	assert_null(k.text);
	evidence_forget(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_of_it_comes_back),
		cmocka_unit_test(test_a_text_that_is_not_there_takes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
