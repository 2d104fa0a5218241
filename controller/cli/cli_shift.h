/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces of the commands about zone shifts. */
#ifndef ZG_CLI_CLI_SHIFT_H
#define ZG_CLI_CLI_SHIFT_H

#include <jansson.h>

#include "cli/cli_nodes.h"

/* The shifts of a node that `word` (an id or a zone) names, of the load balancer that the options name if they do. NULL with
 * the problem printed. New reference. */
json_t *cli_shift_find(const struct cli_nodes *n, size_t index, const char *word,
		       enum cli_exit *ret_exit);

/* Ends one shift. One that is not there any more is no fault. Problems are printed. */
enum cli_exit cli_shift_end(const struct cli_nodes *n, size_t index, const char *id);

/* What a shift does, as a table. */
void cli_shift_print_effects(const json_t *effects);

/* "all load balancers" or "load balancer NAME". Returns `buf`. */
#define CLI_SHIFT_TARGET_MAX 96
const char *cli_shift_target(const json_t *shift, char buf[CLI_SHIFT_TARGET_MAX]);

#endif
