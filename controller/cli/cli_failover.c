// SPDX-License-Identifier: GPL-2.0-or-later
// How long a failover by DNS takes at worst: the number, its parts, what to change first.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

static char *cli_failover_seconds(const json_t *object, const char *member)
{
	return mem_printf("%.2f s", (double)cli_print_number(object, member) / 1000.0);
}

static void cli_failover_print_parts(const json_t *answer)
{
	static const char *const heads[] = {"PART", ">AT WORST", "WHAT", NULL};
	struct cli_table *t = cli_table_new(heads);
	const json_t *part;
	size_t i;

	json_array_foreach (json_object_get(answer, "parts"), i, part) {
		AUTO_FREE char *worst = cli_failover_seconds(part, "worst_ms");
		bool plain = cli_print_true(part, "counted") ||
			     cli_print_number(part, "worst_ms") == 0;
		AUTO_FREE char *what = mem_printf(
			"%s%s", cli_print_text(part, "detail"),
			plain ? "" : " (not added: the other check takes as long or longer)");

		cli_table_add(t, (const char *[]){cli_print_text(part, "part"), worst, what});
	}
	cli_print_table(t);
}

enum cli_exit cli_failover_show(struct cli *cli)
{
	AUTO_FREE char *name = cli_client_escape(cli->args[0]);
	AUTO_FREE char *path = mem_printf(CLI_BASE "/load-balancers/%s/failover-time", name);
	AUTO_ANSWER struct cli_answer a = {0};
	bool possible, now;

	cli_client_get(cli->client, path, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	possible = json_is_integer(json_object_get(a.json, "total_ms"));
	now = possible && *cli_print_text(a.json, "warning") == '\0';
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(a.json);
	} else if (possible) {
		AUTO_FREE char *total = cli_failover_seconds(a.json, "total_ms");

		printf("%s: ", cli_print_text(a.json, "load_balancer"));
		if (!now)
			printf("no failover now: %s\nby its settings ",
			       cli_print_text(a.json, "warning"));
		printf("clients of %s are elsewhere after %s at worst\n",
		       cli_print_text(a.json, "dns_name"), total);
		cli_failover_print_parts(a.json);
		printf("%s\n", cli_print_text(a.json, "advice"));
	} else {
		printf("%s: no failover: %s\n", cli_print_text(a.json, "load_balancer"),
		       cli_print_text(a.json, "advice"));
	}
	return now ? EXIT_OK : EXIT_NEGATIVE;
}
