// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

#define SHIFTS "/api/v1/zone-shifts"
#define START                                                                                  \
	"{\"zone\":\"zb\",\"load_balancer\":\"shop\",\"expires_in\":\"2h\",\"comment\":\"new " \
	"switch\"}"

#define VIPS6                                                             \
	"{\"zones\":{\"za\":{\"vip6\":\"2001:db8::1\"},\"zb\":{\"vip6\":" \
	"\"2001:db8::2\"}}}"

static struct answer post(const struct rig *rig, const char *path, const char *body)
{
	return rig_ask(rig, "POST", path, "", body);
}

static void shift_has_a_life(void **state)
{
	struct rig rig = {.judge_vips = true};
	char location[256];

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	AUTO_REPLY struct answer a = post(&rig, SHIFTS, START);
	assert_int_equal(a.status, 201);
	AUTO_FREE char *path = mem_printf(SHIFTS "/%s", answer_text(&a, "id"));
	assert_string_equal(answer_header(&a, "Location", location), path);
	assert_string_equal(answer_text(&a, "who"), "root");
	assert_string_equal(answer_text_at(&a, "effects.0.answers_after.0"), "192.0.2.1");
	assert_int_equal(json_array_size(answer_at(&a, "effects.0.answers_before")), 2);

	AUTO_REPLY struct answer got = rig_get(&rig, path);
	assert_int_equal(got.status, 200);
	assert_string_equal(answer_text(&got, "comment"), "new switch");
	assert_string_equal(answer_text(&got, "expires_at"), answer_text(&a, "expires_at"));
	AUTO_REPLY struct answer twice = post(&rig, SHIFTS, START);
	assert_int_equal(twice.status, 409);
	assert_string_equal(answer_text(&twice, "type"), "refused");

	AUTO_REPLY struct answer longer = rig_ask(
		&rig, "PATCH", path, "", "{\"expires_in\":\"3h\",\"comment\":\"slow parcel\"}");
	assert_int_equal(longer.status, 200);
	assert_true(strcmp(answer_text(&longer, "expires_at"), answer_text(&a, "expires_at")) > 0);
	assert_int_equal(json_array_size(answer_at(&longer, "history")), 2);
	assert_string_equal(answer_text_at(&longer, "history.1.comment"), "slow parcel");
	AUTO_REPLY struct answer list = rig_get(&rig, SHIFTS);
	assert_int_equal(json_array_size(answer_at(&list, "items")), 1);

	AUTO_REPLY struct answer rehearsed = rig_ask(&rig, "DELETE", path, "", NULL);
	assert_int_equal(rehearsed.status, 204);
	AUTO_REPLY struct answer gone = rig_get(&rig, path);
	assert_int_equal(gone.status, 404);
	AUTO_REPLY struct answer again = rig_ask(&rig, "DELETE", path, "", NULL);
	assert_int_equal(again.status, 404);
	rig_end(&rig);
}

/* A rehearsal shows what would happen, also what would refuse it, and changes nothing. */
static void shift_rehearses(void **state)
{
	struct rig rig = {.judge_vips = true, .vip_down = "192.0.2.1"};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	AUTO_REPLY struct answer a = post(&rig, SHIFTS "?dry_run=true", START);
	assert_int_equal(a.status, 200);
	assert_string_equal(answer_text_at(&a, "effects.0.answers_before.0"), "192.0.2.2");
	assert_string_equal(answer_text_at(&a, "effects.0.answers_after.0"), "192.0.2.1");
	assert_int_equal(json_array_size(answer_at(&a, "refusals")), 1);
	AUTO_REPLY struct answer list = rig_get(&rig, SHIFTS);
	assert_int_equal(json_array_size(answer_at(&list, "items")), 0);

	/* Only the unhealthy zone would be left. */
	AUTO_REPLY struct answer refused = post(&rig, SHIFTS, START);
	assert_int_equal(refused.status, 409);
	assert_string_equal(answer_text_at(&refused, "errors.0.detail"),
			    answer_text_at(&a, "refusals.0.detail"));
	AUTO_REPLY struct answer forced = post(
		&rig, SHIFTS,
		"{\"zone\":\"zb\",\"load_balancer\":\"*\",\"expires_in\":\"90s\",\"comment\":\"I know\","
		"\"force\":true}");
	assert_int_equal(forced.status, 201);
	assert_true(json_is_true(answer_at(&forced, "forced")));
	rig_end(&rig);
}

/* A family that had no healthy zone before keeps no zone of the other one from being shifted. */
static void shift_of_one_healthy_family(void **state)
{
	struct rig rig = {.judge_vips = true}, down = {.judge_vips = true, .vip_down = "192.0.2.1"};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	AUTO_REPLY struct answer both = rig_ask(&rig, "PATCH", "/api/v1/load-balancers/shop", "",
						VIPS6);
	assert_int_equal(both.status, 200);
	AUTO_REPLY struct answer a = post(&rig, SHIFTS, START);
	assert_int_equal(a.status, 201);
	rig_end(&rig);

	/* Where the other would lose what is healthy it is named. */
	rig_start(&down, 0);
	rig_load(&down);
	rig_publish(&down);
	AUTO_REPLY struct answer set = rig_ask(&down, "PATCH", "/api/v1/load-balancers/shop", "",
					       VIPS6);
	assert_int_equal(set.status, 200);
	AUTO_REPLY struct answer refused = post(&down, SHIFTS, START);
	assert_int_equal(refused.status, 409);
	assert_non_null(strstr(answer_text_at(&refused, "errors.0.detail"),
			       "would have only unhealthy zones left; set force"));
	rig_end(&down);
}

#define MANY 250 /* load balancers: their effects are told by the worker */

static char *many_balancers(void)
{
	json_t *document = rig_many_balancers(MANY);
	char *text = json_dumps(document, 0);

	json_decref(document);
	return text;
}

static void shift_tells_many_effects(void **state)
{
	static const char body[] =
		"{\"zone\":\"zb\",\"load_balancer\":\"*\",\"expires_in\":\"2h\",\"comment\":\"c\"}";
	AUTO_FREE char *document = many_balancers();
	struct rig rig = {.judge_vips = true};
	char location[256];

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer put = rig_ask(&rig, "PUT", "/api/v1/config", "If-Match: *\r\n",
					       document);
	assert_int_equal(put.status, 200);
	AUTO_REPLY struct answer rehearsed = post(&rig, SHIFTS "?dry_run=true", body);
	assert_int_equal(rehearsed.status, 200);
	assert_int_equal(json_array_size(answer_at(&rehearsed, "effects")), MANY);
	assert_true(json_is_array(answer_at(&rehearsed, "refusals")));
	assert_string_equal(answer_text_at(&rehearsed, "diff.0.action"), "create");
	assert_string_equal(answer_text_at(&rehearsed, "diff.0.new.zone"), "zb");
	assert_int_equal(answer_number_at(&rehearsed, "dns_changes_total"), MANY);
	assert_string_equal(answer_text_at(&rehearsed, "dns_changes.249.after.0"), "198.18.0.250");
	assert_int_equal(answer_number_at(&rehearsed, "dns_changes.249.ttl_after_s"),
			 answer_number_at(&rehearsed, "dns_changes.249.ttl_before_s") / 2);
	assert_true(json_is_array(answer_at(&rehearsed, "warnings")));
	AUTO_REPLY struct answer a = post(&rig, SHIFTS, body);
	assert_int_equal(a.status, 201);
	assert_non_null(answer_header(&a, "Location", location));
	assert_string_equal(answer_text(&a, "zone"), "zb");
	assert_int_equal(json_array_size(answer_at(&a, "effects")), MANY);
	assert_string_equal(answer_text_at(&a, "effects.249.load_balancer"), "n249");
	assert_string_equal(answer_text_at(&a, "effects.249.answers_after.0"), "198.18.0.250");
	assert_null(answer_at(&a, "diff"));
	/* The other way round. */
	AUTO_FREE char *back = mem_printf(SHIFTS "/%s?dry_run=true", answer_text(&a, "id"));
	AUTO_REPLY struct answer returned = rig_ask(&rig, "DELETE", back, "", NULL);
	assert_int_equal(returned.status, 200);
	assert_string_equal(answer_text_at(&returned, "diff.0.action"), "delete");
	/* The zone is not handed out before its VIP is known to be healthy. */
	assert_int_equal(answer_number_at(&returned, "dns_changes_total"), 0);
	assert_string_equal(answer_text_at(&returned, "warnings.0.code"), "checked_first");
	AUTO_REPLY struct answer still = rig_get(&rig, SHIFTS);
	assert_int_equal(json_array_size(answer_at(&still, "items")), 1);
	rig_end(&rig);
}

/* A rehearsed evacuation tells what the kernel would be told, and so does its end. */
static void shift_plans_its_evacuation(void **state)
{
	static const char body[] =
		"{\"zone\":\"zb\",\"load_balancer\":\"shop\",\"expires_in\":\"2h\",\"comment\":\"c\","
		"\"evacuate_servers\":true,\"force\":true}";
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer cross = rig_ask(&rig, "PATCH", "/api/v1/load-balancers/shop", "",
						 "{\"cross_zone\":true}");
	assert_int_equal(cross.status, 200);
	AUTO_REPLY struct answer dry = post(&rig, SHIFTS "?dry_run=true", body);
	assert_int_equal(dry.status, 200);
	assert_int_equal(answer_number_at(&dry, "kernel_ops_total"),
			 1); /* at the VIP of the other zone */
	assert_non_null(strstr(answer_text_at(&dry, "kernel_ops.0"), "10.0.0.2:8080 weight 0"));
	AUTO_REPLY struct answer a = post(&rig, SHIFTS, body);
	assert_int_equal(a.status, 201);
	AUTO_FREE char *back = mem_printf(SHIFTS "/%s?dry_run=true", answer_text(&a, "id"));
	AUTO_REPLY struct answer returned = rig_ask(&rig, "DELETE", back, "", NULL);
	assert_int_equal(answer_number_at(&returned, "kernel_ops_total"), 1);
	assert_non_null(
		strstr(answer_text_at(&returned, "kernel_ops.0"), "10.0.0.2:8080 weight 50"));
	/* Nothing of it was done. */
	AUTO_REPLY struct answer again = rig_ask(&rig, "DELETE", back, "", NULL);
	assert_int_equal(answer_number_at(&again, "kernel_ops_total"), 1);
	rig_end(&rig);
}

static void shift_refuses_bad_wishes(void **state)
{
	struct rig rig = {.judge_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer form = post(&rig, SHIFTS, "{\"zone\":\"zb\",\"hours\":2}");
	assert_int_equal(form.status, 422);
	assert_int_equal(json_array_size(answer_at(&form, "errors")), 4);
	AUTO_REPLY struct answer zone = post(
		&rig, SHIFTS,
		"{\"zone\":\"zz\",\"load_balancer\":\"shop\",\"expires_in\":\"2h\",\"comment\":\"c\"}");
	assert_int_equal(zone.status, 422);
	assert_string_equal(answer_text_at(&zone, "errors.0.pointer"), "/zone");
	AUTO_REPLY struct answer long_one = post(
		&rig, SHIFTS,
		"{\"zone\":\"zb\",\"load_balancer\":\"shop\",\"expires_in\":\"4d\",\"comment\":\"c\"}");
	assert_int_equal(long_one.status, 422);
	assert_string_equal(answer_text_at(&long_one, "errors.0.pointer"), "/expires_in");
	rig.fail_commits = true;
	AUTO_REPLY struct answer full = post(&rig, SHIFTS, START);
	assert_int_equal(full.status, 503);
	rig.fail_commits = false;
	AUTO_REPLY struct answer list = rig_get(&rig, SHIFTS);
	assert_int_equal(json_array_size(answer_at(&list, "items")), 0);
	rig_end(&rig);
}

static void shift_is_seen_everywhere(void **state)
{
	struct rig rig = {.judge_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	AUTO_REPLY struct answer none = rig_get(&rig, "/api/v1/overrides");
	assert_int_equal(json_array_size(answer_at(&none, "items")), 0);
	AUTO_REPLY struct answer a = post(&rig, SHIFTS, START);
	assert_int_equal(a.status, 201);
	AUTO_REPLY struct answer all = rig_get(&rig, "/api/v1/overrides");
	assert_string_equal(answer_text_at(&all, "items.0.kind"), "zone_shift");
	assert_string_equal(answer_text_at(&all, "items.0.id"), answer_text(&a, "id"));
	assert_string_equal(answer_text_at(&all, "items.0.object"), "load_balancers/shop/zones/zb");
	assert_string_equal(answer_text_at(&all, "items.0.who"), "root");
	assert_string_equal(answer_text_at(&all, "items.0.comment"), "new switch");
	assert_string_equal(answer_text_at(&all, "items.0.expires_at"),
			    answer_text(&a, "expires_at"));
	AUTO_REPLY struct answer lb = rig_get(&rig, "/api/v1/load-balancers/shop/status");
	assert_string_equal(answer_text_at(&lb, "zones.1.publication.0.reason_code"),
			    "withdrawn_manual");
	assert_string_equal(answer_text_at(&lb, "zones.1.publication.0.shift"),
			    answer_text(&a, "id"));
	rig_end(&rig);
}

/* Two people at one shift: the second learns of the first. */
static void shift_has_an_etag(void **state)
{
	struct rig rig = {0};
	char etag[256];

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = post(&rig, SHIFTS, START);
	AUTO_FREE char *path = mem_printf(SHIFTS "/%s", answer_text(&a, "id"));
	AUTO_REPLY struct answer shown = rig_get(&rig, path);
	AUTO_FREE char *match = mem_printf("If-Match: %s\r\n", answer_header(&shown, "ETag", etag));
	AUTO_FREE char *none = mem_printf("If-None-Match: %s\r\n", etag);
	AUTO_REPLY struct answer known = rig_ask(&rig, "GET", path, none, NULL);
	assert_int_equal(known.status, 304);
	AUTO_REPLY struct answer first = rig_ask(&rig, "PATCH", path, match,
						 "{\"comment\":\"later\"}");
	assert_int_equal(first.status, 200);
	AUTO_REPLY struct answer second = rig_ask(&rig, "DELETE", path, match, NULL);
	assert_int_equal(second.status, 412);
	assert_string_equal(answer_text_at(&second, "changed.who"), "root");
	assert_string_equal(answer_text_at(&second, "changed.comment"), "later");
	assert_int_equal(strlen(answer_text_at(&second, "changed.at")), 24);
	assert_non_null(strstr(answer_text(&second, "detail"), "(by root)"));
	AUTO_REPLY struct answer changed = rig_ask(&rig, "GET", path, none, NULL);
	assert_int_equal(changed.status, 200);
	AUTO_REPLY struct answer any = rig_ask(&rig, "DELETE", path, "If-Match: *\r\n", NULL);
	assert_int_equal(any.status, 204);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shift_has_a_life),
		cmocka_unit_test(shift_has_an_etag),
		cmocka_unit_test(shift_rehearses),
		cmocka_unit_test(shift_of_one_healthy_family),
		cmocka_unit_test(shift_tells_many_effects),
		cmocka_unit_test(shift_plans_its_evacuation),
		cmocka_unit_test(shift_refuses_bad_wishes),
		cmocka_unit_test(shift_is_seen_everywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
