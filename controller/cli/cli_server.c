// SPDX-License-Identifier: GPL-2.0-or-later
// Servers as they are: the list with states, and the whole chain of one.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_args.h"
#include "cli/cli_pages.h"
#include "cli/cli_print.h"
#include "cli/cli_traffic.h"

#include <stdio.h>
#include <string.h>

static char *cli_server_endpoint(const json_t *s)
{
	const char *address = cli_print_text(s, "address");
	const bool v6 = strchr(address, ':') != NULL;
	json_int_t port = cli_print_number(s, "port");

	if (port == 0)
		return mem_strdup(address);
	return mem_printf("%s%s%s:%" JSON_INTEGER_FORMAT, v6 ? "[" : "", address, v6 ? "]" : "",
			  port);
}

/* A weight of the kernel as it reads beside the configured one: slow start multiplies all of a group. Caller frees. */
static char *cli_server_weight(const json_t *s, json_int_t weight)
{
	const json_int_t factor = cli_print_number(s, "weight_factor");

	if (factor <= 1 || weight % factor == 0)
		return mem_printf("%" JSON_INTEGER_FORMAT, factor > 1 ? weight / factor : weight);
	return mem_printf("%.1f", (double)weight / (double)factor);
}

/* A state as a person says it. */
static const char *cli_server_state(const struct cli *cli, const json_t *s, char buf[CLI_STATE_MAX])
{
	const char *state = cli_print_text(s, "state");
	const enum cli_mood mood = cli_table_mood(state, cli_print_true(s, "in_service"));

	return cli_table_state(mood, strcmp(state, "unavailable") == 0 ? "not checked" : state,
			       cli->color, cli->unicode, buf);
}

static void cli_server_add(const struct cli *cli, struct cli_table *t, const json_t *s)
{
	char state[CLI_STATE_MAX];
	AUTO_FREE char *endpoint = cli_server_endpoint(s);
	AUTO_FREE char *share = cli_server_weight(s, cli_print_number(s, "weight"));
	AUTO_FREE char *weight = mem_printf("%s/%" JSON_INTEGER_FORMAT, share,
					    cli_print_number(s, "weight_configured"));
	AUTO_FREE char *since = mem_printf("%.19s", cli_print_text(s, "since"));
	AUTO_TRAFFIC struct cli_traffic traffic = cli_traffic_read(s);

	cli_table_add(t, (const char *[]){
				 cli_print_text(s, "server_group"), cli_print_text(s, "server"),
				 endpoint, cli_print_text(s, "zone"),
				 cli_server_state(cli, s, state), weight,
				 CLI_TRAFFIC_CELLS(traffic), since, cli_print_text(s, "detail")});
}

/* Adds the servers of one group to `all`. */
static enum cli_exit cli_server_fetch(struct cli *cli, const char *group, json_t *all)
{
	AUTO_FREE char *name = cli_client_escape(group);
	AUTO_FREE char *path = mem_printf(CLI_BASE "/server-groups/%s/health", name);
	enum cli_exit result;
	json_t *items = cli_pages_fetch(cli->client, path, &result);

	json_array_extend(all, items);
	json_decref(items);
	return result;
}

static enum cli_exit cli_server_fetch_all(struct cli *cli, json_t *all)
{
	enum cli_exit result;
	json_t *groups = cli_pages_fetch(cli->client, CLI_BASE "/server-groups", &result);
	const json_t *group;
	size_t i;

	json_array_foreach (groups, i, group) {
		enum cli_exit one = cli_server_fetch(cli, cli_print_text(group, "name"), all);

		if (one != EXIT_OK && one != EXIT_NOT_FOUND) { /* removed meanwhile */
			result = one;
			break;
		}
	}
	json_decref(groups);
	return result;
}

/* With ipvs = off the weights are those that would be programmed. */
static void cli_server_note_off(const struct cli *cli)
{
	AUTO_ANSWER struct cli_answer a = {0};

	cli_client_get(cli->client, CLI_BASE "/system", &a);
	if (strcmp(cli_print_text(json_object_get(a.json, "kernel"), "ipvs"), "off") == 0)
		printf("IPVS is switched off ([kernel] ipvs = off): weights are planned, and in no kernel\n");
}

enum cli_exit cli_server_list(struct cli *cli)
{
	static const char *const heads[] = {"GROUP",  "SERVER",  "ADDRESS",         "ZONE",
					    "STATE",  ">WEIGHT", CLI_TRAFFIC_HEADS, "SINCE (UTC)",
					    "REASON", NULL};
	json_t *all = json_array();
	enum cli_exit result = cli->arg_count ? cli_server_fetch(cli, cli->args[0], all)
					      : cli_server_fetch_all(cli, all);
	const json_t *server;
	size_t i;

	if (result == EXIT_OK && cli->options.format == FORMAT_JSON) {
		cli_print_json(all);
	} else if (result == EXIT_OK) {
		struct cli_table *t = cli_table_new(heads);

		json_array_foreach (all, i, server)
			cli_server_add(cli, t, server);
		if (cli_table_rows(t) > 0)
			cli_server_note_off(cli);
		cli_print_table_or(
			t,
			cli->arg_count
				? "No servers in this group yet: zonegate server set GROUP/SERVER address=ADDRESS port=PORT"
				: "No servers yet: zonegate server set GROUP/SERVER address=ADDRESS port=PORT");
	}
	json_decref(all);
	return result;
}

/* ---- why -------------------------------------------------------------------------------------- */

static void cli_server_line(const char *head, const char *text)
{
	if (*text)
		printf("%-12s %s\n", head, text);
}

static double cli_server_ms(const json_t *probe, const char *member)
{
	return json_number_value(json_object_get(probe, member));
}

static void cli_server_print_probe(const char *head, const json_t *probe)
{
	const char *received = cli_print_text(probe, "received");

	if (!json_is_object(probe)) {
		cli_server_line(head, "none yet");
		return;
	}
	printf("%-12s %s: %s", head, cli_print_text(probe, "result"),
	       cli_print_text(probe, "detail"));
	if (*received && !strstr(cli_print_text(probe, "detail"), received))
		printf("; received \"%s\"", received);
	if (*cli_print_text(probe, "sent"))
		printf("\n%-12s sent %s", "", cli_print_text(probe, "sent"));
	printf("\n%-12s started %s, took %.1f ms", "", cli_print_text(probe, "started"),
	       cli_server_ms(probe, "duration_ms"));
	if (json_object_get(probe, "connect_ms"))
		printf(", connected after %.1f ms", cli_server_ms(probe, "connect_ms"));
	if (json_object_get(probe, "reused_connection"))
		printf(", on a kept connection");
	if (json_object_get(probe, "tls_ms"))
		printf(", TLS after %.1f ms", cli_server_ms(probe, "tls_ms"));
	if (json_object_get(probe, "first_byte_ms"))
		printf(", first byte after %.1f ms", cli_server_ms(probe, "first_byte_ms"));
	printf("\n");
}

static void cli_server_print_check(const json_t *check)
{
	const json_int_t up = cli_print_number(check, "healthy_threshold");
	const json_int_t down = cli_print_number(check, "unhealthy_threshold");

	if (!json_is_object(check)) {
		cli_server_line("Check", "not probed");
		return;
	}
	printf("%-12s %s %s every %" JSON_INTEGER_FORMAT " ms, at most %" JSON_INTEGER_FORMAT
	       " ms each; up after %" JSON_INTEGER_FORMAT
	       " pass%s, down after %" JSON_INTEGER_FORMAT " failure%s%s\n",
	       "Check", cli_print_text(check, "type"), cli_print_text(check, "endpoint"),
	       cli_print_number(check, "interval_ms"), cli_print_number(check, "timeout_ms"), up,
	       TEXT_FORM(up, "", "es"), down, TEXT_S(down),
	       cli_print_true(check, "fast_retry") ? ", fast retry" : "");
}

static void cli_server_print_load(const json_t *load)
{
	const json_int_t different = cli_print_number(load, "different");
	const double rate = json_number_value(json_object_get(load, "per_second"));

	if (different > 0)
		printf("%-12s its address gets %.*f probes/s from each gateway, of %" JSON_INTEGER_FORMAT
		       " kind%s\n",
		       "", rate < 1 ? 3 : 1, rate, different, TEXT_S(different));
}

/* "100 in the kernel", or "100 wanted, and not in force" where the service is missing; with slow start "20, which is 200 in the kernel". */
static void cli_server_print_weight(const json_t *s, const json_t *service)
{
	const json_int_t weight = cli_print_number(service, "weight");
	AUTO_FREE char *share = cli_server_weight(s, weight);

	if (cli_print_number(s, "weight_factor") > 1)
		printf(": %s, which is %" JSON_INTEGER_FORMAT, share, weight);
	else
		printf(": %" JSON_INTEGER_FORMAT, weight);
	printf(" %s", cli_print_true(service, "planned")      ? CLI_PLANNED
		      : cli_print_true(service, "programmed") ? "in the kernel"
							      : "wanted, and not in force");
}

static void cli_server_print_weights(const json_t *s)
{
	const json_t *services = json_object_get(s, "services"), *service;
	const json_int_t factor = cli_print_number(s, "weight_factor");
	size_t i;

	printf("%-12s configured %" JSON_INTEGER_FORMAT, "Weight",
	       cli_print_number(s, "weight_configured"));
	if (factor > 1)
		printf(" (slow_start_ms: the kernel has all weights of the group times %" JSON_INTEGER_FORMAT
		       ")",
		       factor);
	printf("\n");
	json_array_foreach (services, i, service) {
		const json_t *weight = json_object_get(service, "weight");
		const char *key = cli_print_text(service, "service");

		printf("%-12s %s/%s/%s", "", cli_print_text(service, "load_balancer"),
		       cli_print_text(service, "zone"), cli_print_text(service, "listener"));
		if (*key)
			printf(" (%s)", key);
		if (json_is_integer(weight))
			cli_server_print_weight(s, service);
		else
			printf(": not in the kernel");
		if (*cli_print_text(service, "left_out"))
			printf("; %s", cli_print_text(service, "left_out"));
		if (*cli_print_text(service, "fault"))
			printf("; %s", cli_print_text(service, "fault"));
		printf("\n");
	}
	if (json_array_size(services) == 0)
		printf("%-12s in no virtual service of this node\n", "");
}

static void cli_server_print_window(const json_t *windows, const char *member, const char *head,
				    const char *what)
{
	const json_t *w = json_object_get(windows, member);

	if (json_is_object(w))
		printf("%-12s %s in %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT " ms\n",
		       head, what, cli_print_number(w, "best_ms"), cli_print_number(w, "worst_ms"));
}

static void cli_server_print_traffic(const json_t *s)
{
	AUTO_TRAFFIC struct cli_traffic t = cli_traffic_read(s);

	if (json_is_object(json_object_get(s, "traffic")))
		printf("%-12s %s active connection%s, %s new and %s bits a second\n", "Traffic",
		       t.active, strcmp(t.active, "1") == 0 ? "" : "s", t.connections, t.bits);
}

static void cli_server_print_results(const json_t *s)
{
	const json_int_t passes = cli_print_number(s, "passes"),
			 failures = cli_print_number(s, "failures");

	printf("%-12s %" JSON_INTEGER_FORMAT " pass%s, %" JSON_INTEGER_FORMAT
	       " failure%s in a row%s\n",
	       "Results", passes, TEXT_FORM(passes, "", "es"), failures, TEXT_S(failures),
	       cli_print_true(s, "trusted") ? "; keeps its weight until its first verdict" : "");
}

static void cli_server_print_why(const struct cli *cli, const json_t *s)
{
	const json_t *windows = json_object_get(s, "windows");
	const json_t *last = json_object_get(s, "last_probe"),
		     *failure = json_object_get(s, "last_failure");
	const char *reason = cli_print_text(s, "reason_code");
	const bool told = strcmp(reason, "none") != 0; /* a healthy one needs no reason */
	char state[CLI_STATE_MAX];

	printf("%-12s %s/%s, %s%s%s\n", "Server", cli_print_text(s, "server_group"),
	       cli_print_text(s, "server"), cli_print_text(s, "address"),
	       *cli_print_text(s, "zone") ? ", zone " : "", cli_print_text(s, "zone"));
	cli_server_print_check(json_object_get(s, "check"));
	cli_server_print_load(json_object_get(s, "probe_load"));
	cli_server_print_probe("Last probe", last);
	if (json_is_object(failure) && !json_equal(failure, last))
		cli_server_print_probe("Last failure", failure);
	printf("%-12s %s%s%s%s since %s\n", "State", cli_server_state(cli, s, state),
	       told ? " (" : "", told ? reason : "", told ? ")" : "", cli_print_text(s, "since"));
	cli_server_line("", cli_print_text(s, "detail"));
	if (json_is_object(json_object_get(s, "check")))
		cli_server_print_results(s);
	cli_server_print_weights(s);
	cli_server_print_traffic(s);
	cli_server_line("Next change", cli_print_text(s, "next_change"));
	cli_server_print_window(windows, "detection_active", "Windows", "a refusal is noticed");
	cli_server_print_window(windows, "detection_silent", "", "silence is noticed");
	cli_server_print_window(windows, "recovery", "", "recovery is noticed");
	cli_server_line("", cli_print_text(windows, "silence"));
	cli_server_line("Try", cli_print_text(s, "advice"));
}

/* The path below the server of the first argument; NULL with a sentence. Caller frees. */
static char *cli_server_path(const struct cli *cli, const char *rest)
{
	char first[CLI_NAME_MAX], second[CLI_NAME_MAX];
	AUTO_FREE char *group = NULL, *server = NULL;

	if (cli_args_split(cli->args[0], first, second)) {
		fprintf(stderr, "zonegate: \"%s\" is not GROUP/SERVER\n", cli->args[0]);
		return NULL;
	}
	group = cli_client_escape(first);
	server = cli_client_escape(second);
	return mem_printf(CLI_BASE "/server-groups/%s/servers/%s/%s", group, server, rest);
}

enum cli_exit cli_server_why(struct cli *cli)
{
	AUTO_FREE char *path = cli_server_path(cli, "health");
	AUTO_ANSWER struct cli_answer a = {0};

	if (!path)
		return EXIT_USAGE;
	cli_client_get(cli->client, path, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON)
		cli_print_json(a.json);
	else
		cli_server_print_why(cli, a.json);
	return cli_print_true(a.json, "in_service") ? EXIT_OK : EXIT_NEGATIVE;
}

/* ---- probe, history --------------------------------------------------------------------------- */

enum cli_exit cli_server_probe(struct cli *cli)
{
	AUTO_FREE char *path = cli_server_path(cli, "probe");
	AUTO_ANSWER struct cli_answer a = {0};

	if (!path)
		return EXIT_USAGE;
	cli_client_call(cli->client, &(struct cli_call){.method = "POST", .path = path}, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(a.json);
	} else {
		printf("%-12s %s/%s, %s %s\n", "Server", cli_print_text(a.json, "server_group"),
		       cli_print_text(a.json, "server"), cli_print_text(a.json, "type"),
		       cli_print_text(a.json, "endpoint"));
		cli_server_print_probe("Probe", a.json);
		cli_server_line("", "It counts for nothing: state and schedule are as before.");
	}
	return strcmp(cli_print_text(a.json, "result"), "pass") == 0 ? EXIT_OK : EXIT_NEGATIVE;
}

/* "4.2 s", "17 min", "5 h 3 min", "2 d 4 h". */
static char *cli_server_duration(json_int_t ms)
{
	const json_int_t minutes = ms / 60000, hours = minutes / 60;

	if (ms < 60000)
		return mem_printf("%.1f s", (double)ms / 1000.);
	if (hours == 0)
		return mem_printf("%" JSON_INTEGER_FORMAT " min", minutes);
	if (hours < 48)
		return mem_printf("%" JSON_INTEGER_FORMAT " h %" JSON_INTEGER_FORMAT " min", hours,
				  minutes % 60);
	return mem_printf("%" JSON_INTEGER_FORMAT " d %" JSON_INTEGER_FORMAT " h", hours / 24,
			  hours % 24);
}

static void cli_server_add_history(const struct cli *cli, struct cli_table *t, const json_t *item)
{
	const char *event = cli_print_text(item, "event"), *to = cli_print_text(item, "to");
	AUTO_FREE char *at = mem_printf("%.23s", cli_print_text(item, "at"));
	AUTO_FREE char *lasted = NULL, *from = NULL;
	const char *reason = cli_print_text(item, "reason_code");
	char state[CLI_STATE_MAX];

	if (strcmp(event, "transition") != 0) {
		const bool stopped = strcmp(event, "daemon.stopped") == 0;

		const char *ended = cli_print_true(item, "unclean")
					    ? "it had ended without a stop, and nobody looked"
					    : "";

		cli_table_add(t, (const char *[]){at, stopped ? "daemon stopped" : "daemon started",
						  "", "", "",
						  stopped ? "nobody looked from here on" : ended});
		return;
	}
	if (strcmp(reason, "none") == 0)
		reason = "";
	lasted = cli_server_duration(cli_print_number(item, "lasted_ms"));
	from = mem_printf("%s ->", cli_print_text(item, "from"));
	cli_table_add(
		t, (const char *[]){at, from,
				    cli_table_state(cli_table_mood(to, strcmp(to, "healthy") == 0),
						    to, cli->color, cli->unicode, state),
				    lasted, reason, cli_print_text(item, "detail")});
}

enum cli_exit cli_server_history(struct cli *cli)
{
	static const char *const heads[] = {"TIME (UTC)", "FROM",   "TO", "AFTER",
					    "REASON",     "DETAIL", NULL};
	AUTO_FREE char *path = cli_server_path(cli, "health/history");

	if (!path)
		return EXIT_USAGE;
	return cli_pages_print(cli, &(struct cli_list){path, heads, cli_server_add_history,
						       "It has not changed its state yet."});
}
