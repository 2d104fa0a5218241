// SPDX-License-Identifier: GPL-2.0-or-later
// The settings of the document.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "cli/cli_diff.h"
#include "cli/cli_history.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

static char *cli_settings_cell(const json_t *timeouts, const char *name, const char *otherwise)
{
	json_int_t value = cli_print_number(timeouts, name);

	return value ? mem_printf("%" JSON_INTEGER_FORMAT " s", value) : mem_strdup(otherwise);
}

/* Why no value is in force: with ipvs = off there is no kernel that could tell one. */
static const char *cli_settings_unknown(struct cli *cli, const json_t *in_force)
{
	AUTO_ANSWER struct cli_answer a = {0};

	if (json_is_object(in_force))
		return "not known";
	cli_client_get(cli->client, CLI_BASE "/system", &a);
	return strcmp(cli_print_text(json_object_get(a.json, "kernel"), "ipvs"), "off") == 0
		       ? "not known (ipvs = off)"
		       : "not known";
}

static void cli_settings_print(struct cli *cli, const json_t *settings)
{
	static const char *const heads[] = {"TIMEOUT", "CONFIGURED", "IN FORCE", NULL};
	static const char *const names[] = {"tcp_s", "tcp_fin_s", "udp_s"};
	const json_t *configured = json_object_get(settings, "timeouts");
	const json_t *in_force = json_object_get(json_object_get(settings, "status"),
						 "timeouts_in_force");
	const char *unknown = cli_settings_unknown(cli, in_force);
	struct cli_table *t = cli_table_new(heads);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		AUTO_FREE char *wanted = cli_settings_cell(configured, names[i],
							   "as the kernel has it");
		AUTO_FREE char *is = cli_settings_cell(in_force, names[i], unknown);

		cli_table_add(t, (const char *[]){names[i], wanted, is});
	}
	cli_print_table(t);
}

enum cli_exit cli_settings_show(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer a = {0};

	cli_client_get(cli->client, CLI_BASE "/settings", &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON)
		cli_print_json(a.json);
	else
		cli_settings_print(cli, a.json);
	return EXIT_OK;
}

/* A merge patch of the assignments, as text; NULL with a sentence. Caller frees. */
static char *cli_settings_patch(const struct cli *cli)
{
	json_t *patch = json_object();
	char *text = NULL;

	for (size_t i = 0; i < cli->arg_count; i++) {
		if (cli_diff_take_member(patch, cli->args[i]) == 0)
			continue;
		json_decref(patch);
		return NULL;
	}
	text = json_dumps(patch, JSON_COMPACT);
	json_decref(patch);
	return text;
}

enum cli_exit cli_settings_set(struct cli *cli)
{
	AUTO_FREE char *query = NULL, *path = NULL, *body = cli_settings_patch(cli);
	AUTO_ANSWER struct cli_answer a = {0};

	if (!body || cli_history_write_query(cli, &query) != EXIT_OK)
		return EXIT_USAGE;
	path = mem_printf(CLI_BASE "/settings%s", query);
	cli_client_call(
		cli->client,
		&(struct cli_call){
			.method = "PATCH", .path = path, .body = body, .body_size = strlen(body)},
		&a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.dry_run)
		return cli_print_dry_run(cli, a.json);
	if (cli->options.format == FORMAT_JSON)
		cli_print_json(a.json);
	else
		cli_settings_print(cli, a.json);
	cli_history_say_pending(cli);
	return cli_print_warnings(a.json);
}
