// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

#define HISTORY "/api/v1/server-groups/web/servers/w1/health/history"
#define DOWN                                                                                    \
	"{\"from\":\"healthy\",\"to\":\"unhealthy\",\"reason_code\":\"connect_refused\","       \
	"\"detail\":\"10.0.0.1:8080 refused the connection after 0.4 ms\",\"lasted_ms\":60000," \
	"\"recent\":[[\"connect_refused\",417],[\"none\",1077],[\"prober_error\",1],[\"what\",2]]}"
#define UP                                                                     \
	"{\"from\":\"unhealthy\",\"to\":\"healthy\",\"reason_code\":\"none\"," \
	"\"detail\":\"passed\",\"lasted_ms\":9000,\"recent\":[]}"

static void note_all(struct rig *rig)
{
	rig_note(rig, "event", "daemon", 1000000, "{\"event\":\"daemon.started\"}");
	rig_note(rig, "transition", "web/w1", 2000000, DOWN);
	rig_note(rig, "transition", "web/w2", 2500000, DOWN);
	rig_note(rig, "event", "daemon", 3000000, "{\"event\":\"daemon.stopped\"}");
	rig_note(rig, "event", "daemon", 9000000, "{\"event\":\"daemon.started\"}");
	rig_note(rig, "transition", "web/w1", 9500000, UP);
}

/* The events of an answer in one line. */
static char *events(const struct answer *a)
{
	char *text = mem_strdup("");
	json_t *item;
	size_t i;

	json_array_foreach (answer_at(a, "items"), i, item) {
		char *more = mem_printf("%s%s ", text,
					json_string_value(json_object_get(item, "event")));

		free(text);
		text = more;
	}
	return text;
}

/* Newest first, each transition whole, and the time in which nobody looked. The engine itself writes that it started. */
static void history_shows_transitions_and_gaps(void **state)
{
	struct rig rig = {0};

	(void)state;
	note_all(&rig);
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, HISTORY "?cursor=7");
	AUTO_FREE char *line = events(&a);

	assert_int_equal(a.status, 200);
	assert_string_equal(line,
			    "transition daemon.started daemon.stopped transition daemon.started ");
	assert_true(json_is_null(answer_at(&a, "next_cursor")));
	assert_string_equal(answer_text_at(&a, "items.0.at"), "1970-01-01T00:00:09.500Z");
	assert_string_equal(answer_text_at(&a, "items.0.to"), "healthy");
	assert_string_equal(answer_text_at(&a, "items.3.reason_code"), "connect_refused");
	assert_int_equal(answer_number_at(&a, "items.3.lasted_ms"), 60000);
	assert_int_equal(json_array_size(answer_at(&a, "items.3.recent")), 3);
	assert_string_equal(answer_text_at(&a, "items.3.recent.0.result"), "fail");
	assert_string_equal(answer_text_at(&a, "items.3.recent.1.result"), "pass");
	assert_string_equal(answer_text_at(&a, "items.3.recent.2.result"), "error");
	assert_non_null(strstr(a.body, "\"duration_ms\":1.077}"));
	assert_null(answer_at(&a, "items.1.recent"));
	rig_end(&rig);
}

static void history_comes_in_pages(void **state)
{
	static const char *const pages[] = {"transition daemon.started ",
					    "daemon.stopped transition ", "daemon.started "};
	char cursor[32] = "7";
	struct rig rig = {0};

	(void)state;
	note_all(&rig);
	rig_start(&rig, 0);
	rig_load(&rig);
	for (size_t i = 0; i < 3; i++) {
		AUTO_FREE char *path = mem_printf(HISTORY "?limit=2&cursor=%s", cursor);
		AUTO_REPLY struct answer a = rig_get(&rig, path);
		AUTO_FREE char *line = events(&a);

		assert_string_equal(line, pages[i]);
		assert_int_equal(json_is_null(answer_at(&a, "next_cursor")), i == 2);
		snprintf(cursor, sizeof(cursor), "%s", answer_text(&a, "next_cursor"));
	}
	AUTO_REPLY struct answer bad = rig_get(&rig, HISTORY "?cursor=x");
	assert_int_equal(bad.status, 400);
	AUTO_REPLY struct answer many = rig_get(&rig, HISTORY "?limit=1001");
	assert_int_equal(many.status, 400);
	rig_end(&rig);
}

static void history_of_what_is_gone_or_never_was(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_note(&rig, "transition", "web/old", 2000000, DOWN);
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer gone = rig_get(
		&rig, "/api/v1/server-groups/web/servers/old/health/history");
	assert_int_equal(gone.status, 200);
	AUTO_REPLY struct answer none = rig_get(
		&rig, "/api/v1/server-groups/web/servers/never/health/history");
	assert_int_equal(none.status, 404);
	AUTO_REPLY struct answer quiet = rig_get(&rig, HISTORY);
	assert_int_equal(quiet.status, 200); /* configured, and nothing has happened */
	rig_end(&rig);
}

static void history_needs_the_store(void **state)
{
	struct rig rig = {.fail_queries = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, HISTORY);
	assert_int_equal(a.status, 503);
	assert_string_equal(answer_text(&a, "type"), "store-unavailable");
	assert_non_null(strstr(answer_text(&a, "detail"), "the disk is gone"));
	rig_end(&rig);
}

/* Who was killed told of no end: the next start says so, in the history and as an event. */
static void an_end_without_a_stop_is_told(void **state)
{
	static const struct {
		const char *former, *detail;
		bool unclean;
	} cases[] = {
		{"\"running\"", "after it had ended without a stop: it runs", true},
		{"\"stopped\"", "it runs", false},
		{"null", "it runs", false}, /* the first start of all */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig = {.former = cases[i].former};

		rig_start(&rig, 0);
		rig_load(&rig);
		AUTO_REPLY struct answer events = rig_get(&rig,
							  "/api/v1/events?type=daemon.started");
		assert_int_equal(json_array_size(answer_at(&events, "items")), 1);
		assert_string_equal(answer_text_at(&events, "items.0.detail"), cases[i].detail);
		assert_string_equal(answer_text_at(&events, "items.0.severity"),
				    cases[i].unclean ? "warning" : "notice");
		assert_int_equal(json_is_true(answer_at(&events, "items.0.data.unclean")),
				 cases[i].unclean);
		AUTO_REPLY struct answer history = rig_get(&rig, HISTORY);
		assert_string_equal(answer_text_at(&history, "items.0.event"), "daemon.started");
		assert_int_equal(json_is_true(answer_at(&history, "items.0.unclean")),
				 cases[i].unclean);
		rig_end(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(history_shows_transitions_and_gaps),
		cmocka_unit_test(an_end_without_a_stop_is_told),
		cmocka_unit_test(history_comes_in_pages),
		cmocka_unit_test(history_of_what_is_gone_or_never_was),
		cmocka_unit_test(history_needs_the_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
