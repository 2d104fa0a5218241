// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_fixture.h"

#define WEB(members)   "{'server_groups':{'web':" members "}}"
#define CHECK(members) WEB("{'health_check':" members "}")
#define AT_WEB         "/server_groups/web"
#define AT_CHECK       AT_WEB "/health_check"

static void health_checks_are_judged(void **state)
{
	static const struct fixture_case cases[] = {
		{CHECK("{'window':{'failures':3,'of':2}}"),
		 "out_of_range " AT_CHECK "/window/failures\n"},
		{CHECK("{'window':{'failures':3,'of':3}}"), ""},
		{CHECK("{'window':{'failures':3}}"), "missing_member " AT_CHECK "/window/of\n"},
		{CHECK("{'window':{'failures':0,'of':3}}"),
		 "out_of_range " AT_CHECK "/window/failures\n"},
		{CHECK("{'window':{'failures':3,'of':65}}"),
		 "out_of_range " AT_CHECK "/window/of\n"},
		{CHECK("{'expected_body':'ok'}"), "incompatible " AT_CHECK "/expected_body\n"},
		{CHECK("{'expected_body':'ok','method':'GET'}"), ""},
		{WEB("{'servers':{'w1':{'port':0}}}"), "missing_member " AT_CHECK "/port\n"},
		{WEB("{'servers':{'w1':{'port':0}},'health_check':{'port':80}}"), ""},
		{WEB("{'servers':{'w1':{'port':0}},'health_check':{'enabled':false}}"), ""},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

static void groups_are_judged(void **state)
{
	static const struct fixture_case cases[] = {
		{WEB("{'backup_group':'nope'}"), "unknown_reference " AT_WEB "/backup_group\n"},
		{WEB("{'backup_group':'web'}"), "incompatible " AT_WEB "/backup_group\n"},
		{WEB("{'backup_group':'dns'}"), "incompatible " AT_WEB "/backup_group\n"},
		{WEB("{'backup_group':'spare'}"), ""},
		{WEB("{'when_none_healthy':'backup'}"), "missing_member " AT_WEB "/backup_group\n"},
		{WEB("{'when_none_healthy':'backup','backup_group':'spare'}"), ""},
		{WEB("{'slow_start_ms':1000}"), ""},
		{"{'server_groups':{'web':{'slow_start_ms':1000}},"
		 "'load_balancers':{'shop':{'listeners':{'http':{'scheduler':'rr'}}}}}",
		 "incompatible " AT_WEB "/slow_start_ms\n"},
		{"{'server_groups':{'web':{'slow_start_ms':1000}},"
		 "'load_balancers':{'shop':{'listeners':{'http':{'scheduler':'nq'}}}}}",
		 ""},
		{"{'server_groups':{'spare':{'slow_start_ms':1000}}}", ""},
		{WEB("{'slow_start_ms':900001}"), "out_of_range " AT_WEB "/slow_start_ms\n"},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

#define TUNNEL(members) \
	"{'server_groups':{'spare':{'forward_method':'tunnel','tunnel':" members "}}}"
#define AT_TUNNEL "/server_groups/spare/tunnel"

static void tunnels_are_judged(void **state)
{
	static const struct fixture_case cases[] = {
		{TUNNEL("{}"), ""},
		{TUNNEL("{'type':'ipip','port':1}"), "incompatible " AT_TUNNEL "/port\n"},
		{TUNNEL("{'type':'ipip','checksum':'none'}"),
		 "incompatible " AT_TUNNEL "/checksum\n"},
		{TUNNEL("{'type':'gue'}"), "missing_member " AT_TUNNEL "/port\n"},
		{TUNNEL("{'type':'gue','port':6080,'checksum':'remcsum'}"), ""},
		{TUNNEL("{'type':'gre','checksum':'csum'}"), ""},
		{TUNNEL("{'type':'gre','checksum':'remcsum'}"),
		 "incompatible " AT_TUNNEL "/checksum\n"},
		{TUNNEL("{'type':'gre','port':1}"), "incompatible " AT_TUNNEL "/port\n"},
		{TUNNEL("{'type':'vxlan'}"), "out_of_range " AT_TUNNEL "/type\n"},
		{"{'server_groups':{'spare':{'tunnel':{'type':'ipip'}}}}",
		 "incompatible " AT_TUNNEL "\n"},
		{"{'server_groups':{'spare':{'tunnel':{'type':'ipip'},"
		 "'servers':{'s1':{'forward_method':'tunnel'}}}}}",
		 ""},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

// Faults of reading and of the rules come together, each at its own place.
static void all_faults_come_at_once(void **state)
{
	(void)state;
	fixture_judge(
		"{'zones':{'Bad':{}},"
		"'server_groups':{'web':{'servers':{'w1':{'port':70000},'w2':{'zone':'nope','adress':1}}}},"
		"'load_balancers':{'shop':{'listeners':{'http':{'server_group':'gone'}}},"
		"'names':{'zones':{'za':{'vip4':'192.0.2.1'}},'listeners':{"
		"'clash':{'protocol':'tcp','port':80,'server_group':'spare'},'most':{'protocol':'tcp','port':81,'server_group':'spare'}}}}}",
		"bad_format /zones/Bad\n"
		"out_of_range /server_groups/web/servers/w1/port\n"
		"unknown_member /server_groups/web/servers/w2/adress\n"
		"unknown_reference /server_groups/web/servers/w2/zone\n"
		"unknown_reference /load_balancers/shop/listeners/http/server_group\n"
		"duplicate /load_balancers/shop/listeners/http/port\n");
}

// A member that could not be read is not judged again, nor what hangs on it.
static void faults_have_no_echo(void **state)
{
	static const struct fixture_case cases[] = {
		{WEB("{'protocol':'ftp'}"), "out_of_range " AT_WEB "/protocol\n"},
		{WEB("{'forward_method':'mail','servers':{'w1':{'address':'2001:db8::1'}}}"),
		 "out_of_range " AT_WEB "/forward_method\n"},
		{WEB("5"), "wrong_type " AT_WEB "\n"},
		{"{'load_balancers':{'shop':5}}", "wrong_type /load_balancers/shop\n"},
		{"{'load_balancers':{'shop':{'zones':5}}}",
		 "wrong_type /load_balancers/shop/zones\n"},
		{"{'load_balancers':{'shop':{'zones':{'za':{'vip4':1},'zb':{'vip4':1}}}}}",
		 "wrong_type /load_balancers/shop/zones/za/vip4\nwrong_type /load_balancers/shop/zones/zb/vip4\n"},
		{WEB("{'health_check':{'enabled':0},'servers':{'w1':{'port':0}}}"),
		 "wrong_type " AT_CHECK "/enabled\n"},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

/* FIXTURE_DOCUMENT with `servers` in group web, which shop has in `listeners` on two VIPs. */
static json_t *many_entries(unsigned servers, unsigned listeners, bool cross_zone)
{
	json_t *document = fixture_json(FIXTURE_DOCUMENT);
	json_t *all = json_object(), *ports = json_object();
	json_t *shop = json_object_get(json_object_get(document, "load_balancers"), "shop");
	char name[16], address[24];
	for (unsigned i = 0; i < servers; i++) {
		snprintf(name, sizeof(name), "w%u", i);
		snprintf(address, sizeof(address), "10.1.%u.%u", i / 250, i % 250 + 1);
		json_object_set_new(
			all, name,
			json_pack("{s:s, s:i, s:s}", "address", address, "port", 80, "zone", "za"));
	}
	for (unsigned i = 0; i < listeners; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		json_object_set_new(ports, name,
				    json_pack("{s:s, s:i, s:s}", "protocol", "tcp", "port",
					      (int)i + 1, "server_group", "web"));
	}
	json_object_set_new(json_object_get(json_object_get(document, "server_groups"), "web"),
			    "servers", all);
	json_object_set_new(shop, "listeners", ports);
	json_object_set_new(shop, "cross_zone", json_boolean(cross_zone));
	return document;
}

/* A few hundred KB can mean more than any kernel holds, and than can be planned while others wait. */
static void the_table_is_bounded(void **state)
{
	static const char beyond[] = "limit_exceeded /load_balancers\n";
	const char *const spare = "{'server_groups':{'spare':{'when_none_healthy':'backup',"
				  "'backup_group':'web'}}}";
	json_t *document, *patch;
	(void)state;
	fixture_judge_document(many_entries(1000, 499, true), "", "998000");
	fixture_judge_document(many_entries(1000, 501, true), beyond, "1002000");
	fixture_judge_document(many_entries(1000, 900, false), "", "each zone its own");
	fixture_judge_document(many_entries(2000, 900, false), beyond, "too many of its own");
	/* By way of a backup, too. */
	document = many_entries(2000, 249, true); /* 996000 */
	patch = fixture_json(
		"{'load_balancers':{'names':{'listeners':{'more':{'protocol':'tcp',"
		"'port':80,'server_group':'spare'},'most':{'protocol':'tcp','port':81,'server_group':'spare'}}}}}");
	fixture_merge(document, patch);
	json_decref(patch);
	fixture_judge_document(json_deep_copy(document), "", "without backup");
	patch = fixture_json(spare);
	fixture_merge(document, patch);
	json_decref(patch);
	fixture_judge_document(document, beyond, "996000, and 4002 by way of spare");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(health_checks_are_judged),
		cmocka_unit_test(groups_are_judged),
		cmocka_unit_test(tunnels_are_judged),
		cmocka_unit_test(all_faults_come_at_once),
		cmocka_unit_test(faults_have_no_echo),
		cmocka_unit_test(the_table_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
