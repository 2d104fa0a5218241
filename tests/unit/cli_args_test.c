// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_args.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse(const char *line, struct cli_options *ret_options, char *ret_fault)
{
	static char copy[512]; /* the options point into it */
	static char *argv[32];
	int argc = 0;
	char *rest = copy;

	strcpy(copy, line);
	while ((argv[argc] = strsep(&rest, " ")))
		argc++;
	return cli_args_parse(argc, argv, ret_options, ret_fault);
}

/* A mistyped option is told with the one that was meant, as a command is. */
static void an_option_that_is_none_is_told(void **state)
{
	char fault[CLI_FAULT_MAX];
	struct cli_options o;

	(void)state;
	assert_int_not_equal(parse("zonegate server list --outpt json", &o, fault), 0);
	assert_string_equal(fault, "there is no option --outpt; did you mean --output?");
	assert_int_not_equal(parse("zonegate server list --coment=json", &o, fault), 0);
	assert_string_equal(fault, "there is no option --coment; did you mean --comment?");
	assert_int_not_equal(parse("zonegate server list --quite-another", &o, fault), 0);
	assert_string_equal(fault, "there is no option --quite-another");
	assert_int_not_equal(parse("zonegate server list -x", &o, fault), 0);
	assert_string_equal(fault, "there is no option -x");
}

/* What was typed, or came from elsewhere into a script, is told in errors: no terminal gets what would control it. */
static void what_controls_a_terminal_is_refused(void **state)
{
	static const struct {
		const char *line;
		bool taken;
	} all[] = {
		{"zonegate lb show \x1b[31mshop", false},
		{"zonegate lb show sh\x7fop", false},
		{"zonegate lb show \xc2\x9b"
		 "31m",
		 false},
		{"zonegate lb show \xe2\x80\xae", false}, /* turns the line round */
		{"zonegate lb list --comment=\x1b]0;x\x07", false},
		{"zonegate lb show l\xc3\xa4"
		 "b",
		 true},
		{"zonegate config apply --file=caf\xe9", true},
		{"zonegate group set web a={\n\t}", true},
	};
	char fault[CLI_FAULT_MAX];
	struct cli_options o;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		strcpy(fault, "");
		if ((parse(all[i].line, &o, fault) == 0) != all[i].taken)
			fail_msg("line %zu", i);
		if (!all[i].taken)
			assert_string_equal(
				fault, "argument 3 holds what controls a terminal: leave it out");
	}
}

static void args_are_taken_apart(void **state)
{
	char fault[CLI_FAULT_MAX];
	struct cli_options o;

	(void)state;
	unsetenv("ZONEGATE_SOCKET");
	unsetenv("ZONEGATE_SERVER");
	unsetenv("ZONEGATE_TOKEN_FILE");
	assert_int_equal(
		parse("zonegate config -o json apply --file=x --dry-run --comment why", &o, fault),
		0);
	assert_int_equal(o.arg_count, 2);
	assert_string_equal(o.args[1], "apply");
	assert_int_equal(o.format, FORMAT_JSON);
	assert_string_equal(o.file, "x");
	assert_string_equal(o.comment, "why");
	assert_true(o.dry_run);
	assert_string_equal(o.socket, "/run/zonegate/api.sock");
	assert_null(o.server);
	assert_int_equal(o.given, OPTION_FILE | OPTION_DRY_RUN | OPTION_COMMENT);
	assert_int_equal(parse("zonegate api GET x -H A:b -H C:d -d {}", &o, fault), 0);
	assert_int_equal(o.header_count, 2);
	assert_string_equal(o.headers[1], "C:d");
	assert_string_equal(o.data, "{}");

	assert_int_equal(parse("zonegate zone shift za --lb x --for 2h --evacuate-servers --force",
			       &o, fault),
			 0);
	assert_string_equal(o.lb, "x");
	assert_string_equal(o.expires, "2h");
	assert_true(o.evacuate && o.force && !o.all);
	assert_int_equal(o.given, OPTION_LB | OPTION_FOR | OPTION_EVACUATE | OPTION_FORCE);
	assert_int_equal(parse("zonegate dns preview x --type AAAA --client ::1 --all", &o, fault),
			 0);
	assert_string_equal(o.type, "AAAA");
	assert_string_equal(o.client, "::1");
	assert_true(o.all);
	assert_int_equal(parse("zonegate status --server http://a --token-file t --server http://b",
			       &o, fault),
			 0);
	assert_int_equal(o.server_count, 2);
	assert_string_equal(o.servers[0], "http://a");
	assert_string_equal(o.server, "http://b");
	assert_int_equal(o.token_count, 1);
	assert_int_equal(o.given, OPTION_SERVERS);

	setenv("ZONEGATE_SOCKET", "/s", 1);
	setenv("ZONEGATE_SERVER", "http://gw", 1);
	setenv("ZONEGATE_TOKEN_FILE", "/t", 1);
	assert_int_equal(parse("zonegate status", &o, fault), 0);
	assert_string_equal(o.socket, "/s");
	assert_string_equal(o.server, "http://gw");
	assert_string_equal(o.token_file, "/t");
	assert_int_equal(parse("zonegate --socket /mine status", &o, fault),
			 0); /* said out loud: no server */
	assert_string_equal(o.socket, "/mine");
	assert_null(o.server);
	unsetenv("ZONEGATE_SERVER");
	assert_int_equal(parse("zonegate -h --version", &o, fault), 0);
	assert_true(o.help && o.version);
}

static void args_are_refused(void **state)
{
	static const struct {
		const char *line;
		const char *says;
	} bad[] = {
		{"zonegate --frob", "--frob"},
		{"zonegate -o xml", "none of table, json, jsonl, name"},
		{"zonegate -o", "-o needs a value"},
		{"zonegate -H x", "no \"Name: value\""},
		{"zonegate --socket", "needs a value"},
		{"zonegate -x", "-x"},
	};
	char fault[CLI_FAULT_MAX] = "";
	struct cli_options o;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_not_equal(parse(bad[i].line, &o, fault), 0);
		if (!strstr(fault, bad[i].says))
			fail_msg("%s: %s", bad[i].line, fault);
	}
}

/* Every time is written in one form: with its unit. */
static void args_take_one_form_of_times(void **state)
{
	static const char *const names[] = {"--for", "--timeout", "--confirm-within"};
	static const char *const good[] = {"90s", "30m", "2h", "3d"};
	static const char *const bad[] = {"90", "2w", "30m1h", "", "-5s", "s"};
	char fault[CLI_FAULT_MAX] = "", line[80];
	struct cli_options o;
	usec_t span;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (size_t k = 0; k < sizeof(good) / sizeof(good[0]); k++) {
			snprintf(line, sizeof(line), "zonegate x %s=%s", names[i], good[k]);
			assert_int_equal(parse(line, &o, fault), 0);
		}
		for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
			snprintf(line, sizeof(line), "zonegate x %s=%s", names[i], bad[k]);
			assert_int_not_equal(parse(line, &o, fault), 0);
			if (!strstr(fault, names[i]) ||
			    !strstr(fault, k ? "30m" : "90s, 90m, 90h or 90d"))
				fail_msg("%s: %s", line, fault);
		}
	}
	assert_int_equal(parse("zonegate x --timeout=0", &o, fault), 0);
	assert_int_not_equal(parse("zonegate x --for=0", &o, fault), 0);
	assert_int_equal(cli_args_read_span("3d", &span), 0);
	assert_int_equal(span, 3 * 86400 * USEC_PER_SEC);
}

static enum cli_exit nothing(struct cli *cli)
{
	(void)cli;
	return EXIT_OK;
}

static void args_find_commands(void **state)
{
	static const struct cli_command table[] = {
		{{"status", NULL}, "", 0, 0, 0, nothing, "", NULL},
		{{"config", "apply"},
		 "-f FILE",
		 0,
		 0,
		 OPTION_FILE | OPTION_DRY_RUN,
		 nothing,
		 "",
		 NULL},
		{{"server", "set"}, "NAME X…", 1, SIZE_MAX, 0, nothing, "", NULL},
	};
	char fault[CLI_FAULT_MAX] = "";
	struct cli_options o;
	size_t words = 0;

	(void)state;
	parse("zonegate config apply", &o, fault);
	assert_ptr_equal(cli_args_find(table, 3, &o, &words), &table[1]);
	assert_int_equal(words, 2);
	parse("zonegate status more", &o, fault);
	assert_ptr_equal(cli_args_find(table, 3, &o, &words), &table[0]);
	assert_int_equal(words, 1);
	assert_int_not_equal(cli_args_check(&table[0], &o, 1, fault), 0);
	assert_non_null(strstr(fault, "takes no arguments"));
	parse("zonegate config", &o, fault);
	assert_null(cli_args_find(table, 3, &o, &words));
	parse("zonegate config frob", &o, fault);
	assert_null(cli_args_find(table, 3, &o, &words));

	parse("zonegate config apply -f x --foreign", &o, fault);
	assert_int_not_equal(cli_args_check(&table[1], &o, 0, fault), 0);
	assert_non_null(strstr(fault, "--foreign"));
	parse("zonegate config apply -f x --dry-run", &o, fault);
	assert_int_equal(cli_args_check(&table[1], &o, 0, fault), 0);
	assert_int_not_equal(cli_args_check(&table[2], &o, 0, fault), 0);
	parse("zonegate server set a b c d", &o, fault);
	assert_int_equal(cli_args_check(&table[2], &o, 4, fault), 0);
}

static void args_split_names(void **state)
{
	char first[CLI_NAME_MAX], second[CLI_NAME_MAX], longest[2 * CLI_NAME_MAX] = "";

	(void)state;
	assert_int_equal(cli_args_split("web/w1", first, second), 0);
	assert_string_equal(first, "web");
	assert_string_equal(second, "w1");
	assert_int_equal(cli_args_split("a/b/c", first, second), 0);
	assert_string_equal(second, "b/c"); /* no name: the daemon will say so */
	assert_int_not_equal(cli_args_split("web", first, second), 0);
	assert_int_not_equal(cli_args_split("/w1", first, second), 0);
	assert_int_not_equal(cli_args_split("web/", first, second), 0);
	memset(longest, 'a', CLI_NAME_MAX);
	strcat(longest, "/b");
	assert_int_not_equal(cli_args_split(longest, first, second), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_option_that_is_none_is_told),
		cmocka_unit_test(what_controls_a_terminal_is_refused),
		cmocka_unit_test(args_are_taken_apart),
		cmocka_unit_test(args_are_refused),
		cmocka_unit_test(args_take_one_form_of_times),
		cmocka_unit_test(args_find_commands),
		cmocka_unit_test(args_split_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
