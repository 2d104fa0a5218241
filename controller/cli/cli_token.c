// SPDX-License-Identifier: GPL-2.0-or-later
// Bearer tokens and sessions.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "base/time.h"
#include "cli/cli_escape.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

/* The items of a list, or NULL with the problem printed. Borrowed from the answer. */
static const json_t *cli_token_fetch(struct cli *cli, const char *path, struct cli_answer *a,
				     enum cli_exit *ret_exit)
{
	cli_client_get(cli->client, path, a);
	*ret_exit = cli_client_judge(a->status);
	if (*ret_exit == EXIT_OK)
		return json_object_get(a->json, "items");
	cli_print_problem(a);
	return NULL;
}

/* `word`: what is told of it when it is done. */
static enum cli_exit cli_token_delete(struct cli *cli, const char *collection, const char *id,
				      const char *word)
{
	AUTO_FREE char *escaped = cli_client_escape(id);
	AUTO_FREE char *path = mem_printf(CLI_BASE "/%s/%s%s", collection, escaped,
					  cli->options.dry_run ? "?dry_run=true" : "");
	AUTO_ANSWER struct cli_answer a = {0};

	cli_client_call(cli->client, &(struct cli_call){.method = "DELETE", .path = path}, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.dry_run)
		return cli_print_dry_run(cli, a.json);
	if (cli->options.format != FORMAT_JSON)
		printf("%s %s.\n", cli->args[0], word);
	return EXIT_OK;
}

/* ---- tokens ---- */

/* The token alone on standard output, to be put where it belongs. */
enum cli_exit cli_token_create(struct cli *cli)
{
	const struct cli_options *o = &cli->options;
	json_t *body = json_pack("{s:s, s:s*, s:s*}", "name", cli->args[0], "role", o->role,
				 "expires_in", o->expires);
	AUTO_ANSWER struct cli_answer a = {0};
	AUTO_FREE char *text = NULL;
	json_t *sources = json_array();

	for (size_t i = 0; i < o->source_count; i++)
		json_array_append_new(sources, json_string(o->sources[i]));
	json_object_set_new(body, "sources", sources);
	text = json_dumps(body, JSON_COMPACT);
	json_decref(body);
	cli_client_call(cli->client,
			&(struct cli_call){.method = "POST",
					   .path = o->dry_run ? CLI_BASE "/tokens?dry_run=true"
							      : CLI_BASE "/tokens",
					   .body = text,
					   .body_size = strlen(text)},
			&a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (o->dry_run)
		return cli_print_dry_run(cli, a.json);
	if (o->format == FORMAT_JSON) {
		cli_print_json(a.json);
		return EXIT_OK;
	}
	printf("%s\n", cli_print_text(a.json, "token"));
	fprintf(stderr, "It is not shown again. zonegate token revoke %s ends it.\n", cli->args[0]);
	return EXIT_OK;
}

static char *cli_token_format_sources(const json_t *token)
{
	const json_t *sources = json_object_get(token, "sources");
	json_t *source;
	struct buf_writer w;
	size_t i;

	buf_writer_init(&w, 4096);
	json_array_foreach (sources, i, source)
		buf_write_format(&w, "%s%s", i ? " " : "", cli_escape_string(source));
	if (json_array_size(sources) == 0)
		buf_write_text(&w, "anywhere");
	return buf_take(&w);
}

static char *cli_token_format_end(const json_t *token)
{
	const char *end = cli_print_text(token, "expires_at");
	usec_t wall;

	if (!*end)
		return mem_strdup("no end");
	if (time_parse_wall(end, &wall) == 0 && wall <= time_wall())
		return mem_strdup("expired");
	return mem_printf("%.19s", end);
}

enum cli_exit cli_token_list(struct cli *cli)
{
	static const char *const heads[] = {"NAME", "ROLE",       "ID",        "BY", "UNTIL (UTC)",
					    "FROM", "USED (UTC)", "USED FROM", NULL};
	AUTO_ANSWER struct cli_answer a = {0};
	enum cli_exit exit;
	const json_t *items = cli_token_fetch(cli, CLI_BASE "/tokens?limit=1000", &a, &exit),
		     *token;
	struct cli_table *t;
	size_t i;

	if (!items)
		return exit;
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(items);
		return EXIT_OK;
	}
	t = cli_table_new(heads);
	json_array_foreach (items, i, token) {
		AUTO_FREE char *until = cli_token_format_end(token);
		AUTO_FREE char *used = mem_printf("%.19s", cli_print_text(token, "last_used_at"));
		AUTO_FREE char *sources = cli_token_format_sources(token);

		cli_table_add(t, (const char *[]){cli_print_text(token, "name"),
						  cli_print_text(token, "role"),
						  cli_print_text(token, "id"),
						  cli_print_text(token, "created_by"), until,
						  sources, *used ? used : "never",
						  cli_print_text(token, "last_used_from")});
	}
	cli_print_table_or(t, "No tokens yet: zonegate token create NAME --role ROLE");
	return EXIT_OK;
}

/* The id of a token that is named by it or by its name; NULL: there is none. Borrowed from the items. */
static const char *cli_token_find(const json_t *items, const char *word)
{
	const json_t *token;
	size_t i;

	json_array_foreach (items, i, token) {
		if (strcmp(cli_print_text(token, "name"), word) == 0)
			return cli_print_text(token, "id");
	}
	json_array_foreach (items, i, token) {
		if (strcmp(cli_print_text(token, "id"), word) == 0)
			return cli_print_text(token, "id");
	}
	return NULL;
}

enum cli_exit cli_token_revoke(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer a = {0};
	enum cli_exit exit;
	const json_t *items = cli_token_fetch(cli, CLI_BASE "/tokens?limit=1000", &a, &exit);
	const char *id = items ? cli_token_find(items, cli->args[0]) : NULL;

	if (!items)
		return exit;
	if (!id) {
		fprintf(stderr, "zonegate: there is no token \"%s\"\n", cli->args[0]);
		return EXIT_NOT_FOUND;
	}
	return cli_token_delete(cli, "tokens", id, "is revoked");
}

/* ---- sessions ---- */

enum cli_exit cli_token_list_sessions(struct cli *cli)
{
	static const char *const heads[] = {
		"ID", "USER", "FROM", "SINCE (UTC)", "LAST SEEN (UTC)", "UNTIL (UTC)", NULL};
	AUTO_ANSWER struct cli_answer a = {0};
	enum cli_exit exit;
	const json_t *items = cli_token_fetch(cli, CLI_BASE "/sessions?limit=1000", &a, &exit),
		     *session;
	struct cli_table *t;
	size_t i;

	if (!items)
		return exit;
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(items);
		return EXIT_OK;
	}
	t = cli_table_new(heads);
	json_array_foreach (items, i, session) {
		AUTO_FREE char *since = mem_printf("%.19s", cli_print_text(session, "created_at"));
		AUTO_FREE char *seen = mem_printf("%.19s", cli_print_text(session, "last_seen_at"));
		AUTO_FREE char *until = mem_printf("%.19s", cli_print_text(session, "expires_at"));

		cli_table_add(t, (const char *[]){cli_print_text(session, "id"),
						  cli_print_text(session, "user"),
						  cli_print_text(session, "source"), since, seen,
						  until});
	}
	cli_print_table_or(t, "Nobody is signed in.");
	return EXIT_OK;
}

enum cli_exit cli_token_end_session(struct cli *cli)
{
	return cli_token_delete(cli, "sessions", cli->args[0], "has ended");
}
