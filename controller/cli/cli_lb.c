// SPDX-License-Identifier: GPL-2.0-or-later
// A load balancer as it is: which zones DNS hands out, and why; what its listeners have.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "cli/cli_print.h"
#include "cli/cli_traffic.h"

#include <stdio.h>
#include <string.h>

struct cli_lb_table {
	const struct cli *cli;
	struct cli_table *table;
	bool in_dns;
};

static void cli_lb_add_publication(const struct cli_lb_table *l, const json_t *zone,
				   const json_t *p)
{
	const json_t *vip = json_object_get(p, "vip_health");
	const bool probed = strcmp(cli_print_text(vip, "state"), "not_probed") != 0;
	AUTO_FREE char *health = probed ? mem_printf("%s (%s)", cli_print_text(vip, "state"),
						     cli_print_text(vip, "source"))
					: mem_strdup("not probed");
	AUTO_FREE char *servers = mem_printf("%" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT,
					     cli_print_number(p, "servers_in_service"),
					     cli_print_number(p, "servers_eligible"));
	const char *why = cli_print_text(p, "detail"), *reason = strstr(why, ": ");
	char state[CLI_STATE_MAX];

	/* Without a name nothing is "handed out: …" or "left out: …"; the reason behind that holds. */
	if (l->in_dns)
		cli_print_published(l->cli, p, state);
	else
		cli_table_state(MOOD_OFF, "not in DNS", l->cli->color, l->cli->unicode, state);
	if (!l->in_dns && reason)
		why = reason + strlen(": ");
	if (!l->in_dns && !probed)
		why = "its VIP is not probed, as the load balancer has no dns_name";
	cli_table_add(l->table,
		      (const char *[]){cli_print_text(zone, "zone"), cli_print_text(p, "address"),
				       state, health, servers, why});
}

static void cli_lb_print_zones(const struct cli *cli, const json_t *lb)
{
	static const char *const heads[] = {"ZONE",        "ADDRESS", "DNS", "VIP",
					    ">IN SERVICE", "WHY",     NULL};
	const struct cli_lb_table l = {cli, cli_table_new(heads),
				       *cli_print_text(lb, "dns_name") != '\0'};
	const json_t *zone, *p;
	size_t i, j;

	json_array_foreach (json_object_get(lb, "zones"), i, zone) {
		json_array_foreach (json_object_get(zone, "publication"), j, p)
			cli_lb_add_publication(&l, zone, p);
	}
	cli_print_table_or(
		l.table,
		"It has no zone, so no address: zonegate lb set LB zones.ZONE.vip4=ADDRESS");
}

static const char *cli_lb_drained(const json_t *drain)
{
	return strcmp(cli_print_text(drain, "state"), "finished") == 0 ? "drained" : "draining";
}

/* Where it stands, and what is short in it. Caller frees. */
static char *cli_lb_kernel(const json_t *s, const json_t *drain)
{
	const bool planned = cli_print_true(s, "planned");
	const char *where = cli_print_true(s, "programmed") ? "yes" : "no", *note = "";

	if (*cli_print_text(s, "fault"))
		return mem_strdup(cli_print_text(s, "fault"));
	if (cli_print_true(s, "min_healthy_breached"))
		note = cli_print_number(s, "initial") > 0 ? ", checking" : ", below min_healthy";
	return mem_printf("%s%s%s%s", planned ? CLI_PLANNED : where, note,
			  json_is_object(drain) ? ", by hand " : "",
			  json_is_object(drain) ? cli_lb_drained(drain) : "");
}

static void cli_lb_print_listeners(const json_t *lb)
{
	static const char *const heads[] = {"LISTENER",     "ZONE",        "SERVICE",
					    "SERVER GROUP", ">IN SERVICE", CLI_TRAFFIC_HEADS,
					    "KERNEL",       NULL};
	struct cli_table *t = cli_table_new(heads);
	const json_t *listener, *s;
	size_t i, j;

	json_array_foreach (json_object_get(lb, "listeners"), i, listener) {
		json_array_foreach (json_object_get(listener, "services"), j, s) {
			AUTO_FREE char *servers = mem_printf(
				"%" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT,
				cli_print_number(s, "in_service"), cli_print_number(s, "eligible"));
			AUTO_FREE char *kernel = cli_lb_kernel(s,
							       json_object_get(listener, "drain"));
			AUTO_TRAFFIC struct cli_traffic traffic = cli_traffic_read(s);

			cli_table_add(t,
				      (const char *[]){cli_print_text(s, "listener"),
						       cli_print_text(s, "zone"),
						       cli_print_text(s, "service"),
						       cli_print_text(s, "server_group"), servers,
						       CLI_TRAFFIC_CELLS(traffic), kernel});
		}
	}
	putchar('\n');
	cli_print_table_or(
		t,
		"No virtual services here: it has no listener, or this node holds none of its zones.");
}

/* Behind all that is: what could be better. */
static void cli_lb_print_advice(const json_t *lb)
{
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(lb, "advice"), i, one)
		printf("%sadvice: %s: %s\n", i == 0 ? "\n" : "", cli_print_text(one, "pointer"),
		       cli_print_text(one, "detail"));
}

static void cli_lb_print(const struct cli *cli, const json_t *lb)
{
	const char *name = cli_print_text(lb, "dns_name");
	char state[CLI_STATE_MAX], text[CLI_FAIL_OPEN_MAX];

	printf("Load balancer %s, %s, cross-zone %s\n", cli_print_text(lb, "load_balancer"),
	       *name ? name : "not in DNS", cli_print_true(lb, "cross_zone") ? "on" : "off");
	if (!cli_print_true(lb, "enabled"))
		printf("It is disabled: no services, and its name answers nothing.\n");
	if (cli_print_true(lb, "fail_open"))
		printf("%s: %s\n", cli_print_fail_open(cli, lb, state, text), text);
	else if (cli_print_true(lb, "no_address"))
		printf("%s: " CLI_NO_ADDRESS "\n",
		       cli_table_state(MOOD_BAD, "NO ADDRESS", cli->color, cli->unicode, state));
	putchar('\n');
	cli_lb_print_zones(cli, lb);
	cli_lb_print_listeners(lb);
	cli_traffic_print_drops(json_object_get(lb, "listeners"));
	cli_lb_print_advice(lb);
}

enum cli_exit cli_lb_status(struct cli *cli)
{
	AUTO_FREE char *name = cli_client_escape(cli->args[0]);
	AUTO_FREE char *path = mem_printf(CLI_BASE "/load-balancers/%s/status", name);
	AUTO_ANSWER struct cli_answer a = {0};

	cli_client_get(cli->client, path, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON)
		cli_print_json(a.json);
	else
		cli_lb_print(cli, a.json);
	return cli_print_true(a.json, "fail_open") || cli_print_true(a.json, "no_address")
		       ? EXIT_NEGATIVE
		       : EXIT_OK;
}
