/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets and rules of netfilter, as tables. */
#ifndef ZG_CLI_CLI_FILTERS_H
#define ZG_CLI_CLI_FILTERS_H

#include <jansson.h>

#include "cli/cli_commands.h"

/* The sets and rules of an answer of GET /kernel; with ipvs = off what is as it should be is planned. */
void cli_filters_print(const struct cli *cli, const json_t *answer);

#endif
