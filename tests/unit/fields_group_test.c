// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_fixture.h"

static char *refusal(const char *body)
{
	struct err e = {0};
	struct object *o = NULL;
	json_t *json = fixture_json(body);
	char *text = NULL;
	if (object_decode(OBJECT_SERVER_GROUP, "g", json, "", &e, &o) < 0)
		text = fixture_faults(&e);
	else
		object_unref(o);
	err_clear(&e);
	json_decref(json);
	return text ? text : mem_strdup("");
}

struct group_case {
	const char *body;
	const char *faults;
};

static void expect_all(const struct group_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *faults = refusal(cases[i].body);
		if (strcmp(faults, cases[i].faults) != 0)
			fail_msg("%s\nexpected:\n%sfound:\n%s", cases[i].body, cases[i].faults,
				 faults);
		free(faults);
	}
}
#define EXPECT_ALL(cases) expect_all(cases, sizeof(cases) / sizeof((cases)[0]))

#define CHECK(members) "{'protocol':'tcp','health_check':{" members "}}"
#define AT             "/health_check"

static void members_of_another_type_are_refused(void **state)
{
	static const struct group_case cases[] = {
		{CHECK("'type':'tcp','path':'/'"), "incompatible " AT "/path\n"},
		{CHECK("'path':'/'"), "incompatible " AT "/path\n"},
		{CHECK("'type':'tcp','method':'GET','host':'a','expected_status':'200','expected_body':'x'"),
		 "incompatible " AT "/method\nincompatible " AT "/host\nincompatible " AT
		 "/expected_status\nincompatible " AT "/expected_body\n"},
		{CHECK("'type':'http','method':'GET','path':'/a?b=c','host':'www.example.com:80',"
		       "'expected_status':'200,300-399','expected_body':'a\\nb'"),
		 ""},
	};
	(void)state;
	EXPECT_ALL(cases);
}

static void bounds_of_checks(void **state)
{
	static const struct group_case cases[] = {
		{CHECK("'interval_ms':100,'timeout_ms':10,'healthy_threshold':1,'unhealthy_threshold':1"),
		 ""},
		{CHECK("'interval_ms':99,'timeout_ms':9,'healthy_threshold':0,'unhealthy_threshold':0"),
		 "out_of_range " AT "/interval_ms\nout_of_range " AT "/timeout_ms\nout_of_range " AT
		 "/healthy_threshold\nout_of_range " AT "/unhealthy_threshold\n"},
		{CHECK("'interval_ms':300000,'timeout_ms':300000,'healthy_threshold':20,'unhealthy_threshold':20"),
		 ""},
		{CHECK("'interval_ms':300001,'timeout_ms':300001,'healthy_threshold':21,'unhealthy_threshold':21"),
		 "out_of_range " AT "/interval_ms\nout_of_range " AT "/timeout_ms\nout_of_range " AT
		 "/healthy_threshold\nout_of_range " AT "/unhealthy_threshold\n"},
		{CHECK("'port':65535,'fwmark':4294967295,'source_address':'10.0.0.9'"), ""},
		{CHECK("'port':65536,'fwmark':4294967296,'source_address':'ff02::1'"),
		 "out_of_range " AT "/port\nout_of_range " AT "/source_address\nout_of_range " AT
		 "/fwmark\n"},
		{CHECK("'type':'http','path':'up'"), "bad_format " AT "/path\n"},
		{CHECK("'type':'http','path':'/a b'"), "bad_format " AT "/path\n"},
		{CHECK("'type':'http','path':'/a\\r\\nX: y'"), "bad_format " AT "/path\n"},
		{CHECK("'type':'http','host':'a\\r\\nX: y'"), "bad_format " AT "/host\n"},
		{CHECK("'type':'http','host':'a b'"), "bad_format " AT "/host\n"},
		{CHECK("'type':'http','expected_status':'2xx'"),
		 "bad_format " AT "/expected_status\n"},
	};
	(void)state;
	EXPECT_ALL(cases);
}

static void dns_threshold_is_decoded(void **state)
{
	static const struct group_case cases[] = {
		{"{'protocol':'tcp','dns_min_healthy':{'count':1}}", ""},
		{"{'protocol':'tcp','dns_min_healthy':{'percent':101}}",
		 "out_of_range /dns_min_healthy/percent\n"},
	};
	(void)state;
	EXPECT_ALL(cases);
}

static const struct server_group *decoded(const char *body)
{
	struct err e = {0};
	struct object *o = NULL;
	json_t *json = fixture_json(body);
	if (object_decode(OBJECT_SERVER_GROUP, "g", json, "", &e, &o) < 0)
		fail_msg("%s", err_first(&e));
	json_decref(json);
	return (const struct server_group *)o;
}

static void drop(const struct server_group *g)
{
	object_unref((struct object *)(uintptr_t)g);
}

static void defaults_are_those_of_the_model(void **state)
{
	(void)state;
	const struct server_group *g = decoded("{'protocol':'tcp'}");
	const struct health_check *h = &g->health_check;
	assert_int_equal(g->forward_method, FORWARD_NAT);
	assert_int_equal(g->initial_state, INITIAL_INITIAL);
	assert_int_equal(g->min_healthy.count, 1);
	assert_int_equal(g->min_healthy.percent, 0);
	assert_int_equal(g->when_none_healthy, NONE_HEALTHY_CLOSED);
	assert_null(g->backup_group);
	assert_int_equal(g->on_unhealthy, ON_UNHEALTHY_QUIESCE);
	assert_int_equal(g->drain_timeout_ms, 300000);
	assert_int_equal(g->slow_start_ms, 0);
	assert_false(g->tunnel.given);
	assert_true(h->enabled);
	assert_int_equal(h->type, CHECK_TCP);
	assert_int_equal(h->interval_ms, 3000);
	assert_int_equal(h->timeout_ms, 2000);
	assert_int_equal(h->healthy_threshold, 3);
	assert_int_equal(h->unhealthy_threshold, 3);
	assert_true(h->fast_retry);
	assert_int_equal(h->window_failures, 0);
	assert_int_equal(h->port, 0);
	assert_int_equal(h->close, CLOSE_RST);
	assert_false(addr_is_set(&h->source_address));
	assert_int_equal(h->fwmark, 0);
	drop(g);
	g = decoded("{'protocol':'sctp','health_check':{'type':'http'}}");
	assert_int_equal(g->on_unhealthy, ON_UNHEALTHY_QUIESCE);
	assert_int_equal(g->health_check.method, HTTP_HEAD);
	assert_string_equal(g->health_check.path, "/");
	assert_null(g->health_check.host);
	assert_string_equal(g->health_check.expected_status, "200-299");
	assert_null(g->health_check.expected_body);
	drop(g);
	g = decoded("{'protocol':'udp'}");
	assert_int_equal(g->on_unhealthy, ON_UNHEALTHY_TERMINATE);
	drop(g);
	g = decoded("{'protocol':'tcp','forward_method':'tunnel'}");
	assert_true(g->tunnel.given);
	assert_int_equal(g->tunnel.type, TUNNEL_IPIP);
	drop(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_of_another_type_are_refused),
		cmocka_unit_test(bounds_of_checks),
		cmocka_unit_test(dns_threshold_is_decoded),
		cmocka_unit_test(defaults_are_those_of_the_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
