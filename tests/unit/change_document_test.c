// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/change_document.h"

#include "model_fixture.h"

static void document_is_decoded_with_all_its_faults(void **state)
{
	static const struct {
		const char *body;
		const char *faults;
	} cases[] = {
		{"{}", ""},
		{"{'zones':{},'server_groups':{},'load_balancers':{},'revision':7,'status':{}}",
		 ""},
		{"[]", "wrong_type \n"},
		{"null", "wrong_type \n"},
		{"{'zones':[]}", "wrong_type /zones\n"},
		{"{'zone':{}}", "unknown_member /zone\n"},
		{"{'access_lists':[],'settings':{'timeouts':{'tcp_s':2147484},'teapot':1}}",
		 "wrong_type /access_lists\nout_of_range /settings/timeouts/tcp_s\n"
		 "unknown_member /settings/teapot\n"},
		{"{'zones':{'a':1,'A':{},'b':{'x':1}}}",
		 "wrong_type /zones/a\nbad_format /zones/A\nunknown_member /zones/b/x\n"},
		{"{'server_groups':{'g':{'protocol':'tcp','servers':{'s':{'address':1}}}}}",
		 "wrong_type /server_groups/g/servers/s/address\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err e = {0};
		json_t *body = fixture_json(cases[i].body);
		struct snapshot *s = change_document_decode(NULL, body, &e);
		assert_non_null(s);
		fixture_expect_faults(&e, cases[i].faults, cases[i].body);
		snapshot_unref(s);
		json_decref(body);
	}
}

static struct batch *compare(const struct snapshot *base, json_t *document, struct snapshot **ret)
{
	struct change_request r = fixture_request(CHANGE_DOCUMENT, document);
	struct err e = {0};
	struct batch *b = NULL;
	r.uid_seed = 1234;
	if (change_build(base, &r, &e, &b, ret) < 0)
		fail_msg("%s", err_first(&e));
	json_decref(document);
	return b;
}

static void same_document_changes_nothing(void **state)
{
	(void)state;
	struct snapshot *s = NULL;
	struct snapshot *base = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
	struct batch *b = compare(base, fixture_json(FIXTURE_DOCUMENT), &s);
	assert_int_equal(b->count, 0);
	assert_ptr_equal(s, base);
	batch_free(b);
	snapshot_unref(s);
	b = compare(base, snapshot_encode(base, NULL, NULL), &s);
	assert_int_equal(b->count, 0);
	batch_free(b);
	snapshot_unref(s);
	snapshot_unref(base);
}

static void what_is_equal_is_shared(void **state)
{
	(void)state;
	struct err e = {0};
	struct snapshot *base = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
	json_t *body = fixture_patched(
		"{'server_groups':{'web':{'servers':{'w1':{'weight':7}}}},'zones':{'za':{'x':1}}}");
	struct snapshot *s = change_document_decode(base, body, &e);
	struct server_group *old = snapshot_find_group(base, "web");
	struct server_group *web = snapshot_find_group(s, "web");
	assert_ptr_not_equal(web, old); /* it has children of its own */
	assert_true(web->servers.count > 1);
	for (size_t i = 0; i < web->servers.count; i++) {
		const struct server *server = web->servers.items[i];
		bool same = server == snapshot_find_server(old, server->o.name);
		assert_int_equal(same, strcmp(server->o.name, "w1") != 0);
	}
	assert_int_equal(snapshot_find_server(web, "w1")->weight, 7);
	/* What is shared is judged all the same. */
	fixture_expect_faults(&e, "unknown_member /zones/za/x\n", "a fault");
	snapshot_unref(s);
	snapshot_unref(base);
	json_decref(body);
}

static size_t place_of(const struct batch *b, enum object_kind kind, const char *name)
{
	for (size_t i = 0; i < b->count; i++) {
		if (b->changes[i].kind == kind && strcmp(b->changes[i].name, name) == 0)
			return i;
	}
	fail_msg("%s is not in the batch", name);
	return 0;
}

static void parents_stand_before_children_and_removals_last(void **state)
{
	(void)state;
	struct snapshot *s = NULL;
	struct snapshot *base = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
	struct batch *b = compare(
		base,
		fixture_patched(
			"{'zones':{'zc':{}},'server_groups':{'spare':null,"
			"'new':{'protocol':'tcp','servers':{'n':{'address':'10.3.0.1','port':1}}}}}"),
		&s);
	assert_int_equal(b->count, 5);
	size_t removed = place_of(b, OBJECT_SERVER_GROUP, "spare");
	assert_true(place_of(b, OBJECT_ZONE, "zc") < place_of(b, OBJECT_SERVER_GROUP, "new"));
	assert_true(place_of(b, OBJECT_SERVER_GROUP, "new") < place_of(b, OBJECT_SERVER, "n"));
	assert_true(place_of(b, OBJECT_SERVER, "n") < place_of(b, OBJECT_SERVER, "s1"));
	assert_true(place_of(b, OBJECT_SERVER, "s1") < removed);
	assert_int_equal(removed, 4);
	batch_free(b);
	snapshot_unref(s);
	snapshot_unref(base);
}

static json_t *large_document(int servers)
{
	json_t *document = fixture_json(FIXTURE_DOCUMENT);
	json_t *web = json_object_get(json_object_get(document, "server_groups"), "web");
	json_t *all = json_object_get(web, "servers");
	for (int i = 0; i < servers; i++) {
		char name[32];
		char address[32];
		snprintf(name, sizeof(name), "s%d", i);
		snprintf(address, sizeof(address), "10.%d.%d.%d", 10 + i / 65536, i / 256 % 256,
			 i % 256);
		json_object_set_new(all, name,
				    json_pack("{s:s, s:i, s:i, s:s, s:b}", "address", address,
					      "port", 8080, "weight", 100, "zone",
					      i % 2 ? "za" : "zb", "enabled", 1));
	}
	return document;
}

static int compare_uids(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;
	return (*x > *y) - (*x < *y);
}

static void identities_are_unique(void **state)
{
	(void)state;
	struct snapshot *s = NULL;
	struct snapshot *empty = snapshot_new();
	struct batch *b = compare(empty, large_document(3000), &s);
	assert_true(b->count > 3000);
	uint64_t *uids = mem_alloc_array(b->count, sizeof(*uids));
	for (size_t i = 0; i < b->count; i++)
		uids[i] = b->changes[i].new_object->uid;
	qsort(uids, b->count, sizeof(*uids), compare_uids);
	assert_true(uids[0] != 0);
	for (size_t i = 1; i < b->count; i++)
		assert_true(uids[i - 1] != uids[i]);
	// objects of the snapshot are those of the batch
	size_t group = place_of(b, OBJECT_SERVER_GROUP, "web");
	assert_int_equal(snapshot_find_group(s, "web")->o.uid, b->changes[group].new_object->uid);
	free(uids);
	batch_free(b);
	snapshot_unref(s);
	snapshot_unref(empty);
}

static void one_of_many_is_one_change(void **state)
{
	(void)state;
	struct snapshot *s = NULL;
	struct snapshot *base = fixture_snapshot(large_document(3000));
	json_t *document = large_document(3000);
	json_t *web = json_object_get(json_object_get(document, "server_groups"), "web");
	json_object_set_new(json_object_get(json_object_get(web, "servers"), "s77"), "weight",
			    json_integer(1));
	struct batch *b = compare(base, document, &s);
	assert_int_equal(b->count, 2);
	assert_string_equal(b->changes[0].name, "web");
	assert_string_equal(b->changes[1].name, "s77");
	const struct server_group *before = snapshot_find_group(base, "web");
	const struct server_group *after = snapshot_find_group(s, "web");
	size_t shared = 0;
	for (size_t i = 0; i < after->servers.count; i++)
		shared += before->servers.items[i] == after->servers.items[i];
	assert_int_equal(shared, before->servers.count - 1);
	batch_free(b);
	snapshot_unref(s);
	snapshot_unref(base);
}

static void changes_are_taken_back(void **state)
{
	struct change_set set;
	(void)state;
	struct snapshot *base = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
	struct batch *b = batch_new();
	change_set_init(&set, b, 1);
	change_set_touch(&set, &snapshot_find_group(base, "web")->o);
	change_set_touch(&set, &snapshot_find_group(base, "spare")->o);
	assert_int_equal(b->count, 2);
	change_set_rewind(&set, 1);
	assert_int_equal(b->count, 1);
	assert_string_equal(b->changes[0].name, "web");
	assert_true(change_set_compare(
		&set, "web", &snapshot_find_server(snapshot_find_group(base, "web"), "w1")->o,
		NULL));
	assert_int_equal(b->count, 1);
	change_set_finish(&set);
	assert_int_equal(b->count, 2);
	assert_null(b->changes[1].new_object);
	batch_free(b);
	snapshot_unref(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(document_is_decoded_with_all_its_faults),
		cmocka_unit_test(same_document_changes_nothing),
		cmocka_unit_test(what_is_equal_is_shared),
		cmocka_unit_test(parents_stand_before_children_and_removals_last),
		cmocka_unit_test(identities_are_unique),
		cmocka_unit_test(one_of_many_is_one_change),
		cmocka_unit_test(changes_are_taken_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
