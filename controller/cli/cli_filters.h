/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets and rules of netfilter, as tables. */
#ifndef ZG_CLI_CLI_FILTERS_H
#define ZG_CLI_CLI_FILTERS_H

#include <jansson.h>

#include "cli/cli_commands.h"

/* `filters` of GET /kernel; NULL: nothing. */
void cli_filters_print(const struct cli *cli, const json_t *filters);

#endif
