// SPDX-License-Identifier: GPL-2.0-or-later
// Commands: the API by hand, and completion.
#include "cli/cli_command_rows.h"

#include <stdint.h>

#include "cli/cli_commands.h"

const struct cli_command cli_commands_tools[] = {
	{{"api", NULL},
	 "METHOD PATH [-d BODY|@FILE] [-H HEADER]…",
	 2,
	 2,
	 OPTION_DATA | OPTION_HEADER,
	 cli_raw_call,
	 "any request to the API",
	 "PATH without a slash in front is below /api/v1: zonegate api GET system"},
	{{"flush", NULL},
	 "[SETTINGS]",
	 0,
	 1,
	 0,
	 cli_flush_run,
	 "removes from the kernel what a daemon has left there: zonegated --flush",
	 "As root, with the daemon stopped: virtual services, VIPs and their device, sets zg…, chains ZONEGATE…, and\n"
	 "sysctls and timeouts as they were before; what others made stays, and so do settings and state.\n"
	 "Before make uninstall; after kill -9, too. SETTINGS: the file, if not /etc/zonegate/zonegate.conf."},
	{{"version", NULL},
	 "",
	 0,
	 0,
	 0,
	 cli_raw_version,
	 "the version of this program, as --version",
	 NULL},
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
	 cli_complete_run,
	 "what may stand next on the command line, for those scripts",
	 "Names come from the daemon, which is given a moment to answer."},
	{.words = {NULL, NULL}},
};
