// SPDX-License-Identifier: GPL-2.0-or-later
// Heads as the library would leave them in its memory, and as it would not.
#include "api/head.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

/* Cut in place: "GET\0/a\0HTTP/1.1\0\0" and then one field, "Host\0 x\0\0" and the empty line. */
#define WHOLE         "GET\0/a\0HTTP/1.1\0\0Host\0 x\0\0\0\0"
#define AT_TARGET_END 6
#define AT_VERSION    7
#define AT_NAME       17
#define AT_VALUE      23

static struct head whole(const char *bytes, size_t size)
{
	struct head h = {.line = bytes,
			 .path = bytes + 4,
			 .target = bytes + AT_TARGET_END,
			 .version = bytes + AT_VERSION,
			 .size = size};

	head_add(&h, bytes + AT_NAME, bytes + AT_VALUE);
	return h;
}

static void head_must_be_of_one_piece(void **state)
{
	static const char bytes[] = WHOLE;
	static const char junk[] = "GET\0/a\0HTTP/1.1\0\0Host\0 x\0y\0\0";
	static const char moved[] = "Host";
	const size_t size = sizeof(bytes) - 1;
	struct head h = whole(bytes, size);

	(void)state;
	assert_null(head_find_form_fault(&h));
	h.size = 0; /* not there to be looked at */
	h.fields[0].name = moved;
	assert_null(head_find_form_fault(&h));
	h.size = size; /* a name that was continued stands elsewhere */
	assert_non_null(head_find_form_fault(&h));
	h = whole(bytes, size);
	h.target--; /* a NUL in the target */
	assert_non_null(head_find_form_fault(&h));
	h = whole(bytes, size);
	h.path++; /* a NUL behind the method */
	assert_non_null(head_find_form_fault(&h));
	h = whole(bytes, size + 1); /* more behind the last field than the empty line */
	assert_non_null(head_find_form_fault(&h));
	h = whole(bytes, size - 3);
	assert_non_null(head_find_form_fault(&h));
	h = whole(junk, sizeof(junk) - 1);
	assert_non_null(head_find_form_fault(&h));
}

static const char *form_fault(const char *name, const char *value)
{
	struct head h = {.version = "HTTP/1.1"};

	head_add(&h, name, value);
	return head_find_form_fault(&h);
}

static void head_judges_names_and_values(void **state)
{
	(void)state;
	assert_null(form_fault("X-A_b.c~1", "a\tb \xc3\xa4"));
	assert_null(form_fault("X", ""));
	assert_null(form_fault("X", NULL));
	assert_non_null(form_fault("", "a"));
	assert_non_null(form_fault("Content-Length ", "2"));
	assert_non_null(form_fault("X(A)", "a"));
	assert_non_null(form_fault("X\xc3\xa4", "a"));
	assert_non_null(form_fault("X", "a\rb"));
	assert_non_null(form_fault("X", "a\x7f"));
	assert_non_null(form_fault("X", "\x01"));
}

static void head_knows_its_length_once(void **state)
{
	struct head h = {.version = "HTTP/1.1"};
	struct head_body body;

	(void)state;
	head_read_body(&h, &body);
	assert_false(body.expected || body.chunked || body.awaited);
	head_add(&h, "content-length", "12");
	head_add(&h, "Expect", "100-Continue");
	assert_null(head_find_length_fault(&h));
	head_read_body(&h, &body);
	assert_true(body.expected && body.awaited && !body.chunked && body.length == 12);
	head_add(&h, "Transfer-Encoding", "chunked");
	assert_non_null(head_find_length_fault(&h));
	h = (struct head){.version = "HTTP/1.1"};
	head_add(&h, "Transfer-Encoding", "Chunked");
	assert_null(head_find_length_fault(&h));
	head_read_body(&h, &body);
	assert_true(body.expected && body.chunked && !body.awaited);
	h.version = "HTTP/1.0";
	assert_non_null(head_find_length_fault(&h));
	h = (struct head){.version = "HTTP/1.1"};
	head_add(&h, "Transfer-Encoding", "gzip, chunked");
	assert_non_null(head_find_length_fault(&h));
}

static void head_takes_some_fields_once(void **state)
{
	static const char *const once[] = {"Host",           "Authorization", "If-Match",
					   "If-None-Match",  "Content-Type",  "Content-Encoding",
					   "Expect",         "Cookie",        "Origin",
					   "Sec-Fetch-Site", "Last-Event-ID"};
	struct head h;

	(void)state;
	for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++) {
		h = (struct head){.version = "HTTP/1.1"};
		head_add(&h, once[i], "a");
		assert_null(head_find_repeated(&h));
		head_add(&h, once[i], "a");
		assert_non_null(strstr(head_find_repeated(&h), once[i]));
	}
	h = (struct head){.version = "HTTP/1.1"};
	head_add(&h, "Accept", "a");
	head_add(&h, "Accept", "b");
	assert_null(head_find_repeated(&h));
	assert_string_equal(head_find(&h, "accept"), "a");
	assert_null(head_find(&h, "Acc"));
	assert_non_null(head_find_host_fault(&h));
	h.version = "HTTP/1.0";
	assert_null(head_find_host_fault(&h));
	h.version = "HTTP/1.1";
	head_add(&h, "Host", "");
	assert_null(head_find_host_fault(&h));
}

static void head_has_bounds(void **state)
{
	static char target[HEAD_TARGET_MAX + 2];
	struct head h = {.version = "HTTP/1.1"};

	(void)state;
	for (int i = 0; i < HEAD_FIELDS_MAX; i++)
		head_add(&h, "X", "a");
	assert_false(h.crowded);
	head_add(&h, "X", "a");
	assert_true(h.crowded);
	assert_int_equal(h.count, HEAD_FIELDS_MAX);
	memset(target, 'a', HEAD_TARGET_MAX);
	assert_true(head_target_fits(target));
	target[HEAD_TARGET_MAX] = 'a';
	assert_false(head_target_fits(target));
	memset(target, 0, sizeof(target));
	memset(target, '&', HEAD_ARGUMENTS_MAX - 1);
	assert_true(head_target_fits(target));
	target[HEAD_ARGUMENTS_MAX - 1] = '&';
	assert_false(head_target_fits(target));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head_must_be_of_one_piece),
		cmocka_unit_test(head_judges_names_and_values),
		cmocka_unit_test(head_knows_its_length_once),
		cmocka_unit_test(head_takes_some_fields_once),
		cmocka_unit_test(head_has_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
