// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_escape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli_diff.h"
#include "cli/cli_format.h"
#include "cli/cli_print.h"

static void shows(const char *text, const char *expected)
{
	AUTO_FREE char *shown = cli_escape_copy(text, strlen(text), ESCAPE_ALL);

	assert_string_equal(shown, expected);
}

static void escape_shows_what_is_hidden(void **state)
{
	(void)state;
	shows("", "");
	shows("plain, é, 中, 😀 and “quotes”", "plain, é, 中, 😀 and “quotes”");
	shows("a\033[2Jb\r\n\tc", "a\\u001b[2Jb\\u000d\\u000a\\u0009c");
	shows("\x7f", "\\u007f");
	shows("\xc2\x9b"
	      "2J\xc2\x80\xc2\x9f\xc2\xa0",
	      "\\u009b2J\\u0080\\u009f\xc2\xa0");
	/* U+202A to U+202E, U+2066 to U+2069, and their neighbours. */
	shows("\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf",
	      "\xe2\x80\xa9\\u202a\\u202e\xe2\x80\xaf");
	shows("\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa",
	      "\xe2\x81\xa5\\u2066\\u2069\xe2\x81\xaa");
	/* No UTF-8: a terminal may take it for C1. */
	shows("a\x9b"
	      "2J",
	      "a\\u009b2J");
	shows("\xe2\x80", "\\u00e2\\u0080");
}

static void escape_keeps_lines(void **state)
{
	static const char text[] = "a\n\tb\r\033";
	AUTO_FREE char *shown = cli_escape_copy(text, strlen(text), ESCAPE_KEEP_LINES);

	(void)state;
	assert_string_equal(shown, "a\n\tb\\u000d\\u001b");
}

#define HOSTILE  "\\u001b[2J\\u009b2J\\u007f\\u202egnp.exe\\u2066\\n"
#define HARMLESS "\\u001b[2J\\u009b2J\\u007f\\u202egnp.exe\\u2066\\u000a"

static json_t *hostile(void)
{
	json_t *json = json_loads("{\"name\":\"" HOSTILE "\",\"path\":\"/" HOSTILE
				  "\",\"action\":\"create\",\"new\":{\"a\":\"" HOSTILE "\"},"
				  "\"title\":\"" HOSTILE "\",\"detail\":\"" HOSTILE
				  "\",\"errors\":[{\"pointer\":\"/" HOSTILE "\",\"code\":\"x\","
				  "\"detail\":\"" HOSTILE "\"}]}",
				  0, NULL);

	assert_non_null(json);
	return json;
}

/* Nothing but printable characters and newlines. */
static void assert_harmless(const char *text)
{
	size_t length;

	assert_true(*text);
	for (const char *c = text; *c; c += length) {
		if (cli_escape_needed(c, strlen(c), &length) && *c != '\n')
			fail_msg("raw in: %s", text);
	}
}

static void escape_leaves_json_what_it_is(void **state)
{
	json_t *json = hostile(), *again;
	AUTO_FREE char *text = cli_escape_dump(json, JSON_INDENT(2));

	(void)state;
	assert_harmless(text);
	again = json_loads(text, 0, NULL);
	assert_true(json_equal(json, again));
	json_decref(json);
	json_decref(again);
}

/* Wherever an answer is printed. */
static void escape_is_everywhere(void **state)
{
	json_t *json = hostile();
	AUTO_FREE char *name = cli_format_name(json);
	const struct cli_format_wish wish = {.format = FORMAT_JSONL};
	AUTO_FREE char *text = json_dumps(json, 0);
	AUTO_BUF struct buf_writer w;

	(void)state;
	buf_writer_init(&w, 1 << 16);
	assert_string_equal(name, HARMLESS);
	cli_print_write_problem(&(struct cli_answer){.status = 422, .json = json}, &w);
	cli_diff_write_change(json, false, &w);
	cli_format_write(&wish, text, strlen(text), &w);
	assert_harmless(buf_text(&w));
	assert_string_equal(cli_print_text(json, "name"), HARMLESS);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escape_shows_what_is_hidden),
		cmocka_unit_test(escape_keeps_lines),
		cmocka_unit_test(escape_leaves_json_what_it_is),
		cmocka_unit_test(escape_is_everywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
