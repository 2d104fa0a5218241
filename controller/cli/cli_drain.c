// SPDX-License-Identifier: GPL-2.0-or-later
// Drains by hand and weights of servers: begun, watched until they have ended, and taken back.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_args.h"
#include "cli/cli_client.h"
#include "cli/cli_escape.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRAIN_LOOK_USEC 500000

struct drain_row {
	const char *word;
	const char *collection;
	const char *child; /* collection below, or NULL */
	const char *form;
};

static const struct drain_row drain_rows[] = {
	{"server", CLI_BASE "/server-groups", "servers", "GROUP/SERVER"},
	{"group", CLI_BASE "/server-groups", "zones", "GROUP"},
	{"listener", CLI_BASE "/load-balancers", "listeners", "LB/LISTENER"},
	{"lb", CLI_BASE "/load-balancers", NULL, "LB"},
};

/* The API's path of what the arguments name, with `leaf` behind it; NULL with a sentence. Caller frees. */
static char *cli_drain_path(const struct cli *cli, const char *leaf)
{
	char first[CLI_NAME_MAX], second[CLI_NAME_MAX];
	const struct drain_row *row = drain_rows;

	while (strcmp(row->word, cli->options.args[0]) != 0)
		row++;
	snprintf(first, sizeof(first), "%s", cli->args[0]);
	if (strcmp(row->word, "group") == 0) {
		snprintf(second, sizeof(second), "%s", cli->args[1]);
	} else if (row->child && cli_args_split(cli->args[0], first, second)) {
		fprintf(stderr, "zonegate: \"%s\" is not %s\n", cli->args[0], row->form);
		return NULL;
	}
	AUTO_FREE char *parent = cli_client_escape(first);
	AUTO_FREE char *child = row->child ? cli_client_escape(second) : NULL;

	return mem_printf("%s/%s%s%s%s%s/%s", row->collection, parent, row->child ? "/" : "",
			  row->child ? row->child : "", row->child ? "/" : "", child ? child : "",
			  leaf);
}

/* "web/web-1", "zone-a of group web", "listener shop/http". Returns `buf`. */
static const char *cli_drain_name(const struct cli *cli, char buf[200])
{
	const char *word = cli->options.args[0];

	if (strcmp(word, "group") == 0)
		snprintf(buf, 200, "zone %s of group %s", cli->args[1], cli->args[0]);
	else if (strcmp(word, "lb") == 0)
		snprintf(buf, 200, "load balancer %s", cli->args[0]);
	else
		snprintf(buf, 200, "%s %s", word, cli->args[0]);
	return buf;
}

/* ---- answers ---------------------------------------------------------------------------------- */

static enum cli_exit cli_drain_print_plan(const struct cli *cli, const json_t *answer)
{
	json_int_t ops = cli_print_number(answer, "kernel_ops_total");
	json_int_t names = cli_print_number(answer, "dns_changes_total");
	json_t *item;
	size_t i;

	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(answer);
	} else {
		printf("%" JSON_INTEGER_FORMAT " kernel operation%s, %" JSON_INTEGER_FORMAT
		       " changed name%s\n",
		       ops, TEXT_S(ops), names, TEXT_S(names));
		json_array_foreach (json_object_get(answer, "kernel_ops"), i, item)
			printf("  %s\n", cli_escape_string(item));
		json_array_foreach (json_object_get(answer, "dns_changes"), i, item)
			printf("  DNS %s %s\n", cli_print_text(item, "name"),
			       cli_print_text(item, "type"));
		cli_print_foreseen(answer);
	}
	return EXIT_DIFFERENCES;
}

static void cli_drain_call(const struct cli *cli, const char *method, const char *path,
			   json_t *body, struct cli_answer *ret_answer)
{
	AUTO_FREE char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	AUTO_FREE char *url = mem_printf("%s%s", path, cli->options.dry_run ? "?dry_run=true" : "");

	cli_client_call(cli->client,
			&(struct cli_call){.method = method,
					   .path = url,
					   .body = text,
					   .body_size = text ? strlen(text) : 0},
			ret_answer);
	json_decref(body);
}

/* ---- waiting ---------------------------------------------------------------------------------- */

/* Says what is left whenever that changes. 0 when the drain has ended, 1 when somebody took it back. */
static enum cli_exit cli_drain_wait(const struct cli *cli, const char *path)
{
	json_int_t told = -1, told_active = -1;

	for (;;) {
		AUTO_ANSWER struct cli_answer a = {0};
		json_int_t left, active;

		cli_client_get(cli->client, path, &a);
		if (a.status == 404) {
			fprintf(stderr, "zonegate: the drain was cancelled\n");
			return EXIT_NEGATIVE;
		}
		if (cli_client_judge(a.status) != EXIT_OK)
			return cli_print_problem(&a);
		if (strcmp(cli_print_text(a.json, "state"), "finished") == 0) {
			if (cli->options.format == FORMAT_JSON)
				cli_print_json(a.json);
			else
				printf("%s\n", cli_print_text(a.json, "detail"));
			return EXIT_OK;
		}
		left = cli_print_number(a.json, "connections");
		active = cli_print_number(a.json, "active");
		if ((left != told || active != told_active) &&
		    cli->options.format == FORMAT_TABLE) {
			printf("%s\n", cli_print_text(a.json, "detail"));
			fflush(stdout);
		}
		told = left;
		told_active = active;
		usleep(DRAIN_LOOK_USEC);
	}
}

/* ---- commands --------------------------------------------------------------------------------- */

enum cli_exit cli_drain_begin(struct cli *cli)
{
	const struct cli_options *o = &cli->options;
	AUTO_FREE char *path = cli_drain_path(cli, "drain");
	AUTO_ANSWER struct cli_answer a = {0};
	enum cli_exit warned;
	char name[200];
	usec_t span = 0;
	json_t *body;

	if (!path)
		return EXIT_USAGE;
	if (!o->comment || (o->timeout && cli_args_read_span(o->timeout, &span))) {
		fprintf(stderr, "zonegate: give --comment why%s\n",
			o->comment ? "; --timeout is 90s, 30m, 1h30m, 3d or 0" : "");
		return EXIT_USAGE;
	}
	body = json_pack("{s:s}", "comment", o->comment);
	if (body && o->timeout)
		json_object_set_new(body, "timeout_ms",
				    json_integer((json_int_t)(span / USEC_PER_MS)));
	cli_drain_call(cli, "PUT", path, body ? body : json_object(), &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (o->dry_run)
		return cli_drain_print_plan(cli, a.json);
	if (o->format == FORMAT_TABLE && o->timeout && span == 0)
		printf("%s %s at once: its connections get no time\n",
		       a.status == 201 ? "Draining" : "Changed the drain of",
		       cli_drain_name(cli, name));
	else if (o->format == FORMAT_TABLE)
		printf("%s %s until %.19s at most\n",
		       a.status == 201 ? "Draining" : "Changed the drain of",
		       cli_drain_name(cli, name), cli_print_text(a.json, "deadline_at"));
	else if (!o->wait)
		cli_print_json(a.json);
	warned = cli_print_warnings(a.json);
	return o->wait ? cli_drain_wait(cli, path) : warned;
}

/* What a DELETE came to. */
static enum cli_exit cli_drain_conclude(const struct cli *cli, const struct cli_answer *a,
					const char *word)
{
	char name[200];

	if (cli_client_judge(a->status) != EXIT_OK)
		return cli_print_problem(a);
	if (cli->options.dry_run)
		return cli_drain_print_plan(cli, a->json);
	printf("%s %s\n", word, cli_drain_name(cli, name));
	return cli_print_warnings(a->json);
}

enum cli_exit cli_drain_end(struct cli *cli)
{
	AUTO_FREE char *path = cli_drain_path(cli, "drain");
	AUTO_ANSWER struct cli_answer a = {0};

	if (!path)
		return EXIT_USAGE;
	cli_drain_call(cli, "DELETE", path, NULL, &a);
	return cli_drain_conclude(cli, &a, "Undrained");
}

enum cli_exit cli_drain_show(struct cli *cli)
{
	const bool weight = strncmp(cli->options.args[1], "weight", strlen("weight")) == 0;
	AUTO_FREE char *path = cli_drain_path(cli, weight ? "weight-override" : "drain");
	AUTO_ANSWER struct cli_answer a = {0};
	const char *expires;
	char name[200];

	if (!path)
		return EXIT_USAGE;
	cli_client_get(cli->client, path, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	expires = cli_print_text(a.json, "expires_at");
	if (cli->options.format == FORMAT_JSON)
		cli_print_json(a.json);
	else
		printf("%s: %s%s%.19s (%s: %s)\n", cli_drain_name(cli, name),
		       cli_print_text(a.json, "detail"),
		       !weight    ? ""
		       : *expires ? ", until "
				  : ", until it is reset",
		       weight ? expires : "", cli_print_text(a.json, "who"),
		       cli_print_text(a.json, "comment"));
	return EXIT_OK;
}

static json_t *cli_drain_weight_body(const struct cli *cli)
{
	const struct cli_options *o = &cli->options;
	const char *weight = cli->args[1];
	size_t digits = strspn(weight, "0123456789");

	if (digits == 0 || digits > 6 || weight[digits] || !o->comment)
		return NULL;
	return json_pack("{s:I, s:s, s:s*}", "weight", (json_int_t)strtoul(weight, NULL, 10),
			 "comment", o->comment, "expires_in", o->expires);
}

enum cli_exit cli_drain_weigh(struct cli *cli)
{
	const struct cli_options *o = &cli->options;
	AUTO_FREE char *path = cli_drain_path(cli, "weight-override");
	AUTO_ANSWER struct cli_answer a = {0};
	json_t *body = NULL;

	if (!path)
		return EXIT_USAGE;
	if (!o->reset && cli->arg_count == 2)
		body = cli_drain_weight_body(cli);
	if (o->reset ? cli->arg_count != 1 : !body) {
		if (!o->reset && cli->arg_count == 2 && o->comment)
			fprintf(stderr, "zonegate: \"%s\" is not a WEIGHT (0 to 65535)\n",
				cli->args[1]);
		else
			fprintf(stderr,
				"zonegate: give a WEIGHT (0 to 65535) and --comment why, or --reset\n");
		json_decref(body);
		return EXIT_USAGE;
	}
	cli_drain_call(cli, o->reset ? "DELETE" : "PUT", path, body, &a);
	if (o->reset)
		return cli_drain_conclude(cli, &a, "The configured weight holds again:");
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (o->dry_run)
		return cli_drain_print_plan(cli, a.json);
	if (o->format == FORMAT_JSON)
		cli_print_json(a.json);
	else
		printf("%s: %s%s%.19s\n", cli->args[0], cli_print_text(a.json, "detail"),
		       o->expires ? ", until " : "", cli_print_text(a.json, "expires_at"));
	return cli_print_warnings(a.json);
}
