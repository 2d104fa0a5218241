// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/store_load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sqlite3.h>

#include "opened_store.h"
#include "store/store_db.h"
#include "store/store_file.h"

static struct object *decode(enum object_kind kind, const char *name, const char *body)
{
	AUTO_ERR struct err e = {0};
	json_t *json = json_loads(body, 0, NULL);
	struct object *o = NULL;

	assert_non_null(json);
	if (object_decode(kind, name, json, "", &e, &o) < 0)
		fail_msg("%s", err_first(&e));
	json_decref(json);
	o->revision = 1;
	return o;
}

static void add(struct batch *b, const char *parent, struct object *o)
{
	batch_add(b, parent, NULL, o);
	object_unref(o);
}

/* One of every kind, children in an order that is not sorted. */
static struct batch *document(void)
{
	struct batch *b = batch_new();

	b->revision = 1;
	b->wall = FIXTURE_WALL;
	add(b, NULL, store_fixture_zone("zone-b", "second", 1));
	add(b, NULL, store_fixture_zone("zone-a", "first \"quoted\" \xc3\xa9", 1));
	add(b, NULL, decode(OBJECT_SERVER_GROUP, "web", "{\"protocol\":\"tcp\"}"));
	add(b, "web", decode(OBJECT_SERVER, "web-2", "{\"address\":\"10.0.0.2\",\"port\":80}"));
	add(b, "web",
	    decode(OBJECT_SERVER, "web-1", "{\"address\":\"10.0.0.1\",\"port\":80,\"weight\":7}"));
	add(b, NULL, decode(OBJECT_LOAD_BALANCER, "shop", "{}"));
	add(b, "shop", decode(OBJECT_LB_ZONE, "zone-a", "{\"vip4\":\"192.0.2.10\"}"));
	add(b, "shop",
	    decode(OBJECT_LISTENER, "http",
		   "{\"protocol\":\"tcp\",\"port\":80,\"server_group\":\"web\"}"));
	return b;
}

static void empty_store_loads(void **state)
{
	struct opened_store o = opened_store_make(state);
	struct snapshot *s = opened_store_load(&o);

	assert_int_equal(s->revision, 0);
	assert_int_equal(s->zones.count, 0);
	snapshot_unref(s);
	store_db_free(o.db);
}

static void document_survives(void **state)
{
	struct opened_store o = opened_store_make(state);
	struct batch *b = document();
	struct snapshot *empty = snapshot_new();
	struct snapshot *want = snapshot_apply(empty, b);
	struct snapshot *got;
	json_t *want_json = snapshot_encode(want, NULL, NULL);
	json_t *got_json;

	opened_store_commit(&o, b);
	store_db_free(o.db);
	o = opened_store_make(state);
	got = opened_store_load(&o);
	got_json = snapshot_encode(got, NULL, NULL);
	assert_true(json_equal(want_json, got_json));
	assert_int_equal(json_object_size(json_object_get(got_json, "zones")), 2);
	assert_int_equal(got->revision, 1);
	assert_int_equal(got->updated_wall, FIXTURE_WALL);
	assert_string_equal(((struct zone *)got->zones.items[0])->o.name, "zone-a");
	assert_int_equal(snapshot_find_server(snapshot_find_group(got, "web"), "web-1")->weight, 7);
	json_decref(want_json);
	json_decref(got_json);
	snapshot_unref(empty);
	snapshot_unref(want);
	snapshot_unref(got);
	store_db_free(o.db);
}

static void expect_damaged(const struct opened_store *o, const char *part)
{
	AUTO_ERR struct err e = {0};
	struct snapshot *s = NULL;

	assert_int_equal(store_load_snapshot(o->raw, o->fixture->path, &e, &s), -EBADMSG);
	assert_null(s);
	assert_int_equal(e.faults[0].code, ERR_SYNTAX);
	assert_non_null(strstr(err_first(&e), o->fixture->path));
	if (!strstr(err_first(&e), part))
		fail_msg("no \"%s\" in: %s", part, err_first(&e));
}

static void rows_that_do_not_decode_are_refused(void **state)
{
	struct opened_store o = opened_store_make(state);

	opened_store_commit(&o, document());
	opened_store_exec(&o, "UPDATE objects SET body = '{' WHERE name = 'web-1'");
	expect_damaged(&o, "server_groups/web/servers/web-1: not JSON");
	opened_store_exec(
		&o,
		"UPDATE objects SET body = '{\"address\":\"10.0.0.1\",\"wheels\":4}' WHERE name = 'web-1'");
	expect_damaged(&o, "wheels");
	opened_store_exec(&o, "DELETE FROM objects WHERE name = 'web-1'");
	opened_store_exec(&o, "UPDATE objects SET parent = 'gone' WHERE name = 'web-2'");
	expect_damaged(&o, "its parent is missing");
	opened_store_exec(
		&o, "UPDATE objects SET kind = 'teapot', parent = 'web' WHERE name = 'web-2'");
	expect_damaged(&o, "unknown kind");
	store_db_free(o.db);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, store_fixture_make, store_fixture_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(empty_store_loads),
		TEST(document_survives),
		TEST(rows_that_do_not_decode_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
