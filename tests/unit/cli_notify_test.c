// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static json_t *fake_status(void *ctx)
{
	(void)ctx;
	return json_pack("{s:s, s:n, s:b, s:[{s:s, s:i, s:b, s:i, s:i, s:n, s:s, s:s}]}",
			 "min_severity", "notice", "types", "signed", 1, "urls", "url",
			 "https://hooks.example.net", "pending", 1000, "behind", 1, "delivered", 7,
			 "failures", 2, "last_success", "last_failure", "2026-01-02T03:04:05.678Z",
			 "error", "the answer is status 500");
}

static int fake_test(void *ctx, void (*done)(void *done_ctx, json_t *results), void *done_ctx)
{
	if (*(int *)ctx)
		return *(int *)ctx;
	done(done_ctx,
	     json_pack("[{s:s, s:b, s:i, s:s, s:i}]", "url", "https://hooks.example.net", "ok", 0,
		       "status", 500, "detail", "the answer is status 500", "duration_ms", 12));
	return 0;
}

static void webhooks_are_shown(void **state)
{
	struct cli_options o = {0};
	int busy = 0;
	struct rig rig = {.notify = {.ctx = &busy, .status = fake_status, .test = fake_test}};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_notify_show, 2, &o,
						    WORDS("notify", "status"));
	assert_int_equal(a.exit, EXIT_NEGATIVE);
	assert_contains(a.out, "1000+");
	assert_contains(a.out, "2026-01-02T03:04:05");
	assert_contains(a.out, "the answer is status 500");
	/* Who looks at the node sees it, too. */
	AUTO_OUTCOME struct outcome node = cli_rig_run(&rig, cli_status_show, 1, &o,
						       WORDS("status"));
	assert_contains(node.out, "advice: the webhook https://hooks.example.net fails (the answer "
				  "is status 500), 1000+ events wait");
	AUTO_OUTCOME struct outcome b = cli_rig_run(&rig, cli_notify_test, 2, &o,
						    WORDS("notify", "test"));
	assert_int_equal(b.exit, EXIT_NEGATIVE);
	assert_string_equal(b.out, "https://hooks.example.net: the answer is status 500 (12 ms)\n");
	busy = -EALREADY;
	AUTO_OUTCOME struct outcome c = cli_rig_run(&rig, cli_notify_test, 2, &o,
						    WORDS("notify", "test"));
	assert_int_equal(c.exit, EXIT_CONFLICT);
	rig_end(&rig);
}

static void without_webhooks_it_is_said(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_notify_show, 2, &o,
						    WORDS("notify", "status"));
	assert_int_equal(a.exit, EXIT_OK);
	assert_contains(a.out, "No webhooks: [notify] url");
	AUTO_OUTCOME struct outcome b = cli_rig_run(&rig, cli_notify_test, 2, &o,
						    WORDS("notify", "test"));
	assert_int_equal(b.exit, EXIT_CONFLICT);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(webhooks_are_shown),
		cmocka_unit_test(without_webhooks_it_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
