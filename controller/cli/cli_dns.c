// SPDX-License-Identifier: GPL-2.0-or-later
// One DNS answer as it would be given now.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

static void cli_dns_print_head(const json_t *p)
{
	const char *lb = cli_print_text(p, "load_balancer"), *zone = cli_print_text(p, "zone"),
		   *client_zone = cli_print_text(p, "client_zone"),
		   *affinity = cli_print_text(p, "client_affinity");
	const json_t *address;
	bool any = false;
	size_t i;

	json_array_foreach (json_object_get(p, "addresses"), i, address)
		any = any || cli_print_true(address, "published");
	printf("%s %s: %s", cli_print_text(p, "name"), cli_print_text(p, "type"),
	       cli_print_text(p, "rcode"));
	if (strcmp(cli_print_text(p, "rcode"), "REFUSED") == 0)
		printf(", this node does not serve that name");
	else
		printf("%s, TTL %" JSON_INTEGER_FORMAT " s", any ? "" : " without addresses",
		       cli_print_number(p, any ? "ttl_s" : "negative_ttl_s"));
	printf(", serial %" JSON_INTEGER_FORMAT "\n", cli_print_number(p, "serial"));
	if (*lb)
		printf("Load balancer %s%s%s", lb, *zone ? ", zone " : "", zone);
	if (*lb && strcmp(affinity, "any") != 0 && !*zone)
		printf(", client affinity %s, %s%s", affinity,
		       *client_zone ? "client of zone " : "client of no zone", client_zone);
	if (*lb)
		printf("\n");
}

static void cli_dns_print(const struct cli *cli, const json_t *p)
{
	static const char *const heads[] = {"ADDRESS", "ZONE", "DNS", ">SHARE", "WHY", NULL};
	const json_t *addresses = json_object_get(p, "addresses"), *a;
	struct cli_table *t;
	size_t i;

	cli_dns_print_head(p);
	if (*cli_print_text(p, "detail"))
		printf("%s\n", cli_print_text(p, "detail"));
	if (json_array_size(addresses) == 0)
		return;
	t = cli_table_new(heads);
	json_array_foreach (addresses, i, a) {
		AUTO_FREE char *share = mem_printf("%" JSON_INTEGER_FORMAT " %%",
						   cli_print_number(a, "share_percent"));
		char state[CLI_STATE_MAX];

		cli_table_add(t, (const char *[]){cli_print_text(a, "address"),
						  cli_print_text(a, "zone"),
						  cli_print_published(cli, a, state), share,
						  cli_print_text(a, "detail")});
	}
	cli_print_table(t);
}

static void cli_dns_ask(struct cli *cli, const char *wanted, struct cli_answer *ret_answer)
{
	AUTO_FREE char *name = cli_client_escape(wanted);
	AUTO_FREE char *type = cli_client_escape(cli->options.type ? cli->options.type : "A");
	AUTO_FREE char *client = cli->options.client ? cli_client_escape(cli->options.client)
						     : NULL;
	AUTO_FREE char *path = mem_printf(CLI_BASE "/dns/preview?name=%s&type=%s%s%s", name, type,
					  client ? "&client=" : "", client ? client : "");

	cli_client_get(cli->client, path, ret_answer);
}

/* Who gives the name of a load balancer gets the answer for its dns_name. */
enum cli_exit cli_dns_preview(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer first = {0}, second = {0};
	const struct cli_answer *shown = &first;
	const char *meant;

	cli_dns_ask(cli, cli->args[0], &first);
	if (cli_client_judge(first.status) != EXIT_OK)
		return cli_print_problem(&first);
	meant = cli_print_text(first.json, "meant");
	if (*meant) {
		fprintf(stderr, "zonegate: %s\n", cli_print_text(first.json, "detail"));
		cli_dns_ask(cli, meant, &second);
		shown = &second;
	}
	if (cli_client_judge(shown->status) != EXIT_OK)
		return cli_print_problem(shown);
	if (cli->options.format == FORMAT_JSON)
		cli_print_json(shown->json);
	else
		cli_dns_print(cli, shown->json);
	return EXIT_OK;
}
