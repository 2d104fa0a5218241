// SPDX-License-Identifier: GPL-2.0-or-later
// What iptables-restore is given names nothing but our chain and the jump to it.
#include "plan/rules_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/buf.h"

static void the_restore_makes_the_chain_and_its_jump(void **state)
{
	AUTO_BUF struct buf_writer w = {0};
	const char *text;

	(void)state;
	buf_writer_init(&w, RULES_TEXT_MAX);
	rules_text_write_set(&w, RULESET_V4, JUMP_ABSENT);
	text = buf_text(&w);
	assert_false(w.failed);
	assert_true(strncmp(text, "*filter\n:ZONEGATE - [0:0]\n-A ZONEGATE -i lo -j RETURN\n",
			    53) == 0);
	assert_non_null(
		strstr(text, "\n-A ZONEGATE -m set --match-set zg4-open dst,dst -j RETURN\n"));
	assert_non_null(strstr(text, "zg4-drop dst -j DROP\n"));
	assert_non_null(strstr(text, "-j REJECT --reject-with icmp-port-unreachable\n"));
	assert_non_null(strstr(text, "\n-I INPUT -j ZONEGATE\nCOMMIT\n"));
	assert_null(strstr(text, "zg6"));
}

static void a_jump_that_is_there_is_not_made_again(void **state)
{
	AUTO_BUF struct buf_writer w = {0};

	(void)state;
	buf_writer_init(&w, RULES_TEXT_MAX);
	rules_text_write_set(&w, RULESET_V6, JUMP_PRESENT);
	assert_null(strstr(buf_text(&w), "INPUT"));
	assert_null(strstr(buf_text(&w), "zg4"));
	assert_non_null(strstr(buf_text(&w), "--reject-with icmp6-port-unreachable\n"));
}

static void what_is_removed_is_ours(void **state)
{
	AUTO_BUF struct buf_writer with = {0};
	AUTO_BUF struct buf_writer without = {0};

	(void)state;
	buf_writer_init(&with, RULES_TEXT_MAX);
	buf_writer_init(&without, RULES_TEXT_MAX);
	rules_text_write_delete(&with, JUMP_PRESENT);
	rules_text_write_delete(&without, JUMP_ABSENT);
	assert_string_equal(
		buf_text(&with),
		"*filter\n:ZONEGATE - [0:0]\n-D INPUT -j ZONEGATE\n-X ZONEGATE\nCOMMIT\n");
	assert_string_equal(buf_text(&without),
			    "*filter\n:ZONEGATE - [0:0]\n-X ZONEGATE\nCOMMIT\n");
}

static void every_line_is_of_our_chain(void **state)
{
	AUTO_BUF struct buf_writer w = {0};
	unsigned lines = 0;

	(void)state;
	buf_writer_init(&w, RULES_TEXT_MAX);
	rules_text_write_listing(&w, RULESET_V4);
	for (const char *p = buf_text(&w); *p; p = strchr(p, '\n') + 1) {
		assert_true(strncmp(p, lines ? "-A ZONEGATE " : "-N ZONEGATE\n", 12) == 0);
		lines++;
	}
	assert_int_equal(lines, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_restore_makes_the_chain_and_its_jump),
		cmocka_unit_test(a_jump_that_is_there_is_not_made_again),
		cmocka_unit_test(what_is_removed_is_ours),
		cmocka_unit_test(every_line_is_of_our_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
