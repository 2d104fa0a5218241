// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_fixture.h"

#define SHOP(members)  "{'load_balancers':{'shop':" members "}}"
#define AT_SHOP        "/load_balancers/shop"
#define GROUP(members) "{'server_groups':{'web':" members "}}"

static void names_are_judged(void **state)
{
	static const struct fixture_case cases[] = {
		{SHOP("{'dns_name':'shop.lb.example.net'}"), ""},
		{SHOP("{'dns_name':'a'}"), ""},
		{SHOP("{'dns_name':'_x.example'}"), ""},
		{SHOP("{'dns_name':''}"), "limit_exceeded " AT_SHOP "/dns_name\n"},
		{SHOP("{'dns_name':'shop.example.'}"), "bad_format " AT_SHOP "/dns_name\n"},
		{SHOP("{'dns_name':'shop..example'}"), "bad_format " AT_SHOP "/dns_name\n"},
		{SHOP("{'dns_name':'.example'}"), "bad_format " AT_SHOP "/dns_name\n"},
		{SHOP("{'dns_name':'Shop.example'}"), "bad_format " AT_SHOP "/dns_name\n"},
		{SHOP("{'dns_name':'-a.example'}"), "bad_format " AT_SHOP "/dns_name\n"},
		{SHOP("{'dns_ttl_s':0}"), "out_of_range " AT_SHOP "/dns_ttl_s\n"},
		{SHOP("{'dns_ttl_s':86401}"), "out_of_range " AT_SHOP "/dns_ttl_s\n"},
		{SHOP("{'client_affinity':'near'}"), "out_of_range " AT_SHOP "/client_affinity\n"},
		{"{'load_balancers':{'shop':{'dns_name':'x.example'},'names':{'dns_name':'x.example'}}}",
		 "duplicate /load_balancers/shop/dns_name\nduplicate /load_balancers/shop/dns_name\n"},
		{"{'load_balancers':{'shop':{'dns_name':'za.x.example'},'names':{'dns_name':'x.example'}}}",
		 "duplicate " AT_SHOP "/dns_name\n"},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

/* 253 octets with the name of the zone in front: za. and 250 more. */
static void names_have_room_for_their_zones(void **state)
{
	(void)state;
	for (int length = 250; length <= 251; length++) {
		char name[256];
		json_t *document = fixture_json(FIXTURE_DOCUMENT);
		json_t *lb = json_object_get(json_object_get(document, "load_balancers"), "shop");
		for (int i = 0; i < length; i++)
			name[i] = i % 50 == 49 ? '.' : 'a';
		name[length - 1] = 'a';
		name[length] = '\0';
		json_object_set_new(lb, "dns_name", json_string(name));
		fixture_judge_document(document,
				       length > 250 ? "limit_exceeded " AT_SHOP "/dns_name\n"
						      "limit_exceeded " AT_SHOP "/dns_name\n"
						    : "",
				       "a long name");
	}
}

static void published_addresses_need_a_vip(void **state)
{
	static const struct fixture_case cases[] = {
		{SHOP("{'zones':{'za':{'publish4':'198.51.100.1'}}}"), ""},
		{SHOP("{'zones':{'za':{'vip4':null,'vip6':'2001:db8::99','publish4':'198.51.100.1'}}}"),
		 "incompatible " AT_SHOP "/zones/za/publish4\n"},
		{SHOP("{'zones':{'za':{'publish4':'2001:db8::1'}}}"),
		 "bad_format " AT_SHOP "/zones/za/publish4\n"},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

static void vip_probes_are_judged(void **state)
{
	static const struct fixture_case cases[] = {
		{SHOP("{'vip_probe':{'type':'tcp','port':80}}"), ""},
		{SHOP("{'vip_probe':{'type':'tcp'}}"),
		 "missing_member " AT_SHOP "/vip_probe/port\n"},
		{SHOP("{'vip_probe':{'port':80}}"), "incompatible " AT_SHOP "/vip_probe/port\n"},
		{SHOP("{'vip_probe':{'type':'udp'}}"), "out_of_range " AT_SHOP "/vip_probe/type\n"},
		{SHOP("{'vip_probe':{'interval_ms':10}}"),
		 "out_of_range " AT_SHOP "/vip_probe/interval_ms\n"},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

static void dns_asks_for_at_least_as_much(void **state)
{
	static const struct fixture_case cases[] = {
		{GROUP("{'dns_min_healthy':{'count':2}}"), ""},
		{GROUP("{'min_healthy':{'count':2,'percent':50}}"), ""},
		{GROUP("{'min_healthy':{'count':2},'dns_min_healthy':{'count':1}}"),
		 "incompatible /server_groups/web/dns_min_healthy/count\n"},
		{GROUP("{'min_healthy':{'percent':50},'dns_min_healthy':{'percent':49}}"),
		 "incompatible /server_groups/web/dns_min_healthy/percent\n"},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_judged),
		cmocka_unit_test(names_have_room_for_their_zones),
		cmocka_unit_test(published_addresses_need_a_vip),
		cmocka_unit_test(vip_probes_are_judged),
		cmocka_unit_test(dns_asks_for_at_least_as_much),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
