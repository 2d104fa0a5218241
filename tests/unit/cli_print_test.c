// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_print.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/cli_args.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void assert_problem(const char *json, long status, const char *text)
{
	AUTO_BUF struct buf_writer w;
	json_t *problem = json ? json_loads(json, 0, NULL) : NULL;

	buf_writer_init(&w, 1 << 16);
	cli_print_write_problem(&(struct cli_answer){.status = status, .json = problem}, &w);
	assert_string_equal(buf_text(&w), text);
	json_decref(problem);
}

static void print_shows_every_fault(void **state)
{
	(void)state;
	assert_problem(
		"{\"title\":\"Not valid\",\"detail\":\"first\",\"errors\":[{\"pointer\":\"/a/b\",\"detail\":\"first\"},"
		"{\"pointer\":\"\",\"detail\":\"second\"}],\"errors_total\":5}",
		422, "zonegate: Not valid\n  /a/b: first\n  second\n  and 3 more\n");
	assert_problem("{\"title\":\"Not allowed\",\"detail\":\"uid 7 is nobody\"}", 403,
		       "zonegate: Not allowed: uid 7 is nobody\n");
	assert_problem("{\"title\":\"Same\",\"detail\":\"Same\"}", 500, "zonegate: Same\n");
	assert_problem(NULL, 502, "zonegate: the daemon answered with status 502\n");
	assert_problem("{}", 400, "zonegate: the daemon answered with status 400\n");
}

static void print_reads_files(void **state)
{
	char path[] = "/tmp/zonegate-cli-XXXXXX";
	int fd = mkstemp(path);
	size_t size = 99;

	(void)state;
	AUTO_FREE char *empty = cli_print_read_file(path, &size);
	assert_string_equal(empty, "");
	assert_int_equal(size, 0);
	assert_int_equal(write(fd, "a\0b", 3), 3);
	close(fd);
	AUTO_FREE char *text = cli_print_read_file(path, &size);
	assert_int_equal(size, 3);
	assert_memory_equal(text, "a\0b", 4);
	unlink(path);
	assert_null(cli_print_read_file(path, &size));
	assert_null(cli_print_read_file("/", &size));
}

static void print_reads_members(void **state)
{
	json_t *json = json_pack("{s:s, s:i, s:b}", "t", "x", "n", 5, "b", 1);

	(void)state;
	assert_string_equal(cli_print_text(json, "t"), "x");
	assert_string_equal(cli_print_text(json, "n"), "");
	assert_string_equal(cli_print_text(NULL, "n"), "");
	assert_int_equal(cli_print_number(json, "n"), 5);
	assert_true(cli_print_true(json, "b"));
	assert_false(cli_print_true(json, "n"));
	json_decref(json);
}

/* What the API names is named as it is written on the command line, too. */
static void faults_name_their_options(void **state)
{
	static const char text[] = "{\"title\":\"Refused\",\"errors\":["
				   "{\"pointer\":\"/expires_in\",\"detail\":\"is required\"},"
				   "{\"pointer\":\"/sources/1\",\"detail\":\"is none\"},"
				   "{\"pointer\":\"/load_balancers/x\",\"detail\":\"is odd\"},"
				   "{\"pointer\":\"\",\"detail\":\"set force if you like\"}]}";
	struct cli_options o = {.taken = OPTION_FOR | OPTION_SOURCE | OPTION_FORCE};
	json_t *problem = json_loads(text, 0, NULL);
	struct cli_answer a = {.status = 409, .options = &o, .json = problem};
	AUTO_BUF struct buf_writer w, other;

	(void)state;
	buf_writer_init(&w, 4096);
	buf_writer_init(&other, 4096);
	cli_print_write_problem(&a, &w);
	assert_string_equal(buf_text(&w), "zonegate: Refused\n"
					  "  /expires_in (--for): is required\n"
					  "  /sources/1 (--source): is none\n"
					  "  /load_balancers/x: is odd\n"
					  "  set force (--force) if you like\n");
	/* A command without these options, or with a document, has none to name; of a document the file is. */
	o.taken = OPTION_FOR | OPTION_FILE;
	o.file = "doc.json";
	a.status = 422;
	cli_print_write_problem(&a, &other);
	assert_string_equal(buf_text(&other), "zonegate: doc.json: Refused\n"
					      "  /expires_in: is required\n"
					      "  /sources/1: is none\n"
					      "  /load_balancers/x: is odd\n"
					      "  set force if you like\n");
	json_decref(problem);
}

static void a_token_that_was_given_is_not_asked_for(void **state)
{
	const struct cli_options o = {.server = "https://192.0.2.1", .token_file = "t"};
	json_t *problem = json_pack("{s:s, s:s}", "title", "Who?", "detail", "no such token");
	struct cli_answer a = {.status = 401, .json = problem};
	AUTO_BUF struct buf_writer w, given;

	(void)state;
	buf_writer_init(&w, 4096);
	buf_writer_init(&given, 4096);
	cli_print_write_problem(&a, &w);
	assert_non_null(strstr(buf_text(&w), "Give --token-file FILE"));
	a.options = &o;
	cli_print_write_problem(&a, &given);
	assert_non_null(strstr(buf_text(&given), "The token of t is not taken: it may be revoked"));
	assert_null(strstr(buf_text(&given), "Give --token-file"));
	json_decref(problem);
}

/* One sentence about several places is one line; what was said before is only counted. */
static void advice_is_told_once(void **state)
{
	static const char text[] = "[{\"code\":\"a\",\"pointer\":\"/x\",\"detail\":\"same\"},"
				   "{\"code\":\"b\",\"pointer\":\"/x\",\"detail\":\"other\"},"
				   "{\"code\":\"a\",\"pointer\":\"/y\",\"detail\":\"same\"},"
				   "{\"code\":\"a\",\"pointer\":\"/z\",\"detail\":\"same\"}]";
	json_t *advice = json_loads(text, 0, NULL), *before = json_array();
	AUTO_FREE char *all = NULL, *some = NULL, *none = NULL;
	size_t size;
	FILE *old = stderr;

	(void)state;
	stderr = open_memstream(&all, &size);
	cli_print_advice(advice);
	fclose(stderr);
	json_array_append(before, json_array_get(advice, 0));
	json_array_append(before, json_array_get(advice, 1));
	stderr = open_memstream(&some, &size);
	cli_print_new_advice(before, advice, "here");
	fclose(stderr);
	stderr = open_memstream(&none, &size);
	cli_print_new_advice(advice, advice, "here");
	fclose(stderr);
	stderr = old;
	assert_string_equal(none, "");
	assert_string_equal(all, "zonegate: advice: /x (and 2 others): same\n"
				 "zonegate: advice: /x: other\n");
	assert_string_equal(some, "zonegate: advice: /y (and 1 other): same\n"
				  "zonegate: advice: 2 more as before: here\n");
	json_decref(advice);
	json_decref(before);
}

/* What the kernel would refuse, and what is but to be known. */
static void dry_runs_tell_what_their_warnings_are(void **state)
{
	static const char text[] =
		"{\"diff\":[],\"diff_total\":0,\"kernel_ops\":[],\"kernel_ops_total\":0,\"dns_changes\":[],"
		"\"dns_changes_total\":0,\"warnings\":["
		"{\"code\":\"sessions_end\",\"pointer\":\"/users/ann\",\"detail\":\"2 sessions of his would "
		"end\"},"
		"{\"code\":\"kernel_apply_failed\",\"pointer\":\"/x\",\"detail\":\"no scheduler\"}]}";
	const struct cli cli = {.unicode = true};
	json_t *answer = json_loads(text, 0, NULL);
	AUTO_FREE char *told = NULL;
	FILE *old = stderr;
	size_t size;

	(void)state;
	assert_non_null(answer);
	stderr = open_memstream(&told, &size);
	assert_int_equal(cli_print_dry_run(&cli, answer), EXIT_OK);
	fclose(stderr);
	stderr = old;
	assert_string_equal(
		told, "zonegate: warning: /users/ann: 2 sessions of his would end\n"
		      "zonegate: it would be stored, and not be in force: /x: no scheduler\n");
	json_decref(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(print_shows_every_fault),
		cmocka_unit_test(print_reads_files),
		cmocka_unit_test(faults_name_their_options),
		cmocka_unit_test(advice_is_told_once),
		cmocka_unit_test(print_reads_members),
		cmocka_unit_test(a_token_that_was_given_is_not_asked_for),
		cmocka_unit_test(dry_runs_tell_what_their_warnings_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
