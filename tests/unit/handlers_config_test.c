// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

static void config_round_trips(void **state)
{
	struct rig rig = {0};
	char etag[256], again[256], header[512];

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/config");
	assert_int_equal(a.status, 200);
	assert_int_equal(answer_number_at(&a, "server_groups.web.servers.w2.revision"), 1);
	assert_null(answer_at(&a, "server_groups.web.status"));
	snprintf(header, sizeof(header), "If-Match: %s\r\n", answer_header(&a, "ETag", etag));
	AUTO_REPLY struct answer put = rig_ask(&rig, "PUT", "/api/v1/config", header, a.body);
	assert_int_equal(put.status, 200);
	assert_string_equal(answer_header(&put, "ETag", again),
			    etag); /* PUT of a GET changes nothing */
	AUTO_REPLY struct answer plain = rig_get(&rig, "/api/v1/config?view=config");
	assert_null(answer_at(&plain, "server_groups.web.servers.w2.revision"));
	AUTO_REPLY struct answer twice = rig_ask(&rig, "PUT", "/api/v1/config", header, plain.body);
	assert_int_equal(twice.status, 200);
	assert_string_equal(answer_header(&twice, "ETag", again), etag);
	rig_end(&rig);
}

static void config_is_judged(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer good = rig_ask(&rig, "POST", "/api/v1/config/validate", "",
						RIG_DOCUMENT);
	assert_int_equal(good.status, 200);
	assert_true(json_is_true(answer_at(&good, "valid")));
	assert_true(json_is_array(answer_at(&good, "advice")));
	AUTO_REPLY struct answer bad = rig_ask(
		&rig, "POST", "/api/v1/config/validate", "",
		"{\"zones\":{\"Z\":{}},\"server_groups\":{\"g\":{\"protocol\":\"tcpx\",\"servers\":{\"s\":{\"address\":\"10.0.0.256\",\"zone\":"
		"\"none\"}}}},\"load_balancers\":{\"l\":{\"zones\":{},\"listeners\":{\"x\":{\"protocol\":\"tcp\",\"port\":0,"
		"\"server_group\":\"none\"}}}},\"more\":1}");
	assert_int_equal(bad.status, 422);
	assert_true(json_array_size(answer_at(&bad, "errors")) >= 5);
	AUTO_REPLY struct answer after = rig_get(&rig, "/api/v1/config");
	assert_int_equal(json_object_size(answer_at(&after, "zones")), 0);
	rig_end(&rig);
}

/* What this node may not set is told by validate as by the write, each with a pointer into what was sent. */
static void config_is_judged_for_this_node(void **state)
{
	struct rig rig = {.sysctls_unset = true};
	const char *const patch = "{\"listeners\":{\"http\":{\"persistence_s\":60}}}";
	char *document;
	json_t *json, *listener;

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer write = rig_ask(&rig, "PATCH", "/api/v1/load-balancers/shop", "",
						 patch);
	assert_int_equal(write.status, 422);
	assert_string_equal(answer_text_at(&write, "errors.0.pointer"), "/listeners/http");
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/config?view=config");
	json = json_deep_copy(a.json);
	listener = json_object_get(json, "load_balancers");
	listener = json_object_get(json_object_get(listener, "shop"), "listeners");
	json_object_set_new(json_object_get(listener, "http"), "persistence_s", json_integer(60));
	document = json_dumps(json, 0);
	AUTO_REPLY struct answer judged = rig_ask(&rig, "POST", "/api/v1/config/validate", "",
						  document);
	assert_int_equal(judged.status, 422);
	assert_string_equal(answer_text_at(&judged, "errors.0.pointer"),
			    "/load_balancers/shop/listeners/http");
	free(document);
	json_decref(json);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(config_round_trips),
		cmocka_unit_test(config_is_judged),
		cmocka_unit_test(config_is_judged_for_this_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
