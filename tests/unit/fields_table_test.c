// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/fields.h"

#include "model_fixture.h"

static void check_rows(const struct field *fields, size_t size, const char *what)
{
	size_t count = 0;
	for (const struct field *f = fields; f->name; f++, count++) {
		bool silent = f->type == FIELD_GIVEN;
		if (!silent && !f->help)
			fail_msg("%s.%s has no help", what, f->name);
		if ((f->when != NULL) != (f->when_text != NULL))
			fail_msg("%s.%s: a condition and its text go together", what, f->name);
		bool held = f->type != FIELD_READ_ONLY && size > 0;
		if (held && f->offset >= size)
			fail_msg("%s.%s lies outside", what, f->name);
		for (const struct field *g = fields; g < f; g++) {
			if (strcmp(f->name, g->name) == 0 && f->type != FIELD_GIVEN)
				fail_msg("%s.%s stands twice", what, f->name);
		}
		if (f->type == FIELD_GROUP)
			check_rows(f->members, 0, f->name);
		if (f->type == FIELD_NUMBER && f->number > f->max)
			fail_msg("%s.%s: default above its bound", what, f->name);
		if (f->type == FIELD_TEXT && f->max == 0)
			fail_msg("%s.%s has no limit", what, f->name);
	}
	assert_in_range(count, 1, 64); // bits of object.faulty
}

static void rows_are_sound(void **state)
{
	static const size_t sizes[OBJECT_KIND_COUNT] = {
		[OBJECT_ZONE] = sizeof(struct zone),
		[OBJECT_SERVER_GROUP] = sizeof(struct server_group),
		[OBJECT_SERVER] = sizeof(struct server),
		[OBJECT_LOAD_BALANCER] = sizeof(struct load_balancer),
		[OBJECT_LB_ZONE] = sizeof(struct lb_zone),
		[OBJECT_LISTENER] = sizeof(struct listener),
		[OBJECT_ACCESS_LIST] = sizeof(struct access_list),
	};
	(void)state;
	for (unsigned kind = 0; kind < OBJECT_KIND_COUNT; kind++)
		check_rows(fields_of_kind((enum object_kind)kind), sizes[kind],
			   object_kind_name((enum object_kind)kind));
	check_rows(fields_of_document(), 0, "document");
}

static struct object *decoded(enum object_kind kind, const char *body)
{
	struct err e = {0};
	struct object *o = NULL;
	json_t *json = fixture_json(body);
	if (object_decode(kind, "x", json, "", &e, &o) < 0)
		fail_msg("%s", err_first(&e));
	json_decref(json);
	return o;
}

static void scheduler_flags_go_by_scheduler(void **state)
{
	static const struct {
		const char *members;
		uint32_t flags;
	} cases[] = {
		{"", 0},
		{",'scheduler':'rr'", 0},
		{",'scheduler':'sh'", SCHED_SH_FALLBACK},
		{",'scheduler':'mh'", SCHED_MH_FALLBACK},
		{",'scheduler':'sh','scheduler_flags':[]", 0},
		{",'scheduler':'sh','scheduler_flags':['sh-port']", SCHED_SH_PORT},
		{",'scheduler':'mh','scheduler_flags':['mh-port','mh-fallback']",
		 SCHED_MH_PORT | SCHED_MH_FALLBACK},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *body = mem_printf("{'protocol':'tcp','port':80,'server_group':'g'%s}",
					cases[i].members);
		struct object *o = decoded(OBJECT_LISTENER, body);
		assert_int_equal(((const struct listener *)o)->scheduler_flags, cases[i].flags);
		object_unref(o);
		free(body);
	}
}

static void defaults_are_those_of_the_model(void **state)
{
	(void)state;
	struct object *o = decoded(OBJECT_LISTENER,
				   "{'protocol':'tcp','port':80,'server_group':'g'}");
	const struct listener *l = (const struct listener *)o;
	char text[ADDR_TEXT_MAX];
	assert_string_equal(l->scheduler, "wrr");
	assert_int_equal(l->persistence_s, 0);
	assert_string_equal(addr_format(&l->persistence_netmask, text), "255.255.255.255");
	assert_int_equal(l->persistence_prefix, 128);
	assert_int_equal(l->persistence_engine, ENGINE_NONE);
	assert_false(l->one_packet);
	object_unref(o);
	o = decoded(OBJECT_SERVER, "{'address':'10.0.0.1'}");
	const struct server *s = (const struct server *)o;
	assert_int_equal(s->port, 0);
	assert_int_equal(s->weight, 100);
	assert_null(s->zone);
	assert_true(s->enabled);
	assert_int_equal(s->forward_method, FORWARD_UNSET);
	assert_int_equal(s->max_upper, 0);
	assert_int_equal(s->max_lower, 0);
	object_unref(o);
	o = decoded(OBJECT_LOAD_BALANCER, "{'zones':{'za':{'vip4':'192.0.2.1'}}}");
	const struct load_balancer *lb = (const struct load_balancer *)o;
	assert_true(lb->cross_zone);
	assert_true(lb->enabled);
	assert_true(((const struct lb_zone *)lb->zones.items[0])->enabled);
	object_unref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sound),
		cmocka_unit_test(scheduler_flags_go_by_scheduler),
		cmocka_unit_test(defaults_are_those_of_the_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
