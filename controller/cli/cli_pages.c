// SPDX-License-Identifier: GPL-2.0-or-later
// Paged lists.
#include "cli/cli_pages.h"

#include "base/mem.h"
#include "cli/cli_print.h"

#define PAGES_MAX 10000

/* Adds one page; the cursor of the next one goes to *ret_cursor (NULL = that was all). */
static enum cli_exit cli_pages_add(struct cli_client *c, const char *path, json_t *all,
				   char **ret_cursor)
{
	AUTO_ANSWER struct cli_answer a;
	const char *cursor;

	cli_client_get(c, path, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	json_array_extend(all, json_object_get(a.json, "items"));
	cursor = json_string_value(json_object_get(a.json, "next_cursor"));
	*ret_cursor = cursor ? cli_client_escape(cursor) : NULL;
	return EXIT_OK;
}

json_t *cli_pages_fetch(struct cli_client *c, const char *path, enum cli_exit *ret_exit)
{
	AUTO_FREE char *cursor = NULL;
	json_t *all = json_array();

	for (unsigned page = 0; page < PAGES_MAX; page++) {
		AUTO_FREE char *url = mem_printf("%s?limit=1000%s%s", path,
						 cursor ? "&cursor=" : "", cursor ? cursor : "");
		char *next = NULL;

		*ret_exit = cli_pages_add(c, url, all, &next);
		free(cursor);
		cursor = next;
		if (*ret_exit != EXIT_OK) {
			json_decref(all);
			return NULL;
		}
		if (!cursor)
			break;
	}
	return all;
}

enum cli_exit cli_pages_print(const struct cli *cli, const struct cli_list *l)
{
	enum cli_exit result;
	json_t *items = cli_pages_fetch(cli->client, l->path, &result);
	const json_t *item;
	struct cli_table *t;
	size_t i;

	if (!items)
		return result;
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(items);
	} else {
		t = cli_table_new(l->heads);
		json_array_foreach (items, i, item)
			l->add(cli, t, item);
		cli_print_table_or(t, l->empty);
	}
	json_decref(items);
	return EXIT_OK;
}
