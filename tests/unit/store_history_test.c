// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/store_history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opened_store.h"

static json_t *ask(const struct opened_store *o, const struct store_query *q)
{
	AUTO_ERR struct err e = {0};
	json_t *items = NULL;

	if (store_db_query(o->db, q, &e, &items))
		fail_msg("%s", err_first(&e));
	return items;
}

static const char *text_at(const json_t *items, size_t index, const char *member)
{
	return json_string_value(json_object_get(json_array_get(items, index), member));
}

static json_int_t number_at(const json_t *items, size_t index, const char *member)
{
	return json_integer_value(json_object_get(json_array_get(items, index), member));
}

static struct batch *removal(const char *name, uint64_t revision)
{
	struct batch *b = batch_new();
	struct object *z = store_fixture_zone(name, "rev 3", revision - 1);

	b->revision = revision;
	b->who = mem_strdup("root");
	b->via = mem_strdup("api");
	batch_add(b, NULL, z, NULL);
	object_unref(z);
	return b;
}

/* Zone a: made by 1, changed by 2 and 3, removed by 4. */
static struct opened_store with_four(void **state)
{
	struct opened_store o = opened_store_make(state);

	for (uint64_t revision = 1; revision <= 3; revision++)
		opened_store_commit(&o, store_fixture_batch("a", revision));
	opened_store_commit(&o, removal("a", 4));
	return o;
}

static void revisions_count_their_changes(void **state)
{
	struct opened_store o = with_four(state);
	struct store_query q = {.what = STORE_HISTORY, .limit = 3};
	json_t *items = ask(&o, &q);

	assert_int_equal(json_array_size(items), 3);
	assert_int_equal(number_at(items, 0, "revision"), 4);
	assert_int_equal(number_at(items, 0, "deleted"), 1);
	assert_int_equal(number_at(items, 0, "updated"), 0);
	assert_int_equal(number_at(items, 1, "updated"), 1);
	assert_int_equal(number_at(items, 1, "created"), 0);
	json_decref(items);
	q.before = 2;
	items = ask(&o, &q);
	assert_int_equal(json_array_size(items), 1);
	assert_int_equal(number_at(items, 0, "created"), 1);
	assert_string_equal(text_at(items, 0, "who"), "root");
	json_decref(items);
	store_db_free(o.db);
}

/* The oldest change of a place has what stood before all of them. */
static void undo_has_each_place_once(void **state)
{
	struct opened_store o = with_four(state);
	struct store_query q = {.what = STORE_UNDO, .after = 1};
	json_t *items = ask(&o, &q);

	assert_int_equal(json_array_size(items), 1);
	assert_non_null(strstr(text_at(items, 0, "old"), "rev 1"));
	assert_string_equal(text_at(items, 0, "kind"), "zone");
	json_decref(items);
	q.after = 0;
	items = ask(&o, &q);
	assert_int_equal(json_array_size(items), 1);
	assert_null(text_at(items, 0, "old")); /* it was not there */
	json_decref(items);
	q.after = 2;
	q.before = 3;
	items = ask(&o, &q);
	assert_non_null(strstr(text_at(items, 0, "old"), "rev 2"));
	json_decref(items);
	q.before = 0;
	q.after = 4;
	items = ask(&o, &q);
	assert_int_equal(json_array_size(items), 0);
	json_decref(items);
	store_db_free(o.db);
}

static void expect_not_kept(const struct opened_store *o, uint64_t revision)
{
	const struct store_query q = {.what = STORE_UNDO, .after = revision};
	AUTO_ERR struct err e = {0};
	json_t *items = NULL;

	assert_int_not_equal(store_db_query(o->db, &q, &e, &items), 0);
	assert_int_equal(e.faults[0].code, ERR_NOT_FOUND);
	assert_null(items);
}

/* With a part of the changes gone a wrong document would come out. */
static void undo_needs_all_changes_since(void **state)
{
	struct opened_store o = with_four(state);
	const struct store_query q = {.what = STORE_UNDO, .after = 3};

	expect_not_kept(&o, 5);
	opened_store_exec(&o, "DELETE FROM changes WHERE revision <= 2;"
			      "DELETE FROM revisions WHERE revision <= 2");
	expect_not_kept(&o, 0);
	expect_not_kept(&o, 1);
	expect_not_kept(&o, 2);
	json_decref(ask(&o, &q));
	store_db_free(o.db);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, store_fixture_make, store_fixture_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(revisions_count_their_changes),
		TEST(undo_has_each_place_once),
		TEST(undo_needs_all_changes_since),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
