// SPDX-License-Identifier: GPL-2.0-or-later
// Older documents out of what changed since: by hand, and over many random revisions.
#include "model/rewind.h"

#include "fake_history.h"
#include "model_fixture.h"

#define REVISIONS 60

/* What the tests go through: every document there was, and the history between them. */
struct past {
	json_t *documents[REVISIONS + 1];
	struct snapshot *now;
	struct fake_history history;
	uint64_t seed;
};

static struct past past_new(void)
{
	struct past p = {.now = snapshot_new(), .seed = 1};

	p.documents[0] = snapshot_encode(p.now, NULL, NULL);
	return p;
}

static void past_clear(struct past *p)
{
	for (size_t i = 0; i <= REVISIONS; i++)
		json_decref(p->documents[i]);
	snapshot_unref(p->now);
	fake_history_clear(&p->history);
}

/* Makes the document the next revision; false: it is the same. */
static bool past_put(struct past *p, json_t *document)
{
	struct change_request r = fixture_request(CHANGE_DOCUMENT, document);
	AUTO_ERR struct err faults = {0};
	struct snapshot *next;
	struct batch *b;
	bool changed;

	r.uid_seed = ++p->seed;
	if (change_build(p->now, &r, &faults, &b, &next))
		fail_msg("%s", err_first(&faults));
	changed = b->count > 0;
	if (changed) {
		fake_history_note(&p->history, b);
		snapshot_unref(p->now);
		p->now = next;
		p->documents[next->revision] = snapshot_encode(next, NULL, NULL);
	} else {
		snapshot_unref(next);
	}
	batch_free(b);
	json_decref(document);
	return changed;
}

static json_t *past_undo(const struct past *p, uint64_t revision)
{
	const struct store_query q = {
		.what = STORE_UNDO, .after = revision, .before = p->now->revision};
	AUTO_ERR struct err e = {0};
	json_t *undo = fake_history_query(&p->history, &q, &e);

	assert_non_null(undo);
	return undo;
}

static struct snapshot *past_rewind(const struct past *p, uint64_t revision)
{
	json_t *undo = past_undo(p, revision);
	AUTO_ERR struct err e = {0};
	struct snapshot *s = rewind_document(p->now, undo, &e);

	if (!s)
		fail_msg("revision %llu: %s", (unsigned long long)revision, err_first(&e));
	json_decref(undo);
	return s;
}

static void expect_document(const struct snapshot *s, const json_t *wanted, uint64_t revision)
{
	json_t *got = snapshot_encode(s, NULL, NULL);

	if (!json_equal(got, wanted)) {
		char *a = json_dumps(got, JSON_SORT_KEYS);
		char *b = json_dumps(wanted, JSON_SORT_KEYS);

		fail_msg("revision %llu: %s instead of %s", (unsigned long long)revision, a, b);
	}
	json_decref(got);
}

/* A document that is valid, of few names, so that much comes and goes. */
static json_t *random_document(uint64_t seed)
{
	json_t *zones = json_object(), *groups = json_object(), *lbs = json_object();

	json_object_set_new(zones, "za", json_object());
	for (unsigned i = 0; i < 4; i++) {
		uint64_t dice = hash_bytes(&(uint64_t){seed * 16 + i}, 8, 3);
		char name[8];

		if (dice % 3 == 0)
			continue;
		snprintf(name, sizeof(name), "x%u", i);
		json_object_set_new(groups, name,
				    json_pack("{s:s, s:{s:b}, s:{s:{s:s, s:i, s:i, s:s}}}",
					      "protocol", "tcp", "health_check", "enabled",
					      (int)(dice >> 8 & 1), "servers",
					      dice >> 9 & 1 ? "one" : "two", "address",
					      dice >> 10 & 1 ? "10.0.0.1" : "10.0.0.2", "port", 80,
					      "weight", (int)(dice >> 11 & 3), "zone", "za"));
		if (dice >> 13 & 1)
			json_object_set_new(
				lbs, name,
				json_pack("{s:{s:{s:o}}, s:{s:{s:s, s:i, s:s}}}", "zones", "za",
					  "vip4", json_sprintf("192.0.2.%u", i + 1), "listeners",
					  dice >> 14 & 1 ? "http" : "web", "protocol", "tcp",
					  "port", 80, "server_group", name));
	}
	return json_pack("{s:o, s:o, s:o}", "zones", zones, "server_groups", groups,
			 "load_balancers", lbs);
}

static struct past random_past(void)
{
	struct past p = past_new();

	for (uint64_t seed = 1; p.now->revision < REVISIONS; seed++)
		past_put(&p, random_document(seed));
	return p;
}

/* ---- tests ------------------------------------------------------------------------------------ */

static void every_document_comes_back(void **state)
{
	struct past p = random_past();

	(void)state;
	for (uint64_t n = 0; n <= REVISIONS; n++) {
		struct snapshot *s = past_rewind(&p, n);

		expect_document(s, p.documents[n], n);
		snapshot_unref(s);
	}
	expect_document(p.now, p.documents[REVISIONS], REVISIONS); /* which is as it was */
	past_clear(&p);
}

/* Going back is a write like any other: its batch leads to the old document, and a second time changes nothing. */
static void going_back_is_a_revision(void **state)
{
	struct past p = random_past();

	(void)state;
	for (uint64_t n = 0; n <= REVISIONS; n += 7) {
		json_t *undo = past_undo(&p, n);
		struct change_request r = {.verb = CHANGE_PUT,
					   .target = CHANGE_REVISION,
					   .path = {.kind = OBJECT_KIND_COUNT},
					   .revision = n,
					   .undo = undo,
					   .wall = 5,
					   .uid_seed = 1000 + n};
		AUTO_ERR struct err faults = {0};
		struct snapshot *next;
		struct batch *b;

		assert_int_equal(change_build(p.now, &r, &faults, &b, &next), 0);
		assert_int_equal(b->revision, REVISIONS + 1);
		expect_document(next, p.documents[n], n);
		assert_int_equal(b->count == 0, n == REVISIONS);
		for (size_t i = 0; i < b->count; i++) /* heads that stay, and new ones */
			if (b->changes[i].new_object)
				assert_int_not_equal(b->changes[i].new_object->uid, 0);
		r.if_match = "\"r1\"";
		batch_free(b);
		snapshot_unref(next);
		assert_int_not_equal(change_build(p.now, &r, &faults, &b, &next), 0);
		assert_int_equal(faults.faults[0].code, ERR_CONFLICT);
		json_decref(undo);
	}
	past_clear(&p);
}

static json_t *flat(const json_t *document);

/* Puts the rows of a difference into a document that is flat. */
static void apply(json_t *document, const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		AUTO_FREE char *place = mem_printf(
			"%s|%s|%s", json_string_value(json_object_get(row, "kind")),
			json_string_value(json_object_get(row, "parent")),
			json_string_value(json_object_get(row, "name")));
		json_t *old = json_object_get(document, place);

		assert_int_equal(json_is_null(json_object_get(row, "old")), old == NULL);
		if (old)
			assert_true(json_equal(old, json_object_get(row, "old")));
		if (json_is_null(json_object_get(row, "new")))
			json_object_del(document, place);
		else
			json_object_set(document, place, json_object_get(row, "new"));
	}
}

static void flatten(json_t *flat_document, const struct vec *objects, const char *parent)
{
	static const enum object_kind kinds[] = {OBJECT_SERVER, OBJECT_LB_ZONE, OBJECT_LISTENER};

	for (size_t i = 0; i < objects->count; i++) {
		struct object *o = objects->items[i];
		AUTO_FREE char *place = mem_printf("%s|%s|%s", object_kind_name(o->kind), parent,
						   o->name);

		json_object_set_new(flat_document, place, fake_history_row(o));
		for (size_t k = 0; k < 3; k++) {
			const struct vec *children = object_children(o, kinds[k]);

			if (children)
				flatten(flat_document, children, o->name);
		}
	}
}

/* "kind|parent|name" → the text of the row. */
static json_t *flat(const json_t *document)
{
	json_t *copy = json_deep_copy(document);
	struct snapshot *s = fixture_snapshot(copy);
	json_t *json = json_object();

	flatten(json, &s->zones, "");
	flatten(json, &s->server_groups, "");
	flatten(json, &s->load_balancers, "");
	snapshot_unref(s);
	return json;
}

/* The difference of any two revisions, in both directions, leads from one to the other. */
static void differences_lead_from_one_to_the_other(void **state)
{
	struct past p = random_past();

	(void)state;
	for (uint64_t n = 1; n <= REVISIONS; n += 5) {
		uint64_t m = n * 7 % REVISIONS + 1;
		json_t *from = past_undo(&p, n), *to = past_undo(&p, m);
		json_t *rows = rewind_compare(p.now, from, to);
		json_t *document = flat(p.documents[n]), *wanted = flat(p.documents[m]);

		apply(document, rows);
		assert_true(json_equal(document, wanted));
		assert_int_equal(json_array_size(rows) == 0,
				 json_equal(p.documents[n], p.documents[m]));
		json_decref(document);
		json_decref(wanted);
		json_decref(rows);
		json_decref(from);
		json_decref(to);
	}
	past_clear(&p);
}

/* Parents stand before their children. */
static void differences_are_in_document_order(void **state)
{
	struct past p = past_new();
	json_t *undo, *rows;

	(void)state;
	assert_true(past_put(&p, fixture_json(FIXTURE_DOCUMENT)));
	undo = past_undo(&p, 0);
	rows = rewind_compare(p.now, undo, NULL);
	assert_int_equal(json_array_size(rows), 2 + 3 + 4 + 2 + 3 + 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "name")),
			    "za");
	assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 4), "name")),
			    "web");
	assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 5), "parent")),
			    "dns");
	json_decref(rows);
	json_decref(undo);
	past_clear(&p);
}

static void what_is_not_of_this_version_is_told(void **state)
{
	static const struct {
		const char *undo;
		const char *pointer;
	} cases[] = {
		{"[{'kind':'teapot','parent':'','name':'a','old':null}]", ""},
		{"[{'kind':'zone','parent':'','name':'a','old':'{'}]", "/zones/a"},
		{"[{'kind':'zone','parent':'','name':'a','old':'{\\'spout\\':1}'}]",
		 "/zones/a/spout"},
	};
	struct snapshot *base = snapshot_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_ERR struct err e = {0};
		json_t *undo = fixture_json(cases[i].undo);

		assert_null(rewind_document(base, undo, &e));
		assert_string_equal(e.faults[0].pointer, cases[i].pointer);
		json_decref(undo);
	}
	snapshot_unref(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_document_comes_back),
		cmocka_unit_test(going_back_is_a_revision),
		cmocka_unit_test(differences_lead_from_one_to_the_other),
		cmocka_unit_test(differences_are_in_document_order),
		cmocka_unit_test(what_is_not_of_this_version_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
