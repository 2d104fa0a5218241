// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's table, sets and rules.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_escape.h"
#include "cli/cli_filters.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

/* "shop/zone-a/http", or "foreign". */
static char *cli_kernel_owner(const json_t *service)
{
	const char *lb = cli_print_text(service, "load_balancer");

	if (strcmp(cli_print_text(service, "owner"), "foreign") == 0)
		return mem_strdup("foreign");
	if (!*lb)
		return mem_strdup("zonegate (going)");
	return mem_printf("%s/%s/%s", lb, cli_print_text(service, "zone"),
			  cli_print_text(service, "listener"));
}

static void cli_kernel_add_dest(struct cli_table *t, const json_t *d)
{
	const bool v6 = strchr(cli_print_text(d, "address"), ':') != NULL;
	AUTO_FREE char *endpoint = mem_printf("  -> %s%s%s:%" JSON_INTEGER_FORMAT, v6 ? "[" : "",
					      cli_print_text(d, "address"), v6 ? "]" : "",
					      cli_print_number(d, "port"));
	AUTO_FREE char *weight = mem_printf("%" JSON_INTEGER_FORMAT, cli_print_number(d, "weight"));
	AUTO_FREE char *active = mem_printf("%" JSON_INTEGER_FORMAT, cli_print_number(d, "active"));
	AUTO_FREE char *inactive = mem_printf("%" JSON_INTEGER_FORMAT,
					      cli_print_number(d, "inactive"));

	cli_table_add(t, (const char *[]){endpoint, cli_print_text(d, "forward_method"), weight,
					  active, inactive, ""});
}

static void cli_kernel_add_service(struct cli_table *t, const json_t *service)
{
	AUTO_FREE char *owner = cli_kernel_owner(service);
	const json_t *dests = json_object_get(service, "destinations"), *d;
	size_t i;

	cli_table_add(t, (const char *[]){cli_print_text(service, "service"),
					  cli_print_text(service, "scheduler"), "", "", "", owner});
	json_array_foreach (dests, i, d)
		cli_kernel_add_dest(t, d);
}

static char *cli_kernel_place(const json_t *lacking)
{
	return mem_printf("%s/%s/%s", cli_print_text(lacking, "load_balancer"),
			  cli_print_text(lacking, "zone"), cli_print_text(lacking, "listener"));
}

static void cli_kernel_add_missing(struct cli_table *t, const json_t *answer)
{
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(answer, "not_in_force"), i, one) {
		AUTO_FREE char *owner = cli_kernel_place(one);

		if (cli_print_true(one, "missing"))
			cli_table_add(t, (const char *[]){cli_print_text(one, "service"), "missing",
							  "", "", "", owner});
	}
}

void cli_kernel_print_lacking(const json_t *answer)
{
	const json_t *list = json_object_get(answer, "not_in_force"), *one;
	const json_int_t more = cli_print_number(answer, "not_in_force_total") -
				(json_int_t)json_array_size(list);
	size_t i;

	json_array_foreach (list, i, one) {
		AUTO_FREE char *owner = cli_kernel_place(one);
		const char *fault = cli_print_text(one, "fault");

		printf("%s (%s) is %s%s%s\n", cli_print_text(one, "service"), owner,
		       cli_print_true(one, "missing") ? "missing" : "not as it should be",
		       *fault ? ": " : "", fault);
	}
	if (more > 0)
		printf("and %" JSON_INTEGER_FORMAT " more\n", more);
}

static void cli_kernel_print(const struct cli *cli, const json_t *answer)
{
	const json_t *services = json_object_get(answer, "services");
	static const char *const heads[] = {"SERVICE",   "HOW",   ">WEIGHT", ">ACTIVE",
					    ">INACTIVE", "OWNER", NULL};
	struct cli_table *t = cli_table_new(heads);
	const json_t *service;
	size_t i, hidden = 0;

	json_array_foreach (services, i, service) {
		if (!cli->options.foreign &&
		    strcmp(cli_print_text(service, "owner"), "foreign") == 0)
			hidden++;
		else
			cli_kernel_add_service(t, service);
	}
	cli_kernel_add_missing(t, answer);
	cli_print_table_or(
		t, hidden > 0
			   ? "No service of Zonegate."
			   : "No services: there are none until a load balancer has a listener.");
	if (hidden > 0)
		printf("%zu foreign service%s not shown: --foreign\n", hidden, TEXT_S(hidden));
	cli_kernel_print_lacking(answer);
}

#define CLI_KERNEL_VS "net.ipv4.vs."

/* "net.ipv4.vs: conntrack 0, …, drop_entry 0": what IPVS does with packets beside its table. */
static void cli_kernel_print_sysctls(const json_t *sysctls)
{
	const char *between = "net.ipv4.vs: ";
	const json_t *one;
	size_t i;

	json_array_foreach (sysctls, i, one) {
		const char *name = cli_print_text(one, "name");

		if (strncmp(name, CLI_KERNEL_VS, strlen(CLI_KERNEL_VS)) != 0)
			continue;
		printf("%s%s %" JSON_INTEGER_FORMAT, between, name + strlen(CLI_KERNEL_VS),
		       cli_print_number(one, "value"));
		between = ", ";
	}
	if (strcmp(between, ", ") == 0)
		printf("\n");
}

/* With ipvs = off the table is what would be programmed: nobody shall take it for what is. */
static void cli_kernel_note(const json_t *answer)
{
	if (strcmp(cli_print_text(answer, "ipvs"), "off") == 0)
		printf("IPVS is switched off ([kernel] ipvs = off): this is what would be programmed\n");
}

enum cli_exit cli_kernel_show(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer a;

	cli_client_get(cli->client,
		       cli->options.format == FORMAT_JSON && !cli->options.foreign
			       ? CLI_BASE "/kernel?owner=zonegate"
			       : CLI_BASE "/kernel",
		       &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(a.json);
	} else {
		cli_kernel_note(a.json);
		cli_kernel_print(cli, a.json);
		cli_kernel_print_sysctls(json_object_get(a.json, "sysctls"));
		cli_filters_print(cli, a.json);
	}
	return EXIT_OK;
}

void cli_kernel_print_fault(const json_t *answer)
{
	const char *fault = cli_print_text(answer, "fault");

	if (*fault)
		printf("Sets and rules could not be compared: %s\n", fault);
}

/* With a fault nobody knows that nothing differs. */
static const char *cli_kernel_verdict(const struct cli *cli, const json_t *answer)
{
	const bool differs = json_array_size(json_object_get(answer, "operations")) > 0;
	const bool faulty = *cli_print_text(answer, "fault");

	if (!differs)
		return faulty ? "As far as it could be read, nothing differs." : "Nothing differs.";
	if (cli->options.dry_run)
		return "That would mend it.";
	if (cli_print_true(answer, "mended"))
		return "Mended.";
	return faulty ? "Whether it is mended could not be read." : "It could not be mended yet.";
}

enum cli_exit cli_kernel_reconcile(struct cli *cli)
{
	const struct cli_call call = {.method = "POST",
				      .path = cli->options.dry_run ? CLI_BASE
						      "/kernel/reconcile?dry_run=true"
								   : CLI_BASE "/kernel/reconcile"};
	AUTO_ANSWER struct cli_answer a = {0};
	json_t *operation;
	size_t i;

	cli_client_call(cli->client, &call, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(a.json);
	} else {
		json_array_foreach (json_object_get(a.json, "operations"), i, operation)
			printf("%s\n", cli_escape_string(operation));
		cli_kernel_print_lacking(a.json);
		printf("%s\n", cli_kernel_verdict(cli, a.json));
		cli_kernel_print_fault(a.json);
	}
	if (cli_print_true(a.json, "in_sync") || cli_print_true(a.json, "mended"))
		return EXIT_OK;
	return cli->options.dry_run ? EXIT_DIFFERENCES : EXIT_NEGATIVE;
}
