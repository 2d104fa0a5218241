// SPDX-License-Identifier: GPL-2.0-or-later
// Sets and rules of netfilter, as the kernel has them.
#include "cli/cli_filters.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

/* "in_force" → "in force"; with ipvs = off nothing is. */
static char *cli_filters_state(const json_t *answer, const json_t *thing)
{
	const char *told = cli_print_text(thing, "state");
	const bool off = strcmp(cli_print_text(answer, "ipvs"), "off") == 0;
	char *state = mem_strdup(off && strcmp(told, "in_force") == 0 ? "planned" : told);

	for (char *p = state; *p; p++)
		if (*p == '_')
			*p = ' ';
	return state;
}

static char *cli_filters_size(json_int_t bytes)
{
	const bool large = bytes >= 1000000;

	return mem_printf("%.1f %s", (double)bytes / (large ? 1e6 : 1e3), large ? "MB" : "kB");
}

static void cli_filters_add_set(struct cli_table *t, const json_t *answer, const json_t *set)
{
	const bool foreign = strcmp(cli_print_text(set, "owner"), "foreign") == 0;
	AUTO_FREE char *entries = mem_printf("%" JSON_INTEGER_FORMAT,
					     cli_print_number(set, "entries"));
	AUTO_FREE char *memory = cli_filters_size(cli_print_number(set, "memory_bytes"));
	AUTO_FREE char *state = cli_filters_state(answer, set);

	cli_table_add(t, (const char *[]){cli_print_text(set, "name"), cli_print_text(set, "type"),
					  entries, memory, foreign ? "foreign" : state,
					  cli_print_text(set, "use")});
}

static void cli_filters_print_sets(const struct cli *cli, const json_t *answer)
{
	const json_t *sets = json_object_get(json_object_get(answer, "filters"), "sets");
	static const char *const heads[] = {"SET",   "TYPE", ">ENTRIES", ">MEMORY",
					    "STATE", "FOR",  NULL};
	struct cli_table *t = cli_table_new(heads);
	const json_t *set;
	size_t i, shown = 0, hidden = 0;

	json_array_foreach (sets, i, set) {
		if (!cli->options.foreign && strcmp(cli_print_text(set, "owner"), "foreign") == 0) {
			hidden++;
			continue;
		}
		shown++;
		cli_filters_add_set(t, answer, set);
	}
	if (shown) {
		printf("\n");
		cli_print_table(t);
	} else {
		cli_table_free(t);
	}
	if (hidden > 0)
		printf("%zu foreign set%s not shown: --foreign\n", hidden, TEXT_S(hidden));
}

static void cli_filters_print_rules(const json_t *answer)
{
	const json_t *rules = json_object_get(json_object_get(answer, "filters"), "rules");
	static const char *const heads[] = {"RULES", "TABLE", "PROGRAM", ">COUNT", "STATE", NULL};
	struct cli_table *t = cli_table_new(heads);
	const json_t *one;
	size_t i;

	json_array_foreach (rules, i, one) {
		AUTO_FREE char *count = mem_printf("%" JSON_INTEGER_FORMAT,
						   cli_print_number(one, "rules"));
		AUTO_FREE char *state = cli_filters_state(answer, one);

		cli_table_add(t, (const char *[]){cli_print_text(one, "family"),
						  cli_print_text(one, "table"),
						  cli_print_text(one, "program"), count, state});
	}
	if (json_array_size(rules) == 0) {
		cli_table_free(t);
		return;
	}
	printf("\n");
	cli_print_table(t);
}

void cli_filters_print(const struct cli *cli, const json_t *answer)
{
	const char *fault = cli_print_text(json_object_get(answer, "filters"), "fault");

	cli_filters_print_sets(cli, answer);
	cli_filters_print_rules(answer);
	if (*fault)
		printf("\nNot all of the sets and rules could be read: %s\n", fault);
}
