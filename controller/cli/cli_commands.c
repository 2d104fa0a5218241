// SPDX-License-Identifier: GPL-2.0-or-later
// All commands as one table, in the order of the help. The rows are in cli_commands_*.c, by subject.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "cli/cli_command_rows.h"

static const struct cli_command *const sections[] = {
	cli_commands_config, cli_commands_server,  cli_commands_lb,
	cli_commands_zone,   cli_commands_lists,   cli_commands_events,
	cli_commands_access, cli_commands_traffic, cli_commands_tools,
};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

struct cli_command *cli_commands_list(size_t *ret_count)
{
	struct cli_command *list;
	size_t count = 0;

	for (size_t i = 0; i < SECTIONS; i++)
		for (const struct cli_command *c = sections[i]; c->words[0]; c++)
			count++;
	list = mem_alloc_array(count, sizeof(*list));
	*ret_count = count;
	count = 0;
	for (size_t i = 0; i < SECTIONS; i++)
		for (const struct cli_command *c = sections[i]; c->words[0]; c++)
			list[count++] = *c;
	return list;
}
