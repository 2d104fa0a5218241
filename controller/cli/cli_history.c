// SPDX-License-Identifier: GPL-2.0-or-later
// Revisions: what they changed, going back, confirming; and what a file would change.
#include "cli/cli_history.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_args.h"
#include "cli/cli_commands.h"
#include "cli/cli_diff.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HISTORY_TEXT_MAX (16U * 1024 * 1024)

/* ---- confirmations ---------------------------------------------------------------------------- */

#define WITHIN_MAX (24 * 3600 * USEC_PER_SEC)

enum cli_exit cli_history_read_within(const struct cli *cli, unsigned *ret_seconds)
{
	const char *text = cli->options.confirm_within;
	usec_t span = 0;

	if (text && (cli_args_read_span(text, &span) || span == 0 || span > WITHIN_MAX)) {
		fprintf(stderr,
			"zonegate: --confirm-within: \"%s\" is no time as 60s, 5m or 2h, at most 24h\n",
			text);
		return EXIT_USAGE;
	}
	*ret_seconds = (unsigned)(span / USEC_PER_SEC);
	return EXIT_OK;
}

void cli_history_say_waits(unsigned seconds)
{
	if (seconds)
		printf("It undoes itself in %u s unless it is confirmed: zonegate config confirm\n",
		       seconds);
}

enum cli_exit cli_history_write_query(const struct cli *cli, char **ret_query)
{
	const char *text = cli->options.comment;
	AUTO_FREE char *comment = text ? cli_client_escape(text) : NULL;
	AUTO_FREE char *within = NULL;
	unsigned within_s;
	enum cli_exit result = cli_history_read_within(cli, &within_s);

	if (result != EXIT_OK)
		return result;
	within = within_s ? mem_printf("&confirm_within_s=%u", within_s) : mem_strdup("");
	*ret_query = mem_printf("?dry_run=%s%s%s%s", cli->options.dry_run ? "true" : "false",
				within, comment ? "&comment=" : "", comment ? comment : "");
	return EXIT_OK;
}

void cli_history_say_pending(const struct cli *cli)
{
	unsigned within_s;

	if (cli->options.format == FORMAT_TABLE &&
	    cli_history_read_within(cli, &within_s) == EXIT_OK)
		cli_history_say_waits(within_s);
}

enum cli_exit cli_history_confirm(struct cli *cli)
{
	const struct cli_call call = {.method = "POST",
				      .path = cli->options.dry_run ? CLI_BASE
						      "/config/confirm?dry_run=true"
								   : CLI_BASE "/config/confirm"};
	AUTO_ANSWER struct cli_answer a = {0};
	const json_t *change;

	cli_client_call(cli->client, &call, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	change = json_object_get(a.json, "change");
	if (cli->options.format == FORMAT_JSON)
		cli_print_json(a.json);
	else
		printf("%s: revision %" JSON_INTEGER_FORMAT " of %s%s\n",
		       cli->options.dry_run ? "It waits" : "Confirmed",
		       cli_print_number(change, "revision"), cli_print_text(change, "who"),
		       cli->options.dry_run ? "" : " stays");
	return EXIT_OK;
}

/* "7", as in the list. */
static bool cli_history_is_revision(const char *text)
{
	if (*text && !text[strspn(text, "0123456789")])
		return true;
	fprintf(stderr,
		"zonegate: \"%s\" is not a REVISION: a number, as zonegate config history lists "
		"them\n",
		text);
	return false;
}

/* ---- the list --------------------------------------------------------------------------------- */

static void cli_history_add(struct cli_table *t, const json_t *item)
{
	const json_t *changes = json_object_get(item, "changes");
	AUTO_FREE char *revision = mem_printf("%" JSON_INTEGER_FORMAT,
					      cli_print_number(item, "revision"));
	AUTO_FREE char *at = mem_printf("%.19s", cli_print_text(item, "at"));
	AUTO_FREE char *counts = mem_printf(
		"+%" JSON_INTEGER_FORMAT " ~%" JSON_INTEGER_FORMAT " -%" JSON_INTEGER_FORMAT,
		cli_print_number(changes, "created"), cli_print_number(changes, "updated"),
		cli_print_number(changes, "deleted"));

	cli_table_add(t, (const char *[]){revision, at, cli_print_text(item, "who"), counts,
					  cli_print_text(item, "comment")});
}

enum cli_exit cli_history_list(struct cli *cli)
{
	static const char *const heads[] = {">REVISION", "TIME (UTC)", "WHO",
					    "CHANGES",   "COMMENT",    NULL};
	AUTO_FREE char *limit = cli_client_escape(cli->options.limit ? cli->options.limit : "20");
	AUTO_FREE char *path = mem_printf(CLI_BASE "/config/revisions?limit=%s", limit);
	AUTO_ANSWER struct cli_answer a = {0};
	struct cli_table *t;
	const json_t *item;
	size_t i;

	cli_client_get(cli->client, path, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(json_object_get(a.json, "items"));
		return EXIT_OK;
	}
	t = cli_table_new(heads);
	json_array_foreach (json_object_get(a.json, "items"), i, item)
		cli_history_add(t, item);
	cli_print_table_or(t, "No revisions yet: nothing was configured.");
	if (*cli_print_text(a.json, "next_cursor"))
		printf("There are older ones: --limit\n");
	return EXIT_OK;
}

/* ---- changes ---------------------------------------------------------------------------------- */

static void cli_history_print_changes(const struct cli *cli, const json_t *changes,
				      json_int_t total)
{
	AUTO_BUF struct buf_writer w;
	const json_t *change;
	size_t i;

	buf_writer_init(&w, HISTORY_TEXT_MAX);
	json_array_foreach (changes, i, change)
		cli_diff_write_change(change, cli->color, &w);
	if (total > (json_int_t)json_array_size(changes))
		buf_write_format(&w, "and %" JSON_INTEGER_FORMAT " more change%s\n",
				 total - (json_int_t)json_array_size(changes),
				 TEXT_S(total - (json_int_t)json_array_size(changes)));
	if (total == 0)
		buf_write_text(&w, "No differences.\n");
	fputs(buf_text(&w), stdout);
}

static enum cli_exit cli_history_get(const struct cli *cli, const char *path,
				     struct cli_answer *ret_answer)
{
	cli_client_get(cli->client, path, ret_answer);
	return cli_client_judge(ret_answer->status) == EXIT_OK ? EXIT_OK
							       : cli_print_problem(ret_answer);
}

enum cli_exit cli_history_show(struct cli *cli)
{
	AUTO_FREE char *number = cli_client_escape(cli->args[0]);
	AUTO_FREE char *path = mem_printf(CLI_BASE "/config/revisions/%s", number);
	AUTO_ANSWER struct cli_answer a = {0};
	const char *comment;
	enum cli_exit result;

	if (!cli_history_is_revision(cli->args[0]))
		return EXIT_USAGE;
	result = cli_history_get(cli, path, &a);
	if (result != EXIT_OK)
		return result;
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(a.json);
		return EXIT_OK;
	}
	comment = cli_print_text(a.json, "comment");
	printf("Revision %" JSON_INTEGER_FORMAT ", made by %s at %s%s%s\n",
	       cli_print_number(a.json, "revision"), cli_print_text(a.json, "who"),
	       cli_print_text(a.json, "at"), *comment ? ": " : "", comment);
	cli_history_print_changes(cli, json_object_get(a.json, "changes"),
				  cli_print_number(a.json, "changes_total"));
	return EXIT_OK;
}

/* Adds the next page to what is there; it is towards the same revision, whatever is in force by then. */
static enum cli_exit cli_history_add_page(const struct cli *cli, const char *from, json_t *all)
{
	AUTO_FREE char *cursor = cli_client_escape(cli_print_text(all, "next_cursor"));
	AUTO_FREE char *path = mem_printf(
		CLI_BASE "/config/revisions/%s/diff?to=%" JSON_INTEGER_FORMAT "&cursor=%s", from,
		cli_print_number(all, "to"), cursor);
	AUTO_ANSWER struct cli_answer a = {0};
	enum cli_exit result = cli_history_get(cli, path, &a);

	if (result != EXIT_OK)
		return result;
	json_array_extend(json_object_get(all, "diff"), json_object_get(a.json, "diff"));
	json_object_set(all, "next_cursor", json_object_get(a.json, "next_cursor"));
	return EXIT_OK;
}

enum cli_exit cli_history_diff(struct cli *cli)
{
	AUTO_FREE char *from = cli_client_escape(cli->args[0]);
	AUTO_FREE char *to = cli->arg_count > 1 ? cli_client_escape(cli->args[1]) : NULL;
	AUTO_FREE char *path = mem_printf(CLI_BASE "/config/revisions/%s/diff%s%s", from,
					  to ? "?to=" : "", to ? to : "");
	AUTO_ANSWER struct cli_answer a = {0};
	enum cli_exit result;
	json_int_t total;

	if (!cli_history_is_revision(cli->args[0]) || (to && !cli_history_is_revision(to)))
		return EXIT_USAGE;
	result = cli_history_get(cli, path, &a);
	total = cli_print_number(a.json, "diff_total");
	while (result == EXIT_OK && *cli_print_text(a.json, "next_cursor"))
		result = cli_history_add_page(cli, from, a.json);
	if (result != EXIT_OK)
		return result;
	if (cli->options.format == FORMAT_JSON)
		cli_print_json(a.json);
	else
		cli_history_print_changes(cli, json_object_get(a.json, "diff"), total);
	return total > 0 ? EXIT_DIFFERENCES : EXIT_OK;
}

/* ---- going back ------------------------------------------------------------------------------- */

static enum cli_exit cli_history_say_rolled_back(const struct cli *cli, const json_t *answer,
						 unsigned within_s)
{
	if (cli->options.dry_run)
		return cli_print_dry_run(cli, answer);
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(answer);
	} else if (cli_print_true(answer, "changed")) {
		printf("Rolled back to revision %" JSON_INTEGER_FORMAT
		       ": this is revision %" JSON_INTEGER_FORMAT "\n",
		       cli_print_number(answer, "rolled_back_to"),
		       cli_print_number(answer, "revision"));
		cli_history_say_waits(within_s);
	} else {
		printf("Nothing to change: the document is as it was at revision %" JSON_INTEGER_FORMAT
		       "\n",
		       cli_print_number(answer, "rolled_back_to"));
	}
	return cli_print_warnings(answer);
}

static char *cli_history_body(const struct cli *cli, unsigned within_s)
{
	json_t *json = json_pack("{s:s}", "comment", cli->options.comment);
	char *text;

	if (json && within_s)
		json_object_set_new(json, "confirm_within_s", json_integer(within_s));
	text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	return text;
}

enum cli_exit cli_history_rollback(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer head = {0}, a = {0};
	AUTO_FREE char *number = cli_client_escape(cli->args[0]);
	AUTO_FREE char *path = mem_printf(CLI_BASE "/config/revisions/%s/rollback%s", number,
					  cli->options.dry_run ? "?dry_run=true" : "");
	AUTO_FREE char *if_match = NULL, *body = NULL;
	struct cli_call call = {.method = "POST", .path = path};
	unsigned within_s;
	enum cli_exit result = cli_history_read_within(cli, &within_s);

	if (!cli_history_is_revision(cli->args[0]))
		result = EXIT_USAGE;
	if (result != EXIT_OK)
		return result;
	body = cli->options.comment ? cli_history_body(cli, within_s) : NULL;
	if (!body) {
		fprintf(stderr, "zonegate: say why: --comment TEXT\n");
		return EXIT_USAGE;
	}
	cli_client_call(cli->client,
			&(struct cli_call){.method = "HEAD", .path = CLI_BASE "/config"}, &head);
	if (cli_client_judge(head.status) != EXIT_OK)
		return cli_print_problem(&head);
	if_match = mem_printf("If-Match: %s", head.etag);
	call.headers[0] = if_match;
	call.body = body;
	call.body_size = strlen(body);
	cli_client_call(cli->client, &call, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	return cli_history_say_rolled_back(cli, a.json, within_s);
}

/* ---- a file ----------------------------------------------------------------------------------- */

enum cli_exit cli_history_plan(struct cli *cli)
{
	struct cli_call call = {.method = "POST", .path = CLI_BASE "/config/plan"};
	AUTO_ANSWER struct cli_answer a = {0};
	AUTO_FREE char *body = NULL;

	if (!cli->options.file) {
		fprintf(stderr, "zonegate: which file? -f FILE, or -f - for standard input\n");
		return EXIT_USAGE;
	}
	body = cli_print_read_file(cli->options.file, &call.body_size);
	if (!body)
		return EXIT_USAGE;
	call.body = body;
	cli_client_call(cli->client, &call, &a);
	return cli_client_judge(a.status) == EXIT_OK ? cli_print_dry_run(cli, a.json)
						     : cli_print_problem(&a);
}
