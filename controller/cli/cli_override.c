// SPDX-License-Identifier: GPL-2.0-or-later
// Everything that is not as configured.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

static void cli_override_add(struct cli_table *t, const json_t *o)
{
	const bool shift = strcmp(cli_print_text(o, "kind"), "zone_shift") == 0;
	AUTO_FREE char *until = mem_printf("%.19s", cli_print_text(o, "until"));
	AUTO_FREE char *note = mem_printf("%s%s", cli_print_text(o, "why"),
					  cli_print_true(o, "forced") ? " (forced)" : "");
	AUTO_FREE char *what = NULL;

	if (shift)
		what = mem_printf("%s of %s%s", cli_print_text(o, "zone"),
				  strcmp(cli_print_text(o, "load_balancer"), "*") == 0
					  ? "all load balancers"
					  : cli_print_text(o, "load_balancer"),
				  cli_print_true(o, "evacuate_servers") ? ", servers too" : "");
	else
		what = mem_printf("%s/%s (%s) of %s/%s, %" JSON_INTEGER_FORMAT " connections",
				  cli_print_text(o, "server_group"), cli_print_text(o, "server"),
				  cli_print_text(o, "endpoint"), cli_print_text(o, "load_balancer"),
				  cli_print_text(o, "listener"),
				  cli_print_number(o, "connections"));
	cli_table_add(t, (const char *[]){shift ? "zone shift" : cli_print_text(o, "kind"),
					  cli_print_text(o, "id"), what, cli_print_text(o, "who"),
					  until, note});
}

enum cli_exit cli_override_list(struct cli *cli)
{
	static const char *const heads[] = {"KIND",        "ID",  "WHAT", "WHO",
					    "UNTIL (UTC)", "WHY", NULL};
	AUTO_ANSWER struct cli_answer a = {0};
	const json_t *items, *item;
	struct cli_table *t;
	size_t i;

	cli_client_get(cli->client, CLI_BASE "/overrides", &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	items = json_object_get(a.json, "items");
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(items);
	} else if (json_array_size(items) == 0) {
		printf("Everything is as configured.\n");
	} else {
		t = cli_table_new(heads);
		json_array_foreach (items, i, item)
			cli_override_add(t, item);
		cli_print_table(t);
	}
	return EXIT_OK;
}
