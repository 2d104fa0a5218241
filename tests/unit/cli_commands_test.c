// SPDX-License-Identifier: GPL-2.0-or-later
// The table of commands is one that can be read: each is reached, said, and says what it takes.
#include "cli/cli_commands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "cli/cli_args.h"

static bool same_words(const struct cli_command *a, const struct cli_command *b)
{
	const char *second = b->words[1] ? b->words[1] : "";

	return strcmp(a->words[0], b->words[0]) == 0 &&
	       strcmp(a->words[1] ? a->words[1] : "", second) == 0;
}

static void test_each_is_reached(void **state)
{
	AUTO_FREE struct cli_command *list = NULL;
	size_t count;

	(void)state;
	list = cli_commands_list(&count);
	assert_true(count > 50);
	for (size_t i = 0; i < count; i++) {
		assert_non_null(list[i].run);
		assert_true(list[i].min_args <= list[i].max_args);
		for (size_t j = 0; j < i; j++)
			assert_false(same_words(&list[i], &list[j]));
	}
}

/* The help lists them in blocks, and what may follow a first word is looked for in one. */
static void test_those_of_one_word_stand_together(void **state)
{
	AUTO_FREE struct cli_command *list = NULL;
	size_t count;

	(void)state;
	list = cli_commands_list(&count);
	for (size_t i = 1; i < count; i++) {
		bool next = strcmp(list[i].words[0], list[i - 1].words[0]) == 0;

		/* A command of one word has none of two. */
		assert_false(next && (!list[i].words[1] || !list[i - 1].words[1]));
		for (size_t j = 0; !next && j < i; j++)
			assert_string_not_equal(list[i].words[0], list[j].words[0]);
	}
}

/* Options that all commands take are not said by each. */
static bool is_common(const char *option)
{
	const char *common;

	for (size_t i = 0; (common = cli_args_option(NULL, i)); i++)
		if (strcmp(option, common) == 0)
			return true;
	return false;
}

static void test_each_says_what_it_takes(void **state)
{
	AUTO_FREE struct cli_command *list = NULL;
	const char *option;
	size_t count;

	(void)state;
	list = cli_commands_list(&count);
	for (size_t i = 0; i < count; i++) {
		const struct cli_command *c = &list[i];

		assert_true(c->summary[0] && c->summary[strlen(c->summary) - 1] != '.');
		assert_true(!c->help || c->help[0]);
		assert_true(c->min_args == 0 || c->args[0]);
		for (size_t j = 0; (option = cli_args_option(c, j)); j++)
			if (option[0] && !is_common(option) && !strstr(c->args, option))
				fail_msg("%s %s does not say %s", c->words[0],
					 c->words[1] ? c->words[1] : "", option);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_reached),
		cmocka_unit_test(test_those_of_one_word_stand_together),
		cmocka_unit_test(test_each_says_what_it_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
