// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static void table_aligns(void **state)
{
	static const char *const heads[] = {"NAME", "STATE", ">WEIGHT", "NOTE", NULL};
	struct cli_table *t = cli_table_new(heads);
	AUTO_BUF struct buf_writer w;
	char cell[CLI_STATE_MAX];

	(void)state;
	cli_table_add(t,
		      (const char *[]){"a", cli_table_state(MOOD_GOOD, "healthy", true, true, cell),
				       "7", ""});
	cli_table_add(t, (const char *[]){"longer-name", "é", "100", "x\ny\033[2Jz"});
	cli_table_add(t, (const char *[]){"", NULL, "", "only"});
	assert_int_equal(cli_table_rows(t), 3);
	buf_writer_init(&w, 1 << 16);
	cli_table_write(t, &w);
	assert_string_equal(buf_text(&w), "NAME         STATE      WEIGHT  NOTE\n"
					  "a            \033[32m● healthy\033[0m       7\n"
					  "longer-name  é             100  x\\u000ay\\u001b[2Jz\n"
					  "                                only\n");
	cli_table_free(t);
	cli_table_free(NULL);
}

static void table_measures(void **state)
{
	(void)state;
	assert_int_equal(cli_table_width(""), 0);
	assert_int_equal(cli_table_width("abc"), 3);
	assert_int_equal(cli_table_width("é●"), 2);
	assert_int_equal(cli_table_width("\033[31;1mx\033[0m"), 1);
	assert_int_equal(cli_table_width("\033[31"), 4); /* no colour: shown */
}

static void table_tells_states(void **state)
{
	char cell[CLI_STATE_MAX];

	(void)state;
	assert_string_equal(cli_table_state(MOOD_BAD, "unhealthy", false, true, cell),
			    "✖ unhealthy");
	assert_string_equal(cli_table_state(MOOD_BAD, "unhealthy", false, false, cell),
			    "! unhealthy");
	assert_string_equal(cli_table_state(MOOD_OFF, "disabled", true, false, cell),
			    "\033[90m- disabled\033[0m");
	assert_int_equal(cli_table_mood("healthy", true), MOOD_GOOD);
	assert_int_equal(cli_table_mood("unhealthy", false), MOOD_BAD);
	assert_int_equal(cli_table_mood("unhealthy", true), MOOD_BAD);
	assert_int_equal(cli_table_mood("initial", false), MOOD_WAITING);
	assert_int_equal(cli_table_mood("initial", true), MOOD_GOOD);
	assert_int_equal(cli_table_mood("disabled", false), MOOD_OFF);
	assert_int_equal(cli_table_mood("unavailable", true), MOOD_OFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_aligns),
		cmocka_unit_test(table_measures),
		cmocka_unit_test(table_tells_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
