// SPDX-License-Identifier: GPL-2.0-or-later
// Webhooks: how they do, and a call to try them.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "cli/cli_client.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

#define NO_WEBHOOKS "No webhooks: [notify] url in zonegate.conf"

static char *cli_notify_time(const json_t *url, const char *member)
{
	return mem_printf("%.19s", cli_print_text(url, member));
}

static bool cli_notify_print_status(const json_t *answer)
{
	static const char *const heads[] = {
		"URL",   ">PENDING", ">DELIVERED", "LAST SUCCESS (UTC)", "LAST FAILURE (UTC)",
		"ERROR", NULL};
	struct cli_table *t = cli_table_new(heads);
	const json_t *url;
	bool good = true;
	size_t i;

	json_array_foreach (json_object_get(answer, "urls"), i, url) {
		AUTO_FREE char *pending = mem_printf("%lld%s",
						     (long long)cli_print_number(url, "pending"),
						     cli_print_true(url, "behind") ? "+" : "");
		AUTO_FREE char *delivered = mem_printf(
			"%lld", (long long)cli_print_number(url, "delivered"));
		AUTO_FREE char *success = cli_notify_time(url, "last_success");
		AUTO_FREE char *failure = cli_notify_time(url, "last_failure");
		const char *cells[] = {
			cli_print_text(url, "url"),  pending, delivered, success, failure,
			cli_print_text(url, "error")};

		good = good && cli_print_number(url, "failures") == 0;
		cli_table_add(t, cells);
	}
	cli_print_table_or(t, NO_WEBHOOKS);
	return good;
}

enum cli_exit cli_notify_show(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer a;

	cli_client_get(cli->client, CLI_BASE "/notify", &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_TABLE)
		return cli_notify_print_status(a.json) ? EXIT_OK : EXIT_NEGATIVE;
	cli_print_json(a.json);
	return EXIT_OK;
}

enum cli_exit cli_notify_test(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer a;
	const json_t *result;
	bool good = true;
	size_t i;

	cli_client_call(cli->client,
			&(struct cli_call){.method = "POST", .path = CLI_BASE "/notify/test"}, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format != FORMAT_TABLE)
		cli_print_json(a.json);
	json_array_foreach (json_object_get(a.json, "results"), i, result) {
		good = good && cli_print_true(result, "ok");
		if (cli->options.format == FORMAT_TABLE)
			printf("%s: %s (%lld ms)\n", cli_print_text(result, "url"),
			       cli_print_text(result, "detail"),
			       (long long)cli_print_number(result, "duration_ms"));
	}
	return good ? EXIT_OK : EXIT_NEGATIVE;
}
