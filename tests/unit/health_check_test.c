// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/health_check.h"

#include "model_fixture.h"

static struct server_group *group(const char *check)
{
	char *body = mem_printf("{'protocol':'tcp','health_check':{%s}}", check);
	struct err e = {0};
	struct object *o = NULL;
	json_t *json = fixture_json(body);
	if (object_decode(OBJECT_SERVER_GROUP, "g", json, "", &e, &o) < 0)
		fail_msg("%s: %s", body, err_first(&e));
	json_decref(json);
	free(body);
	return (struct server_group *)o;
}

// Each pair differs in one member.
static void every_member_counts(void **state)
{
	static const char *const pairs[][2] = {
		{"'enabled':true", "'enabled':false"},
		{"'type':'icmp_udp'", "'type':'grpc'"},
		{"", "'interval_ms':3001"},
		{"", "'timeout_ms':2001"},
		{"", "'healthy_threshold':4"},
		{"", "'unhealthy_threshold':4"},
		{"", "'fast_retry':false"},
		{"'window':{'failures':1,'of':2}", "'window':{'failures':2,'of':2}"},
		{"'window':{'failures':1,'of':2}", "'window':{'failures':1,'of':3}"},
		{"", "'port':1"},
		{"", "'close':'fin'"},
		{"", "'watch':true"},
		{"", "'source_address':'10.0.0.9'"},
		{"'source_address':'10.0.0.8'", "'source_address':'10.0.0.9'"},
		{"", "'fwmark':1"},
		{"'type':'http'", "'type':'http','reuse_connection':true"},
		{"'type':'http'", "'type':'http','method':'GET'"},
		{"'type':'http'", "'type':'http','path':'/x'"},
		{"'type':'http'", "'type':'http','host':'x'"},
		{"'type':'http'", "'type':'http','expected_status':'204'"},
		{"'type':'http'", "'type':'http','expected_body':'x'"},
		{"'type':'tls'", "'type':'tls','sni':'x'"},
		{"'type':'tls'", "'type':'tls','verify':true"},
		{"'type':'tls','verify':true", "'type':'tls','verify':true,'ca_file':'/x'"},
		{"'type':'udp'", "'type':'udp','request':'x'"},
		{"'type':'udp'", "'type':'udp','expect':'no_unreachable'"},
		{"'type':'udp'", "'type':'udp','expected_reply':'x'"},
		{"'type':'grpc'", "'type':'grpc','service':'x'"},
		{"'type':'dns'", "'type':'dns','qtype':'NS'"},
		{"'type':'dns'", "'type':'dns','name':'x'"},
		{"'type':'dns'", "'type':'dns','accepted_rcodes':['NXDOMAIN']"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct server_group *a = group(pairs[i][0]);
		struct server_group *b = group(pairs[i][1]);
		struct server_group *again = group(pairs[i][1]);
		if (health_check_equal(&a->health_check, &b->health_check))
			fail_msg("%s counts as %s", pairs[i][1], pairs[i][0]);
		if (health_check_hash(&a->health_check, 1) ==
		    health_check_hash(&b->health_check, 1))
			fail_msg("%s and %s have one hash", pairs[i][1], pairs[i][0]);
		assert_true(health_check_equal(&b->health_check, &again->health_check));
		assert_int_equal(health_check_hash(&b->health_check, 1),
				 health_check_hash(&again->health_check, 1));
		object_unref(&a->o);
		object_unref(&b->o);
		object_unref(&again->o);
	}
}

static void kinds_have_names_and_manners(void **state)
{
	struct server_group *quiet = group("'type':'udp','expect':'no_unreachable'");
	struct server_group *reply = group("'type':'udp'");
	struct server_group *both = group("'type':'icmp_udp'");
	(void)state;
	assert_true(health_check_takes_silence(&quiet->health_check));
	assert_false(health_check_takes_silence(&both->health_check));
	assert_false(health_check_takes_silence(&reply->health_check));
	assert_true(health_check_passes_late(&quiet->health_check));
	assert_true(health_check_passes_late(&both->health_check));
	assert_false(health_check_passes_late(&reply->health_check));
	assert_false(health_check_has_port(CHECK_ICMP));
	assert_true(health_check_has_port(CHECK_ICMP_UDP));
	assert_string_equal(health_check_type_name(CHECK_ICMP_UDP), "icmp_udp");
	object_unref(&quiet->o);
	object_unref(&reply->o);
	object_unref(&both->o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_member_counts),
		cmocka_unit_test(kinds_have_names_and_manners),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
