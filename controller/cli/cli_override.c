// SPDX-License-Identifier: GPL-2.0-or-later
// Everything that is not as configured.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_pages.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

struct override_row {
	const char *kind;
	const char *word;
	char *(*what)(const json_t *o); /* caller frees */
};

static char *cli_override_shift(const json_t *o)
{
	const char *lb = cli_print_text(o, "load_balancer");

	return mem_printf("%s of %s%s", cli_print_text(o, "zone"),
			  strcmp(lb, "*") == 0 ? "all load balancers" : lb,
			  cli_print_true(o, "evacuate_servers") ? ", servers too" : "");
}

static char *cli_override_removal(const json_t *o)
{
	char left[TEXT_LEFT_MAX];

	text_left((uint64_t)cli_print_number(o, "connections"),
		  (uint64_t)cli_print_number(o, "active"), left);
	return mem_printf("%s/%s (%s) of %s/%s, %s", cli_print_text(o, "server_group"),
			  cli_print_text(o, "server"), cli_print_text(o, "endpoint"),
			  cli_print_text(o, "load_balancer"), cli_print_text(o, "listener"), left);
}

static char *cli_override_weight(const json_t *o)
{
	return mem_printf("%s/%s, %s", cli_print_text(o, "server_group"),
			  cli_print_text(o, "server"), cli_print_text(o, "detail"));
}

/* "web/web-1", "zone zone-a of group web", "shop/http", "shop" */
static char *cli_override_drain(const json_t *o)
{
	char words[TEXT_LEFT_MAX];
	AUTO_FREE char *left = mem_printf("%s, %s", cli_print_text(o, "state"),
					  text_left((uint64_t)cli_print_number(o, "connections"),
						    (uint64_t)cli_print_number(o, "active"),
						    words));
	const char *group = cli_print_text(o, "server_group");
	const char *listener = cli_print_text(o, "listener");
	const char *zone = cli_print_text(o, "zone");

	if (*zone)
		return mem_printf("zone %s of group %s, %s", zone, group, left);
	if (*group)
		return mem_printf("%s/%s, %s", group, cli_print_text(o, "server"), left);
	return mem_printf("%s%s%s, %s", cli_print_text(o, "load_balancer"), *listener ? "/" : "",
			  listener, left);
}

static char *cli_override_change(const json_t *o)
{
	return mem_printf("revision %" JSON_INTEGER_FORMAT ", undone unless confirmed",
			  cli_print_number(o, "revision"));
}

static const struct override_row override_rows[] = {
	{"unconfirmed_change", "change", cli_override_change},
	{"zone_shift", "zone shift", cli_override_shift},
	{"drain", "drain", cli_override_drain},
	{"weight_override", "weight", cli_override_weight},
	{"removal", "removal", cli_override_removal},
};

/* When it ends by itself, or what ends it. */
static char *cli_override_until(const json_t *o, const char *kind)
{
	const char *expires = cli_print_text(o, "expires_at");

	if (strcmp(kind, "drain") == 0 && strcmp(cli_print_text(o, "state"), "finished") == 0)
		return mem_strdup("undrained"); /* its deadline ends nothing any more */
	if (strcmp(kind, "weight_override") == 0 && !*expires)
		return mem_strdup("reset");
	return mem_printf("%.19s", *expires ? expires : cli_print_text(o, "deadline_at"));
}

static void cli_override_add(const struct cli *cli, struct cli_table *t, const json_t *o)
{
	const char *kind = cli_print_text(o, "kind");
	AUTO_FREE char *until = cli_override_until(o, kind);
	AUTO_FREE char *note = mem_printf("%s%s", cli_print_text(o, "comment"),
					  cli_print_true(o, "forced") ? " (forced)" : "");

	(void)cli;
	for (size_t i = 0; i < sizeof(override_rows) / sizeof(override_rows[0]); i++) {
		AUTO_FREE char *what = NULL;

		if (strcmp(override_rows[i].kind, kind) != 0)
			continue;
		what = override_rows[i].what(o);
		cli_table_add(t, (const char *[]){override_rows[i].word, cli_print_text(o, "id"),
						  what, cli_print_text(o, "who"), until, note});
	}
}

enum cli_exit cli_override_list(struct cli *cli)
{
	static const char *const heads[] = {"KIND",        "ID",  "WHAT", "WHO",
					    "UNTIL (UTC)", "WHY", NULL};

	return cli_pages_print(cli,
			       &(struct cli_list){CLI_BASE "/overrides", heads, cli_override_add,
						  "Everything is as configured."});
}
