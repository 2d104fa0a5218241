// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/same_body.h"

#include "api_rig.h"

static void bytes_and_revision_decide(void **state)
{
	struct same_body s = {0};
	uint8_t a[SAME_BODY_DIGEST], b[SAME_BODY_DIGEST];

	(void)state;
	same_body_digest("{}", 2, a);
	same_body_digest("{} ", 3, b);
	assert_false(same_body_holds(&s, a, 0));
	same_body_note(&s, a, 7);
	assert_true(same_body_holds(&s, a, 7));
	assert_false(same_body_holds(&s, a, 8));
	assert_false(same_body_holds(&s, b, 7));
	same_body_note(&s, b, 7);
	assert_false(same_body_holds(&s, a, 7));
}

/* Larger than what is parsed on the loop. */
static char *large_document(unsigned weight)
{
	char *text = mem_alloc(1 << 20);
	size_t used = (size_t)sprintf(text, "{\"server_groups\":{\"g\":{\"protocol\":\"tcp\","
					    "\"servers\":{");

	for (unsigned i = 0; i < 2000; i++)
		used += (size_t)sprintf(
			text + used,
			"%s\"s%u\":{\"address\":\"10.0.%u.%u\",\"port\":80,\"weight\":%u}",
			i ? "," : "", i, i / 250, i % 250 + 1, i ? 100 : weight);
	sprintf(text + used, "}}}}");
	return text;
}

static int put(struct rig *rig, const char *uri, const char *headers, const char *body)
{
	AUTO_REPLY struct answer a = rig_ask(rig, "PUT", uri, headers, body);

	return a.status;
}

static long long weight_now(struct rig *rig)
{
	AUTO_REPLY struct answer a = rig_get(rig, "/api/v1/server-groups/g/servers/s0");

	assert_int_equal(a.status, 200);
	return answer_number_at(&a, "weight");
}

static void expect_revision(struct rig *rig, const char *expected)
{
	AUTO_REPLY struct answer a = rig_get(rig, "/api/v1/config");
	char etag[256];

	assert_string_equal(answer_header(&a, "ETag", etag), expected);
}

static void repeats_change_nothing(void **state)
{
	static const char any[] = "If-Match: *\r\n";
	AUTO_FREE char *first = large_document(1);
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	assert_int_equal(put(&rig, "/api/v1/config", any, first), 200);
	expect_revision(&rig, "\"r1\"");
	for (int i = 0; i < 3; i++) {
		AUTO_REPLY struct answer a = rig_ask(
			&rig, "PUT", "/api/v1/config",
			"If-Match: \"r1\"\r\nPrefer: return=minimal\r\n", first);
		char etag[256];

		assert_int_equal(a.status, 204);
		assert_string_equal(answer_header(&a, "ETag", etag), "\"r1\"");
	}
	assert_int_equal(put(&rig, "/api/v1/config", any, first), 200);
	expect_revision(&rig, "\"r1\"");
	rig_end(&rig);
}

/* What was known is void as soon as somebody else writes. */
static void a_change_between_is_seen(void **state)
{
	static const char any[] = "If-Match: *\r\n";
	AUTO_FREE char *first = large_document(1);
	AUTO_FREE char *second = large_document(2);
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	assert_int_equal(put(&rig, "/api/v1/config", any, first), 200);
	assert_int_equal(put(&rig, "/api/v1/config", any, second), 200);
	assert_int_equal(weight_now(&rig), 2);
	assert_int_equal(put(&rig, "/api/v1/config", any, first), 200);
	assert_int_equal(weight_now(&rig), 1);
	assert_int_equal(put(&rig, "/api/v1/server-groups/g/servers/s0", "",
			     "{\"address\":\"10.0.0.1\",\"port\":80,\"weight\":3}"),
			 200);
	assert_int_equal(put(&rig, "/api/v1/config", any, first), 200);
	assert_int_equal(weight_now(&rig), 1);
	expect_revision(&rig, "\"r5\"");
	rig_end(&rig);
}

static void conditions_and_dry_runs_are_kept(void **state)
{
	AUTO_FREE char *first = large_document(1);
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	assert_int_equal(put(&rig, "/api/v1/config", "If-Match: *\r\n", first), 200);
	assert_int_equal(put(&rig, "/api/v1/config", "If-Match: \"r0\"\r\n", first), 412);
	assert_int_equal(put(&rig, "/api/v1/config", "", first), 428);
	AUTO_REPLY struct answer dry = rig_ask(&rig, "PUT", "/api/v1/config?dry_run=true",
					       "If-Match: *\r\n", first);
	assert_int_equal(dry.status, 200);
	assert_true(json_is_array(answer_at(&dry, "kernel_ops")));
	expect_revision(&rig, "\"r1\"");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_and_revision_decide),
		cmocka_unit_test(repeats_change_nothing),
		cmocka_unit_test(a_change_between_is_seen),
		cmocka_unit_test(conditions_and_dry_runs_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
