// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/change_entries.h"

#include "entries_fixture.h"

#define LIST                                                                       \
	"{'access_lists':{'a':{'entries':[{'cidr':'10.0.0.0/8','action':'allow'}," \
	"{'cidr':'192.0.2.0/24','action':'deny','comment':'c'}]}}}"

static void entries_are_added_and_removed(void **state)
{
	static const struct {
		const char *body;
		const char *after; /* NULL: refused */
		const char *faults;
	} cases[] = {
		{"{}", "+10.0.0.0/8 -192.0.2.0/24#c", ""},
		{"{'add':[{'cidr':'10.1.0.0/16','action':'deny'}],'remove':['192.0.2.0/24']}",
		 "+10.0.0.0/8 -10.1.0.0/16", ""},
		{"{'add':[{'cidr':'192.0.2.0/24','action':'allow'}]}", "+10.0.0.0/8 +192.0.2.0/24",
		 ""},
		{"[]", NULL, "wrong_type \n"},
		{"{'add':{},'remove':1,'rename':2}", NULL,
		 "wrong_type /add\nwrong_type /remove\nunknown_member /rename\n"},
		{"{'add':[{'cidr':'1.2.3.4/8','action':'deny'},{'action':'deny'}],"
		 "'remove':['10.0.0.0/9',7,'x','::/0']}",
		 NULL,
		 "bad_format /add/0/cidr\nmissing_member /add/1/cidr\nunknown_reference /remove/0\n"
		 "wrong_type /remove/1\nbad_format /remove/2\nout_of_range /remove/3\n"},
		{"{'add':[{'cidr':'10.0.0.0/8','action':'deny'},{'cidr':'10.0.0.0/8','action':'deny'}],"
		 "'remove':['10.0.0.0/8']}",
		 NULL, "duplicate /add/1/cidr\nduplicate /remove/0\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct entries *base = entries_fixture_list("+10.0.0.0/8 -192.0.2.0/24#c");
		json_t *body = fixture_json(cases[i].body);
		struct err e = {0};
		struct entries *after = change_entries_patch(base, body, &e);
		fixture_expect_faults(&e, cases[i].faults, cases[i].body);
		if (cases[i].after)
			entries_fixture_expect(after, cases[i].after);
		entries_unref(after);
		entries_unref(base);
		json_decref(body);
	}
}

/* Builds the change of list a. Returns the batch, or NULL with the faults. */
static struct batch *build(const struct snapshot *base, struct change_request r, struct err *e,
			   struct snapshot **ret)
{
	struct batch *b = NULL;
	r.path = (struct object_path){OBJECT_ACCESS_LIST, NULL, "a"};
	r.uid_seed = 9;
	return change_build(base, &r, e, &b, ret) < 0 ? NULL : b;
}

static const struct access_list *list_of(const struct snapshot *s)
{
	return snapshot_find_access_list(s, "a");
}

static void change_of_entries_is_one_of_the_list(void **state)
{
	struct snapshot *base = fixture_snapshot(fixture_json(LIST)), *next = NULL;
	struct err e = {0};
	(void)state;
	json_t *body = fixture_json("{'remove':['10.0.0.0/8']}");
	struct change_request r = {.verb = CHANGE_PATCH, .target = CHANGE_ENTRIES, .body = body};
	struct batch *b = build(base, r, &e, &next);
	assert_non_null(b);
	assert_int_equal(b->count, 1);
	assert_int_equal(list_of(next)->o.uid, list_of(base)->o.uid);
	entries_fixture_expect(list_of(next)->entries, "-192.0.2.0/24#c");
	snapshot_unref(next);
	batch_free(b);

	r.if_match = "\"x\"";
	assert_null(build(base, r, &e, &next));
	fixture_expect_faults(&e, "conflict \n", "If-Match");
	r.if_match = NULL;

	struct entries *same = entries_fixture_list("-192.0.2.0/24#c +10.0.0.0/8");
	r = (struct change_request){.verb = CHANGE_PUT, .target = CHANGE_ENTRIES, .entries = same};
	b = build(base, r, &e, &next);
	assert_int_equal(b->count, 0);
	assert_ptr_equal(list_of(next)->entries, list_of(base)->entries);
	snapshot_unref(next);
	batch_free(b);
	entries_unref(same);
	json_decref(body);
	snapshot_unref(base);

	base = fixture_snapshot(fixture_json("{}"));
	assert_null(build(base,
			  (struct change_request){.verb = CHANGE_PUT, .target = CHANGE_ENTRIES}, &e,
			  &next));
	fixture_expect_faults(&e, "not_found \n", "no such list");
	snapshot_unref(base);
}

/* A list that is too long for the document: it is sent back by its hash. */
static void hash_stands_for_the_entries(void **state)
{
	struct snapshot *base = fixture_snapshot(fixture_json(LIST)), *big = NULL, *next = NULL;
	struct entries *many = entries_fixture_many(MODEL_ENTRIES_SHOWN_MAX + 1);
	struct err e = {0};
	(void)state;
	struct batch *b = build(base,
				(struct change_request){.verb = CHANGE_PUT,
							.target = CHANGE_ENTRIES,
							.entries = many},
				&e, &big);
	batch_free(b);
	json_t *document = snapshot_encode(big, NULL, NULL);
	json_t *list = json_object_get(json_object_get(document, "access_lists"), "a");
	assert_null(json_object_get(list, "entries"));
	assert_int_equal(json_integer_value(json_object_get(list, "entry_count")),
			 MODEL_ENTRIES_SHOWN_MAX + 1);
	struct change_request put = {
		.verb = CHANGE_PUT, .target = CHANGE_DOCUMENT, .body = document};
	b = build(big, put, &e, &next);
	assert_non_null(b);
	assert_int_equal(b->count, 0);
	batch_free(b);
	snapshot_unref(next);
	/* The same of the list itself, and of a patch beside them. */
	json_object_set_new(list, "description", json_string("new"));
	put.target = CHANGE_OBJECT;
	put.body = list;
	for (put.verb = CHANGE_PUT; put.verb <= CHANGE_PATCH; put.verb++) {
		b = build(big, put, &e, &next);
		assert_int_equal(b->count, 1);
		assert_ptr_equal(list_of(next)->entries, list_of(big)->entries);
		batch_free(b);
		snapshot_unref(next);
	}
	json_t *patch = fixture_json("{'default_action':'allow'}");
	put.verb = CHANGE_PATCH;
	put.body = patch;
	b = build(big, put, &e, &next);
	assert_ptr_equal(list_of(next)->entries, list_of(big)->entries);
	batch_free(b);
	snapshot_unref(next);
	json_decref(patch);
	patch = fixture_json("{'entries':null}");
	put.body = patch;
	b = build(big, put, &e, &next);
	assert_int_equal(entries_count(list_of(next)->entries), 0);
	batch_free(b);
	snapshot_unref(next);
	json_decref(patch);
	/* Of another list it stands for nothing. */
	put = (struct change_request){
		.verb = CHANGE_PUT, .target = CHANGE_DOCUMENT, .body = document};
	assert_null(build(base, put, &e, &next));
	fixture_expect_faults(&e, "unknown_reference /access_lists/a/entries_hash\n", "hash");
	/* With entries it says nothing. */
	json_object_set_new(list, "entries", json_array());
	b = build(base, put, &e, &next);
	assert_int_equal(entries_count(list_of(next)->entries), 0);
	batch_free(b);
	snapshot_unref(next);
	json_decref(document);
	entries_unref(many);
	snapshot_unref(big);
	snapshot_unref(base);
}

/* Sent again with one entry changed, it shares the rest with what stands. */
static void chunks_are_shared_with_what_stands(void **state)
{
	struct snapshot *base = fixture_snapshot(fixture_json(LIST)), *big = NULL, *next = NULL;
	struct entries *many = entries_fixture_many(20000), *again = entries_fixture_many(20000);
	struct entries *edited = entries_fixture_edit(again, "+10.1.2.3");
	struct err e = {0};
	size_t shared = 0;
	(void)state;
	struct change_request r = {.verb = CHANGE_PUT, .target = CHANGE_ENTRIES, .entries = many};
	batch_free(build(base, r, &e, &big));
	r.entries = edited;
	batch_free(build(big, r, &e, &next));
	const struct entries *a = list_of(big)->entries, *b = list_of(next)->entries;
	assert_true(entries_equal(b, edited));
	for (size_t i = 0; i < a->chunk_count; i++)
		for (size_t k = 0; k < b->chunk_count; k++)
			shared += a->chunks[i] == b->chunks[k];
	assert_int_equal(shared, a->chunk_count - 1);
	snapshot_unref(next);
	snapshot_unref(big);
	snapshot_unref(base);
	entries_unref(edited);
	entries_unref(again);
	entries_unref(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_added_and_removed),
		cmocka_unit_test(change_of_entries_is_one_of_the_list),
		cmocka_unit_test(hash_stands_for_the_entries),
		cmocka_unit_test(chunks_are_shared_with_what_stands),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
