// SPDX-License-Identifier: GPL-2.0-or-later
// What of the host stands in the way of packets, and the commands that mend it.
#include "cli/cli_commands.h"

#include "base/text.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

/* The worst first, as they come: what, why and the command stand below each other, to be read and copied. */
static void cli_doctor_print_finding(const struct cli *cli, const json_t *f)
{
	const char *severity = cli_print_text(f, "severity"), *where = cli_print_text(f, "where");
	const char *object = cli_print_text(f, "object"), *mend = cli_print_text(f, "mend");
	enum cli_mood mood = strcmp(severity, "error") == 0     ? MOOD_BAD
			     : strcmp(severity, "warning") == 0 ? MOOD_WAITING
								: MOOD_OFF;
	char state[CLI_STATE_MAX];

	printf("%s  %s%s%s\n", cli_table_state(mood, severity, cli->color, cli->unicode, state),
	       cli_print_text(f, "code"), *object ? "  " : "", object);
	printf("    %s\n", cli_print_text(f, "what"));
	printf("    why: %s\n", cli_print_text(f, "why"));
	if (*mend)
		printf("    %s: %s\n",
		       strcmp(where, "servers") == 0   ? "on the servers"
		       : strcmp(where, "network") == 0 ? "on the router"
						       : "mend",
		       mend);
}

static void cli_doctor_print_counts(const json_t *answer)
{
	const json_int_t errors = cli_print_number(answer, "errors");
	const json_int_t warnings = cli_print_number(answer, "warnings");
	const json_int_t infos = cli_print_number(answer, "infos");

	printf("%" JSON_INTEGER_FORMAT " error%s, %" JSON_INTEGER_FORMAT
	       " warning%s, %" JSON_INTEGER_FORMAT " note%s\n",
	       errors, TEXT_S(errors), warnings, TEXT_S(warnings), infos, TEXT_S(infos));
}

enum cli_exit cli_doctor_show(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer a = {0};
	const json_t *finding;
	size_t i;

	cli_client_get(cli->client, CLI_BASE "/system/doctor", &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(a.json);
	} else {
		json_array_foreach (json_object_get(a.json, "findings"), i, finding)
			cli_doctor_print_finding(cli, finding);
		cli_doctor_print_counts(a.json);
	}
	return cli_print_number(a.json, "errors") ? EXIT_NEGATIVE : EXIT_OK;
}
