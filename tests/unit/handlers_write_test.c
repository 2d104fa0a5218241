// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

#define BASE "/api/v1"
#define W1   BASE "/server-groups/web/servers/w1"

static void write_creates_and_changes(void **state)
{
	struct rig rig = {0};
	char etag[256], text[256], header[512];

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer made = rig_put(&rig, BASE "/zones/za", "{}");
	assert_int_equal(made.status, 201);
	assert_string_equal(answer_header(&made, "Location", text), BASE "/zones/za");
	answer_header(&made, "ETag", etag);
	AUTO_REPLY struct answer same = rig_put(&rig, BASE "/zones/za", "{}");
	assert_int_equal(same.status, 200);
	assert_string_equal(answer_header(&same, "ETag", text),
			    etag); /* nothing changed, so no new revision */
	AUTO_REPLY struct answer again = rig_put(&rig, BASE "/zones/za", made.body);
	assert_int_equal(again.status, 200); /* what a GET shows can be put */
	assert_string_equal(answer_header(&again, "ETag", text), etag);

	snprintf(header, sizeof(header), "If-Match: %s\r\n", etag);
	AUTO_REPLY struct answer patched = rig_ask(&rig, "PATCH", BASE "/zones/za", header,
						   "{\"description\":\"Hall 1\"}");
	assert_int_equal(patched.status, 200);
	assert_string_equal(answer_text(&patched, "description"), "Hall 1");
	assert_string_not_equal(answer_header(&patched, "ETag", text), etag);
	AUTO_REPLY struct answer lost = rig_ask(&rig, "PATCH", BASE "/zones/za", header,
						"{\"description\":\"Hall 2\"}");
	assert_int_equal(lost.status, 412);
	assert_string_equal(answer_text(&lost, "type"), "precondition-failed");
	assert_string_equal(answer_text_at(&lost, "changed.who"), "root");
	assert_string_equal(answer_text_at(&lost, "changed.via"), "api");
	assert_int_equal(answer_number_at(&lost, "changed.revision"),
			 answer_number_at(&patched, "revision"));
	assert_string_equal(answer_text_at(&lost, "changed.at"),
			    answer_text(&patched, "updated_at"));
	assert_non_null(strstr(answer_text(&lost, "detail"), " by root)"));
	AUTO_REPLY struct answer exists = rig_ask(&rig, "PUT", BASE "/zones/za",
						  "If-None-Match: *\r\n", "{}");
	assert_int_equal(exists.status, 412);
	AUTO_REPLY struct answer absent = rig_ask(&rig, "PATCH", BASE "/zones/zz", "", "{}");
	assert_int_equal(absent.status, 404);
	AUTO_REPLY struct answer name = rig_put(&rig, BASE "/zones/Za", "{}");
	assert_int_equal(name.status, 422);

	AUTO_REPLY struct answer brief = rig_ask(&rig, "PUT", BASE "/zones/zb",
						 "Prefer: return=minimal\r\n", "{}");
	assert_int_equal(brief.status, 204);
	assert_int_equal(answer_header(&brief, "ETag", text)[0], '"');
	AUTO_REPLY struct answer gone = rig_ask(&rig, "DELETE", BASE "/zones/zb", "", NULL);
	assert_int_equal(gone.status, 204);
	AUTO_REPLY struct answer twice = rig_ask(&rig, "DELETE", BASE "/zones/zb", "", NULL);
	assert_int_equal(twice.status, 404);
	rig_end(&rig);
}

static void write_tells_every_fault(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_put(
		&rig, BASE "/load-balancers/shop/listeners/bad",
		"{\"protocol\":\"tcp\",\"port\":70000,\"server_group\":\"none\",\"colour\":1,\"access_list\":\"x\"}");
	assert_int_equal(a.status, 422);
	assert_string_equal(answer_text(&a, "type"), "invalid");
	assert_true(json_array_size(answer_at(&a, "errors")) >= 4);
	AUTO_REPLY struct answer used = rig_ask(&rig, "DELETE", BASE "/server-groups/web", "",
						NULL);
	assert_int_equal(used.status, 409);
	assert_non_null(strstr(answer_text(&used, "detail"), "shop"));
	AUTO_REPLY struct answer still = rig_get(&rig, BASE "/config");
	assert_int_equal(json_object_size(answer_at(&still, "load_balancers.shop.listeners")), 1);
	rig_end(&rig);
}

static void write_can_be_rehearsed(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_ask(&rig, "PATCH", W1 "?dry_run=true", "",
					     "{\"weight\":7}");
	assert_int_equal(a.status, 200);
	assert_int_equal(answer_number_at(&a, "diff_total"), 1);
	assert_string_equal(answer_text_at(&a, "diff.0.action"), "update");
	assert_string_equal(answer_text_at(&a, "diff.0.path"), "/server_groups/web/servers/w1");
	assert_int_equal(answer_number_at(&a, "diff.0.old.weight"), 100);
	assert_int_equal(answer_number_at(&a, "diff.0.new.weight"), 7);
	assert_int_equal(json_object_size(answer_at(&a, "diff.0.new")), 1);
	assert_int_equal(answer_number_at(&a, "kernel_ops_total"),
			 2); /* one for each service that holds it */
	assert_non_null(strstr(answer_text_at(&a, "kernel_ops.0"), "weight 7"));
	AUTO_REPLY struct answer same = rig_get(&rig, W1);
	assert_int_equal(answer_number_at(&same, "weight"), 100);
	AUTO_REPLY struct answer comment = rig_ask(&rig, "PATCH", W1 "?dry_run&comment=%ff", "",
						   "{\"weight\":7}");
	assert_int_equal(comment.status, 400);
	AUTO_REPLY struct answer control = rig_ask(&rig, "PATCH", W1 "?comment=%c2%9b31m", "",
						   "{\"weight\":7}");
	assert_int_equal(control.status, 400); /* it would act on the terminal of who reads it */
	AUTO_REPLY struct answer bad = rig_ask(&rig, "PATCH", W1 "?dry_run=perhaps", "",
					       "{\"weight\":7}");
	assert_int_equal(bad.status, 400);
	rig_end(&rig);
}

static void write_replaces_servers(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_put(
		&rig, BASE "/server-groups/web/servers",
		"{\"w1\":{\"address\":\"10.0.0.1\",\"port\":8080,\"zone\":\"za\"},"
		"\"w3\":{\"address\":\"10.0.0.3\",\"port\":8080}}");
	assert_int_equal(a.status, 200);
	assert_int_equal(json_object_size(answer_at(&a, "servers")), 2);
	assert_non_null(answer_at(&a, "servers.w3"));
	assert_null(answer_at(&a, "servers.w2"));
	rig_end(&rig);
}

/* The kernel says no after the commit: stored, with warnings; the store says no: refused. */
static void write_tells_what_did_not_work(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig.refuse_ops = true;
	AUTO_REPLY struct answer a = rig_ask(&rig, "PATCH", W1, "", "{\"weight\":7}");
	assert_int_equal(a.status, 200);
	assert_int_equal(answer_number_at(&a, "weight"), 7);
	assert_string_equal(answer_text_at(&a, "warnings.0.code"), "kernel_apply_failed");
	assert_true(strlen(answer_text_at(&a, "warnings.0.detail")) > 0);
	rig.refuse_ops = false;
	rig.fail_commits = true;
	AUTO_REPLY struct answer full = rig_ask(&rig, "PATCH", W1, "", "{\"weight\":8}");
	assert_int_equal(full.status, 503);
	assert_string_equal(answer_text(&full, "type"), "store-unavailable");
	assert_non_null(strstr(answer_text(&full, "detail"), "no space left"));
	char buf[256];
	assert_string_equal(answer_header(&full, "Retry-After", buf), "1");
	assert_string_equal(answer_text(&full, "detail"), "no space left on the device");
	AUTO_REPLY struct answer system = rig_get(&rig,
						  "/api/v1/system"); /* and says why there, too */
	assert_true(json_is_false(answer_at(&system, "store.ok")));
	assert_string_equal(answer_text_at(&system, "store.detail"), "no space left on the device");
	AUTO_REPLY struct answer ready = rig_get(&rig, "/readyz?verbose");
	assert_non_null(strstr(ready.text, "no space left on the device"));
	rig.fail_commits = false;
	AUTO_REPLY struct answer heals = rig_ask(&rig, "PATCH", W1, "", "{\"weight\":7}");
	(void)heals;
	AUTO_REPLY struct answer same = rig_get(&rig, W1);
	assert_int_equal(answer_number_at(&same, "weight"), 7);
	rig_end(&rig);
}

/* Of two that want the same the later one is at fault, though its name comes first. */
static void write_blames_what_came_later(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer alt = rig_put(
		&rig, BASE "/load-balancers/shop/listeners/alt",
		"{\"protocol\":\"tcp\",\"port\":80,\"server_group\":\"web\"}");
	assert_int_equal(alt.status, 422);
	assert_string_equal(answer_text_at(&alt, "errors.0.pointer"), "/port");
	assert_non_null(strstr(answer_text_at(&alt, "errors.0.detail"),
			       "is taken by load_balancers/shop/listeners/http in zone za"));
	AUTO_REPLY struct answer lb = rig_put(
		&rig, BASE "/load-balancers/also",
		"{\"zones\":{\"za\":{\"vip4\":\"192.0.2.7\"}},\"listeners\":{\"x\":{\"protocol\":\"tcp\","
		"\"port\":80,\"server_group\":\"web\"}}}");
	assert_int_equal(lb.status, 201);
	AUTO_REPLY struct answer zone = rig_put(&rig, BASE "/load-balancers/also/zones/za",
						"{\"vip4\":\"192.0.2.1\"}");
	assert_int_equal(zone.status, 422);
	assert_string_equal(answer_text_at(&zone, "errors.0.pointer"), "/vip4");
	rig_end(&rig);
}

static void write_of_the_document_is_guarded(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer a = rig_put(&rig, BASE "/config", "{}");
	assert_int_equal(a.status, 428);
	AUTO_REPLY struct answer no = rig_put(&rig, BASE "/config?dry_run=false", "{}");
	assert_int_equal(no.status, 428);
	AUTO_REPLY struct answer rehearsed = rig_put(&rig, BASE "/config?dry_run", RIG_DOCUMENT);
	assert_int_equal(rehearsed.status, 200);
	assert_int_equal(answer_number_at(&rehearsed, "diff_total"), 9);
	rig_load(&rig);
	AUTO_REPLY struct answer stale = rig_ask(&rig, "PUT", BASE "/config",
						 "If-Match: \"r77\"\r\n", RIG_DOCUMENT);
	assert_int_equal(stale.status, 412);
	assert_string_equal(answer_text_at(&stale, "changed.who"), "root");
	rig.fail_queries = true; /* without the store the answer is the same but for the name */
	AUTO_REPLY struct answer unknown = rig_ask(&rig, "PUT", BASE "/config",
						   "If-Match: \"r77\"\r\n", RIG_DOCUMENT);
	assert_int_equal(unknown.status, 412);
	assert_null(answer_at(&unknown, "changed"));
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write_creates_and_changes),
		cmocka_unit_test(write_tells_every_fault),
		cmocka_unit_test(write_blames_what_came_later),
		cmocka_unit_test(write_can_be_rehearsed),
		cmocka_unit_test(write_replaces_servers),
		cmocka_unit_test(write_tells_what_did_not_work),
		cmocka_unit_test(write_of_the_document_is_guarded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
