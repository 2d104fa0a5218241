// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_fixture.h"

static struct object *server(const char *name, const char *address)
{
	struct err e = {0};
	struct object *o = NULL;
	json_t *body = json_pack("{s:s, s:i}", "address", address, "port", 80);
	if (object_decode(OBJECT_SERVER, name, body, "", &e, &o) < 0)
		fail_msg("%s", err_first(&e));
	json_decref(body);
	return o;
}

static struct snapshot *apply(const struct snapshot *base, struct batch *b)
{
	b->revision = base->revision + 1;
	b->wall = 5 * USEC_PER_SEC;
	struct snapshot *s = snapshot_apply(base, b);
	assert_int_equal(s->revision, b->revision);
	assert_int_equal(s->updated_wall, b->wall);
	batch_free(b);
	return s;
}

static void objects_are_found(void **state)
{
	(void)state;
	struct snapshot *s = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
	assert_string_equal(snapshot_find_zone(s, "zb")->description, "hall 2");
	assert_null(snapshot_find_zone(s, "zc"));
	struct server_group *web = snapshot_find_group(s, "web");
	assert_int_equal(snapshot_find_server(web, "w2")->weight, 50);
	assert_null(snapshot_find_server(web, "w3"));
	assert_non_null(snapshot_find_lb(s, "shop"));
	assert_null(snapshot_find_lb(s, "web"));
	struct object_path p = {OBJECT_LISTENER, "shop", "http"};
	assert_int_equal(snapshot_find(s, &p)->kind, OBJECT_LISTENER);
	p.name = "https";
	assert_null(snapshot_find(s, &p));
	p.parent = "nobody";
	assert_null(snapshot_find(s, &p));
	assert_ptr_equal(snapshot_collection(s, OBJECT_ZONE), &s->zones);
	assert_null(snapshot_collection(s, OBJECT_SERVER));
	snapshot_unref(s);
}

static void untouched_objects_are_shared(void **state)
{
	(void)state;
	struct snapshot *base = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
	struct server_group *web = snapshot_find_group(base, "web");
	struct object *row = object_copy_row(&web->o);
	struct object *w3 = server("w3", "10.0.0.3");
	struct batch *b = batch_new();
	row->revision = 9;
	batch_add(b, NULL, &web->o, row);
	batch_add(b, "web", NULL, w3);
	struct snapshot *s = apply(base, b);
	struct server_group *after = snapshot_find_group(s, "web");
	assert_ptr_not_equal(after, web);
	assert_int_equal(after->o.revision, 9);
	assert_int_equal(after->servers.count, 3);
	assert_int_equal(web->servers.count, 2);
	assert_ptr_equal(after->servers.items[0], web->servers.items[0]);
	assert_ptr_equal(after->servers.items[2], w3);
	assert_ptr_equal(snapshot_find_group(s, "spare"), snapshot_find_group(base, "spare"));
	assert_ptr_equal(snapshot_find_lb(s, "shop"), snapshot_find_lb(base, "shop"));
	// the servers of a group that is not touched are not even counted
	assert_int_equal(snapshot_find_server(snapshot_find_group(s, "spare"), "s1")->o.refs, 1);
	object_unref(row);
	object_unref(w3);
	snapshot_unref(base);
	assert_int_equal(snapshot_find_server(after, "w1")->o.refs, 1);
	snapshot_unref(s);
}

static void order_of_changes_does_not_matter(void **state)
{
	(void)state;
	struct snapshot *base = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
	struct server_group *web = snapshot_find_group(base, "web");
	struct object *row = object_copy_row(&web->o);
	struct batch *b = batch_new();
	batch_add(b, "web", &snapshot_find_server(web, "w1")->o, NULL);
	const char *const names[] = {"z", "a", "w3"};
	for (size_t i = 0; i < 3; i++) {
		struct object *o = server(names[i], "10.0.0.9");
		batch_add(b, "web", NULL, o);
		object_unref(o);
	}
	batch_add(b, NULL, &web->o, row);
	object_unref(row);
	struct snapshot *s = apply(base, b);
	struct server_group *after = snapshot_find_group(s, "web");
	const char *const expected[] = {"a", "w2", "w3", "z"};
	assert_int_equal(after->servers.count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(((struct object *)after->servers.items[i])->name, expected[i]);
	snapshot_unref(base);
	snapshot_unref(s);
}

// The store may leave the parent's row out; its revision rises all the same.
static void children_alone_touch_their_parent(void **state)
{
	(void)state;
	struct snapshot *base = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
	struct object *w3 = server("w3", "10.0.0.3");
	struct batch *b = batch_new();
	batch_add(b, "web", NULL, w3);
	batch_add(b, "nobody", NULL, w3);
	object_unref(w3);
	struct snapshot *s = apply(base, b);
	struct server_group *after = snapshot_find_group(s, "web");
	assert_int_equal(after->servers.count, 3);
	assert_int_equal(after->o.revision, s->revision);
	assert_int_equal(after->o.updated_wall, s->updated_wall);
	assert_null(snapshot_find_group(s, "nobody"));
	snapshot_unref(base);
	snapshot_unref(s);
}

static void removed_parents_take_their_children(void **state)
{
	(void)state;
	struct snapshot *base = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
	struct batch *b = batch_new();
	batch_add(b, NULL, &snapshot_find_group(base, "spare")->o, NULL);
	batch_add(b, NULL, &snapshot_find_zone(base, "zb")->o, NULL);
	struct snapshot *s = apply(base, b);
	assert_null(snapshot_find_group(s, "spare"));
	assert_null(snapshot_find_zone(s, "zb"));
	assert_int_equal(s->zones.count, 1);
	assert_int_equal(s->server_groups.count, 2);
	snapshot_unref(base);
	snapshot_unref(s);
}

// From rows alone, as the store loads them: heads and members come back, sorted.
static void rows_make_a_snapshot(void **state)
{
	(void)state;
	struct snapshot *base = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
	struct snapshot *empty = snapshot_new();
	struct batch *b = batch_new();
	for (size_t i = base->server_groups.count; i-- > 0;) {
		struct server_group *g = base->server_groups.items[i];
		for (size_t k = 0; k < g->servers.count; k++)
			batch_add(b, g->o.name, NULL, g->servers.items[k]);
		struct object *row = object_copy_row(&g->o);
		batch_add(b, NULL, NULL, row);
		object_unref(row);
	}
	struct snapshot *s = apply(empty, b);
	json_t *before = snapshot_encode(base, NULL, NULL);
	json_t *after = snapshot_encode(s, NULL, NULL);
	assert_true(json_equal(json_object_get(before, "server_groups"),
			       json_object_get(after, "server_groups")));
	assert_int_equal(snapshot_find_group(s, "web")->o.uid,
			 snapshot_find_group(base, "web")->o.uid);
	json_decref(before);
	json_decref(after);
	snapshot_unref(empty);
	snapshot_unref(base);
	snapshot_unref(s);
}

static void document_is_that_of_the_model(void **state)
{
	(void)state;
	struct snapshot *s = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
	json_t *document = snapshot_encode(s, NULL, NULL);
	assert_int_equal(json_object_size(document), 4);
	struct snapshot *again = fixture_snapshot(document);
	json_t *document_again = snapshot_encode(again, NULL, NULL);
	document = snapshot_encode(s, NULL, NULL);
	assert_true(json_equal(document, document_again));
	json_decref(document);
	json_decref(document_again);
	snapshot_unref(s);
	assert_ptr_equal(snapshot_ref(again), again);
	snapshot_unref(again);
	snapshot_unref(again);
	snapshot_unref(NULL);
}

static void batches_own_what_they_hold(void **state)
{
	(void)state;
	struct object *o = server("a", "10.0.0.1");
	struct batch *b = batch_new();
	for (int i = 0; i < 5; i++)
		batch_add(b, "g", o, o);
	assert_int_equal(o->refs, 11);
	batch_drop_last(b);
	assert_int_equal(o->refs, 9);
	assert_int_equal(b->count, 4);
	batch_add(b, NULL, NULL, o);
	assert_null(b->changes[4].parent);
	assert_string_equal(b->changes[4].name, "a");
	b->who = mem_strdup("root");
	batch_free(b);
	batch_free(NULL);
	assert_int_equal(o->refs, 1);
	object_unref(o);
}

/* Few: the caller's own copies. Many are left as they are. */
static void batches_are_renewed(void **state)
{
	(void)state;
	struct object *o = server("a", "10.0.0.1");
	struct batch *b = batch_new();
	batch_add(b, "g", NULL, o);
	batch_add(b, "g", o, NULL);
	batch_renew(b);
	assert_ptr_not_equal(b->changes[0].new_object, o);
	assert_true(object_equal_row(b->changes[0].new_object, o));
	assert_string_equal(b->changes[0].new_object->name, "a");
	assert_int_equal(b->changes[0].new_object->refs, 1);
	assert_ptr_equal(b->changes[1].old_object, o);
	assert_null(b->changes[1].new_object);
	assert_int_equal(o->refs, 2);
	while (b->count <= 512)
		batch_add(b, "g", NULL, o);
	batch_renew(b);
	assert_ptr_equal(b->changes[512].new_object, o);
	batch_free(b);
	assert_int_equal(o->refs, 1);
	object_unref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_found),
		cmocka_unit_test(untouched_objects_are_shared),
		cmocka_unit_test(order_of_changes_does_not_matter),
		cmocka_unit_test(children_alone_touch_their_parent),
		cmocka_unit_test(removed_parents_take_their_children),
		cmocka_unit_test(rows_make_a_snapshot),
		cmocka_unit_test(document_is_that_of_the_model),
		cmocka_unit_test(batches_own_what_they_hold),
		cmocka_unit_test(batches_are_renewed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
