// SPDX-License-Identifier: GPL-2.0-or-later
// The node at a glance: what it is, load balancers, server groups.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_pages.h"
#include "cli/cli_print.h"
#include "cli/cli_shift.h"

#include <stdio.h>
#include <string.h>

static bool cli_status_node_ok(const json_t *system)
{
	return strcmp(cli_print_text(system, "state"), "ok") == 0;
}

/* As /readyz says it. */
static const char *cli_status_node_state(const struct cli *cli, const json_t *system,
					 char buf[CLI_STATE_MAX])
{
	const char *word = cli_print_text(system, "state");
	bool part = strcmp(word, "degraded") == 0;

	if (cli_status_node_ok(system))
		return cli_table_state(MOOD_GOOD, "ready", cli->color, cli->unicode, buf);
	return cli_table_state(part ? MOOD_WAITING : MOOD_BAD, word, cli->color, cli->unicode, buf);
}

static void cli_status_print_note(const json_t *object, const char *member)
{
	const char *note = cli_print_text(object, member);

	if (note[0])
		printf("   %s\n", note);
}

/* ", 1 server", ", 2 servers". */
static void cli_status_print_count(const json_t *system, const char *member, const char *what)
{
	const json_int_t count = cli_print_number(system, member);

	printf(", %" JSON_INTEGER_FORMAT " %s%s", count, what, TEXT_S(count));
}

/* The server of [dns_update], if it has not what is answered here. */
static void cli_status_print_update(const json_t *update)
{
	bool failed = cli_print_number(update, "failures") > 0;

	if (update && !cli_print_true(update, "in_sync"))
		printf("   the name server %s is not equal: %s\n", cli_print_text(update, "server"),
		       cli_print_text(update, failed ? "error" : "phase"));
}

/* A change that undoes itself. */
static void cli_status_print_unconfirmed(const json_t *change)
{
	if (change)
		printf("   revision %" JSON_INTEGER_FORMAT
		       " of %s undoes itself in %" JSON_INTEGER_FORMAT
		       " s unless it is confirmed: zonegate config confirm\n",
		       cli_print_number(change, "revision"), cli_print_text(change, "who"),
		       cli_print_number(change, "left_s"));
}

static void cli_status_print_node(const struct cli *cli, const json_t *system)
{
	const json_t *kernel = json_object_get(system, "kernel");
	const bool off = strcmp(cli_print_text(kernel, "ipvs"), "off") == 0;
	const json_int_t revision = cli_print_number(system, "revision"),
			 applied = cli_print_number(system, "applied_revision");
	char state[CLI_STATE_MAX];

	printf("%s  %s, zonegated %s, started %s\n", cli_status_node_state(cli, system, state),
	       cli_print_text(system, "node"), cli_print_text(system, "version"),
	       cli_print_text(system, "started"));
	printf("   revision %" JSON_INTEGER_FORMAT, revision);
	if (applied < revision && !off)
		printf(" (the kernel has %" JSON_INTEGER_FORMAT ")", applied);
	cli_status_print_count(system, "services", "virtual service");
	cli_status_print_count(system, "probes", "server");
	printf(" probed\n");
	if (off)
		printf("   IPVS is switched off ([kernel] ipvs = off): nothing is programmed\n");
	else if (!cli_print_true(kernel, "available"))
		printf("   no IPVS: %s\n", cli_print_text(kernel, "detail"));
	cli_status_print_note(kernel, "vip_device_fault");
	cli_status_print_note(kernel, "guard_fault");
	cli_status_print_update(json_object_get(system, "dns_update"));
	cli_status_print_unconfirmed(json_object_get(system, "unconfirmed"));
	if (!cli_print_true(json_object_get(system, "store"), "ok"))
		printf("   the store takes no commits: %s\n",
		       cli_print_text(json_object_get(system, "store"), "detail"));
}

/* Its name is answered, but with no address: every zone is shifted away or disabled. */
static bool cli_status_is_unanswered(const json_t *lb)
{
	return cli_print_true(json_object_get(lb, "status"), "no_address");
}

/* A drain by hand, a weight, or what is left of a removed server. */
static void cli_status_print_other(const struct cli *cli, const json_t *item, const char *kind)
{
	char state[CLI_STATE_MAX], left[TEXT_LEFT_MAX];
	bool finished = strcmp(cli_print_text(item, "state"), "finished") == 0;
	const char *word = "DRAINING";

	if (strcmp(kind, "weight_override") == 0)
		word = "WEIGHT";
	else if (finished)
		word = "DRAINED";
	cli_table_state(MOOD_WAITING, word, cli->color, cli->unicode, state);
	if (strcmp(kind, "removal") == 0)
		printf("%s  %s of %s/%s, removed: %s, until %s at the latest\n", state,
		       cli_print_text(item, "endpoint"), cli_print_text(item, "server_group"),
		       cli_print_text(item, "server"),
		       text_left((uint64_t)cli_print_number(item, "connections"),
				 (uint64_t)cli_print_number(item, "active"), left),
		       cli_print_text(item, "deadline_at"));
	else
		printf("%s  %s: %s, by %s: \"%s\"\n", state, cli_print_text(item, "object"),
		       cli_print_text(item, "detail"), cli_print_text(item, "who"),
		       cli_print_text(item, "comment"));
}

static void cli_status_print_override(const struct cli *cli, const json_t *item)
{
	char state[CLI_STATE_MAX], target[CLI_SHIFT_TARGET_MAX];
	const char *kind = cli_print_text(item, "kind");

	if (strcmp(kind, "unconfirmed_change") == 0)
		return; /* which the node told */
	if (strcmp(kind, "zone_shift") != 0) {
		cli_status_print_other(cli, item, kind);
		return;
	}
	printf("%s  zone %s of %s until %s by %s: \"%s\"\n",
	       cli_table_state(MOOD_WAITING, "SHIFTED", cli->color, cli->unicode, state),
	       cli_print_text(item, "zone"), cli_shift_target(item, target),
	       cli_print_text(item, "expires_at"), cli_print_text(item, "who"),
	       cli_print_text(item, "comment"));
}

/* Servers of a group that get connections: healthy ones or not checked, and of a weight. */
static json_int_t cli_status_in_service(const json_t *status)
{
	return cli_print_number(status, "healthy") + cli_print_number(status, "unchecked") -
	       cli_print_number(status, "weight_zero");
}

/* Limits of listeners, while they bite. */
static void cli_status_print_drops(const struct cli *cli, const json_t *lb)
{
	const json_t *status = json_object_get(lb, "status");
	const json_int_t dropped = cli_print_number(status, "dropped_recent");
	const char *name = cli_print_text(lb, "name");
	char state[CLI_STATE_MAX];

	if (dropped > 0)
		printf("%s  load balancer %s: limits of its listeners dropped %" JSON_INTEGER_FORMAT
		       " new connection%s within %" JSON_INTEGER_FORMAT
		       " s: zonegate lb status %s\n",
		       cli_table_state(MOOD_WAITING, "LIMITED", cli->color, cli->unicode, state),
		       name, dropped, TEXT_S(dropped), cli_print_number(status, "dropped_recent_s"),
		       name);
}

/* What somebody took out, and what is broken, before anything else. */
static void cli_status_print_overrides(const struct cli *cli, const json_t *lbs,
				       const json_t *overrides)
{
	char text[CLI_FAIL_OPEN_MAX];
	char state[CLI_STATE_MAX];
	const json_t *item;
	size_t i;

	json_array_foreach (lbs, i, item) {
		if (cli_print_true(json_object_get(item, "status"), "fail_open"))
			printf("%s  load balancer %s: %s\n",
			       cli_print_fail_open(cli, json_object_get(item, "status"), state,
						   text),
			       cli_print_text(item, "name"), text);
	}
	json_array_foreach (lbs, i, item) {
		if (cli_print_true(item, "enabled") && cli_status_is_unanswered(item))
			printf("%s  load balancer %s: " CLI_NO_ADDRESS "\n",
			       cli_table_state(MOOD_BAD, "NO ADDRESS", cli->color, cli->unicode,
					       state),
			       cli_print_text(item, "name"));
	}
	json_array_foreach (lbs, i, item) {
		cli_status_print_drops(cli, item);
	}
	json_array_foreach (overrides, i, item) {
		cli_status_print_override(cli, item);
	}
}

/* "2/3": addresses that DNS hands out; "" without a name. */
static char *cli_status_dns(const json_t *lb)
{
	const json_t *status = json_object_get(lb, "status");
	const json_int_t published = cli_print_number(status, "addresses_published");

	if (!*cli_print_text(lb, "dns_name"))
		return mem_strdup("");
	return mem_printf("%" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT, published,
			  published + cli_print_number(status, "addresses_left_out"));
}

static char *cli_status_count(const json_t *object, const char *member)
{
	return mem_printf("%" JSON_INTEGER_FORMAT, cli_print_number(object, member));
}

/* "2/2" of its services. Caller frees. */
static char *cli_status_kernel(const json_t *status)
{
	if (cli_print_number(status, "planned") > 0)
		return mem_strdup(CLI_PLANNED);
	return mem_printf("%" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT,
			  cli_print_number(status, "programmed"),
			  cli_print_number(status, "services"));
}

static void cli_status_add_lb(const struct cli *cli, struct cli_table *t, const json_t *lb)
{
	const json_t *status = json_object_get(lb, "status");
	const json_int_t services = cli_print_number(status, "services"),
			 there = cli_print_number(status, "programmed") +
				 cli_print_number(status, "planned");
	const json_int_t breached = cli_print_number(status, "min_healthy_breached");
	const char *fault = cli_print_text(status, "fault");
	AUTO_FREE char *zones = mem_printf("%zu", json_object_size(json_object_get(lb, "zones")));
	AUTO_FREE char *listeners = mem_printf("%zu",
					       json_object_size(json_object_get(lb, "listeners")));
	AUTO_FREE char *kernel = cli_status_kernel(status);
	AUTO_FREE char *starved = mem_printf("%" JSON_INTEGER_FORMAT, breached);
	char state[CLI_STATE_MAX];
	enum cli_mood mood = MOOD_GOOD;
	AUTO_FREE char *dns = cli_status_dns(lb);
	const char *word = "ok";

	const json_int_t family = cli_print_number(status, "fail_open_family");

	if (cli_print_true(status, "drained") &&
	    (cli_print_true(status, "fail_open") || (services > 0 && breached == services))) {
		mood = MOOD_WAITING;
		word = "drained";
	} else if (cli_print_true(status, "fail_open")) {
		mood = MOOD_BAD;
		word = family == 4   ? "IPv4 fail-open"
		       : family == 6 ? "IPv6 fail-open"
				     : "fail-open";
	} else if (services == 0 || !cli_print_true(lb, "enabled")) {
		mood = MOOD_OFF;
		word = cli_print_true(lb, "enabled") ? "no services here" : "disabled";
	} else if (there < services) {
		mood = MOOD_BAD;
		word = "not in kernel";
	} else if (breached == services && cli_print_number(status, "checking") > 0) {
		mood = MOOD_WAITING;
		word = "checking";
	} else if (breached == services) {
		mood = MOOD_BAD;
		word = "down";
	} else if (cli_status_is_unanswered(lb)) {
		mood = MOOD_BAD;
		word = "no address";
	} else if (breached > 0) {
		mood = MOOD_WAITING;
		word = "degraded";
	}
	cli_table_add(t,
		      (const char *[]){cli_print_text(lb, "name"),
				       cli_table_state(mood, word, cli->color, cli->unicode, state),
				       zones, dns, listeners, kernel, starved, fault});
}

static void cli_status_add_group(const struct cli *cli, struct cli_table *t, const json_t *group)
{
	const json_t *status = json_object_get(group, "status");
	const json_int_t serving = cli_status_in_service(status);
	AUTO_FREE char *servers = cli_status_count(status, "servers"),
		       *in_service = mem_printf("%" JSON_INTEGER_FORMAT, serving);
	AUTO_FREE char *unhealthy = cli_status_count(status, "unhealthy"),
		       *initial = cli_status_count(status, "initial");
	AUTO_FREE char *disabled = cli_status_count(status, "disabled"),
		       *draining = cli_status_count(status, "draining");
	char state[CLI_STATE_MAX];
	enum cli_mood mood = MOOD_GOOD;
	const char *word = "ok";

	if (!cli_print_true(status, "used")) {
		mood = MOOD_OFF;
		word = "unused";
	} else if (serving == 0) {
		const bool checking = cli_print_number(status, "initial") > 0;
		const bool drained = cli_print_number(status, "draining") > 0 &&
				     cli_print_number(status, "unhealthy") == 0;

		const bool idle = cli_print_number(status, "weight_zero") > 0 &&
				  cli_print_number(status, "unhealthy") == 0;

		mood = checking || drained || idle ? MOOD_WAITING : MOOD_BAD;
		word = checking ? "checking" : idle ? "weight 0" : drained ? "drained" : "down";
	} else if (cli_print_number(status, "unhealthy") > 0) {
		mood = MOOD_WAITING;
		word = "degraded";
	} else if (cli_print_number(status, "unchecked") > 0) {
		mood = MOOD_OFF;
		word = "not checked";
	}
	cli_table_add(
		t, (const char *[]){cli_print_text(group, "name"),
				    cli_table_state(mood, word, cli->color, cli->unicode, state),
				    servers, in_service, unhealthy, initial, disabled, draining});
}

static void cli_status_print_tables(const struct cli *cli, const json_t *lbs, const json_t *groups)
{
	static const char *const lb_heads[] = {"LOAD BALANCER", "STATE",      ">ZONES",
					       ">IN DNS",       ">LISTENERS", ">IN KERNEL",
					       ">BELOW MIN",    "FAULT",      NULL};
	static const char *const group_heads[] = {"SERVER GROUP", "STATE",      ">SERVERS",
						  ">IN SERVICE",  ">UNHEALTHY", ">INITIAL",
						  ">DISABLED",    ">DRAINING",  NULL};
	struct cli_table *t = cli_table_new(lb_heads), *g = cli_table_new(group_heads);
	const json_t *item;
	size_t i;

	json_array_foreach (lbs, i, item)
		cli_status_add_lb(cli, t, item);
	json_array_foreach (groups, i, item)
		cli_status_add_group(cli, g, item);
	putchar('\n');
	cli_print_table_or(t, CLI_NO_LBS);
	putchar('\n');
	cli_print_table_or(g, CLI_NO_GROUPS);
}

/* Behind all that is: what could be better. */
static void cli_status_print_advice(const json_t *system)
{
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(system, "advice"), i, one)
		printf("%sadvice: %s\n", i == 0 ? "\n" : "", cli_print_text(one, "detail"));
}

enum cli_exit cli_status_show(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer system = {0};
	AUTO_ANSWER struct cli_answer overrides = {0};
	enum cli_exit result;
	json_t *lbs, *groups = NULL;

	cli_client_get(cli->client, CLI_BASE "/system", &system);
	if (cli_client_judge(system.status) != EXIT_OK)
		return cli_print_problem(&system);
	lbs = cli_pages_fetch(cli->client, CLI_BASE "/load-balancers", &result);
	if (lbs)
		groups = cli_pages_fetch(cli->client, CLI_BASE "/server-groups", &result);
	if (groups)
		cli_client_get(cli->client, CLI_BASE "/overrides?limit=1000", &overrides);
	if (groups && cli->options.format == FORMAT_JSON) {
		json_t *all = json_pack("{s:O, s:O, s:O, s:O*}", "system", system.json,
					"load_balancers", lbs, "server_groups", groups, "overrides",
					json_object_get(overrides.json, "items"));

		cli_print_json(all);
		json_decref(all);
	} else if (groups) {
		cli_status_print_node(cli, system.json);
		cli_status_print_overrides(cli, lbs, json_object_get(overrides.json, "items"));
		cli_status_print_tables(cli, lbs, groups);
		cli_status_print_advice(system.json);
	}
	if (groups && !cli_status_node_ok(system.json))
		result = EXIT_NEGATIVE;
	json_decref(lbs);
	json_decref(groups);
	return result;
}
