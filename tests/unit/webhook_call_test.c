// SPDX-License-Identifier: GPL-2.0-or-later
#include "webhook/webhook_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void urls_are_judged(void **state)
{
	(void)state;
	assert_null(webhook_call_url_fault("http://127.0.0.1:8080/hook?x=1"));
	assert_null(webhook_call_url_fault("https://user:secret@hooks.example.net"));
	assert_non_null(webhook_call_url_fault("ftp://example.net/"));
	assert_non_null(webhook_call_url_fault("file:///etc/passwd"));
	assert_non_null(webhook_call_url_fault("http:///hook"));
	assert_non_null(webhook_call_url_fault("http://example.net/\"\nurl = \"x"));
	assert_non_null(webhook_call_url_fault("http://example.net/a b"));
	assert_non_null(webhook_call_url_fault("http://user:secret@/hook"));
	assert_non_null(webhook_call_url_fault("http://user:sec@ret@example.net/hook"));
	assert_null(webhook_call_url_fault("http://user:sec%40ret@example.net/a@b?c@d"));
}

static void secrets_of_an_url_are_not_shown(void **state)
{
	char buf[WEBHOOK_ORIGIN_MAX];

	(void)state;
	assert_string_equal(
		webhook_call_origin("https://user:secret@hooks.example.net:8443/T0/abc?k=v", buf),
		"https://hooks.example.net:8443");
	assert_string_equal(webhook_call_origin("http://[::1]:80", buf), "http://[::1]:80");
	assert_string_equal(webhook_call_origin("http://h?u=a@b", buf), "http://h");
	assert_string_equal(webhook_call_origin("http://u:a@b@h/", buf), "http://h");
}

/* Against what "printf '%s' '1700000000.{}' | openssl dgst -sha256 -hmac …" says. */
static void a_body_is_signed_with_its_time(void **state)
{
	char text[WEBHOOK_SIGNATURE_MAX];

	(void)state;
	webhook_call_sign("0123456789abcdef", 1700000000ULL * USEC_PER_SEC, "{}", text);
	assert_string_equal(text,
			    "t=1700000000,v1="
			    "e4f8e2ecae2295b2ddb2f0b5584c8275e226c0ebe9b3b819e70156bb67122e3e");
}

static void what_curl_reads_is_what_was_meant(void **state)
{
	struct buf_writer w;

	(void)state;
	buf_writer_init(&w, 1 << 16);
	webhook_call_write("http://h/x", "{\"a\":\"b\\\\c \\\"q\\\"\"}", "t=1,v1=2",
			   5 * USEC_PER_SEC, &w);
	assert_non_null(strstr(buf_text(&w), "url = \"http://h/x\"\n"));
	assert_non_null(
		strstr(buf_text(&w),
		       "data-binary = \"{\\\"a\\\":\\\"b\\\\\\\\c \\\\\\\"q\\\\\\\"\\\"}\"\n"));
	assert_non_null(strstr(buf_text(&w), "header = \"Zonegate-Signature: t=1,v1=2\"\n"));
	assert_non_null(strstr(buf_text(&w), "max-time = 5.0\n"));
	assert_non_null(strstr(buf_text(&w), "limit-rate = \"1M\"\n"));
	buf_writer_free(&w);
}

static bool judge(int status, const char *output, unsigned *ret_http,
		  char ret_error[WEBHOOK_ERROR_MAX])
{
	const struct child_end end = {.status = status, .output = output};

	return webhook_call_judge(&end, ret_http, ret_error);
}

static void answers_are_judged(void **state)
{
	char error[WEBHOOK_ERROR_MAX];
	unsigned http;

	(void)state;
	assert_true(judge(0, "\nzonegate-status 204\n", &http, error));
	assert_int_equal(http, 204);
	assert_string_equal(error, "");
	assert_false(judge(0, "\nzonegate-status 302\n", &http, error));
	assert_false(judge(0, "\nzonegate-status 500\n", &http, error));
	assert_string_equal(error, "the answer is status 500");
	assert_false(judge(-1, "", &http, error));
	assert_string_equal(error, "it took too long");
	assert_false(judge(7 << 8, "curl: (7) Failed\x1b[1m to connect\n\nzonegate-status 000\n",
			   &http, error));
	assert_string_equal(error, "curl: (7) Failed?[1m to connect");
	assert_int_equal(http, 0);
	assert_false(judge(127 << 8, "", &http, error));
	assert_non_null(strstr(error, "curl"));
	/* It has ended badly, whatever it said. */
	assert_false(judge(9, "\nzonegate-status 200\n", &http, error));
}

static void put_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

static void a_secret_is_one_line_of_one_owner(void **state)
{
	char path[] = "/tmp/webhook-secret-XXXXXX";
	char secret[WEBHOOK_SECRET_MAX + 1], error[WEBHOOK_ERROR_MAX];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	put_file(path, "a secret of sixteen\n", 0600);
	assert_int_equal(webhook_call_read_secret(path, secret, error), 0);
	assert_string_equal(secret, "a secret of sixteen");
	put_file(path, "a secret of sixteen\n", 0644);
	assert_int_not_equal(webhook_call_read_secret(path, secret, error), 0);
	assert_non_null(strstr(error, "chmod"));
	put_file(path, "short\n", 0600);
	assert_int_not_equal(webhook_call_read_secret(path, secret, error), 0);
	put_file(path, "a secret of\nmore than a line\n", 0600);
	assert_int_not_equal(webhook_call_read_secret(path, secret, error), 0);
	unlink(path);
	assert_int_not_equal(webhook_call_read_secret(path, secret, error), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls_are_judged),
		cmocka_unit_test(secrets_of_an_url_are_not_shown),
		cmocka_unit_test(a_body_is_signed_with_its_time),
		cmocka_unit_test(what_curl_reads_is_what_was_meant),
		cmocka_unit_test(answers_are_judged),
		cmocka_unit_test(a_secret_is_one_line_of_one_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
