// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/fields.h"

#include "model_fixture.h"

static struct object *decoded(enum object_kind kind, const json_t *body)
{
	struct err e = {0};
	struct object *o = NULL;
	if (object_decode(kind, "x", body, "", &e, &o) < 0)
		fail_msg("%s", err_first(&e));
	return o;
}

static struct object *parsed(enum object_kind kind, const char *body)
{
	json_t *json = fixture_json(body);
	struct object *o = decoded(kind, json);
	json_decref(json);
	return o;
}

// What is encoded is decoded to the same members, whatever was given.
static void encoding_is_read_back(void **state)
{
	static const struct {
		enum object_kind kind;
		const char *body;
	} cases[] = {
		{OBJECT_ZONE, "{}"},
		{OBJECT_ZONE, "{'description':'Halle 1'}"},
		{OBJECT_SERVER,
		 "{'address':'2001:DB8:0::1','port':80,'zone':'za','weight':0,'enabled':false,"
		 "'forward_method':'direct','max_connections':{'upper':9,'lower':3}}"},
		{OBJECT_SERVER, "{'address':'10.0.0.1'}"},
		{OBJECT_SERVER_GROUP, "{'protocol':'tcp'}"},
		{OBJECT_SERVER_GROUP, "{'protocol':'udp','health_check':{'enabled':false}}"},
		{OBJECT_SERVER_GROUP, "{'protocol':'sctp','health_check':{'enabled':false}}"},
		{OBJECT_SERVER_GROUP, "{'protocol':'udp','health_check':{'type':'tcp','port':99}}"},
		{OBJECT_SERVER_GROUP, "{'protocol':'tcp','forward_method':'tunnel'}"},
		{OBJECT_SERVER_GROUP,
		 "{'protocol':'tcp','forward_method':'tunnel','tunnel':{'type':'gue','port':6080,'checksum':'csum'}}"},
		{OBJECT_SERVER_GROUP, "{'protocol':'tcp','tunnel':{'type':'ipip'}}"},
		{OBJECT_SERVER_GROUP,
		 "{'protocol':'tcp','health_check':{'type':'http','method':'GET','path':'/x','host':'h','expected_status':"
		 "'204','expected_body':'ok','window':{'failures':2,'of':9},'source_address':'10.0.0.9','fwmark':7,"
		 "'fast_retry':false},'min_healthy':{'count':0,'percent':50},'when_none_healthy':'backup',"
		 "'backup_group':'b','on_unhealthy':'terminate','drain_timeout_ms':0,'slow_start_ms':5,"
		 "'initial_state':'healthy'}"},
		{OBJECT_LOAD_BALANCER, "{'cross_zone':false,'enabled':false}"},
		{OBJECT_LB_ZONE, "{'vip4':'192.0.2.1','vip6':'2001:db8::1','enabled':false}"},
		{OBJECT_LISTENER, "{'protocol':'tcp','port':80,'server_group':'g'}"},
		{OBJECT_LISTENER,
		 "{'protocol':'tcp','port':80,'server_group':'g','scheduler':'sh','scheduler_flags':[]}"},
		{OBJECT_LISTENER,
		 "{'protocol':'udp','port':80,'server_group':'g','scheduler':'mh','persistence_s':60,"
		 "'persistence_netmask':'255.255.0.0','persistence_prefix':64,"
		 "'persistence_engine':'sip','one_packet':true}"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct object *o = parsed(cases[i].kind, cases[i].body);
		json_t *json = object_encode_row(o);
		struct object *again = decoded(cases[i].kind, json);
		json_t *json_again = object_encode_row(again);
		if (!object_equal_row(o, again) || !json_equal(json, json_again))
			fail_msg("%s", cases[i].body);
		json_decref(json);
		json_decref(json_again);
		object_unref(o);
		object_unref(again);
	}
}

// Every member by itself makes two objects differ; a copy is equal and independent.
static void one_member_makes_a_difference(void **state)
{
	static const struct {
		enum object_kind kind;
		const char *base;
		const char *others[16];
	} cases[] = {
		{OBJECT_ZONE, "{}", {"{'description':'x'}"}},
		{OBJECT_SERVER,
		 "{'address':'10.0.0.1'}",
		 {"{'address':'10.0.0.2'}", "{'port':1}", "{'weight':1}", "{'zone':'z'}",
		  "{'enabled':false}", "{'forward_method':'nat'}",
		  "{'max_connections':{'upper':1}}"}},
		{OBJECT_SERVER_GROUP,
		 "{'protocol':'tcp'}",
		 {"{'protocol':'udp','on_unhealthy':'quiesce','health_check':{'type':'tcp'}}",
		  "{'forward_method':'direct'}", "{'tunnel':{}}",
		  "{'health_check':{'close':'fin'}}",
		  "{'health_check':{'window':{'failures':1,'of':1}}}",
		  "{'initial_state':'healthy'}", "{'min_healthy':{'percent':1}}",
		  "{'when_none_healthy':'open'}", "{'backup_group':'b'}",
		  "{'on_unhealthy':'terminate'}", "{'drain_timeout_ms':1}", "{'slow_start_ms':1}"}},
		{OBJECT_LOAD_BALANCER, "{}", {"{'cross_zone':false}", "{'enabled':false}"}},
		{OBJECT_LB_ZONE,
		 "{'vip4':'192.0.2.1'}",
		 {"{'vip4':'192.0.2.2'}", "{'vip6':'2001:db8::1'}", "{'enabled':false}"}},
		{OBJECT_LISTENER,
		 "{'protocol':'udp','port':80,'server_group':'g','scheduler':'sh'}",
		 {"{'protocol':'tcp'}", "{'port':81}", "{'server_group':'h'}",
		  "{'scheduler':'mh','scheduler_flags':['sh-fallback']}", "{'scheduler_flags':[]}",
		  "{'persistence_s':1}", "{'persistence_netmask':'255.0.0.0'}",
		  "{'persistence_prefix':1}", "{'persistence_engine':'sip'}",
		  "{'one_packet':true}"}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *body = fixture_json(cases[i].base);
		struct object *base = decoded(cases[i].kind, body);
		for (size_t k = 0; cases[i].others[k]; k++) {
			json_t *patched = json_deep_copy(body);
			json_t *patch = fixture_json(cases[i].others[k]);
			fixture_merge(patched, patch);
			struct object *other = decoded(cases[i].kind, patched);
			struct object *copy = object_copy_row(other);
			if (object_equal_row(base, other) || !object_equal_row(other, copy))
				fail_msg("%s", cases[i].others[k]);
			object_unref(other); // the copy keeps texts of its own
			json_t *json = object_encode_row(copy);
			json_decref(json);
			object_unref(copy);
			json_decref(patch);
			json_decref(patched);
		}
		object_unref(base);
		json_decref(body);
	}
}

static void members_without_use_are_not_shown(void **state)
{
	(void)state;
	struct object *o = parsed(OBJECT_SERVER_GROUP, "{'protocol':'tcp'}");
	json_t *json = object_encode_row(o);
	json_t *check = json_object_get(json, "health_check");
	assert_null(json_object_get(check, "path"));
	assert_null(json_object_get(check, "window"));
	assert_null(json_object_get(json, "tunnel"));
	assert_null(json_object_get(json, "backup_group"));
	assert_string_equal(json_string_value(json_object_get(check, "close")), "rst");
	assert_string_equal(json_string_value(json_object_get(json, "on_unhealthy")), "quiesce");
	json_decref(json);
	object_unref(o);
}

static void reference_has_a_line_for_each_member(void **state)
{
	static const char *const lines[] = {
		"server\taddress\taddress\tIPv4 | IPv6\trequired\tIPv4 or IPv6 address of the server\n",
		"server_group\thealth_check.window.of\tinteger\t1-64\trequired\t",
		"server_group\thealth_check.path\tstring\t1-255 bytes\t\"/\"\tpath of the request, with its query; only ",
		("server_group\thealth_check.type\tstring\ttcp | http | https | tls | udp | icmp | "
		 "icmp_udp | grpc | dns\ttcp; udp for udp, icmp for sctp\t"),
		"server_group\thealth_check.accepted_rcodes\tarray of strings\tNOERROR | FORMERR | ",
		"\t[\"NOERROR\"]\tresponse codes that pass; only with type dns\n",
		"server_group\thealth_check.request\tstring\t1-512 unescaped bytes\tnot set\t",
		"server_group\thealth_check.preset\tstring\taws-nlb | aliyun-nlb | baidu-blb\tnot set\t",
		"listener\tscheduler_flags\tarray of strings\tsh-fallback | sh-port | mh-fallback | mh-port\t",
		"load_balancer\tzones\tobjects\t1-10\t",
		"lb_zone\tvip4\taddress\tIPv4\tnot set\t",
		"zone\tuid\tread-only\t\t\t",
		"listener\tport_range\trange\t1-65535\tnot set\tfirst and last of a range of ports",
		"listener\tport\tinteger\t1-65535\trequired\tport of the VIPs; instead of it there may be a range; only without port_range",
	};
	struct buf_writer w;
	(void)state;
	buf_writer_init(&w, 1 << 20);
	object_write_reference(&w);
	assert_false(w.failed);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (!strstr(buf_text(&w), lines[i]))
			fail_msg("%s", lines[i]);
	}
	assert_null(strstr(buf_text(&w), "(null)"));
	buf_writer_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encoding_is_read_back),
		cmocka_unit_test(one_member_makes_a_difference),
		cmocka_unit_test(members_without_use_are_not_shown),
		cmocka_unit_test(reference_has_a_line_for_each_member),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
