// SPDX-License-Identifier: GPL-2.0-or-later
// Commands: zones, shifts and what else is not as configured.
#include "cli/cli_command_rows.h"

#include <stdint.h>

#include "cli/cli_commands.h"

#define TARGET (OPTION_LB | OPTION_ALL | OPTION_SERVERS)

const struct cli_command cli_commands_zone[] = {
	{{"zone", "list"}, "", 0, 0, 0, cli_object_list_zones, "zones", NULL},
	{{"zone", "show"}, "ZONE", 1, 1, 0, cli_object_show, "a zone", NULL},
	{{"zone", "set"},
	 "ZONE MEMBER=VALUE… | -f FILE [--dry-run] [--comment TEXT] [--confirm-within TIME]",
	 1,
	 SIZE_MAX,
	 OPTION_FILE | CLI_CHANGE | OPTION_WITHIN,
	 cli_object_set,
	 "changes members of a zone, or makes it",
	 "zonegate zone set zone-a description=\"Hall 1\""},
	{{"zone", "delete"},
	 "ZONE [--dry-run] [--comment TEXT] [--confirm-within TIME]",
	 1,
	 1,
	 CLI_CHANGE | OPTION_WITHIN,
	 cli_object_delete,
	 "removes a zone",
	 NULL},
	{{"zone", "shift"},
	 "ZONE --lb LB|--all --for TIME --comment TEXT [--evacuate-servers] [--force] [--dry-run]",
	 1,
	 1,
	 TARGET | CLI_CHANGE | OPTION_FOR | OPTION_EVACUATE | OPTION_FORCE,
	 cli_shift_start,
	 "takes a zone out of DNS, for one load balancer or all, for a time",
	 "TIME is 90s, 30m, 1h30m or 3d, at most 72h. Open connections go on. Give --server once for each node that answers DNS: all of "
	 "them take it, or none; one that is given twice is refused. --force takes out the last zone or the last healthy one. --evacuate-servers: the zone's servers "
	 "get no new connections from the other zones either (with cross_zone on)."},
	{{"zone", "return"},
	 "ZONE|ID [--lb LB|--all] [--dry-run]",
	 1,
	 1,
	 TARGET | OPTION_DRY_RUN,
	 cli_shift_return,
	 "ends the shift of a zone before its time",
	 "Give --server once for each node that has it."},
	{{"zone", "extend"},
	 "ZONE|ID --for TIME [--lb LB|--all] [--comment TEXT] [--dry-run]",
	 1,
	 1,
	 TARGET | OPTION_FOR | CLI_CHANGE,
	 cli_shift_extend,
	 "sets when the shift of a zone ends, counted from now",
	 "Give --server once for each node that has it."},
	{{"shift", "list"}, "", 0, 0, 0, cli_view_shifts, "zone shifts, oldest first", NULL},
	{{"shift", "show"}, "ID", 1, 1, 0, cli_view_show, "a zone shift with its history", NULL},
	{{"override", "list"},
	 "",
	 0,
	 0,
	 0,
	 cli_override_list,
	 "everything that is not as configured",
	 "Zone shifts, drains, weights, and removed servers whose connections may finish."},
	{.words = {NULL, NULL}},
};
