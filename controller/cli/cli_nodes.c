// SPDX-License-Identifier: GPL-2.0-or-later
// Several nodes, one client each.
#include "cli/cli_nodes.h"

#include "cli/cli_print.h"

#include <stdio.h>

static const char *cli_nodes_token(const struct cli_options *o, size_t index)
{
	return o->token_count > 1 ? o->token_files[index] : o->token_file;
}

enum cli_exit cli_nodes_open(const struct cli *cli, struct cli_nodes *ret_nodes)
{
	const struct cli_options *o = &cli->options;

	ret_nodes->count = 0;
	if (o->token_count > 1 && o->token_count != o->server_count) {
		fprintf(stderr,
			"zonegate: give --token-file once, or once for each --server in the same order\n");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < (o->server_count ? o->server_count : 1); i++) {
		struct cli_node *n = &ret_nodes->list[i];

		n->options = *o;
		n->name = "";
		if (o->server_count > 1) {
			n->options.server = o->servers[i];
			n->options.token_file = cli_nodes_token(o, i);
			n->name = o->servers[i];
		}
		n->client = cli_client_new(&n->options);
		if (!n->client)
			return EXIT_USAGE;
		ret_nodes->count++;
	}
	return EXIT_OK;
}

void cli_nodes_close(struct cli_nodes *n)
{
	for (size_t i = 0; i < n->count; i++)
		cli_client_free(n->list[i].client);
	n->count = 0;
}

void cli_nodes_say(const struct cli_nodes *n, size_t index)
{
	if (n->count > 1)
		fprintf(stderr, "%s: ", n->list[index].name);
}

enum cli_exit cli_nodes_print_problem(const struct cli_nodes *n, size_t index,
				      const struct cli_answer *a)
{
	if (a->status > 0)
		cli_nodes_say(n, index);
	return cli_print_problem(a);
}
