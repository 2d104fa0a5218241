// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static struct outcome drain(const struct rig *rig, const struct cli_options *o,
			    const char *const *words)
{
	return cli_rig_run(rig, cli_drain_begin, 2, o, words);
}

static void start(struct rig *rig)
{
	rig_start(rig, 0);
	rig_load(rig);
}

static void drain_waits_until_it_has_ended(void **state)
{
	struct cli_options o = {.comment = "disk", .wait = true, .timeout = "5m"};
	struct cli_options json = {.comment = "disk", .wait = true, .format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_OUTCOME struct outcome a = drain(&rig, &o, WORDS("server", "drain", "web/w1"));
	assert_int_equal(a.exit, EXIT_OK);
	assert_contains(a.out, "Draining server web/w1 until 20");
	assert_contains(a.out, "finished: ");
	AUTO_OUTCOME struct outcome again = drain(&rig, &json, WORDS("server", "drain", "web/w1"));
	assert_int_equal(again.exit, EXIT_OK);
	assert_string_equal(json_string_value(json_object_get(again.json, "state")), "finished");
	AUTO_OUTCOME struct outcome list = cli_rig_run(
		&rig, cli_override_list, 2, &(struct cli_options){0}, WORDS("override", "list"));
	assert_contains(list.out, "  root  undrained ");
	AUTO_OUTCOME struct outcome back = cli_rig_run(&rig, cli_drain_end, 2,
						       &(struct cli_options){0},
						       WORDS("server", "undrain", "web/w1"));
	assert_int_equal(back.exit, EXIT_OK);
	assert_string_equal(back.out, "Undrained server web/w1\n");
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_drain_end, 2,
						       &(struct cli_options){0},
						       WORDS("server", "undrain", "web/w1"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);
	rig_end(&rig);
}

static void *undrain_later(void *arg)
{
	const struct rig *rig = arg;

	usleep(300000);
	AUTO_REPLY struct answer a = rig_ask(rig, "DELETE", "/api/v1/load-balancers/shop/drain", "",
					     NULL);
	assert_int_equal(a.status, 204);
	return NULL;
}

/* Somebody takes it back while it is waited for. Its flows never end. */
static void drain_is_told_when_it_is_cancelled(void **state)
{
	struct cli_options o = {.comment = "move", .wait = true};
	struct rig rig = {.busy = true};
	pthread_t thread;

	(void)state;
	start(&rig);
	assert_int_equal(pthread_create(&thread, NULL, undrain_later, &rig), 0);
	AUTO_OUTCOME struct outcome a = drain(&rig, &o, WORDS("lb", "drain", "shop"));
	pthread_join(thread, NULL);
	assert_int_equal(a.exit, EXIT_NEGATIVE);
	assert_contains(a.out, "Draining load balancer shop until");
	/* Not "0": they have not been read yet. */
	assert_contains(a.out, "\ndraining: the connections left are being counted, ");
	assert_contains(a.err, "cancelled");
	rig_end(&rig);
}

static void *undrain_when_closed(void *arg)
{
	const struct rig *rig = arg;

	usleep(2500000);
	AUTO_REPLY struct answer a = rig_ask(rig, "DELETE", "/api/v1/load-balancers/shop/drain", "",
					     NULL);
	assert_int_equal(a.status, 204);
	return NULL;
}

/* A connection that is closed stays in the sum until its timeout: it is no open one any more, and that is told. */
static void drain_tells_what_is_still_open(void **state)
{
	struct cli_options o = {.comment = "move", .wait = true};
	struct rig rig = {.busy = true, .closes = 2};
	pthread_t thread;

	(void)state;
	start(&rig);
	assert_int_equal(pthread_create(&thread, NULL, undrain_when_closed, &rig), 0);
	AUTO_OUTCOME struct outcome a = drain(&rig, &o, WORDS("lb", "drain", "shop"));
	pthread_join(thread, NULL);
	assert_int_equal(a.exit, EXIT_NEGATIVE);
	assert_contains(a.out, "\ndraining: 0 open connections left, and 4 closing");
	rig_end(&rig);
}

static void every_place_has_its_command(void **state)
{
	static const struct {
		const char *words[5];
		const char *said;
	} cases[] = {
		{{"server", "drain", "web/w2"}, "Draining server web/w2 until"},
		{{"group", "drain-zone", "web", "za"}, "Draining zone za of group web until"},
		{{"listener", "drain", "shop/http"}, "Draining listener shop/http until"},
		{{"lb", "drain", "shop"}, "Draining load balancer shop until"},
	};
	struct cli_options o = {.comment = "disk"}, dry = {.comment = "disk", .dry_run = true};
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_REPLY struct answer zone = rig_ask(&rig, "PATCH", "/api/v1/server-groups/web", "",
						"{\"servers\":{\"w1\":{\"zone\":\"za\"}}}");
	assert_int_equal(zone.status, 200);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_OUTCOME struct outcome plan = drain(&rig, &dry, cases[i].words);
		AUTO_OUTCOME struct outcome a = drain(&rig, &o, cases[i].words);

		assert_int_equal(plan.exit, EXIT_DIFFERENCES);
		assert_contains(plan.out, " kernel operations, ");
		assert_int_equal(a.exit, EXIT_OK);
		assert_contains(a.out, cases[i].said);
	}
	rig_end(&rig);
}

/* Its rehearsal says where nobody is left. */
static void drain_that_leaves_nobody_warns(void **state)
{
	static const char nobody[] =
		"zonegate: warning: /load_balancers/shop/listeners/http: no server would be left for new "
		"connections to tcp 192.0.2.1:80 (zone za)\n"
		"zonegate: warning: /load_balancers/shop/listeners/http: no server would be left for new "
		"connections to tcp 192.0.2.2:80 (zone zb)\n";
	struct cli_options o = {.comment = "disk"}, dry = {.comment = "disk", .dry_run = true};
	struct cli_options json = {.comment = "disk", .dry_run = true, .format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_OUTCOME struct outcome lb = drain(&rig, &dry, WORDS("lb", "drain", "shop"));
	assert_int_equal(lb.exit, EXIT_DIFFERENCES);
	assert_string_equal(lb.err, nobody);
	AUTO_OUTCOME struct outcome raw = drain(&rig, &json, WORDS("lb", "drain", "shop"));
	const json_t *warnings = json_object_get(raw.json, "warnings");
	assert_int_equal(json_array_size(warnings), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(warnings, 0), "code")),
			    "nobody_left");
	AUTO_OUTCOME struct outcome one = drain(&rig, &dry, WORDS("server", "drain", "web/w1"));
	assert_string_equal(one.err, "");
	AUTO_OUTCOME struct outcome first = drain(&rig, &o, WORDS("server", "drain", "web/w1"));
	assert_int_equal(first.exit, EXIT_OK);
	AUTO_OUTCOME struct outcome last = drain(&rig, &dry, WORDS("server", "drain", "web/w2"));
	assert_string_equal(last.err, nobody);
	AUTO_OUTCOME struct outcome weight = cli_rig_run(&rig, cli_drain_weigh, 2, &dry,
							 WORDS("server", "weight", "web/w2", "0"));
	assert_string_equal(weight.err, nobody);
	/* Where nobody was before it is no news. */
	AUTO_OUTCOME struct outcome second = drain(&rig, &o, WORDS("server", "drain", "web/w2"));
	assert_int_equal(second.exit, EXIT_OK);
	AUTO_OUTCOME struct outcome again = drain(&rig, &dry, WORDS("lb", "drain", "shop"));
	assert_string_equal(again.err, "");
	rig_end(&rig);
}

static void what_holds_is_shown(void **state)
{
	struct cli_options why = {.comment = "disk"}, plain = {0}, json = {.format = FORMAT_JSON};
	struct cli_options hour = {.comment = "disk", .expires = "1h30m"};
	struct cli_options zero = {.comment = "disk", .timeout = "0"};
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_drain_show, 2, &plain,
						       WORDS("server", "drain-status", "web/w1"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);
	AUTO_OUTCOME struct outcome a = drain(&rig, &why, WORDS("server", "drain", "web/w1"));
	AUTO_OUTCOME struct outcome b = cli_rig_run(&rig, cli_drain_weigh, 2, &why,
						    WORDS("server", "weight", "web/w2", "7"));
	assert_int_equal(a.exit + b.exit, EXIT_OK);
	AUTO_OUTCOME struct outcome drained = cli_rig_run(
		&rig, cli_drain_show, 2, &plain, WORDS("server", "drain-status", "web/w1"));
	assert_contains(drained.out, "server web/w1: ");
	assert_contains(drained.out, ": disk)");
	AUTO_OUTCOME struct outcome again = drain(&rig, &why, WORDS("server", "drain", "web/w1"));
	assert_contains(again.out, "Changed the drain of server web/w1 until ");
	AUTO_OUTCOME struct outcome weight = cli_rig_run(
		&rig, cli_drain_show, 2, &json, WORDS("server", "weight-status", "web/w2"));
	assert_int_equal(json_integer_value(json_object_get(weight.json, "weight")), 7);
	AUTO_OUTCOME struct outcome open = cli_rig_run(&rig, cli_drain_show, 2, &plain,
						       WORDS("server", "weight-status", "web/w2"));
	assert_contains(open.out, "instead of the configured 50, until it is reset (root: disk)\n");
	AUTO_OUTCOME struct outcome limited = cli_rig_run(&rig, cli_drain_weigh, 2, &hour,
							  WORDS("server", "weight", "web/w2", "8"));
	assert_int_equal(limited.exit, EXIT_OK);
	AUTO_OUTCOME struct outcome until = cli_rig_run(&rig, cli_drain_show, 2, &plain,
							WORDS("server", "weight-status", "web/w2"));
	assert_contains(until.out, "instead of the configured 50, until 20");
	AUTO_OUTCOME struct outcome now = drain(&rig, &zero, WORDS("server", "drain", "web/w1"));
	assert_string_equal(now.out, "Changed the drain of server web/w1 at once: its connections "
				     "get no time\n");
	rig_end(&rig);
}

static void weights_are_set_and_reset(void **state)
{
	struct cli_options o = {.comment = "slow", .expires = "2h"}, reset = {.reset = true};
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_drain_weigh, 2, &o,
						    WORDS("server", "weight", "web/w1", "7"));
	assert_int_equal(a.exit, EXIT_OK);
	assert_contains(a.out, "web/w1: weight 7 instead of the configured ");
	assert_contains(a.out, ", until 20");
	AUTO_OUTCOME struct outcome back = cli_rig_run(&rig, cli_drain_weigh, 2, &reset,
						       WORDS("server", "weight", "web/w1"));
	assert_int_equal(back.exit, EXIT_OK);
	assert_contains(back.out, "configured weight holds again: server web/w1");
	AUTO_OUTCOME struct outcome high = cli_rig_run(
		&rig, cli_drain_weigh, 2, &o, WORDS("server", "weight", "web/w1", "70000"));
	assert_int_equal(high.exit, EXIT_INVALID);
	rig_end(&rig);
}

static void what_is_missing_is_said(void **state)
{
	struct cli_options none = {0}, odd = {.comment = "c", .timeout = "5w"},
			   why = {.comment = "c"};
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_OUTCOME struct outcome a = drain(&rig, &none, WORDS("server", "drain", "web/w1"));
	assert_int_equal(a.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome b = drain(&rig, &odd, WORDS("server", "drain", "web/w1"));
	assert_int_equal(b.exit, EXIT_USAGE);
	assert_contains(b.err, "--timeout is");
	AUTO_OUTCOME struct outcome c = drain(&rig, &why, WORDS("server", "drain", "web"));
	assert_int_equal(c.exit, EXIT_USAGE);
	assert_contains(c.err, "is not GROUP/SERVER");
	AUTO_OUTCOME struct outcome d = cli_rig_run(&rig, cli_drain_weigh, 2, &why,
						    WORDS("server", "weight", "web/w1", "much"));
	assert_int_equal(d.exit, EXIT_USAGE);
	assert_contains(d.err, "\"much\" is not a WEIGHT (0 to 65535)");
	AUTO_OUTCOME struct outcome e = cli_rig_run(&rig, cli_drain_weigh, 2, &why,
						    WORDS("server", "weight", "web/w1"));
	assert_int_equal(e.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome f = drain(&rig, &why, WORDS("server", "drain", "web/w9"));
	assert_int_equal(f.exit, EXIT_NOT_FOUND);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drain_waits_until_it_has_ended),
		cmocka_unit_test(drain_is_told_when_it_is_cancelled),
		cmocka_unit_test(drain_tells_what_is_still_open),
		cmocka_unit_test(every_place_has_its_command),
		cmocka_unit_test(drain_that_leaves_nobody_warns),
		cmocka_unit_test(what_holds_is_shown),
		cmocka_unit_test(weights_are_set_and_reset),
		cmocka_unit_test(what_is_missing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
