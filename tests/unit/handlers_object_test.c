// SPDX-License-Identifier: GPL-2.0-or-later
// Reading objects and lists; reply.c with them.
#include "api/handlers.h"

#include "api_rig.h"

#include "api/reply.h"

#define BASE "/api/v1"

static void object_is_shown(void **state)
{
	struct rig rig = {0};
	char etag[256], again[256];

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, BASE "/server-groups/web/servers/w2");
	assert_int_equal(a.status, 200);
	assert_int_equal(answer_number_at(&a, "weight"), 50);
	assert_int_equal(answer_number_at(&a, "revision"), 1);
	assert_string_equal(answer_text_at(&a, "status.state"),
			    "unavailable"); /* its check is off */
	assert_true(json_is_true(answer_at(&a, "status.in_service")));
	assert_int_equal(strlen(answer_text(&a, "uid")), 16);
	answer_header(&a, "ETag", etag);
	assert_int_equal(etag[0], '"');

	AUTO_REPLY struct answer head = rig_ask(&rig, "HEAD", BASE "/server-groups/web/servers/w2",
						"", NULL);
	assert_int_equal(head.status, 200);
	assert_string_equal(answer_header(&head, "ETag", again), etag);
	assert_string_equal(head.body, "");

	AUTO_REPLY struct answer config = rig_get(&rig,
						  BASE "/server-groups/web/servers/w2?view=config");
	assert_null(answer_at(&config, "uid"));
	assert_null(answer_at(&config, "status"));
	assert_int_equal(answer_number_at(&config, "weight"), 50);

	AUTO_REPLY struct answer lb = rig_get(&rig, BASE "/load-balancers/shop");
	assert_int_equal(answer_number_at(&lb, "status.services"), 2);
	assert_int_equal(answer_number_at(&lb, "status.programmed"), 2);
	assert_int_equal(answer_number_at(&lb, "zones.za.status.services"), 1);
	assert_int_equal(answer_number_at(&lb, "listeners.http.status.with_servers"), 2);

	AUTO_REPLY struct answer bad = rig_get(&rig, BASE "/zones/za?view=all");
	assert_int_equal(bad.status, 400);
	rig_end(&rig);
}

static void object_is_missing(void **state)
{
	static const char *const paths[] = {
		BASE "/zones/zz",
		BASE "/zones/Not-A-Name",
		BASE "/zones/",
		BASE "/zones/a%2Fb",
		BASE "/load-balancers/none/listeners",
		BASE "/load-balancers/none/listeners/http",
		BASE "/load-balancers/shop/listeners/none",
		BASE "/server-groups/web/servers/w1/x",
		BASE "/nothing",
		"/nothing",
	};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		AUTO_REPLY struct answer a = rig_get(&rig, paths[i]);

		if (a.status != 404)
			fail_msg("%s: %s", paths[i], a.text);
		assert_string_equal(answer_text(&a, "type"), "not-found");
	}
	rig_end(&rig);
}

static void object_lists_have_pages(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer all = rig_get(&rig, BASE "/zones");
	assert_int_equal(json_array_size(answer_at(&all, "items")), 2);
	assert_string_equal(answer_text_at(&all, "items.1.name"), "zb");
	assert_string_equal(answer_text_at(&all, "items.1.description"), "hall 2");
	assert_true(json_is_null(answer_at(&all, "next_cursor")));

	AUTO_REPLY struct answer one = rig_get(&rig, BASE "/zones?limit=1");
	assert_int_equal(json_array_size(answer_at(&one, "items")), 1);
	assert_string_equal(answer_text(&one, "next_cursor"), "za");
	AUTO_REPLY struct answer two = rig_get(&rig, BASE "/zones?limit=1&cursor=za");
	assert_string_equal(answer_text_at(&two, "items.0.name"), "zb");
	assert_true(json_is_null(answer_at(&two, "next_cursor")));

	/* The item of the cursor is gone: the page starts where it was. */
	AUTO_REPLY struct answer gone = rig_get(&rig, BASE "/zones?cursor=zab");
	assert_string_equal(answer_text_at(&gone, "items.0.name"), "zb");
	AUTO_REPLY struct answer end = rig_get(&rig, BASE "/zones?cursor=zz");
	assert_int_equal(json_array_size(answer_at(&end, "items")), 0);

	AUTO_REPLY struct answer children = rig_get(&rig,
						    BASE "/server-groups/web/servers?view=config");
	assert_string_equal(answer_text_at(&children, "items.0.name"), "w1");
	assert_null(answer_at(&children, "items.0.uid"));
	static const char *const bad[] = {"?limit=0", "?limit=1001", "?limit=x", "?cursor=A",
					  "?cursor="};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		AUTO_FREE char *path = mem_printf(BASE "/zones%s", bad[i]);
		AUTO_REPLY struct answer a = rig_get(&rig, path);

		assert_int_equal(a.status, 400);
	}
	rig_end(&rig);
}

/* Large answers come from the worker: the objects asked for have their status, those inside not. */
static void object_answers_may_be_large(void **state)
{
	AUTO_FREE char *document = rig_big_document(3 * REPLY_INLINE_MAX);
	struct rig rig = {0};
	char etag[256];

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer put = rig_ask(&rig, "PUT", BASE "/config", "If-Match: *\r\n",
					       document);
	assert_int_equal(put.status, 200);
	assert_int_equal(json_object_size(answer_at(&put, "server_groups.big.servers")),
			 3 * REPLY_INLINE_MAX);
	AUTO_REPLY struct answer a = rig_get(&rig, BASE "/server-groups/big");
	assert_int_equal(a.status, 200);
	assert_int_equal(answer_number_at(&a, "status.servers"), 3 * REPLY_INLINE_MAX);
	assert_int_equal(json_object_size(answer_at(&a, "servers")), 3 * REPLY_INLINE_MAX);
	assert_non_null(answer_at(&a, "servers.s00001.uid"));
	assert_null(answer_at(&a, "servers.s00001.status"));
	assert_int_equal(answer_header(&a, "ETag", etag)[0], '"');
	AUTO_REPLY struct answer list = rig_get(&rig, BASE "/server-groups");
	assert_int_equal(answer_number_at(&list, "items.0.status.servers"), 3 * REPLY_INLINE_MAX);
	AUTO_REPLY struct answer page = rig_get(&rig, BASE "/server-groups/big/servers?limit=300");
	assert_int_equal(json_array_size(answer_at(&page, "items")), 300);
	assert_string_equal(answer_text_at(&page, "items.299.status.state"), "unused");
	assert_string_equal(answer_text(&page, "next_cursor"), "s00299");
	rig_end(&rig);
}

/* Every GET has a tag; one that the client has is not sent again, but for a status, which changes without its object. */
static void object_answers_have_tags(void **state)
{
	static const struct {
		const char *path;
		int known; /* the answer to If-None-Match */
	} cases[] = {
		{BASE "/config", 304},
		{BASE "/config?view=config", 304},
		{BASE "/server-groups/web?view=config", 304},
		{BASE "/server-groups/web", 200},
		{BASE "/zones", 304},
		{BASE "/zone-shifts", 304},
		{BASE "/overrides", 304},
		{BASE "/settings?view=config", 304},
		{BASE "/config/confirm", 304},
		{BASE "/config/revisions", 304},
		{BASE "/config/revisions/1", 304},
	};
	struct rig rig = {0};
	char etag[256];

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_REPLY struct answer a = rig_get(&rig, cases[i].path);
		AUTO_FREE char *none = mem_printf("If-None-Match: %s\r\n",
						  answer_header(&a, "ETag", etag));
		AUTO_REPLY struct answer again = rig_ask(&rig, "GET", cases[i].path, none, NULL);
		AUTO_REPLY struct answer other = rig_ask(&rig, "GET", cases[i].path,
							 "If-None-Match: \"x\"\r\n", NULL);

		if (etag[0] != '"' || again.status != cases[i].known || other.status != 200)
			fail_msg("%s: %s, %d, %d", cases[i].path, etag, again.status, other.status);
		if (again.status == 304)
			assert_string_equal(again.body, "");
	}
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(object_is_shown),
		cmocka_unit_test(object_answers_have_tags),
		cmocka_unit_test(object_is_missing),
		cmocka_unit_test(object_lists_have_pages),
		cmocka_unit_test(object_answers_may_be_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
