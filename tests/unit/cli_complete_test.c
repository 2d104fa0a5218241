// SPDX-License-Identifier: GPL-2.0-or-later
// Where the cursor is on a command line, and what may stand there.
#include "cli/cli_complete.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static const struct cli_command table[] = {
	{{"status", NULL}, "", 0, 0, 0, NULL, "", NULL},
	{{"lb", "list"}, "", 0, 0, 0, NULL, "", NULL},
	{{"lb", "drain"}, "LB --comment TEXT [--dry-run]", 1, 1, OPTION_DRY_RUN, NULL, "", NULL},
	{{"group", "drain-zone"}, "GROUP ZONE --comment TEXT", 2, 2, 0, NULL, "", NULL},
	{{"server", "list"}, "[GROUP]", 0, 1, 0, NULL, "", NULL},
	{{"server", "show"}, "GROUP/SERVER", 1, 1, 0, NULL, "", NULL},
	{{"dns", "preview"}, "NAME [--type A|AAAA]", 1, 1, OPTION_TYPE, NULL, "", NULL},
	{{"events", NULL}, "[OBJECT] [--type TYPE,…]", 0, 1, OPTION_TYPE, NULL, "", NULL},
	{{"user", "set"}, "USER [--role ROLE]", 1, 1, OPTION_ROLE, NULL, "", NULL},
	{{"zone", "return"}, "ZONE|ID [--lb LB|--all]", 1, 1, OPTION_LB, NULL, "", NULL},
};
#define COUNT (sizeof(table) / sizeof(table[0]))

/* The words are separated by one blank; the last may be empty. */
static struct complete_state find(const char *line, char copy[128])
{
	char *words[16], *rest = copy;
	struct complete_state s;
	size_t count = 0;

	strcpy(copy, line);
	while ((words[count] = strsep(&rest, " ")))
		count++;
	cli_complete_find(table, COUNT, words, count, &s);
	return s;
}

static void check_offered(const char *line, const char *expected)
{
	AUTO_BUF struct buf_writer w;
	char copy[128];
	struct complete_state s = find(line, copy);

	buf_writer_init(&w, 1 << 16);
	cli_complete_write(table, COUNT, &s, &w);
	assert_string_equal(buf_text(&w), expected);
}

static void words_come_from_the_table(void **state)
{
	(void)state;
	check_offered("", "status\nlb\ngroup\nserver\ndns\nevents\nuser\nzone\n");
	check_offered("s", "status\nserver\n");
	check_offered("lb ", "list\ndrain\n");
	check_offered("--socket /x lb d", "drain\n");
	check_offered("status ", "");
	check_offered("nothing more ", "");
}

static void options_are_those_of_the_command(void **state)
{
	(void)state;
	check_offered("lb drain shop --d", "--dry-run\n");
	check_offered("lb list --d", "");
	check_offered("lb drain shop -o ", "table\njson\njsonl\nname\n");
	check_offered("lb list --output j", "json\njsonl\n");
	check_offered("lb drain shop --comment ", "");
	check_offered("dns preview shop --type ", "A\nAAAA\n");
	check_offered("events --type ", "");
	check_offered("user set bob --role ", "metrics\nviewer\noperator\neditor\nadmin\n");
}

static void check_form(const char *line, const char *form)
{
	char copy[128];
	struct complete_state s = find(line, copy);

	assert_int_equal(s.kind, *form ? COMPLETE_NAME : COMPLETE_NOTHING);
	assert_string_equal(s.form, form);
}

static void arguments_have_the_form_of_the_usage(void **state)
{
	(void)state;
	check_form("lb drain ", "LB");
	check_form("lb drain shop ", "");
	check_form("group drain-zone ", "GROUP");
	check_form("group drain-zone web z", "ZONE");
	check_form("server list ", "GROUP");
	check_form("server show web/", "GROUP/SERVER");
	check_form("zone return ", "ZONE");
	check_form("zone return --lb ", "LB");
	check_form("zone return zone-a --lb s", "LB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_come_from_the_table),
		cmocka_unit_test(options_are_those_of_the_command),
		cmocka_unit_test(arguments_have_the_form_of_the_usage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
