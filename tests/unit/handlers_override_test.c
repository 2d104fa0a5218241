// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

#define GROUP  "/api/v1/server-groups/web"
#define SHOP   "/api/v1/load-balancers/shop"
#define DRAIN  GROUP "/servers/w1/drain"
#define WEIGHT GROUP "/servers/w1/weight-override"
#define HEALTH GROUP "/servers/w1/health"
#define WHY    "{\"comment\":\"new disk\"}"

static struct answer put(const struct rig *rig, const char *path, const char *body)
{
	return rig_ask(rig, "PUT", path, "", body);
}

static void start(struct rig *rig)
{
	rig_start(rig, 0);
	rig_load(rig);
}

/* Read until it has ended: the fake kernel has no flows. */
static void await_end(const struct rig *rig, const char *path)
{
	for (int i = 0; i < 100; i++) {
		AUTO_REPLY struct answer a = rig_get(rig, path);

		assert_int_equal(a.status, 200);
		if (strcmp(answer_text(&a, "state"), "finished") == 0)
			return;
		usleep(20000);
	}
	fail_msg("%s does not end", path);
}

static void drain_has_a_life(void **state)
{
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_REPLY struct answer none = rig_get(&rig, DRAIN);
	assert_int_equal(none.status, 404);
	AUTO_REPLY struct answer a = put(&rig, DRAIN, WHY);
	assert_int_equal(a.status, 201);
	assert_string_equal(answer_text(&a, "kind"), "drain");
	assert_string_equal(answer_text(&a, "object"), "server_groups/web/servers/w1");
	assert_string_equal(answer_text(&a, "who"), "root");
	assert_string_equal(answer_text(&a, "comment"), "new disk");
	AUTO_REPLY struct answer health = rig_get(&rig, GROUP "/servers/w1/health");
	assert_string_equal(answer_text(&health, "state"), "draining");
	assert_string_equal(answer_text(&health, "reason_code"), "drain_requested");
	assert_non_null(strstr(answer_text(&health, "detail"), "root"));
	assert_non_null(strstr(answer_text(&health, "detail"), "; comment: \"new disk\""));
	AUTO_REPLY struct answer group = rig_get(&rig, GROUP "/health");
	assert_int_equal(json_integer_value(answer_at(&group, "summary.draining")), 1);

	AUTO_REPLY struct answer again = put(
		&rig, DRAIN, "{\"comment\":\"it takes longer\",\"timeout_ms\":5000}");
	assert_int_equal(again.status, 200);
	assert_string_equal(answer_text(&again, "id"), answer_text(&a, "id"));
	assert_int_equal(json_integer_value(answer_at(&again, "timeout_ms")), 5000);
	assert_int_equal(json_array_size(answer_at(&again, "history")), 2);
	await_end(&rig, DRAIN);
	AUTO_REPLY struct answer gone = rig_ask(&rig, "DELETE", DRAIN, "", NULL);
	assert_int_equal(gone.status, 204);
	AUTO_REPLY struct answer twice = rig_ask(&rig, "DELETE", DRAIN, "", NULL);
	assert_int_equal(twice.status, 404);
	rig_end(&rig);
}

static void every_place_can_be_drained(void **state)
{
	static const struct {
		const char *path;
		const char *object;
	} places[] = {
		{GROUP "/servers/w2/drain", "server_groups/web/servers/w2"},
		{GROUP "/zones/za/drain", "server_groups/web/zones/za"},
		{SHOP "/listeners/http/drain", "load_balancers/shop/listeners/http"},
		{SHOP "/drain", "load_balancers/shop"},
	};
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_REPLY struct answer zone = rig_ask(&rig, "PATCH", GROUP, "",
						"{\"servers\":{\"w1\":{\"zone\":\"za\"}}}");
	assert_int_equal(zone.status, 200);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		AUTO_REPLY struct answer a = put(&rig, places[i].path, WHY);
		AUTO_REPLY struct answer shown = rig_get(&rig, places[i].path);

		assert_int_equal(a.status, 201);
		assert_string_equal(answer_text(&a, "object"), places[i].object);
		assert_string_equal(answer_text(&shown, "id"), answer_text(&a, "id"));
	}
	AUTO_REPLY struct answer all = rig_get(&rig, "/api/v1/overrides");
	assert_int_equal(json_array_size(answer_at(&all, "items")), 4);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		AUTO_REPLY struct answer a = rig_ask(&rig, "DELETE", places[i].path, "", NULL);

		assert_int_equal(a.status, 204);
	}
	rig_end(&rig);
}

static void weight_has_a_life(void **state)
{
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_REPLY struct answer a = put(
		&rig, WEIGHT, "{\"weight\":7,\"expires_in\":\"2h\",\"comment\":\"slow\"}");
	assert_int_equal(a.status, 201);
	assert_int_equal(json_integer_value(answer_at(&a, "weight")), 7);
	assert_true(strlen(answer_text(&a, "expires_at")) > 10);
	AUTO_REPLY struct answer forever = put(&rig, WEIGHT, "{\"weight\":9,\"comment\":\"slow\"}");
	assert_int_equal(forever.status, 200);
	assert_true(json_is_null(answer_at(&forever, "expires_at")));
	/* Of a drained server it is taken, and told. */
	AUTO_REPLY struct answer drain = put(&rig, DRAIN, WHY);
	assert_int_equal(drain.status, 201);
	AUTO_REPLY struct answer shown = rig_get(&rig, WEIGHT);
	assert_non_null(strstr(answer_text(&shown, "detail"), "drained"));
	AUTO_REPLY struct answer all = rig_get(&rig, "/api/v1/overrides");
	/* Made within a millisecond, perhaps: which is first is not told. */
	assert_string_equal(answer_text_at(&all, "items.0.object"),
			    answer_text_at(&all, "items.1.object"));
	assert_string_not_equal(answer_text_at(&all, "items.0.kind"),
				answer_text_at(&all, "items.1.kind"));
	AUTO_REPLY struct answer gone = rig_ask(&rig, "DELETE", WEIGHT, "", NULL);
	assert_int_equal(gone.status, 204);
	AUTO_REPLY struct answer none = rig_get(&rig, WEIGHT);
	assert_int_equal(none.status, 404);
	rig_end(&rig);
}

/* What is told of a drain is cut, and not within a character. */
static void long_comments_are_shown_in_part(void **state)
{
	struct rig rig = {0};

	(void)state;
	start(&rig);
	for (size_t odd = 0; odd < 2; odd++) {
		char body[600] = "{\"comment\":\"";

		strcat(body, odd ? "x" : "");
		for (size_t i = 0; i < 245; i++)
			strcat(body, "\xc3\xa9");
		strcat(body, "\"}");
		AUTO_REPLY struct answer a = put(&rig, DRAIN, body);
		assert_int_equal(a.status, odd ? 200 : 201);
		AUTO_REPLY struct answer server = rig_get(&rig, HEALTH);
		assert_int_equal(server.status, 200);
		assert_string_equal(answer_text(&server, "state"), "draining");
		assert_non_null(strstr(answer_text(&server, "detail"), "\xc3\xa9\xc3\xa9"));
		AUTO_REPLY struct answer events = rig_get(&rig, "/api/v1/events?limit=1");
		assert_non_null(
			strstr(answer_text_at(&events, "items.0.detail"), "\xc3\xa9\xc3\xa9"));
	}
	rig_end(&rig);
}

struct race {
	struct rig *rig;
	const char *headers;
	int status;
};

static void *race_put(void *arg)
{
	struct race *race = arg;
	struct answer a = rig_ask(race->rig, "PUT", WEIGHT, race->headers,
				  "{\"weight\":5,\"comment\":\"race\"}");

	race->status = a.status;
	/* Whoever is refused learns of the other. */
	if (a.status == 412) {
		assert_string_equal(answer_text_at(&a, "changed.who"), "root");
		assert_string_equal(answer_text_at(&a, "changed.comment"), "race");
		assert_int_equal(strlen(answer_text_at(&a, "changed.at")), 24);
	}
	answer_clear(&a);
	return NULL;
}

/* Both held the tag when they came; the change of one is on its way when the other is looked at. Returns how many were refused. */
static int refused_of_two(struct rig *rig, const char *headers)
{
	struct race one = {rig, headers, 0}, other = one;
	pthread_t thread;

	rig->delay = 0.2;
	assert_int_equal(pthread_create(&thread, NULL, race_put, &one), 0);
	race_put(&other);
	pthread_join(thread, NULL);
	rig->delay = 0;
	assert_true(one.status == 412 || one.status == 200 || one.status == 201);
	return (one.status == 412) + (other.status == 412);
}

static void of_two_with_one_tag_one_wins(void **state)
{
	struct rig rig = {0};
	char headers[300], tag[256];

	(void)state;
	start(&rig);
	assert_int_equal(refused_of_two(&rig, "If-None-Match: *\r\n"), 1);
	AUTO_REPLY struct answer now = rig_get(&rig, WEIGHT);
	snprintf(headers, sizeof(headers), "If-Match: %s\r\n", answer_header(&now, "ETag", tag));
	assert_int_equal(refused_of_two(&rig, headers), 1);
	assert_int_equal(refused_of_two(&rig, "If-Match: *\r\n"), 0);
	rig_end(&rig);
}

static void dry_runs_change_nothing(void **state)
{
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_REPLY struct answer a = put(&rig, SHOP "/drain?dry_run=true", WHY);
	assert_int_equal(a.status, 200);
	assert_string_equal(answer_text_at(&a, "override.object"), "load_balancers/shop");
	assert_int_equal(json_integer_value(answer_at(&a, "kernel_ops_total")),
			 json_array_size(answer_at(&a, "kernel_ops")));
	assert_true(json_is_array(answer_at(&a, "dns_changes")));
	AUTO_REPLY struct answer all = rig_get(&rig, "/api/v1/overrides");
	assert_int_equal(json_array_size(answer_at(&all, "items")), 0);
	AUTO_REPLY struct answer none = rig_ask(&rig, "DELETE", SHOP "/drain?dry_run=true", "",
						NULL);
	assert_int_equal(none.status, 404);
	AUTO_REPLY struct answer real = put(&rig, SHOP "/drain", WHY);
	assert_int_equal(real.status, 201);
	AUTO_REPLY struct answer back = rig_ask(&rig, "DELETE", SHOP "/drain?dry_run=true", "",
						NULL);
	assert_int_equal(back.status, 200);
	AUTO_REPLY struct answer stays = rig_get(&rig, SHOP "/drain");
	assert_int_equal(stays.status, 200);
	rig_end(&rig);
}

static void bad_wishes_are_refused(void **state)
{
	static const struct {
		const char *path;
		const char *body;
		int status;
	} cases[] = {
		{DRAIN, "{}", 422},
		{DRAIN, "{\"comment\":\"\"}", 422},
		{DRAIN, "{\"comment\":\"c\",\"timeout_ms\":3600001}", 422},
		{DRAIN, "{\"comment\":\"c\",\"weight\":1}", 422},
		{WEIGHT, "{\"comment\":\"c\"}", 422},
		{WEIGHT, "{\"comment\":\"c\",\"weight\":-1}", 422},
		{GROUP "/servers/w9/drain", WHY, 404},
		{"/api/v1/server-groups/none/servers/w1/drain", WHY, 404},
		{GROUP "/zones/zz/drain", WHY, 404},
		{GROUP "/zones/zc/drain", WHY, 409},
		{SHOP "/listeners/none/drain", WHY, 404},
		{"/api/v1/load-balancers/none/drain", WHY, 404},
		{GROUP "/servers/w9/weight-override", "{\"weight\":1,\"comment\":\"c\"}", 404},
		{GROUP "/servers/W%ff/drain", WHY, 422},
		{DRAIN "?dry_run=maybe", WHY, 400},
	};
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_REPLY struct answer zone = put(&rig, "/api/v1/zones/zc", "{}");
	assert_int_equal(zone.status, 201);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_REPLY struct answer a = put(&rig, cases[i].path, cases[i].body);

		if (a.status != cases[i].status)
			fail_msg("%s %s: %s", cases[i].path, cases[i].body, a.text);
	}
	rig.fail_commits = true;
	AUTO_REPLY struct answer full = put(&rig, DRAIN, WHY);
	assert_int_equal(full.status, 503);
	rig.fail_commits = false;
	AUTO_REPLY struct answer post = rig_ask(&rig, "POST", DRAIN, "", WHY);
	assert_int_equal(post.status, 405);
	AUTO_REPLY struct answer all = rig_get(&rig, "/api/v1/overrides");
	assert_int_equal(json_array_size(answer_at(&all, "items")), 0);
	rig_end(&rig);
}

static void refusals_of_the_kernel_are_told(void **state)
{
	struct rig rig = {0};

	(void)state;
	start(&rig);
	rig.refuse_ops = true;
	AUTO_REPLY struct answer a = put(&rig, DRAIN, "{\"timeout_ms\":0,\"comment\":\"now\"}");
	assert_int_equal(a.status, 201);
	assert_string_equal(answer_text_at(&a, "warnings.0.pointer"),
			    "/load_balancers/shop/listeners/http");
	assert_non_null(strstr(answer_text_at(&a, "warnings.0.detail"), "fake kernel"));
	/* What the kernel never took need not be taken back: there is nothing to tell. */
	AUTO_REPLY struct answer never = rig_ask(&rig, "DELETE", DRAIN, "", NULL);
	assert_int_equal(never.status, 204);
	rig.refuse_ops = false;
	AUTO_REPLY struct answer taken = put(&rig, DRAIN, "{\"comment\":\"now\"}");
	assert_int_equal(taken.status, 201);
	rig.refuse_ops = true;
	AUTO_REPLY struct answer back = rig_ask(&rig, "DELETE", DRAIN, "", NULL);
	assert_int_equal(back.status, 200);
	assert_string_equal(answer_text_at(&back, "override.id"), answer_text(&taken, "id"));
	assert_true(json_array_size(answer_at(&back, "warnings")) > 0);
	AUTO_REPLY struct answer gone = rig_get(&rig, DRAIN);
	assert_int_equal(gone.status, 404);
	rig.refuse_ops = false;
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drain_has_a_life),
		cmocka_unit_test(every_place_can_be_drained),
		cmocka_unit_test(weight_has_a_life),
		cmocka_unit_test(long_comments_are_shown_in_part),
		cmocka_unit_test(of_two_with_one_tag_one_wins),
		cmocka_unit_test(dry_runs_change_nothing),
		cmocka_unit_test(bad_wishes_are_refused),
		cmocka_unit_test(refusals_of_the_kernel_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
