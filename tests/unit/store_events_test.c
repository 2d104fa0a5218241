// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/store_events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>
#include <string.h>

#include "base/mem.h"
#include "store/store.h"

static sqlite3 *open_db(void)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	/* Twice: it is asked for at every start. */
	assert_int_equal(sqlite3_exec(db, store_events_schema, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, store_events_schema, NULL, NULL, NULL), SQLITE_OK);
	return db;
}

static void add(struct store_events *v, uint64_t id, usec_t wall, const char *type,
		const char *object)
{
	AUTO_FREE char *key = mem_printf("%llu", (unsigned long long)id);
	AUTO_FREE char *value = mem_printf("{\"type\":\"%s\",\"object\":\"%s\"}", type, object);
	const struct store_row row = {
		.kind = STORE_EVENT_KIND, .key = key, .value = value, .wall = wall};

	assert_int_equal(store_events_add(v, &row), 0);
}

/* Sum of the ids, so that a test says which ones. */
static int64_t found(sqlite3 *db, const struct store_query *q)
{
	sqlite3_stmt *stmt = store_events_select(db, q);
	int64_t sum = 0, last = q->events.forward ? 0 : INT64_MAX;

	assert_non_null(stmt);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(stmt, 0);

		assert_true(q->events.forward ? id > last : id < last);
		last = id;
		sum += id;
	}
	sqlite3_finalize(stmt);
	return sum;
}

static void events_are_found_by_what_is_asked_for(void **state)
{
	sqlite3 *db = open_db();
	struct store_events *v = store_events_new(db);
	struct store_query q = {.what = STORE_EVENTS, .limit = 100};
	uint64_t last = 7;

	(void)state;
	assert_int_equal(store_events_last(v, &last), 0);
	assert_int_equal(last, 0);
	add(v, 1, 1000, "server.health_changed", "server_groups/web/servers/w1");
	add(v, 10, 2000, "server.prober_error", "server_groups/web2/servers/w1");
	add(v, 100, 3000, "shift.started", "zones/za");
	add(v, 1000, 4000, "drain.ended", "");
	add(v, 1000, 5000, "drain.ended", ""); /* once more: the commit was tried again */
	assert_int_equal(store_events_last(v, &last), 0);
	assert_int_equal(last, 1000);
	assert_int_equal(found(db, &q), 1111);
	q.events.types = "server.*";
	assert_int_equal(found(db, &q), 11);
	q.events.types = "server.health_changed,drain.ended";
	assert_int_equal(found(db, &q), 1001);
	q.events.types = "server.health";
	assert_int_equal(found(db, &q), 0);
	q.events.types = NULL;
	q.events.object = "server_groups/web";
	assert_int_equal(found(db, &q), 1);
	q.events.object = NULL;
	q.events.since_wall = 2000;
	q.events.until_wall = 4000;
	assert_int_equal(found(db, &q), 110);
	q.events.since_wall = q.events.until_wall = 0;
	q.before = 100;
	assert_int_equal(found(db, &q), 11);
	q.before = 0;
	q.after = 10;
	q.events.forward = true;
	assert_int_equal(found(db, &q), 1110);
	q.limit = 2;
	assert_int_equal(found(db, &q), 110);
	store_events_free(v);
	sqlite3_close(db);
}

static void events_are_bounded(void **state)
{
	sqlite3 *db = open_db();
	struct store_events *v = store_events_new(db);
	struct store_query q = {.what = STORE_EVENTS, .limit = 1, .events = {.forward = true}};

	(void)state;
	assert_int_equal(sqlite3_exec(db, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
	for (uint64_t i = 1; i <= STORE_EVENTS_MAX + 500; i++)
		add(v, i, 1000, "shift.started", "");
	assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	assert_in_range(found(db, &q), 500, 502);
	/* What is older than a week goes with each that is added, two at a time. */
	add(v, STORE_EVENTS_MAX + 1000, STORE_EVENTS_DAYS * 86400ULL * USEC_PER_SEC + 2000,
	    "shift.started", "");
	assert_in_range(found(db, &q), 502, 504);
	store_events_free(v);
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_found_by_what_is_asked_for),
		cmocka_unit_test(events_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
