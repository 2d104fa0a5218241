// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_fixture.h"

static void names_have_a_form(void **state)
{
	static const struct {
		const char *name;
		bool valid;
	} cases[] = {
		{"a", true},
		{"0", true},
		{"web-1", true},
		{"a--b", true},
		{"", false},
		{"-a", false},
		{"a-", false},
		{"A", false},
		{"a_b", false},
		{"a.b", false},
		{"a/b", false},
		{"ä", false},
		{"a b", false},
		{"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg", true},
		{"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg", false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (object_name_valid(cases[i].name) != cases[i].valid)
			fail_msg("\"%s\"", cases[i].name);
	}
}

static void paths_are_those_of_the_document(void **state)
{
	char buf[OBJECT_PATH_MAX];
	(void)state;
	assert_string_equal(object_path_format(&(struct object_path){OBJECT_ZONE, NULL, "a"}, buf),
			    "zones/a");
	assert_string_equal(
		object_path_format(&(struct object_path){OBJECT_SERVER, "web", "w1"}, buf),
		"server_groups/web/servers/w1");
	assert_string_equal(
		object_path_format(&(struct object_path){OBJECT_LB_ZONE, "shop", "a"}, buf),
		"load_balancers/shop/zones/a");
	assert_string_equal(
		object_path_format(&(struct object_path){OBJECT_LISTENER, "shop", "l"}, buf),
		"load_balancers/shop/listeners/l");
	assert_string_equal(object_kind_name(OBJECT_LB_ZONE), "lb_zone");
	assert_string_equal(object_collection_name(OBJECT_LISTENER), "listeners");
	assert_int_equal(object_parent_kind(OBJECT_SERVER), OBJECT_SERVER_GROUP);
	assert_int_equal(object_parent_kind(OBJECT_ZONE), OBJECT_KIND_COUNT);
}

static struct object *group(void)
{
	struct err e = {0};
	struct object *o = NULL;
	json_t *body = fixture_json("{'protocol':'tcp','servers':{'b':{'address':'10.0.0.2'},"
				    "'a':{'address':'10.0.0.1','zone':'za'}}}");
	if (object_decode(OBJECT_SERVER_GROUP, "g", body, "", &e, &o) < 0)
		fail_msg("%s", err_first(&e));
	json_decref(body);
	return o;
}

static void children_are_sorted_and_shared(void **state)
{
	(void)state;
	struct object *o = group();
	struct vec *servers = object_children(o, OBJECT_SERVER);
	assert_int_equal(servers->count, 2);
	struct object *a = servers->items[0];
	assert_string_equal(a->name, "a");
	assert_null(object_children(o, OBJECT_LISTENER));
	assert_null(object_children(a, OBJECT_SERVER));
	struct object *copy = object_copy(o);
	assert_int_equal(a->refs, 2);
	assert_ptr_equal(object_children(copy, OBJECT_SERVER)->items[0], a);
	struct object *row = object_copy_row(o);
	assert_int_equal(object_children(row, OBJECT_SERVER)->count, 0);
	assert_true(object_equal_row(o, row));
	object_unref(o);
	assert_int_equal(a->refs, 1);
	assert_string_equal(((struct server *)a)->zone, "za");
	object_unref(copy);
	object_unref(row);
	object_unref(NULL);
}

static void references_are_counted(void **state)
{
	(void)state;
	struct object *o = group();
	assert_ptr_equal(object_ref(o), o);
	assert_int_equal(o->refs, 2);
	object_unref(o);
	assert_int_equal(o->refs, 1);
	object_unref(o);
}

static void count_parents(void *ctx, const struct object *parent, const struct object *o,
			  json_t *json)
{
	unsigned *count = ctx;
	assert_non_null(json_object_get(json, "uid"));
	count[parent ? 1 : 0]++;
	if (o->kind == OBJECT_SERVER)
		assert_string_equal(parent->name, "g");
	json_object_set_new(json, "status", json_object());
}

static void readers_get_more_than_writers_give(void **state)
{
	unsigned count[2] = {0};
	(void)state;
	struct object *o = group();
	o->uid = 0x1f;
	o->revision = 5;
	o->created_wall = USEC_PER_SEC;
	json_t *plain = object_encode(o, NULL, NULL);
	assert_null(json_object_get(plain, "uid"));
	assert_int_equal(json_object_size(json_object_get(plain, "servers")), 2);
	json_t *full = object_encode(o, count_parents, count);
	assert_int_equal(count[0], 1);
	assert_int_equal(count[1], 2);
	assert_string_equal(json_string_value(json_object_get(full, "uid")), "000000000000001f");
	assert_int_equal(json_integer_value(json_object_get(full, "revision")), 5);
	assert_string_equal(json_string_value(json_object_get(full, "created_at")),
			    "1970-01-01T00:00:01.000Z");
	assert_true(json_is_null(json_object_get(full, "updated_at")));
	json_t *row = object_encode_row(o);
	assert_null(json_object_get(row, "servers"));
	// and a write takes what a reader got
	struct err e = {0};
	struct object *again = NULL;
	assert_int_equal(object_decode(OBJECT_SERVER_GROUP, "g", full, "", &e, &again), 0);
	assert_true(object_equal_row(o, again));
	object_unref(again);
	json_decref(row);
	json_decref(plain);
	json_decref(full);
	object_unref(o);
}

static void partial_objects_know_their_faults(void **state)
{
	struct err e = {0};
	(void)state;
	json_t *body = fixture_json(
		"{'protocol':'tcp','servers':{'a':{'address':'x','port':80},'b':{}}}");
	struct object_source source = {
		.kind = OBJECT_SERVER_GROUP, .name = "g", .body = body, .pointer = ""};
	struct object *o = object_decode_partial(&source, &e);
	assert_int_equal(e.total, 2);
	assert_int_equal(o->faulty, 0);
	const struct server *a = object_children(o, OBJECT_SERVER)->items[0];
	assert_true(a->o.faulty != 0);
	assert_int_equal(a->port, 80);
	err_clear(&e);
	json_decref(body);
	object_unref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_have_a_form),
		cmocka_unit_test(paths_are_those_of_the_document),
		cmocka_unit_test(children_are_sorted_and_shared),
		cmocka_unit_test(references_are_counted),
		cmocka_unit_test(readers_get_more_than_writers_give),
		cmocka_unit_test(partial_objects_know_their_faults),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
