// SPDX-License-Identifier: GPL-2.0-or-later
// What passes through the listeners of a load balancer, and what the servers of a group get, now and once more every second.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_print.h"
#include "cli/cli_traffic.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CLEAR_SCREEN "\033[H\033[2J"

static void cli_stats_add_row(struct cli_table *t, const char *const names[3], const json_t *now)
{
	AUTO_FREE char *connections = cli_traffic_figure(now, "connections_per_s");
	AUTO_FREE char *packets = cli_traffic_figure(now, "packets_per_s");
	AUTO_FREE char *bits = cli_traffic_figure(now, "bits_per_s");
	AUTO_FREE char *active = cli_traffic_figure(now, "active");
	AUTO_FREE char *inactive = cli_traffic_figure(now, "inactive");
	AUTO_FREE char *total = cli_traffic_figure(now, "connections");

	cli_table_add(t, (const char *[]){names[0], names[1], names[2], active, inactive,
					  connections, packets, bits, total});
}

static void cli_stats_print(const json_t *answer, bool servers)
{
	static const char *const of_listeners[] = {
		"LISTENER", "ZONE",       "FAMILY",  ">ACTIVE",      ">INACTIVE",
		">CONN/S",  ">PACKETS/S", ">BITS/S", ">SINCE START", NULL};
	static const char *const of_servers[] = {"SERVER",       "ZONE",    "",           ">ACTIVE",
						 ">INACTIVE",    ">CONN/S", ">PACKETS/S", ">BITS/S",
						 ">SINCE START", NULL};
	struct cli_table *t = cli_table_new(servers ? of_servers : of_listeners);
	json_int_t all = cli_print_number(answer, "series_total");
	const json_t *series = json_object_get(answer, "series");
	const json_int_t hidden = all - (json_int_t)json_array_size(series);
	const json_t *one;
	size_t i;

	json_array_foreach (series, i, one) {
		AUTO_FREE char *name = mem_printf(
			"%s/%s", cli_print_text(one, servers ? "server_group" : "load_balancer"),
			cli_print_text(one, servers ? "server" : "listener"));
		const char *family = cli_print_number(one, "family") == 6 ? "6" : "4";

		cli_stats_add_row(
			t,
			(const char *[]){name, cli_print_text(one, "zone"), servers ? "" : family},
			json_object_get(one, "now"));
	}
	if (all > 1)
		cli_stats_add_row(t, (const char *[]){"all", "", ""},
				  json_object_get(json_object_get(answer, "total"), "now"));
	cli_print_table_or(t, servers ? "no servers" : "no listeners");
	if (hidden > 0)
		printf("%lld more %s only in the sum\n", (long long)hidden,
		       TEXT_FORM(hidden, "is", "are"));
	cli_traffic_print_drops(json_object_get(answer, "limits"));
}

static enum cli_exit cli_stats_once(const struct cli *cli, const char *path, const char *clear)
{
	AUTO_ANSWER struct cli_answer a = {0};

	cli_client_get(cli->client, path, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(a.json);
		return EXIT_OK;
	}
	fputs(clear, stdout);
	if (!cli_print_true(a.json, "available")) {
		printf("no statistics: %s\n", cli_print_text(a.json, "unavailable_because"));
		fflush(stdout);
		return EXIT_NEGATIVE;
	}
	cli_stats_print(a.json, strstr(path, "server_group=") != NULL);
	fflush(stdout);
	return EXIT_OK;
}

/* "LB", "LB/LISTENER"; of servers: "GROUP", "GROUP/SERVER". */
static char *cli_stats_path(const struct cli *cli, const char *whole, const char *part)
{
	AUTO_FREE char *copy = mem_strdup(cli->arg_count ? cli->args[0] : "");
	char *second = strchr(copy, '/');

	if (second)
		*second++ = '\0';
	AUTO_FREE char *first = cli_client_escape(copy);
	AUTO_FREE char *last = cli_client_escape(second ? second : "");
	if (!*copy)
		return mem_strdup(CLI_BASE "/stats");
	return second ? mem_printf(CLI_BASE "/stats?%s=%s&%s=%s", whole, first, part, last)
		      : mem_printf(CLI_BASE "/stats?%s=%s", whole, first);
}

static enum cli_exit cli_stats_run(const struct cli *cli, const char *path)
{
	const char *clear = cli->options.watch && isatty(STDOUT_FILENO) ? CLEAR_SCREEN : "";
	enum cli_exit result = cli_stats_once(cli, path, clear);

	while (cli->options.watch && (result == EXIT_OK || result == EXIT_NEGATIVE)) {
		sleep(1);
		result = cli_stats_once(cli, path, clear);
	}
	return result;
}

enum cli_exit cli_stats_show(struct cli *cli)
{
	AUTO_FREE char *path = cli_stats_path(cli, "lb", "listener");

	return cli_stats_run(cli, path);
}

enum cli_exit cli_stats_servers(struct cli *cli)
{
	AUTO_FREE char *path = cli_stats_path(cli, "server_group", "server");

	return cli_stats_run(cli, path);
}
