// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/fields.h"

#include "model_fixture.h"

// Decodes `body` as an object of `kind` and compares the faults.
static void expect(enum object_kind kind, const char *body, const char *faults)
{
	struct err e = {0};
	struct object *o = NULL;
	json_t *json = fixture_json(body);
	int result = object_decode(kind, "x", json, "", &e, &o);
	assert_int_equal(result < 0, faults[0] != '\0');
	if (result == 0)
		object_unref(o);
	fixture_expect_faults(&e, faults, body);
	json_decref(json);
}

static void hostile_values_are_refused(void **state)
{
	static const struct {
		enum object_kind kind;
		const char *body;
		const char *faults;
	} cases[] = {
		{OBJECT_ZONE, "{}", ""},
		{OBJECT_ZONE, "[]", "wrong_type \n"},
		{OBJECT_ZONE, "null", "wrong_type \n"},
		{OBJECT_ZONE, "'x'", "wrong_type \n"},
		{OBJECT_ZONE, "{'description':1}", "wrong_type /description\n"},
		{OBJECT_ZONE, "{'description':null}", "wrong_type /description\n"},
		{OBJECT_ZONE, "{'description':'a\\nb'}", "bad_format /description\n"},
		{OBJECT_ZONE, "{'description':'\\u007f'}", "bad_format /description\n"},
		{OBJECT_ZONE, "{'description':'Grüße'}", ""},
		{OBJECT_ZONE,
		 "{'uid':5,'revision':[],'created_at':{},'updated_at':null,'status':false}", ""},
		{OBJECT_ZONE, "{'client_subnets':[]}", ""},
		{OBJECT_ZONE, "{'client_subnets':['10.0.0.0/8','2001:db8::/32','0.0.0.0/0']}", ""},
		{OBJECT_ZONE, "{'client_subnets':'10.0.0.0/8'}", "wrong_type /client_subnets\n"},
		{OBJECT_ZONE, "{'client_subnets':[1]}", "wrong_type /client_subnets\n"},
		{OBJECT_ZONE, "{'client_subnets':['10.0.0.1/8']}", "bad_format /client_subnets\n"},
		{OBJECT_ZONE, "{'client_subnets':['10.0.0.0/33']}", "bad_format /client_subnets\n"},
		{OBJECT_ZONE, "{'client_subnets':['10.0.0.0/8','10.1.0.0/16','10.0.0.0/8']}",
		 "duplicate /client_subnets\n"},
		{OBJECT_ZONE, "{'a/b~c':1}", "unknown_member /a~1b~0c\n"},
		{OBJECT_SERVER, "{}", "missing_member /address\n"},
		{OBJECT_SERVER, "{'address':'10.0.0.1'}", ""},
		{OBJECT_SERVER, "{'address':'10.0.0.1','port':80.0}", "wrong_type /port\n"},
		{OBJECT_SERVER, "{'address':'10.0.0.1','port':'80'}", "wrong_type /port\n"},
		{OBJECT_SERVER, "{'address':'10.0.0.1','port':-1}", "out_of_range /port\n"},
		{OBJECT_SERVER, "{'address':'10.0.0.1','port':9223372036854775807}",
		 "out_of_range /port\n"},
		{OBJECT_SERVER, "{'address':'10.0.0.1','enabled':1}", "wrong_type /enabled\n"},
		{OBJECT_SERVER, "{'address':['10.0.0.1']}", "wrong_type /address\n"},
		{OBJECT_SERVER, "{'address':''}", "bad_format /address\n"},
		{OBJECT_SERVER, "{'address':'10.0.0.1','forward_method':'NAT'}",
		 "out_of_range /forward_method\n"},
		{OBJECT_SERVER, "{'address':'10.0.0.1','forward_method':7}",
		 "wrong_type /forward_method\n"},
		{OBJECT_SERVER, "{'address':'10.0.0.1','max_connections':[]}",
		 "wrong_type /max_connections\n"},
		{OBJECT_SERVER, "{'address':'10.0.0.1','max_connections':{'upper':-1,'uper':1}}",
		 "out_of_range /max_connections/upper\nunknown_member /max_connections/uper\n"},
		{OBJECT_SERVER, "{'address':'10.0.0.1','zone':'Not A Zone'}", "bad_format /zone\n"},
		{OBJECT_SERVER, "{'address':'10.0.0.1','zone':''}", "limit_exceeded /zone\n"},
		{OBJECT_LISTENER,
		 "{'protocol':'tcp','port':80,'server_group':'g','scheduler':'sh','scheduler_flags':5}",
		 "wrong_type /scheduler_flags\n"},
		{OBJECT_LISTENER,
		 "{'protocol':'tcp','port':80,'server_group':'g','scheduler':'sh','scheduler_flags':['x']}",
		 "out_of_range /scheduler_flags\n"},
		{OBJECT_LISTENER,
		 "{'protocol':'tcp','port':80,'server_group':'g','scheduler':'sh',"
		 "'scheduler_flags':['sh-port','sh-port']}",
		 "duplicate /scheduler_flags\n"},
		{OBJECT_LISTENER,
		 "{'protocol':'tcp','port':80,'server_group':'g',"
		 "'rate_limit':1,'access_list':'A','max_connections':1000001}",
		 "bad_format /access_list\n"
		 "out_of_range /max_connections\n"},
		{OBJECT_SERVER_GROUP, "{'protocol':'tcp','servers':[]}", "wrong_type /servers\n"},
		{OBJECT_SERVER_GROUP, "{'protocol':'tcp','servers':{'a':1,'b':{},'-c':{}}}",
		 "wrong_type /servers/a\nmissing_member /servers/b/address\nbad_format /servers/-c\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(cases[i].kind, cases[i].body, cases[i].faults);
}

static void texts_have_limits(void **state)
{
	(void)state;
	for (int length = 255; length <= 256; length++) {
		char *body = mem_printf("{'description':'%0*d'}", length, 0);
		expect(OBJECT_ZONE, body, length > 255 ? "limit_exceeded /description\n" : "");
		free(body);
	}
}

static void embedded_nul_is_refused(void **state)
{
	(void)state;
	json_t *body = json_object();
	json_object_set_new(body, "address", json_stringn("10.0.0.1\0x", 10));
	json_object_set_new(body, "zone", json_stringn("za\0x", 4));
	struct err e = {0};
	struct object *o = NULL;
	assert_true(object_decode(OBJECT_SERVER, "x", body, "", &e, &o) < 0);
	fixture_expect_faults(&e, "bad_format /address\nbad_format /zone\n", "NUL");
	json_decref(body);
}

static void addresses_are_mended(void **state)
{
	static const struct {
		enum object_kind kind;
		const char *body;
		const char *detail;
	} cases[] = {
		{OBJECT_SERVER, "{'address':'10.0.0.01'}",
		 "\"10.0.0.01\" is not an IP address: four numbers from 0 to 255, without leading zeros"},
		{OBJECT_SERVER, "{'address':'10.0.1'}",
		 "\"10.0.1\" is not an IP address: four numbers from 0 to 255, without leading zeros"},
		{OBJECT_SERVER, "{'address':'10.0.0.1/32'}",
		 "\"10.0.0.1/32\" is not an IP address: leave the prefix length out"},
		{OBJECT_SERVER, "{'address':'fe80::1%eth0'}",
		 "\"fe80::1%eth0\" is not an IP address: leave the device out"},
		{OBJECT_SERVER, "{'address':'::ffff:10.0.0.1'}",
		 "\"::ffff:10.0.0.1\" is not an IP address: write the IPv4 address without ::ffff:"},
		{OBJECT_SERVER, "{'address':'localhost'}", "\"localhost\" is not an IP address"},
		{OBJECT_LB_ZONE, "{'vip4':'2001:db8::1'}",
		 "\"2001:db8::1\" is not an IPv4 address: it is an IPv6 address"},
		{OBJECT_LB_ZONE, "{'vip6':'10.0.0.1'}",
		 "\"10.0.0.1\" is not an IPv6 address: it is an IPv4 address"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *body = fixture_json(cases[i].body);
		struct err e = {0};
		struct object *o = NULL;
		assert_true(object_decode(cases[i].kind, "x", body, "", &e, &o) < 0);
		assert_string_equal(e.faults[0].detail, cases[i].detail);
		err_clear(&e);
		json_decref(body);
	}
}

static void slips_are_recognised(void **state)
{
	static const struct {
		const char *member;
		const char *detail;
	} cases[] = {
		{"adress", "unknown member \"adress\"; did you mean \"address\"?"},
		{"server_address", "unknown member \"server_address\"; did you mean \"address\"?"},
		{"wieght", "unknown member \"wieght\"; did you mean \"weight\"?"},
		{"zones", "unknown member \"zones\"; did you mean \"zone\"?"},
		{"maxconnections",
		 "unknown member \"maxconnections\"; did you mean \"max_connections\"?"},
		{"colour", "unknown member \"colour\""},
		{"x", "unknown member \"x\""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err e = {0};
		struct object *o = NULL;
		json_t *body = json_pack("{s:s, s:i}", "address", "10.0.0.1", cases[i].member, 1);
		assert_true(object_decode(OBJECT_SERVER, "x", body, "", &e, &o) < 0);
		assert_string_equal(e.faults[0].detail, cases[i].detail);
		err_clear(&e);
		json_decref(body);
	}
}

// A name of megabytes neither fills the answer nor breaks a character.
static void long_names_are_shortened(void **state)
{
	char quote[FIELDS_QUOTE_MAX];
	char name[1000];
	(void)state;
	for (size_t i = 0; i + 1 < sizeof(name); i += 2)
		memcpy(name + i, "\xc3\xa4", 2);
	name[998] = '\0';
	fields_quote(name, quote);
	assert_int_equal(strlen(quote), 79);
	json_t *text = json_string(quote);
	assert_non_null(text);
	json_decref(text);
	fields_quote(name + 1, quote);
	assert_in_range(strlen(quote), 70, 79);
	json_t *body = json_object();
	json_object_set_new(body, name, json_true());
	struct err e = {0};
	struct object *o = NULL;
	assert_true(object_decode(OBJECT_ZONE, "x", body, "/at", &e, &o) < 0);
	fixture_expect_faults(&e, "unknown_member /at\n", "long");
	json_decref(body);
}

static void pointers_begin_at_the_place_of_the_body(void **state)
{
	struct err e = {0};
	struct object *o = NULL;
	json_t *body = fixture_json("{'protocol':'tcp','health_check':{'path':'x','type':'http'},"
				    "'servers':{'a':{'weight':true}}}");
	(void)state;
	assert_true(object_decode(OBJECT_SERVER_GROUP, "g", body, "/server_groups/g", &e, &o) < 0);
	fixture_expect_faults(&e,
			      "bad_format /server_groups/g/health_check/path\n"
			      "missing_member /server_groups/g/servers/a/address\n"
			      "wrong_type /server_groups/g/servers/a/weight\n",
			      "pointers");
	json_decref(body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_values_are_refused),
		cmocka_unit_test(texts_have_limits),
		cmocka_unit_test(embedded_nul_is_refused),
		cmocka_unit_test(addresses_are_mended),
		cmocka_unit_test(slips_are_recognised),
		cmocka_unit_test(long_names_are_shortened),
		cmocka_unit_test(pointers_begin_at_the_place_of_the_body),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
