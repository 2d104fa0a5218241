// SPDX-License-Identifier: GPL-2.0-or-later
// Objects of the configuration: lists, one of them, changes by member, removal. The first word of the command says the kind.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_args.h"
#include "cli/cli_diff.h"
#include "cli/cli_escape.h"
#include "cli/cli_history.h"
#include "cli/cli_pages.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OBJECT_LOOK_USEC 500000

struct object_row {
	const char *word;
	const char *path;  /* of a child, the collection of its parents */
	const char *child; /* collection below the parent, or NULL */
	const char *form;
};

static const struct object_row object_rows[] = {
	{"lb", CLI_BASE "/load-balancers", NULL, "LB"},
	{"group", CLI_BASE "/server-groups", NULL, "GROUP"},
	{"zone", CLI_BASE "/zones", NULL, "ZONE"},
	{"access", CLI_BASE "/access-lists", NULL, "LIST"},
	{"lb-zone", CLI_BASE "/load-balancers", "zones", "LB/ZONE"},
	{"listener", CLI_BASE "/load-balancers", "listeners", "LB/LISTENER"},
	{"server", CLI_BASE "/server-groups", "servers", "GROUP/SERVER"},
};

/* The API's path of the object that the first argument names; NULL with a sentence. Caller frees. */
static char *cli_object_path(const struct cli *cli)
{
	const char *word = cli->options.args[0], *name = cli->args[0];
	char first[CLI_NAME_MAX], second[CLI_NAME_MAX];
	const struct object_row *row = object_rows;

	while (strcmp(row->word, word) != 0)
		row++;
	if (!row->child) {
		AUTO_FREE char *escaped = cli_client_escape(name);

		return mem_printf("%s/%s", row->path, escaped);
	}
	if (cli_args_split(name, first, second) == 0) {
		AUTO_FREE char *parent = cli_client_escape(first),
			       *child = cli_client_escape(second);

		return mem_printf("%s/%s/%s/%s", row->path, parent, row->child, child);
	}
	fprintf(stderr, "zonegate: \"%s\" is not %s\n", name, row->form);
	return NULL;
}

/* ---- lists ------------------------------------------------------------------------------------ */

static void cli_object_add_zone(const struct cli *cli, struct cli_table *t, const json_t *z)
{
	(void)cli;
	cli_table_add(
		t, (const char *[]){cli_print_text(z, "name"), cli_print_text(z, "description")});
}

enum cli_exit cli_object_list_zones(struct cli *cli)
{
	static const char *const heads[] = {"ZONE", "DESCRIPTION", NULL};

	return cli_pages_print(cli, &(struct cli_list){CLI_BASE "/zones", heads,
						       cli_object_add_zone, CLI_NO_ZONES});
}

/* "zone-a 192.0.2.10 2001:db8::10, …" */
static char *cli_object_vips(const json_t *lb)
{
	json_t *zones = json_object_get(lb, "zones"), *zone;
	struct buf_writer w;
	const char *name;

	buf_writer_init(&w, 1U << 20);
	json_object_foreach (zones, name, zone) {
		const char *vip4 = cli_print_text(zone, "vip4"),
			   *vip6 = cli_print_text(zone, "vip6");
		AUTO_FREE char *shown = cli_escape_copy(name, strlen(name), ESCAPE_ALL);

		buf_write_format(&w, "%s%s%s%s%s%s", w.size ? ", " : "", shown, *vip4 ? " " : "",
				 vip4, *vip6 ? " " : "", vip6);
	}
	return buf_take(&w);
}

static void cli_object_add_lb(const struct cli *cli, struct cli_table *t, const json_t *lb)
{
	AUTO_FREE char *vips = cli_object_vips(lb);
	AUTO_FREE char *listeners = mem_printf("%zu",
					       json_object_size(json_object_get(lb, "listeners")));

	(void)cli;
	cli_table_add(t, (const char *[]){cli_print_text(lb, "name"),
					  cli_print_true(lb, "enabled") ? "yes" : "no",
					  cli_print_true(lb, "cross_zone") ? "yes" : "no",
					  listeners, vips});
}

enum cli_exit cli_object_list_lbs(struct cli *cli)
{
	static const char *const heads[] = {"LOAD BALANCER", "ENABLED",        "CROSS-ZONE",
					    ">LISTENERS",    "ZONES AND VIPS", NULL};

	return cli_pages_print(cli, &(struct cli_list){CLI_BASE "/load-balancers", heads,
						       cli_object_add_lb, CLI_NO_LBS});
}

static void cli_object_add_group(const struct cli *cli, struct cli_table *t, const json_t *g)
{
	const json_t *check = json_object_get(g, "health_check");
	AUTO_FREE char *servers = mem_printf("%zu",
					     json_object_size(json_object_get(g, "servers")));

	(void)cli;
	cli_table_add(t, (const char *[]){cli_print_text(g, "name"), cli_print_text(g, "protocol"),
					  cli_print_text(g, "forward_method"),
					  cli_print_true(check, "enabled")
						  ? cli_print_text(check, "type")
						  : "off",
					  servers});
}

enum cli_exit cli_object_list_groups(struct cli *cli)
{
	static const char *const heads[] = {"SERVER GROUP", "PROTOCOL", "FORWARD",
					    "CHECK",        ">SERVERS", NULL};

	return cli_pages_print(cli, &(struct cli_list){CLI_BASE "/server-groups", heads,
						       cli_object_add_group, CLI_NO_GROUPS});
}

static void cli_object_add_listener(const struct cli *cli, struct cli_table *t, const json_t *l)
{
	const json_t *range = json_object_get(l, "port_range");
	AUTO_FREE char *port = range ? mem_printf("%" JSON_INTEGER_FORMAT "-%" JSON_INTEGER_FORMAT,
						  json_integer_value(json_array_get(range, 0)),
						  json_integer_value(json_array_get(range, 1)))
				     : mem_printf("%" JSON_INTEGER_FORMAT,
						  cli_print_number(l, "port"));

	(void)cli;
	cli_table_add(t, (const char *[]){cli_print_text(l, "name"), cli_print_text(l, "protocol"),
					  port, cli_print_text(l, "server_group"),
					  cli_print_text(l, "scheduler")});
}

enum cli_exit cli_object_list_listeners(struct cli *cli)
{
	static const char *const heads[] = {"LISTENER",     "PROTOCOL",  ">PORT",
					    "SERVER GROUP", "SCHEDULER", NULL};
	AUTO_FREE char *lb = cli_client_escape(cli->args[0]);
	AUTO_FREE char *path = mem_printf(CLI_BASE "/load-balancers/%s/listeners", lb);

	return cli_pages_print(
		cli,
		&(struct cli_list){
			path, heads, cli_object_add_listener,
			"No listeners yet: zonegate listener set LB/NAME protocol=tcp port=80 server_group=GROUP"});
}

static void cli_object_add_lb_zone(const struct cli *cli, struct cli_table *t, const json_t *z)
{
	(void)cli;
	cli_table_add(t, (const char *[]){cli_print_text(z, "name"),
					  cli_print_true(z, "enabled") ? "yes" : "no",
					  cli_print_text(z, "vip4"), cli_print_text(z, "vip6"),
					  cli_print_text(z, "publish4"),
					  cli_print_text(z, "publish6")});
}

enum cli_exit cli_object_list_lb_zones(struct cli *cli)
{
	static const char *const heads[] = {"ZONE",     "ENABLED",  "VIP4", "VIP6",
					    "PUBLISH4", "PUBLISH6", NULL};
	AUTO_FREE char *lb = cli_client_escape(cli->args[0]);
	AUTO_FREE char *path = mem_printf(CLI_BASE "/load-balancers/%s/zones", lb);

	return cli_pages_print(cli,
			       &(struct cli_list){path, heads, cli_object_add_lb_zone, CLI_NO_LBS});
}

static void cli_object_add_list(const struct cli *cli, struct cli_table *t, const json_t *a)
{
	const json_t *status = json_object_get(a, "status");
	AUTO_FREE char *count = mem_printf("%" JSON_INTEGER_FORMAT,
					   cli_print_number(status, "entries_v4") +
						   cli_print_number(status, "entries_v6"));

	(void)cli;
	cli_table_add(t, (const char *[]){cli_print_text(a, "name"), count,
					  cli_print_text(a, "default_action"),
					  cli_print_text(a, "description")});
}

enum cli_exit cli_object_list_lists(struct cli *cli)
{
	static const char *const heads[] = {"ACCESS LIST", ">ENTRIES", "DEFAULT", "DESCRIPTION",
					    NULL};

	return cli_pages_print(cli, &(struct cli_list){CLI_BASE "/access-lists", heads,
						       cli_object_add_list, CLI_NO_LISTS});
}

/* ---- one object ------------------------------------------------------------------------------- */

enum cli_exit cli_object_show(struct cli *cli)
{
	AUTO_FREE char *path = cli_object_path(cli);
	AUTO_ANSWER struct cli_answer a = {0};

	if (!path)
		return EXIT_USAGE;
	cli_client_get(cli->client, path, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	cli_print_json(a.json);
	return EXIT_OK;
}

/* Where the advice about what is written stands: of a part, with that of the whole. */
struct cli_object_advice {
	const char *word;
	const char *collection;
	const char *rest;
	const char *command; /* that shows it */
};

/* NULL: nobody gives any. */
static const struct cli_object_advice *cli_object_advice_place(const struct cli *cli)
{
	static const struct cli_object_advice places[] = {
		{"lb", "load-balancers", "/status", "lb status"},
		{"lb-zone", "load-balancers", "/status", "lb status"},
		{"listener", "load-balancers", "/status", "lb status"},
		{"group", "server-groups", "/health?limit=1", "group show"},
		{"server", "server-groups", "/health?limit=1", "group show"},
		{"access", "access-lists", "", "access show"},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strcmp(places[i].word, cli->options.args[0]) == 0)
			return &places[i];
	return NULL;
}

static char *cli_object_whole(const struct cli *cli)
{
	return mem_printf("%.*s", (int)strcspn(cli->args[0], "/"), cli->args[0]);
}

/* NULL: there is none, or the whole is not there. New reference. */
static json_t *cli_object_take_advice(const struct cli *cli)
{
	const struct cli_object_advice *place = cli_object_advice_place(cli);
	AUTO_FREE char *whole = cli_object_whole(cli);
	AUTO_FREE char *escaped = cli_client_escape(whole);
	AUTO_ANSWER struct cli_answer a = {0};
	json_t *advice;

	if (!place || cli->options.dry_run)
		return NULL;
	AUTO_FREE char *path = mem_printf(CLI_BASE "/%s/%s%s", place->collection, escaped,
					  place->rest);
	cli_client_get(cli->client, path, &a);
	advice = json_object_get(a.json, "advice");
	return json_incref(advice ? advice
				  : json_object_get(json_object_get(a.json, "status"), "advice"));
}

/* What was to be thought of before is counted only: each write would say it again. */
static void cli_object_advise(const struct cli *cli, const json_t *before)
{
	const struct cli_object_advice *place = cli_object_advice_place(cli);
	AUTO_FREE char *whole = cli_object_whole(cli);
	json_t *after = cli_object_take_advice(cli);

	if (place) {
		AUTO_FREE char *where = mem_printf("zonegate %s %s", place->command, whole);

		cli_print_new_advice(before, after, where);
	}
	json_decref(after);
}

/* What reads as a number, or true, is none of the texts that are wanted where it stands. */
static void cli_object_hint_at_text(const struct cli *cli, const struct cli_answer *a)
{
	const json_t *fault;
	size_t i, j;

	json_array_foreach (json_object_get(a->json, "errors"), i, fault) {
		AUTO_FREE char *member = mem_strdup(cli_print_text(fault, "pointer"));

		for (char *c = member; *c; c++)
			*c = *c == '/' ? '.' : *c;
		for (j = 1; j < cli->arg_count && !cli->options.file; j++) {
			const char *value = strchr(cli->args[j], '=');

			if (*member && value &&
			    strlen(member) == (size_t)(value - cli->args[j]) + 1 &&
			    strncmp(member + 1, cli->args[j], strlen(member) - 1) == 0 &&
			    strncmp(cli_print_text(fault, "detail"), "must be a string", 16) == 0)
				fprintf(stderr, "As a text it is written %s='\"%s\"'.\n",
					member + 1, value + 1);
		}
	}
}

/* What a write answered: the dry run, or one word, warnings and advice. */
static enum cli_exit cli_object_conclude(const struct cli *cli, const struct cli_answer *a,
					 const char *word, const json_t *before)
{
	enum cli_exit result;

	if (cli_client_judge(a->status) != EXIT_OK) {
		result = cli_print_problem(a);
		cli_object_hint_at_text(cli, a);
		return result;
	}
	if (cli->options.dry_run)
		return cli_print_dry_run(cli, a->json);
	if (cli->options.format == FORMAT_JSON && a->json)
		cli_print_json(a->json);
	else
		printf("%s %s\n", word, cli->args[0]);
	cli_history_say_pending(cli);
	result = cli_print_warnings(a->json);
	cli_object_advise(cli, before);
	return result;
}

/* The merge patch, or whole object, of the arguments. NULL with a sentence. */
static char *cli_object_body(const struct cli *cli, size_t *ret_size)
{
	json_t *patch;
	char *text;

	if (cli->options.file)
		return cli_print_read_file(cli->options.file, ret_size);
	patch = json_object();
	for (size_t i = 1; i < cli->arg_count; i++) {
		if (cli_diff_take_member(patch, cli->args[i])) {
			json_decref(patch);
			return NULL;
		}
	}
	text = json_dumps(patch, JSON_COMPACT);
	*ret_size = strlen(text);
	json_decref(patch);
	return text;
}

/* Members: a PATCH of what is there, else the object is made by a PUT. A file: a PUT. */
enum cli_exit cli_object_set(struct cli *cli)
{
	AUTO_FREE char *path = cli_object_path(cli), *query = NULL, *url = NULL, *body = NULL;
	AUTO_ANSWER struct cli_answer a = {0};
	struct cli_call call = {.method = cli->options.file ? "PUT" : "PATCH"};
	json_t *before;
	enum cli_exit result;

	if (!path)
		return EXIT_USAGE;
	if ((cli->options.file != NULL) == (cli->arg_count > 1)) {
		fprintf(stderr, "zonegate: give either MEMBER=VALUE… or -f FILE\n");
		return EXIT_USAGE;
	}
	body = cli_object_body(cli, &call.body_size);
	if (!body || cli_history_write_query(cli, &query) != EXIT_OK)
		return EXIT_USAGE;
	url = mem_printf("%s%s", path, query);
	call.path = url;
	call.body = body;
	before = cli_object_take_advice(cli);
	cli_client_call(cli->client, &call, &a);
	if (a.status == 404 && !cli->options.file) {
		cli_client_clear(&a);
		call.method = "PUT";
		call.headers[0] = "If-None-Match: *";
		cli_client_call(cli->client, &call, &a);
	}
	result = cli_object_conclude(cli, &a, a.status == 201 ? "Created" : "Set", before);
	json_decref(before);
	return result;
}

/* What an entry of the list of overrides is about: "server_groups/web/servers/web-1" below /api/v1/server-groups/web/…. */
static bool cli_object_removes(const json_t *entry, const char *path)
{
	const char *object = cli_print_text(entry, "object");

	if (strcmp(cli_print_text(entry, "kind"), "removal") != 0)
		return false;
	for (path += strlen(CLI_BASE "/"); *path; path++, object++) {
		if (*object != (*path == '-' && *object == '_' ? '_' : *path))
			return false;
	}
	return *object == '\0';
}

/* Until the connections of what was removed have ended. */
static enum cli_exit cli_object_wait(const struct cli *cli, const char *path)
{
	json_int_t told = -1, told_active = -1;
	char words[TEXT_LEFT_MAX];

	for (;;) {
		enum cli_exit result;
		json_t *items = cli_pages_fetch(cli->client, CLI_BASE "/overrides", &result);
		json_int_t left = 0, active = 0;
		const json_t *entry;
		size_t i, found = 0;

		if (!items)
			return result;
		json_array_foreach (items, i, entry) {
			if (!cli_object_removes(entry, path))
				continue;
			left += cli_print_number(entry, "connections");
			active += cli_print_number(entry, "active");
			found++;
		}
		json_decref(items);
		if (found == 0)
			return EXIT_OK;
		if ((left != told || active != told_active) && cli->options.format == FORMAT_TABLE)
			fprintf(stderr, "%s\n", text_left((uint64_t)left, (uint64_t)active, words));
		told = left;
		told_active = active;
		usleep(OBJECT_LOOK_USEC);
	}
}

enum cli_exit cli_object_delete(struct cli *cli)
{
	enum cli_exit result;
	AUTO_FREE char *path = cli_object_path(cli), *query = NULL, *url = NULL;
	AUTO_ANSWER struct cli_answer a = {0};
	json_t *before;

	if (!path || cli_history_write_query(cli, &query) != EXIT_OK)
		return EXIT_USAGE;
	url = mem_printf("%s%s", path, query);
	before = cli_object_take_advice(cli);
	cli_client_call(cli->client, &(struct cli_call){.method = "DELETE", .path = url}, &a);
	result = cli_object_conclude(
		cli, &a, a.status == 202 ? "Removed, its connections may finish:" : "Removed",
		before);
	json_decref(before);
	return a.status == 202 && cli->options.wait ? cli_object_wait(cli, path) : result;
}
