/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of commands by subject, a file each: what help, completion and the manual say comes from there. Each ends with a row
 * without words. Others see one table: cli_commands.h. */
#ifndef ZG_CLI_CLI_COMMAND_ROWS_H
#define ZG_CLI_CLI_COMMAND_ROWS_H

#include "cli/cli_args.h"

/* What every command takes that changes something. */
#define CLI_CHANGE (OPTION_DRY_RUN | OPTION_COMMENT)

extern const struct cli_command cli_commands_config[]; /* status, configuration and settings */
extern const struct cli_command cli_commands_server[]; /* servers and their groups */
extern const struct cli_command cli_commands_lb[]; /* load balancers, their zones and listeners */
extern const struct cli_command
	cli_commands_zone[]; /* zones, shifts and what else is not as configured */
extern const struct cli_command cli_commands_lists[]; /* access lists */
extern const struct cli_command
	cli_commands_events[]; /* what happened, who is told, and who did it */
extern const struct cli_command
	cli_commands_access[]; /* who may do what: users, tokens, sessions */
extern const struct cli_command cli_commands_traffic
	[]; /* where traffic goes: DNS, figures, times to failover, probes, the kernel */
extern const struct cli_command cli_commands_tools[]; /* the API by hand, and completion */

#endif
