// SPDX-License-Identifier: GPL-2.0-or-later
// The whole document: out, compared, in.
#include "cli/cli_history.h"

#include "base/mem.h"
#include "cli/cli_commands.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

enum cli_exit cli_config_export(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer a;

	cli_client_get(cli->client, CLI_BASE "/config?view=config", &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	cli_print_json(a.json);
	return EXIT_OK;
}

/* PUT of a file. `if_match`: a whole header, or NULL. Faults are printed. */
static enum cli_exit cli_config_put(struct cli *cli, const char *query, const char *if_match,
				    size_t *ret_size, struct cli_answer *ret_answer)
{
	AUTO_FREE char *path = mem_printf(CLI_BASE "/config%s", query);
	struct cli_call call = {
		.method = "PUT", .path = path, .headers = {"Prefer: return=minimal", if_match}};
	AUTO_FREE char *body = cli_print_read_file(cli->options.file, &call.body_size);

	*ret_answer = (struct cli_answer){0};
	*ret_size = 0;
	if (!body)
		return EXIT_USAGE;
	call.body = body;
	*ret_size = call.body_size;
	cli_client_call(cli->client, &call, ret_answer);
	return cli_client_judge(ret_answer->status) == EXIT_OK ? EXIT_OK
							       : cli_print_problem(ret_answer);
}

/* Advice costs four more requests, each as long as the document: not asked for beyond this. */
#define CLI_CONFIG_ADVISED_MAX (256U * 1024)

/* What is to be thought about in the document that stands now. NULL: nobody knows, or it is long. New reference. */
static json_t *cli_config_take_advice(const struct cli *cli)
{
	AUTO_ANSWER struct cli_answer now = {0}, judged = {0};
	struct cli_call call = {.method = "POST", .path = CLI_BASE "/config/validate"};

	cli_client_get(cli->client, CLI_BASE "/config?view=config", &now);
	if (cli_client_judge(now.status) != EXIT_OK)
		return NULL;
	if (now.size > CLI_CONFIG_ADVISED_MAX)
		return NULL;
	call.body = now.text;
	call.body_size = now.size;
	cli_client_call(cli->client, &call, &judged);
	return json_incref(json_object_get(judged.json, "advice"));
}

static enum cli_exit cli_config_need_file(const struct cli *cli)
{
	if (cli->options.file)
		return EXIT_OK;
	fprintf(stderr, "zonegate: which file? -f FILE, or -f - for standard input\n");
	return EXIT_USAGE;
}

enum cli_exit cli_config_diff(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer a = {0};
	enum cli_exit result;
	size_t size;

	if (cli->arg_count > 0 && !cli->options.file)
		return cli_history_diff(cli);
	result = cli_config_need_file(cli);
	if (result == EXIT_OK)
		result = cli_config_put(cli, "?dry_run=true", NULL, &size, &a);
	return result == EXIT_OK ? cli_print_dry_run(cli, a.json) : result;
}

static enum cli_exit cli_config_say_applied(const struct cli *cli, const char *before,
					    const struct cli_answer *a)
{
	bool changed = strcmp(before, a->etag) != 0;
	const char *revision = a->etag + strcspn(a->etag, "0123456789");
	int digits = (int)strspn(revision, "0123456789");

	if (cli->options.format == FORMAT_JSON) {
		json_t *json = json_pack("{s:b, s:s, s:O*}", "changed", changed, "etag", a->etag,
					 "warnings", json_object_get(a->json, "warnings"));

		cli_print_json(json);
		json_decref(json);
	} else if (changed) {
		printf("Applied: revision %.*s\n", digits, revision);
	} else {
		printf("Nothing to change: revision %.*s\n", digits, revision);
	}
	return cli_print_warnings(a->json);
}

/* Of what came by this write; all of it stands in the answer of a validation. */
static void cli_config_advise(const struct cli *cli, const json_t *before)
{
	json_t *after = cli_config_take_advice(cli);

	cli_print_new_advice(before, after, "zonegate config validate -f FILE");
	json_decref(after);
}

enum cli_exit cli_config_apply(struct cli *cli)
{
	json_t *before;
	AUTO_ANSWER struct cli_answer head = {0}, put = {0};
	AUTO_FREE char *query = NULL, *if_match = NULL;
	enum cli_exit result = cli_config_need_file(cli);
	size_t size;

	if (result == EXIT_OK)
		result = cli_history_write_query(cli, &query);
	if (result != EXIT_OK)
		return result;
	if (cli->options.dry_run)
		return cli_config_diff(cli);
	cli_client_call(cli->client,
			&(struct cli_call){.method = "HEAD", .path = CLI_BASE "/config"}, &head);
	if (cli_client_judge(head.status) != EXIT_OK)
		return cli_print_problem(&head);
	if_match = mem_printf("If-Match: %s", head.etag);
	before = cli_config_take_advice(cli);
	result = cli_config_put(cli, query, if_match, &size, &put);
	if (result != EXIT_OK) {
		json_decref(before);
		return result;
	}
	result = cli_config_say_applied(cli, head.etag, &put);
	if (strcmp(head.etag, put.etag) != 0)
		cli_history_say_pending(cli);
	if (size <= CLI_CONFIG_ADVISED_MAX)
		cli_config_advise(cli, before);
	json_decref(before);
	return result;
}
