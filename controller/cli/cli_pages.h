/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of the API, page after page. */
#ifndef ZG_CLI_CLI_PAGES_H
#define ZG_CLI_CLI_PAGES_H

#include <jansson.h>

#include "cli/cli_client.h"

/* All items of the list at `path` ({items, next_cursor}), as one array. Faults are printed. New reference or NULL. */
json_t *cli_pages_fetch(struct cli_client *c, const char *path, enum cli_exit *ret_exit);

/* How such a list is shown. */
struct cli_table;
struct cli_list {
	const char *path;
	const char *const *heads;
	void (*add)(const struct cli *cli, struct cli_table *t, const json_t *item);
	const char *empty; /* what a list without items says */
};

/* Fetches it and prints it: a table, or with -o json its items. */
enum cli_exit cli_pages_print(const struct cli *cli, const struct cli_list *l);

#endif
