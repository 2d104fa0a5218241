// SPDX-License-Identifier: GPL-2.0-or-later
// Commands: access lists, which say what clients may come in.
#include "cli/cli_command_rows.h"

#include <stdint.h>

#include "cli/cli_commands.h"

const struct cli_command cli_commands_lists[] = {
	{{"access", "list"},
	 "",
	 0,
	 0,
	 0,
	 cli_object_list_lists,
	 "access lists: who may come in to the listeners that name them",
	 NULL},
	{{"access", "show"}, "LIST", 1, 1, 0, cli_object_show, "an access list", NULL},
	{{"access", "set"},
	 "LIST MEMBER=VALUE… | -f FILE [--dry-run] [--comment TEXT] [--confirm-within TIME]",
	 1,
	 SIZE_MAX,
	 OPTION_FILE | CLI_CHANGE | OPTION_WITHIN,
	 cli_object_set,
	 "changes members of an access list, or makes it",
	 "zonegate access set office default_action=deny"},
	{{"access", "delete"},
	 "LIST [--dry-run] [--comment TEXT] [--confirm-within TIME]",
	 1,
	 1,
	 CLI_CHANGE | OPTION_WITHIN,
	 cli_object_delete,
	 "removes an access list",
	 "One that a listener names stays until the listener names another, or none (access_list=null)."},
	{.words = {NULL, NULL}},
};
