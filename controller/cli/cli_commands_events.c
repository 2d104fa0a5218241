// SPDX-License-Identifier: GPL-2.0-or-later
// Commands: what happened, who is told, and who did it.
#include "cli/cli_command_rows.h"

#include "cli/cli_commands.h"

const struct cli_command cli_commands_events[] = {
	{{"events", NULL},
	 "[OBJECT] [--type TYPE,…] [--since TIME] [--limit N] [--follow]",
	 0,
	 1,
	 OPTION_TYPE | OPTION_SINCE | OPTION_LIMIT | OPTION_FOLLOW,
	 cli_events_show,
	 "what happened, and with --follow what happens",
	 "Oldest first, the last 100; kept for 7 days. TYPE is one as server.health_changed, or a family as zone.*; OBJECT as "
	 "server_groups/web, with what is below it. TIME is 90s, 30m, 1h30m or 3d ago, or a time in UTC. --follow goes on until it is "
	 "interrupted, also over a restart of the daemon, with nothing left out; a line each, with -o jsonl as JSON."},
	{{"notify", "status"},
	 "",
	 0,
	 0,
	 0,
	 cli_notify_show,
	 "webhooks: what waits, and the last success and failure",
	 "Ends with 1 when one fails."},
	{{"notify", "test"},
	 "",
	 0,
	 0,
	 0,
	 cli_notify_test,
	 "calls every webhook once with an event that says so",
	 "Ends with 1 when one fails."},
	{{"audit", "list"},
	 "[MEMBER=VALUE…]",
	 0,
	 8,
	 0,
	 cli_audit_list,
	 "who tried to change what, from where, and what came of it",
	 "Members: actor, object (and what is below it), method, result (ok, forbidden …), since and until (times in UTC, or so long ago: 2h), limit, "
	 "cursor."},
	{.words = {NULL, NULL}},
};
