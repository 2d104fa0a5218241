// SPDX-License-Identifier: GPL-2.0-or-later
// Health checks before they are configured: how long they take to see a failure, and what to think about.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_diff.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

/* As the members of the check are written for a group. */
#define GROUP_PREFIX "health_check."

/* Members of the question itself; all others are the check's. */
static const char *const question_members[] = {"protocol=", "d_ms="};

static bool cli_check_is_question(const char *assignment)
{
	for (size_t i = 0; i < sizeof(question_members) / sizeof(question_members[0]); i++) {
		if (strncmp(assignment, question_members[i], strlen(question_members[i])) == 0)
			return true;
	}
	return false;
}

/* {"health_check": {…}, …}; NULL with a sentence. Caller frees. */
static char *cli_check_question(const struct cli *cli)
{
	json_t *question = json_object(), *check = json_object();
	char *text;

	json_object_set_new(question, "health_check", check);
	for (size_t i = 0; i < cli->arg_count; i++) {
		json_t *into = cli_check_is_question(cli->args[i]) ? question : check;
		const size_t prefix = strlen(GROUP_PREFIX);
		const bool of_group = strncmp(cli->args[i], GROUP_PREFIX, prefix) == 0;

		if (cli_diff_take_member(into, cli->args[i] + (of_group ? prefix : 0))) {
			json_decref(question);
			return NULL;
		}
	}
	text = json_dumps(question, JSON_COMPACT);
	json_decref(question);
	return text;
}

static void cli_check_print_window(const json_t *windows, const char *member, const char *head)
{
	const json_t *w = json_object_get(windows, member);

	if (!json_is_object(w)) {
		printf("%-10s not noticed: it is a pass\n", head);
		return;
	}
	printf("%-10s noticed in %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT " ms\n", head,
	       cli_print_number(w, "best_ms"), cli_print_number(w, "worst_ms"));
}

static void cli_check_print_advice(const json_t *answer)
{
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(answer, "advice"), i, one)
		printf("%-10s %s (%s)\n", i == 0 ? "Advice" : "", cli_print_text(one, "detail"),
		       cli_print_text(one, "code"));
}

static void cli_check_print(const json_t *answer)
{
	const json_t *check = json_object_get(answer, "health_check");
	const json_t *windows = json_object_get(answer, "windows");
	const json_int_t up = cli_print_number(check, "healthy_threshold");
	const json_int_t down = cli_print_number(check, "unhealthy_threshold");

	if (!cli_print_true(check, "enabled")) {
		printf("%-10s off (enabled false): no failure is noticed, and no recovery\n",
		       "Check");
		cli_check_print_advice(answer);
		return;
	}
	printf("%-10s %s every %" JSON_INTEGER_FORMAT " ms, at most %" JSON_INTEGER_FORMAT
	       " ms each; up after %" JSON_INTEGER_FORMAT
	       " pass%s, down after %" JSON_INTEGER_FORMAT " failure%s%s\n",
	       "Check", cli_print_text(check, "type"), cli_print_number(check, "interval_ms"),
	       cli_print_number(check, "timeout_ms"), up, TEXT_FORM(up, "", "es"), down,
	       TEXT_S(down), cli_print_true(check, "fast_retry") ? ", fast retry" : "");
	cli_check_print_window(windows, "detection_active", "Refusal");
	cli_check_print_window(windows, "detection_silent", "Silence");
	cli_check_print_window(windows, "recovery", "Recovery");
	if (*cli_print_text(windows, "silence"))
		printf("%-10s %s\n", "", cli_print_text(windows, "silence"));
	cli_check_print_advice(answer);
}

enum cli_exit cli_check_estimate(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer a = {0};
	AUTO_FREE char *question = cli_check_question(cli);
	struct cli_call call = {.method = "POST", .path = CLI_BASE "/tools/detection-time"};

	if (!question)
		return EXIT_USAGE;
	call.body = question;
	call.body_size = strlen(question);
	cli_client_call(cli->client, &call, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON)
		cli_print_json(a.json);
	else
		cli_check_print(a.json);
	return EXIT_OK;
}
