// SPDX-License-Identifier: GPL-2.0-or-later
// What happened, oldest first, and with --follow what happens.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "base/time.h"
#include "cli/cli_args.h"
#include "cli/cli_client.h"
#include "cli/cli_escape.h"
#include "cli/cli_follow.h"
#include "cli/cli_format.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS_PAGE    1000
#define EVENTS_DEFAULT 100
#define EVENTS_ALL     100000
#define EVENTS_RETRY   2 /* seconds */

/* ---- what is shown ------------------------------------------------------------------------------ */

static void cli_events_print_line(const struct cli *cli, const json_t *event)
{
	AUTO_FREE char *text = NULL;

	if (cli->options.format != FORMAT_TABLE) {
		text = cli_escape_dump(event, JSON_COMPACT);
		puts(text);
	} else {
		text = mem_printf("%.19s %-8s %-22s %s%s%s", cli_print_text(event, "at"),
				  cli_print_text(event, "severity"), cli_print_text(event, "type"),
				  cli_print_text(event, "object"),
				  *cli_print_text(event, "object") ? ": " : "",
				  cli_print_text(event, "detail"));
		puts(text);
	}
	fflush(stdout);
}

static void cli_events_print_table(const struct cli *cli, const json_t *items)
{
	static const char *const heads[] = {"TIME (UTC)", "SEVERITY", "TYPE",
					    "OBJECT",     "DETAIL",   NULL};
	struct cli_table *t = cli_table_new(heads);

	for (size_t i = json_array_size(items); i-- > 0;) {
		const json_t *event = json_array_get(items, i);
		AUTO_FREE char *at = mem_printf("%.19s", cli_print_text(event, "at"));
		const char *cells[] = {
			at, cli_print_text(event, "severity"), cli_print_text(event, "type"),
			cli_print_text(event, "object"), cli_print_text(event, "detail")};

		cli_table_add(t, cells);
	}
	cli_print_table_or(t, cli->arg_count ? "No events of that object (server_groups/web, "
					       "zones/zone-a, load_balancers/shop: as in OBJECT)."
					     : "No events.");
}

static void cli_events_print(const struct cli *cli, const json_t *items)
{
	json_t *oldest_first;

	if (cli->options.format == FORMAT_TABLE && !cli->options.follow) {
		cli_events_print_table(cli, items);
		return;
	}
	oldest_first = json_array();
	for (size_t i = json_array_size(items); i-- > 0;)
		json_array_append(oldest_first, json_array_get(items, i));
	if (!cli->options.follow)
		cli_print_json(oldest_first);
	for (size_t i = 0; cli->options.follow && i < json_array_size(oldest_first); i++)
		cli_events_print_line(cli, json_array_get(oldest_first, i));
	json_decref(oldest_first);
}

/* ---- what is asked for -------------------------------------------------------------------------- */

/* "1h" ago, or a time as it is; NULL with a sentence. Caller frees. */
/* "&type=…&since=…", or NULL with a sentence. Caller frees. */
static char *cli_events_filters(const struct cli *cli)
{
	const struct cli_options *o = &cli->options;
	AUTO_FREE char *type = o->type ? cli_client_escape(o->type) : NULL;
	AUTO_FREE char *plain = cli->arg_count ? cli_format_object(cli->args[0], '_') : NULL;
	AUTO_FREE char *object = plain ? cli_client_escape(plain) : NULL;

	return mem_printf("%s%s%s%s", type ? "&type=" : "", type ? type : "",
			  object ? "&object=" : "", object ? object : "");
}

static bool cli_events_read_limit(const struct cli *cli, size_t *ret_limit)
{
	const char *text = cli->options.limit;
	char *end;

	*ret_limit = cli->options.since ? EVENTS_ALL : cli->options.follow ? 10 : EVENTS_DEFAULT;
	if (!text)
		return true;
	*ret_limit = strtoul(text, &end, 10);
	/* Who follows may want what comes alone. */
	if (*text >= '0' && *text <= '9' && !*end && *ret_limit <= EVENTS_ALL &&
	    (*ret_limit || cli->options.follow))
		return true;
	fprintf(stderr, "zonegate: --limit \"%s\": a number from %d to %d is expected\n", text,
		cli->options.follow ? 0 : 1, EVENTS_ALL);
	return false;
}

/* Newest first, `limit` at most. New reference, or NULL. */
static json_t *cli_events_fetch(const struct cli *cli, const char *filters, size_t limit,
				enum cli_exit *ret_exit)
{
	json_t *all = json_array();
	AUTO_FREE char *cursor = NULL;

	*ret_exit = EXIT_OK;
	while (json_array_size(all) < limit) {
		size_t left = limit - json_array_size(all);
		AUTO_FREE char *path = mem_printf(CLI_BASE "/events?limit=%zu%s%s%s",
						  left < EVENTS_PAGE ? left : EVENTS_PAGE, filters,
						  cursor ? "&cursor=" : "", cursor ? cursor : "");
		AUTO_ANSWER struct cli_answer a;
		const char *next;

		cli_client_get(cli->client, path, &a);
		if (cli_client_judge(a.status) != EXIT_OK) {
			*ret_exit = cli_print_problem(&a);
			json_decref(all);
			return NULL;
		}
		json_array_extend(all, json_object_get(a.json, "items"));
		next = json_string_value(json_object_get(a.json, "next_cursor"));
		free(cursor);
		cursor = next ? mem_strdup(next) : NULL;
		if (!cursor)
			break;
	}
	return all;
}

/* ---- following ---------------------------------------------------------------------------------- */

static void cli_events_on_event(void *ctx, const char *event, const char *data)
{
	const struct cli *cli = ctx;
	json_t *json = json_loads(data, 0, NULL);

	if (strcmp(event, "stream.reset") == 0)
		fprintf(stderr, "zonegate: there is a gap: %s\n", cli_print_text(json, "reason"));
	else if (json)
		cli_events_print_line(cli, json);
	json_decref(json);
}

static bool cli_events_on_data(void *ctx, const char *data, size_t size)
{
	return cli_follow_take(ctx, data, size);
}

/* Until it is interrupted, or refused. A daemon that is restarted is waited for. */
static enum cli_exit cli_events_follow(struct cli *cli, const char *filters, const char *last_id)
{
	AUTO_FREE char *path = mem_printf(CLI_BASE "/events%s%s", *filters ? "?" : "",
					  *filters ? filters + 1 : "");
	struct cli_follow f;
	enum cli_exit result = EXIT_OK;

	cli_follow_init(&f, cli_events_on_event, cli);
	snprintf(f.last_id, sizeof(f.last_id), "%s", last_id);
	for (;;) {
		AUTO_FREE char *resume = mem_printf("Last-Event-ID: %s", f.last_id);
		struct cli_call call = {
			.method = "GET",
			.path = path,
			.headers = {"Accept: text/event-stream", *f.last_id ? resume : NULL}};
		AUTO_ANSWER struct cli_answer a;

		cli_follow_restart(&f);
		cli_client_stream(cli->client, &call, cli_events_on_data, &f, &a);
		if (a.status >= 400 && a.status != 429 && a.status < 500) {
			result = cli_print_problem(&a);
			break;
		}
		sleep(EVENTS_RETRY);
	}
	cli_follow_clear(&f);
	return result;
}

enum cli_exit cli_events_show(struct cli *cli)
{
	AUTO_FREE char *filters = cli_events_filters(cli);
	AUTO_FREE char *since = NULL, *query = NULL, *escaped = NULL;
	enum cli_exit result;
	json_t *items;
	size_t limit;

	if (!cli_events_read_limit(cli, &limit))
		return EXIT_USAGE;
	if (cli->options.since) {
		since = cli_args_read_since("--since", cli->options.since);
		if (!since)
			return EXIT_USAGE;
		escaped = cli_client_escape(since);
	}
	query = mem_printf("%s%s%s", filters, escaped ? "&since=" : "", escaped ? escaped : "");
	items = cli_events_fetch(cli, query, limit, &result);
	if (!items)
		return result;
	cli_events_print(cli, items);
	if (cli->options.follow)
		result = cli_events_follow(cli, filters,
					   cli_print_text(json_array_get(items, 0), "id"));
	json_decref(items);
	return result;
}
