// SPDX-License-Identifier: GPL-2.0-or-later
// A zone taken out of DNS, at all nodes or at none: rehearsed at each first, and ended again where it had begun if one fails.
#include "cli/cli_shift.h"

#include "base/mem.h"
#include "cli/cli_commands.h"
#include "cli/cli_escape.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

#define SHIFTS CLI_BASE "/zone-shifts"

struct shift_wish {
	char *body;
	char *ids[CLI_SERVERS_MAX]; /* where it has begun */
	json_t *answers;            /* of the nodes, in order */
};

static void shift_wish_clear(struct shift_wish *w)
{
	free(w->body);
	for (size_t i = 0; i < CLI_SERVERS_MAX; i++)
		free(w->ids[i]);
	json_decref(w->answers);
}
#define AUTO_WISH __attribute__((cleanup(shift_wish_clear)))

/* ---- pieces ----------------------------------------------------------------------------------- */

const char *cli_shift_target(const json_t *shift, char buf[CLI_SHIFT_TARGET_MAX])
{
	const char *lb = cli_print_text(shift, "load_balancer");

	if (strcmp(lb, "*") == 0)
		return strcpy(buf, "all load balancers");
	snprintf(buf, CLI_SHIFT_TARGET_MAX, "load balancer %.63s", lb);
	return buf;
}

static char *cli_shift_addresses(const json_t *list)
{
	struct buf_writer w;
	json_t *address;
	size_t i;

	buf_writer_init(&w, 4096);
	json_array_foreach (list, i, address)
		buf_write_format(&w, "%s%s", i ? " " : "", cli_escape_string(address));
	if (i == 0)
		buf_write_text(&w, "none");
	return buf_take(&w);
}

void cli_shift_print_effects(const json_t *effects)
{
	static const char *const heads[] = {"LOAD BALANCER",
					    "ANSWERS BEFORE",
					    "ANSWERS AFTER",
					    ">ZONES LEFT",
					    ">SERVERS MOVED",
					    ">SHARE",
					    NULL};
	struct cli_table *t = cli_table_new(heads);
	const json_t *f;
	bool shown;
	size_t i;

	json_array_foreach (effects, i, f) {
		AUTO_FREE char *before = cli_shift_addresses(json_object_get(f, "answers_before")),
			       *after = cli_shift_addresses(json_object_get(f, "answers_after"));
		AUTO_FREE char *left = mem_printf("%" JSON_INTEGER_FORMAT,
						  cli_print_number(f, "zones_left"));
		AUTO_FREE char *moved = mem_printf("%" JSON_INTEGER_FORMAT,
						   cli_print_number(f, "servers_moved"));
		AUTO_FREE char *share = mem_printf("%" JSON_INTEGER_FORMAT " %%",
						   cli_print_number(f, "share_percent"));

		const bool in_dns = *cli_print_text(f, "dns_name") != '\0';

		cli_table_add(t,
			      (const char *[]){cli_print_text(f, "load_balancer"),
					       in_dns ? before : "not in DNS",
					       in_dns ? after : "not in DNS", left, moved, share});
	}
	shown = cli_table_rows(t) > 0;
	cli_print_table_or(t, "No load balancer has an address in this zone.");
	if (shown)
		printf("SERVERS MOVED: those of the zone that get nothing new any more, none while addresses of other zones lead to\n"
		       "them (cross_zone); SHARE: how many of all servers in service these are.\n");
}

static bool cli_shift_matches(const struct cli_options *o, const json_t *shift, const char *word)
{
	const char *lb = cli_print_text(shift, "load_balancer");

	if (strcmp(cli_print_text(shift, "id"), word) == 0)
		return true;
	if (strcmp(cli_print_text(shift, "zone"), word) != 0)
		return false;
	if (o->all)
		return strcmp(lb, "*") == 0;
	return !o->lb || strcmp(lb, o->lb) == 0;
}

json_t *cli_shift_find(const struct cli_nodes *n, size_t index, const char *word,
		       enum cli_exit *ret_exit)
{
	AUTO_ANSWER struct cli_answer a = {0};
	json_t *found, *shift;
	size_t i;

	cli_client_get(n->list[index].client, SHIFTS "?limit=1000", &a);
	*ret_exit = cli_client_judge(a.status);
	if (*ret_exit != EXIT_OK) {
		cli_nodes_print_problem(n, index, &a);
		return NULL;
	}
	found = json_array();
	json_array_foreach (json_object_get(a.json, "items"), i, shift) {
		if (cli_shift_matches(&n->list[index].options, shift, word))
			json_array_append(found, shift);
	}
	return found;
}

enum cli_exit cli_shift_end(const struct cli_nodes *n, size_t index, const char *id)
{
	AUTO_FREE char *escaped = cli_client_escape(id);
	AUTO_FREE char *path = mem_printf(SHIFTS "/%s", escaped);
	AUTO_ANSWER struct cli_answer a = {0};

	cli_client_call(n->list[index].client, &(struct cli_call){.method = "DELETE", .path = path},
			&a);
	if (cli_client_judge(a.status) == EXIT_OK || a.status == 404)
		return EXIT_OK;
	return cli_nodes_print_problem(n, index, &a);
}

/* ---- start ------------------------------------------------------------------------------------ */

static void cli_shift_post(const struct cli_nodes *n, size_t index, const char *path,
			   const char *body, struct cli_answer *ret_answer)
{
	cli_client_call(
		n->list[index].client,
		&(struct cli_call){
			.method = "POST", .path = path, .body = body, .body_size = strlen(body)},
		ret_answer);
}

/* Why it would be refused without --force. EXIT_CONFLICT if it would. */
static enum cli_exit cli_shift_print_refusals(const struct cli_nodes *n, size_t index,
					      const json_t *answer)
{
	const json_t *refusals = json_object_get(answer, "refusals"), *refusal;
	size_t i;

	json_array_foreach (refusals, i, refusal) {
		cli_nodes_say(n, index);
		fprintf(stderr, "zonegate: %s without --force: %s\n",
			n->list[index].options.force ? "would be refused" : "this is refused",
			cli_print_text(refusal, "detail"));
	}
	return i > 0 && !n->list[index].options.force ? EXIT_CONFLICT : EXIT_OK;
}

/* Keeps what each node says of it. */
static enum cli_exit cli_shift_rehearse(const struct cli_nodes *n, struct shift_wish *w)
{
	for (size_t i = 0; i < n->count; i++) {
		AUTO_ANSWER struct cli_answer a = {0};
		enum cli_exit result;

		cli_shift_post(n, i, SHIFTS "?dry_run=true", w->body, &a);
		result = cli_client_judge(a.status);
		if (result != EXIT_OK) {
			return cli_nodes_print_problem(n, i, &a);
		}
		json_array_append(w->answers, a.json);
		result = cli_shift_print_refusals(n, i, a.json);
		if (result != EXIT_OK)
			return result;
	}
	return EXIT_OK;
}

/* " --server URL" of a command that is to be typed, in two parts: a single node needs none. */
static const char *cli_shift_option(const struct cli_node *node)
{
	return *node->name ? " --server " : "";
}

static const char *cli_shift_name(const struct cli_node *node)
{
	return *node->name ? node->name : "this node";
}

/* The node may have begun although it did not say so: what stands there is ours, as the rehearsal found nothing. */
static void cli_shift_look_after(const struct cli_nodes *n, size_t index, const char *zone,
				 struct shift_wish *w)
{
	enum cli_exit ignored;
	json_t *found = cli_shift_find(n, index, zone, &ignored);
	const char *id = cli_print_text(json_array_get(found, 0), "id");

	if (*id)
		w->ids[index] = mem_strdup(id);
	if (!found)
		fprintf(stderr,
			"zonegate: whether %s has shifted zone %s is not known: ask `zonegate%s%s override list`\n",
			cli_shift_name(&n->list[index]), zone, cli_shift_option(&n->list[index]),
			n->list[index].name);
	json_decref(found);
}

/* Ends what has begun, and says where that was not possible. */
static void cli_shift_undo(const struct cli_nodes *n, const char *zone, struct shift_wish *w)
{
	bool clean = true;

	for (size_t i = 0; i < n->count; i++) {
		if (!w->ids[i])
			continue;
		if (cli_shift_end(n, i, w->ids[i]) == EXIT_OK) {
			fprintf(stderr, "zonegate: ended again at %s\n",
				cli_shift_name(&n->list[i]));
			continue;
		}
		clean = false;
		fprintf(stderr,
			"zonegate: zone %s is STILL SHIFTED at %s: zonegate%s%s zone return %s\n",
			zone, cli_shift_name(&n->list[i]), cli_shift_option(&n->list[i]),
			n->list[i].name, w->ids[i]);
	}
	if (clean && n->count > 1)
		fprintf(stderr, "zonegate: zone %s is shifted at none of the nodes\n", zone);
}

static enum cli_exit cli_shift_begin(const struct cli_nodes *n, const char *zone,
				     struct shift_wish *w)
{
	json_array_clear(w->answers);
	for (size_t i = 0; i < n->count; i++) {
		AUTO_ANSWER struct cli_answer a = {0};
		enum cli_exit result;

		cli_shift_post(n, i, SHIFTS, w->body, &a);
		result = cli_client_judge(a.status);
		if (result == EXIT_OK) {
			w->ids[i] = mem_strdup(cli_print_text(a.json, "id"));
			json_array_append(w->answers, a.json);
			continue;
		}
		cli_nodes_print_problem(n, i, &a);
		if (a.status == 0 || a.status >= 500)
			cli_shift_look_after(n, i, zone, w);
		cli_shift_undo(n, zone, w);
		return result;
	}
	return EXIT_OK;
}

static char *cli_shift_body(const struct cli *cli)
{
	const struct cli_options *o = &cli->options;
	json_t *json = json_pack("{s:s, s:s, s:s, s:s}", "zone", cli->args[0], "load_balancer",
				 o->all ? "*" : o->lb, "expires_in", o->expires, "comment",
				 o->comment);
	char *text;

	if (!json)
		return NULL; /* a word that is not UTF-8 */
	if (o->evacuate)
		json_object_set_new(json, "evacuate_servers", json_true());
	if (o->force)
		json_object_set_new(json, "force", json_true());
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	return text;
}

static void cli_shift_print(const struct cli *cli, const struct cli_nodes *n,
			    const struct shift_wish *w)
{
	char target[CLI_SHIFT_TARGET_MAX];
	const json_t *a;
	size_t i;

	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(n->count > 1 ? w->answers : json_array_get(w->answers, 0));
		return;
	}
	json_array_foreach (w->answers, i, a) {
		if (!cli->options.dry_run)
			printf("Zone %s is out of %s until %s (%s%s%s)\n",
			       cli_print_text(a, "zone"), cli_shift_target(a, target),
			       cli_print_text(a, "expires_at"), cli_print_text(a, "id"),
			       n->count > 1 ? " at " : "", n->list[i].name);
		else if (n->count > 1)
			printf("At %s:\n", n->list[i].name);
		if (i == 0 || cli->options.dry_run)
			cli_shift_print_effects(json_object_get(a, "effects"));
	}
}

/* Whether options are missing or too many, each with a sentence. */
static bool cli_shift_lacks(const struct cli_options *o)
{
	const bool both = o->lb && o->all, neither = !o->lb && !o->all;

	if (both)
		fprintf(stderr, "zonegate: --lb LB and --all are both given: give one\n");
	if (neither)
		fprintf(stderr, "zonegate: --lb LB or --all is missing: of which load balancers\n");
	if (!o->expires)
		fprintf(stderr, "zonegate: --for TIME is missing: 90s, 30m, 2h or 3d\n");
	if (!o->comment)
		fprintf(stderr, "zonegate: --comment TEXT is missing: why\n");
	return both || neither || !o->expires || !o->comment;
}

enum cli_exit cli_shift_start(struct cli *cli)
{
	const struct cli_options *o = &cli->options;
	AUTO_NODES struct cli_nodes nodes = {.count = 0};
	AUTO_WISH struct shift_wish wish = {.answers = json_array()};
	enum cli_exit result = EXIT_OK;

	if (cli_shift_lacks(o))
		return EXIT_USAGE;
	wish.body = cli_shift_body(cli);
	if (!wish.body) {
		fprintf(stderr, "zonegate: only UTF-8 is taken\n");
		return EXIT_USAGE;
	}
	result = cli_nodes_open(cli, &nodes);
	if (result == EXIT_OK)
		result = cli_nodes_check(&nodes);
	if (result == EXIT_OK && (o->dry_run || nodes.count > 1)) {
		result = cli_shift_rehearse(&nodes, &wish);
		if (result != EXIT_OK && nodes.count > 1)
			fprintf(stderr, "zonegate: nothing was changed at any node\n");
	}
	if (result == EXIT_OK && !o->dry_run)
		result = cli_shift_begin(&nodes, cli->args[0], &wish);
	if (result == EXIT_OK || (o->dry_run && result == EXIT_CONFLICT))
		cli_shift_print(cli, &nodes, &wish);
	return result == EXIT_OK && o->dry_run ? EXIT_DIFFERENCES : result;
}
