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
