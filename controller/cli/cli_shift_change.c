// SPDX-License-Identifier: GPL-2.0-or-later
// Ending and extending zone shifts, at all nodes that have them.
#include "cli/cli_shift.h"

#include "base/mem.h"
#include "base/time.h"
#include "cli/cli_commands.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

/* There is a shift of it, of other load balancers than --lb or --all name. */
static bool shift_change_name_others(const struct cli *cli, const struct cli_nodes *n)
{
	const struct cli_options *o = &cli->options;
	struct cli_nodes any = {.list = {n->list[0]}, .count = 1};
	char target[CLI_SHIFT_TARGET_MAX];
	enum cli_exit ignored;
	json_t *found;

	if (!o->lb && !o->all)
		return false;
	any.list[0].options.lb = NULL;
	any.list[0].options.all = false;
	found = cli_shift_find(&any, 0, cli->args[0], &ignored);
	if (json_array_size(found) == 0) {
		json_decref(found);
		return false;
	}
	fprintf(stderr, "zonegate: zone %s is shifted, but not of %s%s: that shift is of %s (%s)\n",
		cli->args[0], o->all ? "all load balancers" : "load balancer ", o->all ? "" : o->lb,
		cli_shift_target(json_array_get(found, 0), target),
		cli_print_text(json_array_get(found, 0), "id"));
	json_decref(found);
	return true;
}

/* What each node has: one array a node. NULL with the problem printed; nothing was changed. */
static json_t *shift_change_find(const struct cli *cli, const struct cli_nodes *n,
				 enum cli_exit *ret_exit)
{
	json_t *all;
	size_t total = 0;

	*ret_exit = cli_nodes_check(n);
	if (*ret_exit != EXIT_OK)
		return NULL;
	all = json_array();
	for (size_t i = 0; i < n->count; i++) {
		json_t *found = cli_shift_find(n, i, cli->args[0], ret_exit);

		if (!found) {
			if (n->count > 1)
				fprintf(stderr, "zonegate: nothing was changed at any node\n");
			json_decref(all);
			return NULL;
		}
		total += json_array_size(found);
		json_array_append_new(all, found);
	}
	if (total > 0)
		return all;
	if (!shift_change_name_others(cli, n))
		fprintf(stderr, "zonegate: there is no shift of zone or id \"%s\"\n", cli->args[0]);
	*ret_exit = EXIT_NOT_FOUND;
	json_decref(all);
	return NULL;
}

/* `rest`: what follows of it, or "". */
static void shift_change_say(const struct cli_nodes *n, size_t index, const char *word,
			     const json_t *shift, const char *rest)
{
	char target[CLI_SHIFT_TARGET_MAX];

	printf("%s zone %s, %s (%s%s%s)%s%s\n", word, cli_print_text(shift, "zone"),
	       cli_shift_target(shift, target), cli_print_text(shift, "id"),
	       n->count > 1 ? " at " : "", n->list[index].name, *rest ? ": " : "", rest);
}

/* What the end of a shift would do at a node. */
static enum cli_exit shift_change_rehearse_end(const struct cli_nodes *n, size_t index,
					       const json_t *shift)
{
	AUTO_FREE char *id = cli_client_escape(cli_print_text(shift, "id"));
	AUTO_FREE char *path = mem_printf(CLI_BASE "/zone-shifts/%s?dry_run=true", id);
	AUTO_ANSWER struct cli_answer a = {0};

	cli_client_call(n->list[index].client, &(struct cli_call){.method = "DELETE", .path = path},
			&a);
	if (cli_client_judge(a.status) != EXIT_OK) {
		return cli_nodes_print_problem(n, index, &a);
	}
	if (n->list[index].options.format == FORMAT_JSON) {
		cli_print_json(a.json);
	} else {
		shift_change_say(
			n, index, "Would return", shift,
			cli_print_text(json_array_get(json_object_get(a.json, "warnings"), 0),
				       "detail"));
		if (json_array_size(json_object_get(a.json, "effects")) > 0)
			cli_shift_print_effects(json_object_get(a.json, "effects"));
	}
	return EXIT_DIFFERENCES;
}

static enum cli_exit shift_change_end(const struct cli *cli, const struct cli_nodes *n,
				      size_t index, const json_t *shift)
{
	enum cli_exit result;

	if (cli->options.dry_run)
		return shift_change_rehearse_end(n, index, shift);
	result = cli_shift_end(n, index, cli_print_text(shift, "id"));
	if (result == EXIT_OK)
		shift_change_say(n, index, "Returned", shift, "");
	else
		fprintf(stderr, "zonegate: zone %s is STILL SHIFTED%s%s\n",
			cli_print_text(shift, "zone"), n->count > 1 ? " at " : "",
			n->list[index].name);
	return result;
}

/* A node that fails does not keep the others: a zone that is back at one of them is better than at none. */
enum cli_exit cli_shift_return(struct cli *cli)
{
	AUTO_NODES struct cli_nodes nodes = {.count = 0};
	enum cli_exit result = cli_nodes_open(cli, &nodes);
	json_t *all = result == EXIT_OK ? shift_change_find(cli, &nodes, &result) : NULL;
	const json_t *found, *shift;
	size_t i, j;

	json_array_foreach (all, i, found) {
		json_array_foreach (found, j, shift) {
			enum cli_exit one = shift_change_end(cli, &nodes, i, shift);

			result = result == EXIT_OK ? one : result;
		}
	}
	json_decref(all);
	return result;
}

/* ---- extend ----------------------------------------------------------------------------------- */

struct shift_terms {
	const char *expires;
	const char *comment; /* NULL: as it is */
	bool dry_run;
};

static enum cli_exit shift_change_patch(const struct cli_nodes *n, size_t index,
					const json_t *shift, struct shift_terms terms,
					struct cli_answer *ret_answer)
{
	AUTO_FREE char *id = cli_client_escape(cli_print_text(shift, "id"));
	AUTO_FREE char *path = mem_printf(CLI_BASE "/zone-shifts/%s%s", id,
					  terms.dry_run ? "?dry_run=true" : "");
	json_t *json = json_pack("{s:s, s:s*}", "expires_in", terms.expires, "comment",
				 terms.comment);
	AUTO_FREE char *body = json ? json_dumps(json, JSON_COMPACT) : mem_strdup("{}");
	enum cli_exit result;

	json_decref(json);
	cli_client_call(
		n->list[index].client,
		&(struct cli_call){
			.method = "PATCH", .path = path, .body = body, .body_size = strlen(body)},
		ret_answer);
	result = cli_client_judge(ret_answer->status);
	if (result == EXIT_OK)
		return EXIT_OK;
	return cli_nodes_print_problem(n, index, ret_answer);
}

/* The expiry of before: what was left of it. */
static void shift_change_restore(const struct cli_nodes *n, size_t index, const json_t *shift)
{
	AUTO_ANSWER struct cli_answer a = {0};
	AUTO_FREE char *left = NULL;
	usec_t expires = 0, now = time_wall();

	if (time_parse_wall(cli_print_text(shift, "expires_at"), &expires) || expires <= now)
		return;
	left = mem_printf("%llus", (unsigned long long)((expires - now) / USEC_PER_SEC) + 1);
	if (shift_change_patch(n, index, shift, (struct shift_terms){left, NULL, false}, &a) ==
	    EXIT_OK)
		fprintf(stderr, "zonegate: ends at %s again at %s\n",
			cli_print_text(shift, "expires_at"), n->list[index].name);
}

struct shift_change {
	const struct cli *cli;
	const struct cli_nodes *nodes;
	const json_t *all;
	json_t *answers;
};

static void shift_change_say_until(const struct shift_change *c, size_t index, const json_t *shift,
				   const json_t *plan)
{
	AUTO_FREE char *until = mem_printf(
		"until %s", cli_print_text(json_object_get(plan, "shift"), "expires_at"));

	shift_change_say(c->nodes, index, "Would extend", shift, until);
}

/* All of one node. */
static enum cli_exit shift_change_extend(const struct shift_change *c, size_t index)
{
	const struct cli_options *o = &c->cli->options;
	const json_t *shift;
	size_t i;

	json_array_foreach (json_array_get(c->all, index), i, shift) {
		AUTO_ANSWER struct cli_answer a = {0};
		enum cli_exit result = shift_change_patch(
			c->nodes, index, shift,
			(struct shift_terms){o->expires, o->comment, o->dry_run}, &a);

		if (result != EXIT_OK)
			return result;
		json_array_append(c->answers, a.json);
		if (o->dry_run && o->format == FORMAT_TABLE)
			shift_change_say_until(c, index, shift, a.json);
		else if (o->format == FORMAT_TABLE)
			printf("Until %s: zone %s (%s%s%s)\n", cli_print_text(a.json, "expires_at"),
			       cli_print_text(a.json, "zone"), cli_print_text(a.json, "id"),
			       c->nodes->count > 1 ? " at " : "", c->nodes->list[index].name);
	}
	return EXIT_OK;
}

static enum cli_exit shift_change_extend_all(const struct shift_change *c)
{
	const json_t *shift;
	size_t i;

	for (size_t node = 0; node < c->nodes->count; node++) {
		enum cli_exit result = shift_change_extend(c, node);

		if (result == EXIT_OK)
			continue;
		for (size_t back = 0; back < node; back++) {
			json_array_foreach (json_array_get(c->all, back), i, shift)
				shift_change_restore(c->nodes, back, shift);
		}
		return result;
	}
	if (c->cli->options.format == FORMAT_JSON)
		cli_print_json(c->answers);
	return c->cli->options.dry_run ? EXIT_DIFFERENCES : EXIT_OK;
}

enum cli_exit cli_shift_extend(struct cli *cli)
{
	AUTO_NODES struct cli_nodes nodes = {.count = 0};
	struct shift_change c = {.cli = cli, .nodes = &nodes};
	enum cli_exit result;
	json_t *all;

	if (!cli->options.expires) {
		fprintf(stderr, "zonegate: give --for, counted from now\n");
		return EXIT_USAGE;
	}
	result = cli_nodes_open(cli, &nodes);
	all = result == EXIT_OK ? shift_change_find(cli, &nodes, &result) : NULL;
	if (!all)
		return result;
	c.all = all;
	c.answers = json_array();
	result = shift_change_extend_all(&c);
	json_decref(c.answers);
	json_decref(all);
	return result;
}
