// SPDX-License-Identifier: GPL-2.0-or-later
// Several nodes, one client each.
#include "cli/cli_nodes.h"

#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

static const char *cli_nodes_token(const struct cli_options *o, size_t index)
{
	return o->token_count > 1 ? o->token_files[index] : o->token_file;
}

static enum cli_exit cli_nodes_compare_urls(const struct cli_nodes *n)
{
	for (size_t i = 1; i < n->count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (!cli_client_same_url(n->list[i].name, n->list[j].name))
				continue;
			fprintf(stderr,
				"zonegate: %s and %s are one address: give each node once\n",
				n->list[i].name, n->list[j].name);
			return EXIT_USAGE;
		}
	}
	return EXIT_OK;
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
	return cli_nodes_compare_urls(ret_nodes);
}

/* The node before that is the same daemon; SIZE_MAX: none. One from before it told its `instance` is like no other. */
static size_t cli_nodes_find_double(const struct cli_answer *answers, size_t index)
{
	const char *instance = cli_print_text(answers[index].json, "instance");

	for (size_t i = 0; *instance && i < index; i++) {
		if (strcmp(cli_print_text(answers[i].json, "instance"), instance) == 0)
			return i;
	}
	return SIZE_MAX;
}

enum cli_exit cli_nodes_check(const struct cli_nodes *n)
{
	struct cli_answer answers[CLI_SERVERS_MAX] = {0};
	enum cli_exit result = EXIT_OK;
	size_t asked = 0;

	for (; n->count > 1 && asked < n->count && result == EXIT_OK; asked++) {
		struct cli_answer *a = &answers[asked];
		size_t same;

		cli_client_get(n->list[asked].client, CLI_BASE "/system", a);
		result = cli_client_judge(a->status);
		if (result != EXIT_OK) {
			cli_nodes_print_problem(n, asked, a);
			fprintf(stderr, "zonegate: nothing was changed at any node\n");
			continue;
		}
		same = cli_nodes_find_double(answers, asked);
		if (same == SIZE_MAX)
			continue;
		fprintf(stderr,
			"zonegate: %s and %s are the same daemon (node %s): give each node once\n",
			n->list[asked].name, n->list[same].name, cli_print_text(a->json, "node"));
		result = EXIT_USAGE;
	}
	while (asked > 0)
		cli_client_clear(&answers[--asked]);
	return result;
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
