// SPDX-License-Identifier: GPL-2.0-or-later
// zonegate: the command line of the daemon's API. Decides nothing; asks, and shows what is answered.
#include "base/mem.h"
#include "cli/cli_args.h"
#include "cli/cli_client.h"
#include "cli/cli_commands.h"
#include "cli/cli_complete.h"
#include "cli/cli_format.h"

#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHANGE      (OPTION_DRY_RUN | OPTION_COMMENT)
#define PRINTED_MAX (1U << 30)
#define TARGET      (OPTION_LB | OPTION_ALL | OPTION_SERVERS)

static enum cli_exit complete(struct cli *cli);

static const struct cli_command commands[] = {
	{{"status", NULL},
	 "",
	 0,
	 0,
	 0,
	 cli_status_show,
	 "the node, load balancers and server groups at a glance",
	 "Ends with 1 when kernel or store do not follow."},
	{{"config", "export"},
	 "",
	 0,
	 0,
	 0,
	 cli_config_export,
	 "prints the whole configuration",
	 "What it prints can be changed and given to `config apply -f`."},
	{{"config", "diff"},
	 "-f FILE | N [M]",
	 0,
	 2,
	 OPTION_FILE,
	 cli_config_diff,
	 "what applying a file would change, or what lies between revision N and M",
	 "M is the one in force when it is not given. Ends with 0 when nothing differs, 2 when something does, 3 when the file is not valid."},
	{{"config", "plan"},
	 "-f FILE",
	 0,
	 0,
	 OPTION_FILE,
	 cli_history_plan,
	 "what applying a file would change in the configuration, the kernel and DNS",
	 "Who may only read may plan. Ends as `config diff`."},
	{{"config", "apply"},
	 "-f FILE [--confirm-within TIME] [--dry-run] [--comment TEXT]",
	 0,
	 0,
	 OPTION_FILE | CHANGE | OPTION_WITHIN,
	 cli_config_apply,
	 "replaces the whole configuration",
	 "FILE \"-\" is standard input. Fails with 4 when somebody else changes the configuration at the same time. With --confirm-within (60s, 5m, 2h) it undoes itself unless `config confirm` comes in time."},
	{{"config", "confirm"},
	 "[--dry-run]",
	 0,
	 0,
	 OPTION_DRY_RUN,
	 cli_history_confirm,
	 "keeps the change that waits for it",
	 "Fails with 4 when none does: it was confirmed, rolled back, or its time is over."},
	{{"config", "history"},
	 "[--limit N]",
	 0,
	 0,
	 OPTION_LIMIT,
	 cli_history_list,
	 "who changed the configuration, when and why",
	 "Newest first, 20 of them; CHANGES are objects created, updated and deleted. The newest 1000 are kept."},
	{{"config", "show"}, "N", 1, 1, 0, cli_history_show, "what revision N changed", NULL},
	{{"config", "rollback"},
	 "N --comment TEXT [--confirm-within TIME] [--dry-run]",
	 1,
	 1,
	 CHANGE | OPTION_WITHIN,
	 cli_history_rollback,
	 "makes the configuration what it was at revision N",
	 "That is a new revision; nothing of the history is lost. It also ends the wait for a confirmation."},
	{{"settings", "show"},
	 "",
	 0,
	 0,
	 0,
	 cli_settings_show,
	 "timeouts of IPVS, as configured and as they are",
	 "They hold for the whole network namespace, for foreign services too."},
	{{"settings", "set"},
	 "MEMBER=VALUE… [--dry-run] [--comment TEXT]",
	 1,
	 SIZE_MAX,
	 CHANGE,
	 cli_settings_set,
	 "changes the timeouts of IPVS",
	 "zonegate settings set timeouts.udp_s=60; 0 leaves a timeout to the kernel."},
	{{"server", "list"},
	 "[GROUP]",
	 0,
	 1,
	 0,
	 cli_server_list,
	 "servers with state, weight and reason",
	 "WEIGHT is that in the kernel and, behind the slash, the configured one."},
	{{"server", "why"},
	 "GROUP/SERVER",
	 1,
	 1,
	 0,
	 cli_server_why,
	 "why a server is in the state it is in",
	 "Follows probe, state and weight; when it can next change; what to try. Ends with 1 when the server is not in service."},
	{{"server", "history"},
	 "GROUP/SERVER",
	 1,
	 1,
	 0,
	 cli_server_history,
	 "when a server changed its state, and why",
	 "Newest first; kept for 7 days. Where the daemon did not run nobody looked."},
	{{"server", "probe"},
	 "GROUP/SERVER",
	 1,
	 1,
	 0,
	 cli_server_probe,
	 "probes a server once, now",
	 "It counts for nothing. Ends with 1 when the probe fails."},
	{{"server", "show"},
	 "GROUP/SERVER",
	 1,
	 1,
	 0,
	 cli_object_show,
	 "a server as configured, with its state",
	 NULL},
	{{"server", "set"},
	 "GROUP/SERVER MEMBER=VALUE… | -f FILE [--dry-run] [--comment TEXT]",
	 1,
	 SIZE_MAX,
	 OPTION_FILE | CHANGE,
	 cli_object_set,
	 "changes members of a server, or adds it",
	 "zonegate server set web/web-1 weight=50"},
	{{"server", "delete"},
	 "GROUP/SERVER [--dry-run] [--comment TEXT]",
	 1,
	 1,
	 CHANGE,
	 cli_object_delete,
	 "removes a server",
	 "Its connections may finish, as long as the group's drain_timeout_ms says."},
	{{"server", "drain"},
	 "GROUP/SERVER --comment TEXT [--timeout TIME] [--wait] [--dry-run]",
	 1,
	 1,
	 CHANGE | OPTION_TIMEOUT | OPTION_WAIT,
	 cli_drain_begin,
	 "takes a server out gently: no new connections, and out of the kernel when the last has ended",
	 "It stays out until it is undrained. TIME is 0, 90s, 5m or 1h, else the group's drain_timeout_ms: then UDP is cut, and TCP where the group terminates. Again with --timeout 0: removed now. --wait shows the connections left until it has ended; ends with 1 when it was undrained meanwhile."},
	{{"server", "undrain"},
	 "GROUP/SERVER [--dry-run]",
	 1,
	 1,
	 OPTION_DRY_RUN,
	 cli_drain_end,
	 "puts a drained server back",
	 "With slow_start_ms its weight comes back in steps."},
	{{"server", "weight"},
	 "GROUP/SERVER WEIGHT --comment TEXT [--for TIME] [--dry-run] | GROUP/SERVER --reset",
	 1,
	 2,
	 CHANGE | OPTION_FOR | OPTION_RESET,
	 cli_drain_weigh,
	 "gives a server another weight than the configured one",
	 "The configuration stays as it is. TIME is 90s, 30m, 2h or 3d; without --for until --reset."},
	{{"group", "list"}, "", 0, 0, 0, cli_object_list_groups, "server groups", NULL},
	{{"group", "show"}, "GROUP", 1, 1, 0, cli_object_show, "a server group", NULL},
	{{"group", "set"},
	 "GROUP MEMBER=VALUE… | -f FILE [--dry-run] [--comment TEXT]",
	 1,
	 SIZE_MAX,
	 OPTION_FILE | CHANGE,
	 cli_object_set,
	 "changes members of a group, or makes it",
	 "zonegate group set web protocol=tcp health_check.type=http health_check.path=/healthz"},
	{{"group", "delete"},
	 "GROUP [--dry-run] [--comment TEXT]",
	 1,
	 1,
	 CHANGE,
	 cli_object_delete,
	 "removes a server group",
	 NULL},
	{{"group", "drain-zone"},
	 "GROUP ZONE --comment TEXT [--timeout TIME] [--wait] [--dry-run]",
	 2,
	 2,
	 CHANGE | OPTION_TIMEOUT | OPTION_WAIT,
	 cli_drain_begin,
	 "drains the servers that a group has in a zone",
	 "Servers of the zone that come later are drained too."},
	{{"group", "undrain-zone"},
	 "GROUP ZONE [--dry-run]",
	 2,
	 2,
	 OPTION_DRY_RUN,
	 cli_drain_end,
	 "puts the servers of a group in a zone back",
	 NULL},
	{{"lb", "list"}, "", 0, 0, 0, cli_object_list_lbs, "load balancers", NULL},
	{{"lb", "status"},
	 "LB",
	 1,
	 1,
	 0,
	 cli_lb_status,
	 "which zones of a load balancer DNS hands out, and why",
	 "Ends with 1 when none is healthy and all are handed out (fail-open)."},
	{{"lb", "show"}, "LB", 1, 1, 0, cli_object_show, "a load balancer", NULL},
	{{"lb", "set"},
	 "LB MEMBER=VALUE… | -f FILE [--dry-run] [--comment TEXT]",
	 1,
	 SIZE_MAX,
	 OPTION_FILE | CHANGE,
	 cli_object_set,
	 "changes members of a load balancer, or makes it",
	 "zonegate lb set shop zones.zone-a.vip4=192.0.2.10"},
	{{"lb", "delete"},
	 "LB [--dry-run] [--comment TEXT]",
	 1,
	 1,
	 CHANGE,
	 cli_object_delete,
	 "removes a load balancer",
	 NULL},
	{{"lb", "drain"},
	 "LB --comment TEXT [--timeout TIME] [--wait] [--dry-run]",
	 1,
	 1,
	 CHANGE | OPTION_TIMEOUT | OPTION_WAIT,
	 cli_drain_begin,
	 "drains all listeners of a load balancer",
	 "Its addresses stay in DNS; nothing new is taken."},
	{{"lb", "undrain"},
	 "LB [--dry-run]",
	 1,
	 1,
	 OPTION_DRY_RUN,
	 cli_drain_end,
	 "takes new connections again at a load balancer",
	 NULL},
	{{"listener", "list"},
	 "LB",
	 1,
	 1,
	 0,
	 cli_object_list_listeners,
	 "listeners of a load balancer",
	 NULL},
	{{"listener", "show"}, "LB/LISTENER", 1, 1, 0, cli_object_show, "a listener", NULL},
	{{"listener", "set"},
	 "LB/LISTENER MEMBER=VALUE… | -f FILE [--dry-run] [--comment TEXT]",
	 1,
	 SIZE_MAX,
	 OPTION_FILE | CHANGE,
	 cli_object_set,
	 "changes members of a listener, or adds it",
	 "zonegate listener set shop/http protocol=tcp port=80 server_group=web"},
	{{"listener", "delete"},
	 "LB/LISTENER [--dry-run] [--comment TEXT]",
	 1,
	 1,
	 CHANGE,
	 cli_object_delete,
	 "removes a listener",
	 NULL},
	{{"listener", "drain"},
	 "LB/LISTENER --comment TEXT [--timeout TIME] [--wait] [--dry-run]",
	 1,
	 1,
	 CHANGE | OPTION_TIMEOUT | OPTION_WAIT,
	 cli_drain_begin,
	 "drains a listener: all of its servers get no new connections there",
	 NULL},
	{{"listener", "undrain"},
	 "LB/LISTENER [--dry-run]",
	 1,
	 1,
	 OPTION_DRY_RUN,
	 cli_drain_end,
	 "takes new connections again at a listener",
	 NULL},
	{{"zone", "list"}, "", 0, 0, 0, cli_object_list_zones, "zones", NULL},
	{{"zone", "show"}, "ZONE", 1, 1, 0, cli_object_show, "a zone", NULL},
	{{"zone", "set"},
	 "ZONE MEMBER=VALUE… | -f FILE [--dry-run] [--comment TEXT]",
	 1,
	 SIZE_MAX,
	 OPTION_FILE | CHANGE,
	 cli_object_set,
	 "changes members of a zone, or makes it",
	 "zonegate zone set zone-a description=\"Hall 1\""},
	{{"zone", "delete"},
	 "ZONE [--dry-run] [--comment TEXT]",
	 1,
	 1,
	 CHANGE,
	 cli_object_delete,
	 "removes a zone",
	 NULL},
	{{"zone", "shift"},
	 "ZONE --lb LB|--all --for TIME --comment TEXT [--evacuate-servers] [--force] [--dry-run]",
	 1,
	 1,
	 TARGET | CHANGE | OPTION_FOR | OPTION_EVACUATE | OPTION_FORCE,
	 cli_shift_start,
	 "takes a zone out of DNS, for one load balancer or all, for a time",
	 "TIME is 90s, 30m, 2h or 3d, at most 72h. Open connections go on. Give --server once for each node that answers DNS: all of "
	 "them take it, or none. --force takes out the last zone or the last healthy one. --evacuate-servers: the zone's servers "
	 "get no new connections from the other zones either (with cross_zone on)."},
	{{"zone", "return"},
	 "ZONE|ID [--lb LB|--all]",
	 1,
	 1,
	 TARGET,
	 cli_shift_return,
	 "ends the shift of a zone before its time",
	 "Give --server once for each node that has it."},
	{{"zone", "extend"},
	 "ZONE|ID --for TIME [--lb LB|--all] [--comment TEXT]",
	 1,
	 1,
	 TARGET | OPTION_FOR | OPTION_COMMENT,
	 cli_shift_extend,
	 "sets when the shift of a zone ends, counted from now",
	 "Give --server once for each node that has it."},
	{{"override", "list"},
	 "",
	 0,
	 0,
	 0,
	 cli_override_list,
	 "everything that is not as configured",
	 "Zone shifts, drains, weights, and removed servers whose connections may finish."},
	{{"audit", "list"},
	 "[MEMBER=VALUE…]",
	 0,
	 8,
	 0,
	 cli_audit_list,
	 "who tried to change what, from where, and what came of it",
	 "Members: actor, object (and what is below it), method, result (ok, forbidden …), since and until (times in UTC), limit, "
	 "cursor."},
	{{"setup", NULL},
	 "[--user NAME [--password-file FILE]]",
	 0,
	 0,
	 OPTION_USER | OPTION_PASSWORD_FILE,
	 cli_access_setup,
	 "lets the first admin in, or one who cannot sign in any more",
	 "As root on the host. Prints a code with which a browser makes an admin, once, within 15 minutes; with --user that admin is "
	 "made at once, and the password asked for. FILE \"-\" is standard input."},
	{{"whoami", NULL},
	 "",
	 0,
	 0,
	 0,
	 cli_access_whoami,
	 "who one is to the daemon, and with which role",
	 NULL},
	{{"user", "list"}, "", 0, 0, 0, cli_access_list_users, "users", NULL},
	{{"user", "show"}, "USER", 1, 1, 0, cli_access_show_user, "a user", NULL},
	{{"user", "set"},
	 "USER [--role ROLE] [--password-file FILE]",
	 1,
	 1,
	 OPTION_ROLE | OPTION_PASSWORD_FILE,
	 cli_access_set_user,
	 "changes role or password of a user, or makes him",
	 "ROLE is metrics, viewer, operator, editor or admin. The password of a new user is asked for; a change ends his sessions."},
	{{"user", "delete"},
	 "USER",
	 1,
	 1,
	 0,
	 cli_access_delete_user,
	 "removes a user and ends his sessions",
	 "Tokens that he made stay: zonegate token list."},
	{{"user", "password"},
	 "USER [--password-file FILE]",
	 1,
	 1,
	 OPTION_PASSWORD_FILE,
	 cli_access_set_password,
	 "sets the password of a user and ends his sessions",
	 "At least 10 characters. It is asked for, or is the first line of FILE; \"-\" is standard input."},
	{{"token", "create"},
	 "NAME --role ROLE [--for TIME] [--source PREFIX]…",
	 1,
	 1,
	 OPTION_ROLE | OPTION_FOR | OPTION_SOURCE,
	 cli_token_create,
	 "makes a bearer token and prints it, this once",
	 "ROLE is metrics, viewer, operator, editor or admin. TIME is 90s, 30m, 2h or 90d; without --for until it is revoked. With "
	 "--source it is good from there only."},
	{{"token", "list"},
	 "",
	 0,
	 0,
	 0,
	 cli_token_list,
	 "bearer tokens: whose, until when, from where, used when",
	 NULL},
	{{"token", "revoke"},
	 "NAME|ID",
	 1,
	 1,
	 0,
	 cli_token_revoke,
	 "ends a bearer token at once",
	 NULL},
	{{"session", "list"},
	 "",
	 0,
	 0,
	 0,
	 cli_token_list_sessions,
	 "who is signed in, from where, since when",
	 NULL},
	{{"session", "end"}, "ID", 1, 1, 0, cli_token_end_session, "signs somebody out", NULL},
	{{"dns", "preview"},
	 "NAME [--type A|AAAA] [--client IP]",
	 1,
	 1,
	 OPTION_TYPE | OPTION_CLIENT,
	 cli_dns_preview,
	 "the DNS answer for a name now, and what is left out",
	 "With --client what that address would get, where it makes a difference (client_affinity)."},
	{{"failover-time", NULL},
	 "LB",
	 1,
	 1,
	 0,
	 cli_failover_show,
	 "how long clients of a load balancer's name may be sent to a zone that is gone",
	 "At worst, by the settings and the TTL in force, part by part, and what to change first. Ends with 1 when nothing would "
	 "take over."},
	{{"check", "estimate"},
	 "[MEMBER=VALUE…]",
	 0,
	 SIZE_MAX,
	 0,
	 cli_check_estimate,
	 "how soon a health check would notice a failure, and advice",
	 "Members are those of health_check, and protocol and d_ms (time to an answer): zonegate check estimate interval_ms=50000 "
	 "unhealthy_threshold=2"},
	{{"kernel", "show"},
	 "[--foreign]",
	 0,
	 0,
	 OPTION_FOREIGN,
	 cli_kernel_show,
	 "the kernel's IPVS table, read now",
	 "With --foreign also what does not belong to Zonegate."},
	{{"kernel", "reconcile"},
	 "[--dry-run]",
	 0,
	 0,
	 OPTION_DRY_RUN,
	 cli_kernel_reconcile,
	 "compares the kernel's IPVS table with what should be, now, and mends it",
	 "Ends with 1 when it could not be mended, and with --dry-run with 2 when something differs."},
	{{"api", NULL},
	 "METHOD PATH [-d BODY|@FILE] [-H HEADER]…",
	 2,
	 2,
	 OPTION_DATA | OPTION_HEADER,
	 cli_raw_call,
	 "any request to the API",
	 "PATH without a slash in front is below /api/v1: zonegate api GET system"},
	{{"completion", NULL},
	 "bash|zsh|fish",
	 1,
	 1,
	 0,
	 cli_complete_script,
	 "prints the completion script of a shell",
	 "Installed with the program; for a shell that does not find it: source <(zonegate completion bash)"},
	{{"complete", NULL},
	 "[-- WORD…]",
	 0,
	 SIZE_MAX,
	 0,
	 complete,
	 "what may stand next on the command line, for those scripts",
	 "Names come from the daemon, which is given a moment to answer."},
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static enum cli_exit complete(struct cli *cli)
{
	return cli_complete_run(commands, COMMAND_COUNT, cli);
}

static void print_exit_codes(void)
{
	printf("\nEnds with 0 ok, 1 negative answer, 2 differences, 3 invalid, 4 conflict, 5 not allowed,\n"
	       "6 not found, 7 daemon not reachable, 64 usage.\n");
}

/* With a `first` word that begins commands, those alone. */
static void print_help(const char *first)
{
	size_t found = 0;

	for (size_t i = 0; first && i < COMMAND_COUNT; i++)
		found += strcmp(commands[i].words[0], first) == 0;
	printf("Usage: zonegate [OPTIONS] COMMAND\n\nCommands (`zonegate COMMAND --help` tells more):\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (found > 0 && strcmp(commands[i].words[0], first) != 0)
			continue;
		if (commands[i].words[1])
			printf("  %-8s %-12s  %s\n", commands[i].words[0], commands[i].words[1],
			       commands[i].summary);
		else
			printf("  %-21s  %s\n", commands[i].words[0], commands[i].summary);
	}
	printf("\nOptions:\n"
	       "  --socket PATH      the daemon's socket (ZONEGATE_SOCKET; /run/zonegate/api.sock)\n"
	       "  --server URL       the daemon's address instead (ZONEGATE_SERVER): https://HOST:PORT; several for zone shift, return, extend\n"
	       "  --token-file FILE  its token, for --server (ZONEGATE_TOKEN_FILE); once for all, or once for each --server\n"
	       "  --ca FILE          certificates to trust with https (ZONEGATE_CA); else the system's\n"
	       "  -o, --output table|json|jsonl|name\n"
	       "  -h, --help\n"
	       "  --version\n");
	print_exit_codes();
}

static void print_command_help(const struct cli_command *c)
{
	const char *gap = c->words[1] ? " " : "", *second = c->words[1] ? c->words[1] : "";

	printf("Usage: zonegate [OPTIONS] %s%s%s%s%s\n\n%s%s%s: %s\n", c->words[0], gap, second,
	       c->args[0] ? " " : "", c->args, c->words[0], gap, second, c->summary);
	if (c->help)
		printf("%s\n", c->help);
	print_exit_codes();
}

static enum cli_exit say_usage(const char *fault)
{
	fprintf(stderr, "zonegate: %s\nTry `zonegate --help`.\n", fault);
	return EXIT_USAGE;
}

/* What was meant, if it was mistyped: the first word, or the `second` one after it. */
static void say_nearest(const struct cli_options *o, size_t second)
{
	const char *words[COMMAND_COUNT] = {NULL}, *nearest;

	if (o->arg_count <= second)
		return;
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (!second || strcmp(commands[i].words[0], o->args[0]) == 0)
			words[i] = commands[i].words[second];
	}
	nearest = cli_args_nearest(o->args[second], words, COMMAND_COUNT);
	if (nearest)
		fprintf(stderr, "Did you mean \"%s%s%s\"?\n", second ? o->args[0] : "",
			second ? " " : "", nearest);
}

/* Commands whose first words were given, for who left the rest out; else all first words. */
static enum cli_exit say_unknown(const struct cli_options *o)
{
	char second[CLI_FAULT_MAX] = "", first[CLI_FAULT_MAX] = "";
	size_t at = 0, all = 0;

	for (size_t i = 0; i < COMMAND_COUNT && at < sizeof(second) && all < sizeof(first); i++) {
		const char *word = commands[i].words[0];

		if (strcmp(word, o->args[0]) == 0)
			at += (size_t)snprintf(second + at, sizeof(second) - at, "%s %s",
					       at ? "," : "", commands[i].words[1]);
		if (i == 0 || strcmp(word, commands[i - 1].words[0]) != 0)
			all += (size_t)snprintf(first + all, sizeof(first) - all, "%s %s",
						all ? "," : "", word);
	}
	if (at > 0)
		fprintf(stderr, "zonegate: after \"%s\" comes one of%s\n", o->args[0], second);
	else
		fprintf(stderr, "zonegate: there is no command \"%s\"; there are%s\n", o->args[0],
			first);
	say_nearest(o, at > 0 ? 1 : 0);
	fprintf(stderr, "Try `zonegate --help`.\n");
	return EXIT_USAGE;
}

/* The words of the command name the parent whose children it lists. */
static bool lists_children(const struct cli *cli)
{
	const char *first = cli->options.args[0];

	return cli->arg_count == 1 && cli->options.arg_count == 3 &&
	       strcmp(cli->options.args[1], "list") == 0 &&
	       (strcmp(first, "listener") == 0 || strcmp(first, "lb-zone") == 0);
}

static void print_formatted(const struct cli_format_wish *wish, const char *text, size_t size)
{
	AUTO_BUF struct buf_writer w;

	buf_writer_init(&w, PRINTED_MAX);
	cli_format_write(wish, text, size, &w);
	fwrite(w.data, 1, w.size, stdout);
}

/* -o jsonl and name are made of what the command prints as JSON. */
static enum cli_exit run_formatted(const struct cli_command *c, struct cli *cli)
{
	const struct cli_format_wish wish = {
		.format = cli->options.format,
		.asked = cli->arg_count > 0 ? cli->args[0] : NULL,
		.parent = lists_children(cli) ? cli->args[0] : NULL,
	};
	FILE *screen = stdout, *kept;
	enum cli_exit result;
	char *text = NULL;
	size_t size = 0;

	if (wish.format == FORMAT_TABLE || wish.format == FORMAT_JSON)
		return c->run(cli);
	cli->options.format = FORMAT_JSON;
	kept = open_memstream(&text, &size);
	assert(kept);
	stdout = kept;
	result = c->run(cli);
	stdout = screen;
	fclose(kept);
	print_formatted(&wish, text, size);
	free(text);
	return result;
}

static enum cli_exit run(const struct cli_command *c, const struct cli_options *o, size_t words)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	struct cli cli = {
		.options = *o,
		.color = isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
			 !(term && strcmp(term, "dumb") == 0),
		.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
		.args = o->args + words,
		.arg_count = o->arg_count - words,
	};
	enum cli_exit result;

	cli.options.quick = c->run == complete;
	cli.client = cli_client_new(&cli.options);
	if (!cli.client)
		return EXIT_USAGE;
	result = run_formatted(c, &cli);
	cli_client_free(cli.client);
	return result;
}

static enum cli_exit start(int argc, char **argv)
{
	char fault[CLI_FAULT_MAX];
	const struct cli_command *c;
	struct cli_options o;
	size_t words = 0;

	setlocale(LC_CTYPE, "");
	if (cli_args_parse(argc, argv, &o, fault))
		return say_usage(fault);
	if (o.version) {
		printf("zonegate %s\n", ZONEGATE_VERSION);
		return EXIT_OK;
	}
	c = o.arg_count ? cli_args_find(commands, COMMAND_COUNT, &o, &words) : NULL;
	if (o.help && c)
		print_command_help(c);
	else if (o.help || (o.arg_count > 0 && strcmp(o.args[0], "help") == 0))
		print_help(o.arg_count > 0 ? o.args[o.arg_count - 1] : NULL);
	else if (o.arg_count == 0)
		return say_usage("which command?");
	else if (!c)
		return say_unknown(&o);
	else if (cli_args_check(c, &o, o.arg_count - words, fault))
		return say_usage(fault);
	else
		return run(c, &o, words);
	return EXIT_OK;
}

int main(int argc, char **argv)
{
	return (int)start(argc, argv);
}
