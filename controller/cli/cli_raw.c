// SPDX-License-Identifier: GPL-2.0-or-later
// Any request to the API, as it is.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "cli/cli_escape.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The body that -d says: text, or the content of "@FILE". */
static char *cli_raw_body(const char *data, size_t *ret_size)
{
	if (data[0] == '@')
		return cli_print_read_file(data + 1, ret_size);
	*ret_size = strlen(data);
	return mem_strdup(data);
}

/* A file gets the bytes as they are. */
static void cli_raw_print_text(const struct cli_answer *a)
{
	AUTO_FREE char *escaped = NULL;

	if (!isatty(STDOUT_FILENO)) {
		fwrite(a->text, 1, a->size, stdout);
		return;
	}
	escaped = cli_escape_copy(a->text, a->size, ESCAPE_KEEP_LINES);
	fputs(escaped, stdout);
}

static void cli_raw_print(const struct cli_answer *a)
{
	if (a->json)
		cli_print_json(a->json);
	else if (a->size > 0)
		cli_raw_print_text(a);
}

enum cli_exit cli_raw_version(struct cli *cli)
{
	json_t *json;

	if (cli->options.format != FORMAT_JSON) {
		printf("zonegate %s\n", ZONEGATE_VERSION);
		return EXIT_OK;
	}
	json = json_pack("{s:s}", "version", ZONEGATE_VERSION);
	cli_print_json(json);
	json_decref(json);
	return EXIT_OK;
}

enum cli_exit cli_raw_call(struct cli *cli)
{
	const struct cli_options *o = &cli->options;
	AUTO_FREE char *path = mem_printf("%s%s", cli->args[1][0] == '/' ? "" : CLI_BASE "/",
					  cli->args[1]);
	AUTO_ANSWER struct cli_answer a = {0};
	AUTO_FREE char *body = NULL;
	struct cli_call call = {.method = cli->args[0], .path = path};

	if (o->data) {
		body = cli_raw_body(o->data, &call.body_size);
		if (!body)
			return EXIT_USAGE;
		call.body = body;
	}
	for (size_t i = 0; i < o->header_count; i++)
		call.headers[i] = o->headers[i];
	cli_client_call(cli->client, &call, &a);
	cli_raw_print(&a);
	if (a.status == 404 && path[0] == '/' && strncmp(path, "/api/", 5) != 0)
		fprintf(stderr,
			"zonegate: " CLI_BASE "%s is meant by \"%s\", without the slash in front\n",
			path, path + 1);
	return cli_client_judge(a.status);
}
