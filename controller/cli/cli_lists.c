// SPDX-License-Identifier: GPL-2.0-or-later
// Entries of access lists: one at a time, all of them as text, and whether a client may come in.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_args.h"
#include "cli/cli_history.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *cli_lists_path(const struct cli *cli, const char *query)
{
	AUTO_FREE char *name = cli_client_escape(cli->args[0]);

	return mem_printf(CLI_BASE "/access-lists/%s/entries%s", name, query);
}

static long cli_lists_line(const json_t *fault)
{
	const char *pointer = cli_print_text(fault, "pointer");

	return *pointer == '/' ? strtol(pointer + 1, NULL, 10) : 0;
}

/* As a file is read: what is said of all of it first. There are a hundred at most. */
static void cli_lists_sort_faults(json_t *faults)
{
	for (size_t i = 1; i < json_array_size(faults); i++) {
		json_t *one = json_incref(json_array_get(faults, i));
		size_t at = i;

		while (at > 0 &&
		       cli_lists_line(json_array_get(faults, at - 1)) > cli_lists_line(one))
			at--;
		json_array_remove(faults, i);
		json_array_insert_new(faults, at, one);
	}
}

/* Places of a file are lines. What is not in the list cannot be removed from it. */
static enum cli_exit cli_lists_refuse(const struct cli *cli, const struct cli_call *call,
				      const struct cli_answer *a)
{
	const bool absent = strcmp(cli_print_text(
					   json_array_get(json_object_get(a->json, "errors"), 0),
					   "code"),
				   "unknown_reference") == 0;
	enum cli_exit result;
	json_t *fault;
	size_t i;

	if (call->type)
		cli_lists_sort_faults(json_object_get(a->json, "errors"));
	json_array_foreach (json_object_get(a->json, "errors"), i, fault) {
		const char *pointer = cli_print_text(fault, "pointer");

		if (call->type && *pointer == '/')
			json_object_set_new(fault, "pointer", json_sprintf("line %s", pointer + 1));
	}
	result = cli_print_problem(a);
	if (a->status == 404)
		fprintf(stderr,
			"If it is to be a new list: zonegate access set %s "
			"default_action=deny, then again.\n",
			cli->args[0]);
	return absent ? EXIT_NOT_FOUND : result;
}

/* What there is to think about the list now. */
static void cli_lists_advise(const struct cli *cli)
{
	AUTO_FREE char *name = cli_client_escape(cli->args[0]);
	AUTO_FREE char *path = mem_printf(CLI_BASE "/access-lists/%s", name);
	AUTO_ANSWER struct cli_answer a = {0};

	cli_client_get(cli->client, path, &a);
	cli_print_advice(json_object_get(json_object_get(a.json, "status"), "advice"));
}

/* Sends it; the dry run, or one line about what was done. */
static enum cli_exit cli_lists_write(struct cli *cli, struct cli_call *call, const char *done)
{
	AUTO_FREE char *query = NULL, *path = NULL;
	AUTO_ANSWER struct cli_answer a = {0};
	json_int_t count;

	if (cli_history_write_query(cli, &query) != EXIT_OK)
		return EXIT_USAGE;
	path = cli_lists_path(cli, query);
	call->path = path;
	cli_client_call(cli->client, call, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_lists_refuse(cli, call, &a);
	if (cli->options.dry_run)
		return cli_print_dry_run(cli, a.json);
	count = cli_print_number(a.json, "entry_count");
	if (cli->options.format == FORMAT_JSON)
		cli_print_json(a.json);
	else
		printf("%s%s; %s has %" JSON_INTEGER_FORMAT " entr%s\n", done,
		       cli_print_true(a.json, "changed") ? "" : ", as it was already", cli->args[0],
		       count, TEXT_FORM(count, "y", "ies"));
	cli_history_say_pending(cli);
	cli_lists_advise(cli);
	return cli_print_warnings(a.json);
}

static enum cli_exit cli_lists_patch(struct cli *cli, json_t *patch, const char *verb)
{
	AUTO_FREE char *body = json_dumps(patch, JSON_COMPACT);
	AUTO_FREE char *done = mem_printf("%s %s", verb, cli->args[1]);
	struct cli_call call = {.method = "PATCH", .body = body, .body_size = strlen(body)};

	json_decref(patch);
	return cli_lists_write(cli, &call, done);
}

/* The second word of the command is the action. */
enum cli_exit cli_lists_add(struct cli *cli)
{
	const char *action = cli->options.args[1];
	const char *comment = cli->options.comment ? cli->options.comment : "";
	json_t *patch = json_pack("{s:[{s:s, s:s, s:s}]}", "add", "cidr", cli->args[1], "action",
				  action, "comment", comment);

	if (patch)
		return cli_lists_patch(cli, patch,
				       strcmp(action, "allow") == 0 ? "Allowed" : "Denied");
	fprintf(stderr, "zonegate: network and comment must be UTF-8\n");
	return EXIT_USAGE;
}

enum cli_exit cli_lists_remove(struct cli *cli)
{
	json_t *patch = json_pack("{s:[s]}", "remove", cli->args[1]);

	if (patch)
		return cli_lists_patch(cli, patch, "Removed");
	fprintf(stderr, "zonegate: the network must be UTF-8\n");
	return EXIT_USAGE;
}

enum cli_exit cli_lists_import(struct cli *cli)
{
	struct cli_call call = {.method = "PUT", .type = "text/plain; charset=utf-8"};
	AUTO_FREE char *body = cli_print_read_file(cli->args[1], &call.body_size);

	if (!body)
		return EXIT_USAGE;
	call.body = body;
	return cli_lists_write(cli, &call, "Imported");
}

enum cli_exit cli_lists_export(struct cli *cli)
{
	AUTO_FREE char *path = cli_lists_path(cli, "");
	AUTO_ANSWER struct cli_answer a = {0};

	cli_client_get(cli->client, path, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (a.size > 0 && fwrite(a.text, a.size, 1, stdout) != 1) {
		perror("zonegate: standard output");
		return EXIT_NEGATIVE;
	}
	return EXIT_OK;
}

/* "denied by 203.0.113.7/32 of office (abuse)" */
static void cli_lists_print_verdict(const json_t *v)
{
	const json_t *entry = json_object_get(v, "entry");
	const char *comment = cli_print_text(entry, "comment");

	printf("%s is %s ", cli_print_text(v, "client"),
	       cli_print_true(v, "allowed") ? "allowed" : "denied");
	if (json_is_object(entry))
		printf("by %s of %s%s%s%s\n", cli_print_text(entry, "cidr"),
		       cli_print_text(v, "access_list"), *comment ? " (" : "", comment,
		       *comment ? ")" : "");
	else if (strcmp(cli_print_text(v, "by"), "peer") == 0)
		printf("as another gateway that probes there ([node] peers): %s is not asked\n",
		       cli_print_text(v, "access_list"));
	else if (*cli_print_text(v, "access_list"))
		printf("by the default of %s: no entry names it\n",
		       cli_print_text(v, "access_list"));
	else
		printf("as everybody is: the listener names no access list\n");
}

enum cli_exit cli_lists_check(struct cli *cli)
{
	char first[CLI_NAME_MAX], second[CLI_NAME_MAX];
	AUTO_FREE char *lb = NULL, *listener = NULL, *client = NULL, *path = NULL;
	AUTO_ANSWER struct cli_answer a = {0};

	if (cli_args_split(cli->args[0], first, second)) {
		fprintf(stderr, "zonegate: \"%s\" is not LB/LISTENER\n", cli->args[0]);
		return EXIT_USAGE;
	}
	lb = cli_client_escape(first);
	listener = cli_client_escape(second);
	client = cli_client_escape(cli->args[1]);
	path = mem_printf(CLI_BASE "/load-balancers/%s/listeners/%s/access?client=%s", lb, listener,
			  client);
	cli_client_get(cli->client, path, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON)
		cli_print_json(a.json);
	else
		cli_lists_print_verdict(a.json);
	return cli_print_true(a.json, "allowed") ? EXIT_OK : EXIT_NEGATIVE;
}

/* ---- hits ------------------------------------------------------------------------------------- */

static void cli_lists_add_hit(struct cli_table *t, const char *who, const char *action,
			      const json_t *hit)
{
	AUTO_FREE char *packets = mem_printf("%" JSON_INTEGER_FORMAT,
					     cli_print_number(hit, "packets"));
	AUTO_FREE char *bytes = mem_printf("%" JSON_INTEGER_FORMAT, cli_print_number(hit, "bytes"));

	cli_table_add(
		t, (const char *[]){who, action, packets, bytes, cli_print_text(hit, "comment")});
}

enum cli_exit cli_lists_hits(struct cli *cli)
{
	static const char *const heads[] = {"NETWORK", "ACTION",  ">PACKETS",
					    ">BYTES",  "COMMENT", NULL};
	AUTO_FREE char *name = cli_client_escape(cli->args[0]);
	AUTO_FREE char *path = mem_printf(CLI_BASE "/access-lists/%s/hits", name);
	AUTO_ANSWER struct cli_answer a = {0};
	struct cli_table *t;
	const json_t *hit;
	size_t i;

	cli_client_get(cli->client, path, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(a.json);
		return EXIT_OK;
	}
	if (!cli_print_true(a.json, "available"))
		fprintf(stderr,
			"zonegate: nothing is counted: the list is not in use on this node, or its "
			"kernel cannot be asked\n");
	t = cli_table_new(heads);
	json_array_foreach (json_object_get(a.json, "entries"), i, hit)
		cli_lists_add_hit(t, cli_print_text(hit, "cidr"), cli_print_text(hit, "action"),
				  hit);
	cli_lists_add_hit(t, "default", "", json_object_get(a.json, "default"));
	cli_print_table(t);
	return EXIT_OK;
}
