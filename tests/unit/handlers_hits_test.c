// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

#include "plan/hits.h"

#define BASE "/api/v1"
#define LIST BASE "/access-lists/office"

static void hits_are_ranked(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer put = rig_put(
		&rig, LIST,
		"{\"entries\":[{\"cidr\":\"10.0.0.0/8\",\"action\":\"allow\",\"comment\":\"us\"},"
		"{\"cidr\":\"192.0.2.1/32\",\"action\":\"deny\"}]}");
	assert_int_equal(put.status, 201);
	AUTO_REPLY struct answer none = rig_get(&rig, LIST "/hits");
	assert_int_equal(none.status, 200);
	assert_true(json_is_false(answer_at(&none, "available")));
	assert_int_equal(json_array_size(answer_at(&none, "entries")), 0);

	struct hits *h = mem_new(struct hits);
	for (uint8_t i = 0; i < 3; i++)
		*hits_push(h) = (struct hit){
			.net = {.family = AF_INET,
				.bytes = {i == 0 ? 10 : 192, 0, i == 0 ? 0 : 2, i == 0 ? 0 : i}},
			.length = i == 0 ? 8 : 32,
			.packets = i == 2 ? 0 : 5 + i,
			.bytes = 100 * (5U + i)};
	h->default_packets = 7;
	rig.hits = h;
	AUTO_REPLY struct answer some = rig_get(&rig, LIST "/hits");
	assert_true(json_is_true(answer_at(&some, "available")));
	assert_int_equal(answer_number_at(&some, "entries_total"), 2);
	assert_string_equal(answer_text_at(&some, "entries.0.cidr"), "192.0.2.1/32");
	assert_string_equal(answer_text_at(&some, "entries.0.action"), "deny");
	assert_int_equal(answer_number_at(&some, "entries.1.packets"), 5);
	assert_string_equal(answer_text_at(&some, "entries.1.comment"), "us");
	assert_int_equal(answer_number_at(&some, "default.packets"), 7);
	AUTO_REPLY struct answer gone = rig_get(&rig, BASE "/access-lists/none/hits");
	assert_int_equal(gone.status, 404);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hits_are_ranked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
