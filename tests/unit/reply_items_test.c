// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/reply.h"

#include "api_rig.h"

#define TOKENS "/api/v1/tokens"

static void make(struct rig *rig, const char *name)
{
	char body[96];

	snprintf(body, sizeof(body), "{\"name\":\"%s\",\"role\":\"viewer\"}", name);
	AUTO_REPLY struct answer a = rig_ask(rig, "POST", TOKENS, "", body);
	assert_int_equal(a.status, 201);
}

/* The page behind a cursor. */
static struct answer page(struct rig *rig, const char *limit, const char *cursor)
{
	char url[200];

	snprintf(url, sizeof(url), TOKENS "?limit=%s%s%s", limit, cursor ? "&cursor=" : "",
		 cursor ? cursor : "");
	return rig_get(rig, url);
}

static void pages_follow_each_other(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	make(&rig, "one");
	make(&rig, "two");
	make(&rig, "three");
	AUTO_REPLY struct answer all = rig_get(&rig, TOKENS);
	assert_int_equal(json_array_size(answer_at(&all, "items")), 3);
	assert_true(json_is_null(answer_at(&all, "next_cursor")));
	AUTO_REPLY struct answer first = page(&rig, "2", NULL);
	assert_int_equal(json_array_size(answer_at(&first, "items")), 2);
	/* What goes meanwhile leaves the next page as it is, also if the cursor stands on it. */
	char url[120];
	snprintf(url, sizeof(url), TOKENS "/%s", answer_text_at(&first, "items.1.id"));
	AUTO_REPLY struct answer gone = rig_ask(&rig, "DELETE", url, "", NULL);
	assert_int_equal(gone.status, 204);
	AUTO_REPLY struct answer second = page(&rig, "2", answer_text(&first, "next_cursor"));
	assert_int_equal(json_array_size(answer_at(&second, "items")), 1);
	assert_string_equal(answer_text_at(&second, "items.0.id"),
			    answer_text_at(&all, "items.2.id"));
	assert_true(json_is_null(answer_at(&second, "next_cursor")));
	AUTO_REPLY struct answer exact = page(&rig, "2", NULL);
	assert_true(json_is_null(answer_at(&exact, "next_cursor")));
	rig_end(&rig);
}

static void bad_pages_are_refused(void **state)
{
	static const char *const bad[] = {"?limit=0", "?limit=1001", "?limit=x",
					  "?cursor=", "?cursor=guess"};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char url[64];

		snprintf(url, sizeof(url), TOKENS "%s", bad[i]);
		AUTO_REPLY struct answer a = rig_get(&rig, url);
		assert_int_equal(a.status, 400);
	}
	rig_end(&rig);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_follow_each_other),
		cmocka_unit_test(bad_pages_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
