/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of the API, page after page. */
#ifndef ZG_CLI_CLI_PAGES_H
#define ZG_CLI_CLI_PAGES_H

#include <jansson.h>

#include "cli/cli_client.h"

/* All items of the list at `path` ({items, next_cursor}), as one array. Faults are printed. New reference or NULL. */
json_t *cli_pages_fetch(struct cli_client *c, const char *path, enum cli_exit *ret_exit);

#endif
