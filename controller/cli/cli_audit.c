// SPDX-License-Identifier: GPL-2.0-or-later
// Who tried to change what.
#include "cli/cli_commands.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_args.h"
#include "cli/cli_format.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

#define AUDIT_PATH_MAX 8192

static bool cli_audit_knows(const char *word)
{
	static const char *const names[] = {
		"actor=", "object=", "method=", "result=", "since=", "until=", "limit=", "cursor="};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(word, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

/* As the API wants the value, or NULL with a sentence. Caller frees. */
static char *cli_audit_spell(const char *word, const char *value)
{
	if (strncmp(word, "object=", 7) == 0)
		return cli_format_object(value, '-');
	if (strncmp(word, "since=", 6) == 0 || strncmp(word, "until=", 6) == 0)
		return cli_args_read_since(word[0] == 's' ? "since" : "until", value);
	return mem_strdup(value);
}

/* The path with what is asked for, or NULL with a sentence. Caller frees. */
static char *cli_audit_path(const struct cli *cli)
{
	struct buf_writer w;

	buf_writer_init(&w, AUDIT_PATH_MAX);
	buf_write_text(&w, CLI_BASE "/audit");
	for (size_t i = 0; i < cli->arg_count; i++) {
		const char *word = cli->args[i], *value = strchr(word, '=');
		AUTO_FREE char *spelt = value ? cli_audit_spell(word, value + 1) : NULL;
		AUTO_FREE char *escaped = spelt ? cli_client_escape(spelt) : NULL;

		if (!cli_audit_knows(word)) {
			fprintf(stderr,
				"zonegate: \"%s\": actor, object, method, result, since, until, "
				"limit or cursor, an equals sign and a value are expected\n",
				word);
			free(buf_take(&w));
			return NULL;
		}
		if (!spelt) {
			free(buf_take(&w));
			return NULL;
		}
		buf_write_format(&w, "%c%.*s=%s", i ? '&' : '?', (int)(value - word), word,
				 escaped);
	}
	if (!w.failed)
		return buf_take(&w);
	fprintf(stderr, "zonegate: the values are too long\n");
	free(buf_take(&w));
	return NULL;
}

static void cli_audit_add(struct cli_table *t, const json_t *entry)
{
	AUTO_FREE char *at = mem_printf("%.19s", cli_print_text(entry, "at"));
	AUTO_FREE char *what = mem_printf("%s %s%s", cli_print_text(entry, "method"),
					  cli_print_text(entry, "object"),
					  cli_print_true(entry, "dry_run") ? " (dry run)" : "");
	json_int_t count = cli_print_number(entry, "count");
	AUTO_FREE char *result = count ? mem_printf("%s, %" JSON_INTEGER_FORMAT " time%s more",
						    cli_print_text(entry, "result"), count,
						    TEXT_S(count))
				       : mem_strdup(cli_print_text(entry, "result"));
	AUTO_FREE char *revision = cli_print_number(entry, "revision_after")
					   ? mem_printf("%" JSON_INTEGER_FORMAT,
							cli_print_number(entry, "revision_after"))
					   : mem_strdup("");
	const char *source = cli_print_text(entry, "source");

	cli_table_add(t, (const char *[]){at, cli_print_text(entry, "actor"),
					  *source ? source : cli_print_text(entry, "via"), what,
					  result, revision});
}

enum cli_exit cli_audit_list(struct cli *cli)
{
	static const char *const heads[] = {"TIME (UTC)", "WHO",       "FROM", "WHAT",
					    "RESULT",     ">REVISION", NULL};
	AUTO_ANSWER struct cli_answer a = {0};
	AUTO_FREE char *path = cli_audit_path(cli);
	const json_t *items, *entry;
	struct cli_table *t;
	size_t i;

	if (!path)
		return EXIT_USAGE;
	cli_client_get(cli->client, path, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	items = json_object_get(a.json, "items");
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(items);
		return EXIT_OK;
	}
	t = cli_table_new(heads);
	json_array_foreach (items, i, entry)
		cli_audit_add(t, entry);
	cli_print_table_or(
		t, cli->arg_count
			   ? "Nothing of that kind is in the audit; values are those of the "
			     "columns: actor=token:ci, object=server-groups/web, result=forbidden."
			   : "Nothing is in the audit.");
	if (*cli_print_text(a.json, "next_cursor"))
		printf("Older ones: cursor=%s\n", cli_print_text(a.json, "next_cursor"));
	return EXIT_OK;
}
