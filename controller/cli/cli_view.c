// SPDX-License-Identifier: GPL-2.0-or-later
// Lists and single things of the API that need no words of their own: one request, one table.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_escape.h"
#include "cli/cli_history.h"
#include "cli/cli_pages.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

/* ---- DNS -------------------------------------------------------------------------------------- */

static void cli_view_add_records(const struct cli *cli, struct cli_table *t, const json_t *set)
{
	AUTO_FREE char *ttl = mem_printf("%" JSON_INTEGER_FORMAT, cli_print_number(set, "ttl_s"));
	const json_t *data = json_object_get(set, "data");
	json_t *one;
	size_t i;

	(void)cli;
	json_array_foreach (data, i, one)
		cli_table_add(t, (const char *[]){i ? "" : cli_print_text(set, "name"),
						  i ? "" : cli_print_text(set, "type"),
						  i ? "" : ttl, cli_escape_string(one)});
}

enum cli_exit cli_view_records(struct cli *cli)
{
	static const char *const heads[] = {"NAME", "TYPE", ">TTL", "DATA", NULL};

	return cli_pages_print(
		cli, &(struct cli_list){CLI_BASE "/dns/records", heads, cli_view_add_records,
					"DNS answers nothing: no load balancer has a dns_name."});
}

/* ---- the kernel ------------------------------------------------------------------------------- */

static void cli_view_print_drift(const json_t *answer)
{
	const json_t *operations = json_object_get(answer, "operations");
	json_t *operation;
	size_t i;

	if (cli_print_true(answer, "in_sync") &&
	    strcmp(cli_print_text(answer, "ipvs"), "off") == 0) {
		printf("IPVS is switched off ([kernel] ipvs = off): there is no table that could differ.\n");
	} else if (json_array_size(operations) == 0) {
		printf("%s it should have; %" JSON_INTEGER_FORMAT
		       " time%s it was mended since the start.\n",
		       cli_print_true(answer, "in_sync")
			       ? "The kernel has what"
			       : "As far as it could be read, the kernel has what",
		       cli_print_number(answer, "repaired_since_start"),
		       TEXT_S(cli_print_number(answer, "repaired_since_start")));
	} else {
		printf("The kernel differs; this would mend it:\n");
		json_array_foreach (operations, i, operation)
			printf("  %s\n", cli_escape_string(operation));
		cli_kernel_print_lacking(answer);
	}
	cli_kernel_print_fault(answer);
}

enum cli_exit cli_view_drift(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer a = {0};

	cli_client_get(cli->client, CLI_BASE "/kernel/drift", &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON)
		cli_print_json(a.json);
	else
		cli_view_print_drift(a.json);
	return cli_print_true(a.json, "in_sync") ? EXIT_OK : EXIT_DIFFERENCES;
}

/* ---- zone shifts ------------------------------------------------------------------------------ */

static void cli_view_add_shift(const struct cli *cli, struct cli_table *t, const json_t *s)
{
	AUTO_FREE char *until = mem_printf("%.19s", cli_print_text(s, "expires_at"));

	(void)cli;
	cli_table_add(t,
		      (const char *[]){cli_print_text(s, "id"), cli_print_text(s, "zone"),
				       cli_print_text(s, "load_balancer"), cli_print_text(s, "who"),
				       until, cli_print_text(s, "comment")});
}

enum cli_exit cli_view_shifts(struct cli *cli)
{
	static const char *const heads[] = {"ID",  "ZONE", "LOAD BALANCER", "WHO", "UNTIL (UTC)",
					    "WHY", NULL};

	return cli_pages_print(cli, &(struct cli_list){CLI_BASE "/zone-shifts", heads,
						       cli_view_add_shift, "No zone is shifted."});
}

/* ---- by id ------------------------------------------------------------------------------------ */

enum cli_exit cli_view_show(struct cli *cli)
{
	const bool token = strcmp(cli->options.args[0], "token") == 0;
	AUTO_FREE char *id = cli_client_escape(cli->args[0]);
	AUTO_FREE char *path = mem_printf(CLI_BASE "/%s/%s", token ? "tokens" : "zone-shifts", id);
	AUTO_ANSWER struct cli_answer a = {0};

	cli_client_get(cli->client, path, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	cli_print_json(a.json);
	return EXIT_OK;
}

/* ---- files ------------------------------------------------------------------------------------ */

static enum cli_exit cli_view_send(struct cli *cli, const char *method, const char *path,
				   struct cli_answer *ret_answer)
{
	struct cli_call call = {.method = method, .path = path};
	AUTO_FREE char *body = NULL;

	*ret_answer = (struct cli_answer){0};
	if (!cli->options.file) {
		fprintf(stderr, "zonegate: which file? -f FILE, or -f - for standard input\n");
		return EXIT_USAGE;
	}
	body = cli_print_read_file(cli->options.file, &call.body_size);
	if (!body)
		return EXIT_USAGE;
	call.body = body;
	cli_client_call(cli->client, &call, ret_answer);
	return cli_client_judge(ret_answer->status) == EXIT_OK ? EXIT_OK
							       : cli_print_problem(ret_answer);
}

enum cli_exit cli_view_validate(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer a;
	enum cli_exit result = cli_view_send(cli, "POST", CLI_BASE "/config/validate", &a);

	if (result != EXIT_OK)
		return result;
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(a.json);
	} else {
		printf("Valid.\n");
		cli_print_advice(json_object_get(a.json, "advice"));
	}
	return EXIT_OK;
}

enum cli_exit cli_view_set_servers(struct cli *cli)
{
	const struct cli_options *o = &cli->options;
	AUTO_FREE char *group = cli_client_escape(cli->args[0]);
	AUTO_FREE char *query = NULL, *path = NULL;
	AUTO_ANSWER struct cli_answer a = {0};
	enum cli_exit result = cli_history_write_query(cli, &query);
	size_t servers;

	if (result != EXIT_OK)
		return result;
	path = mem_printf(CLI_BASE "/server-groups/%s/servers%s", group, query);
	result = cli_view_send(cli, "PUT", path, &a);
	if (result != EXIT_OK)
		return result;
	if (o->dry_run)
		return cli_print_dry_run(cli, a.json);
	servers = json_object_size(json_object_get(a.json, "servers"));
	if (o->format == FORMAT_JSON)
		cli_print_json(a.json);
	else
		printf("Set: %zu server%s of %s\n", servers, TEXT_S(servers), cli->args[0]);
	cli_history_say_pending(cli);
	return cli_print_warnings(a.json);
}
