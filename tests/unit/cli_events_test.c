// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void note(struct rig *rig, unsigned id, const char *type, const char *object)
{
	AUTO_FREE char *key = mem_printf("%u", id);
	AUTO_FREE char *value = mem_printf(
		"{\"id\":\"%u\",\"at\":\"2026-01-02T03:04:05.678Z\",\"type\":\"%s\",\"object\":\"%s\","
		"\"severity\":\"notice\",\"detail\":\"number %u\",\"data\":{}}",
		id, type, object, id);

	rig_note(rig, STORE_EVENT_KIND, key, USEC_PER_SEC, value);
}

static void events_are_shown_oldest_first(void **state)
{
	struct cli_options o = {.type = "shift.*"},
			   json = {.type = "shift.*", .format = FORMAT_JSON},
			   few = {.type = "shift.*", .limit = "1"};
	struct rig rig = {0};
	const char *first, *second;

	(void)state;
	note(&rig, 10, "shift.started", "zones/za");
	note(&rig, 20, "shift.expired", "zones/zb");
	note(&rig, 30, "drain.ended", "");
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome all = cli_rig_run(&rig, cli_events_show, 1, &o,
						      WORDS("events"));
	assert_int_equal(all.exit, EXIT_OK);
	assert_contains(all.out, "2026-01-02T03:04:05  notice");
	first = strstr(all.out, "number 10");
	second = strstr(all.out, "number 20");
	assert_true(first && second && first < second);
	assert_null(strstr(all.out, "number 30"));
	AUTO_OUTCOME struct outcome one = cli_rig_run(&rig, cli_events_show, 1, &few,
						      WORDS("events"));
	assert_null(strstr(one.out, "number 10"));
	assert_contains(one.out, "number 20");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_events_show, 1, &json,
						      WORDS("events", "zones/zb"));
	assert_int_equal(json_array_size(raw.json), 1);
	rig_end(&rig);
}

static void what_is_wrong_is_said(void **state)
{
	struct cli_options since = {.since = "yesterday"}, limit = {.limit = "many"},
			   none = {.limit = "0"}, type = {.type = "nothing"};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_events_show, 1, &since,
						    WORDS("events"));
	assert_int_equal(a.exit, EXIT_USAGE);
	assert_contains(a.err, "--since \"yesterday\"");
	AUTO_OUTCOME struct outcome b = cli_rig_run(&rig, cli_events_show, 1, &limit,
						    WORDS("events"));
	assert_int_equal(b.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome zero = cli_rig_run(&rig, cli_events_show, 1, &none,
						       WORDS("events"));
	assert_int_equal(zero.exit, EXIT_USAGE);
	assert_contains(zero.err, "--limit \"0\": a number from 1 to ");
	AUTO_OUTCOME struct outcome c = cli_rig_run(&rig, cli_events_show, 1, &type,
						    WORDS("events"));
	assert_int_equal(c.exit, EXIT_INVALID);
	assert_contains(c.err, "\"nothing\" is no type of event");
	rig_end(&rig);
}

/* Refused while it follows: it ends, and says why. */
static void following_ends_when_it_is_refused(void **state)
{
	struct cli_options o = {.follow = true, .type = "shift.*"};
	struct rig rig = {0};

	(void)state;
	note(&rig, 10, "shift.started", "zones/za");
	/* An id that no event can have: the stream is refused. */
	rig_note(&rig, STORE_EVENT_KIND, "20", USEC_PER_SEC,
		 "{\"id\":\"x20\",\"at\":\"2026-01-02T03:04:05.678Z\",\"type\":\"shift.expired\","
		 "\"object\":\"\",\"severity\":\"notice\",\"detail\":\"number 20\",\"data\":{}}");
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_events_show, 1, &o, WORDS("events"));
	assert_int_equal(a.exit, EXIT_INVALID);
	assert_contains(
		a.out, "2026-01-02T03:04:05 notice   shift.started          zones/za: number 10\n");
	assert_contains(a.err, "Last-Event-ID");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_shown_oldest_first),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(following_ends_when_it_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
