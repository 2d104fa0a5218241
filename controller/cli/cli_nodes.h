/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nodes that a command speaks to: the one of the socket, or each --server. */
#ifndef ZG_CLI_CLI_NODES_H
#define ZG_CLI_CLI_NODES_H

#include "cli/cli_client.h"

struct cli_node {
	struct cli_options options; /* what its client keeps pointing to */
	struct cli_client *client;
	const char *name; /* the URL; "" for a single one */
};

struct cli_nodes {
	struct cli_node list[CLI_SERVERS_MAX];
	size_t count; /* at least 1 */
};

/* With several servers: one token file for all, or one for each in the same order; no address twice. A sentence on standard error if
 * not. */
enum cli_exit cli_nodes_open(const struct cli *cli, struct cli_nodes *ret_nodes);
/* With several servers: asks each which daemon it is, so that none is spoken to twice by two names. EXIT_USAGE with a sentence on
 * standard error if one is; else what became of the question. */
enum cli_exit cli_nodes_check(const struct cli_nodes *n);
void cli_nodes_close(struct cli_nodes *n);
#define AUTO_NODES __attribute__((cleanup(cli_nodes_close)))

/* "NODE: " on standard error if there are several. */
void cli_nodes_say(const struct cli_nodes *n, size_t index);

/* cli_print_problem() with the node in front; where nothing was answered the address has been told. */
enum cli_exit cli_nodes_print_problem(const struct cli_nodes *n, size_t index,
				      const struct cli_answer *a);

#endif
