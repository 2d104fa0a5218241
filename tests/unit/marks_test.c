// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/marks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"

static void push(struct vec *list, const char *lb, const char *zone, const char *listener,
		 uint32_t number)
{
	char *names[] = {mem_strdup(lb), mem_strdup(zone), mem_strdup(listener)};
	const struct mark m = {
		.lb = names[0], .zone = names[1], .listener = names[2], .mark = number};

	vec_push(list, marks_copy_mark(&m));
	for (size_t i = 0; i < 3; i++)
		free(names[i]);
}

static void marks_are_found_by_all_three_names(void **state)
{
	struct vec list = {0};
	struct marks *m;

	(void)state;
	push(&list, "shop", "zb", "all", 3);
	push(&list, "shop", "za", "all", 2);
	push(&list, "shop", "za", "ftp", 1);
	push(&list, "a", "zb", "all", 4);
	m = marks_new(&list);
	assert_int_equal(list.count, 0);
	assert_int_equal(marks_find(m, "shop", "za", "all"), 2);
	assert_int_equal(marks_find(m, "shop", "zb", "all"), 3);
	assert_int_equal(marks_find(m, "shop", "za", "ftp"), 1);
	assert_int_equal(marks_find(m, "a", "zb", "all"), 4);
	assert_int_equal(marks_find(m, "a", "za", "all"), 0);
	assert_int_equal(marks_find(m, "shop", "za", ""), 0);
	assert_int_equal(marks_find(NULL, "shop", "za", "all"), 0);
	assert_ptr_equal(marks_ref(m), m);
	marks_unref(m);
	assert_int_equal(marks_find(m, "shop", "za", "ftp"), 1);
	marks_unref(m);
	marks_unref(marks_ref(NULL));
}

static void a_space_is_value_and_mask(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint32_t value;
		uint32_t mask;
	} cases[] = {
		{MARKS_DEFAULT_TEXT, true, 0x5a000000, 0xfffff000},
		{"0/0xfffff000", true, 0, 0xfffff000},
		{"16/4294967280", true, 16, 0xfffffff0},
		{"0x1/0xfffffffe", false, 0, 0},
		{"0x2/0xfffffffe", true, 2, 0xfffffffe},
		{"0x1000/0xfffff000", true, 0x1000, 0xfffff000},
		{"0x0/0xffffe000", false, 0, 0},
		{"0x0/0xffffffff", false, 0, 0},
		{"0x0/0x1ffffffff", false, 0, 0},
		{"0x5a000000", false, 0, 0},
		{"0x5a000000/", false, 0, 0},
		{"0x5a000000/0xfffff000 ", false, 0, 0},
		{" 0x5a000000/0xfffff000", false, 0, 0},
		{"-1/0xfffff000", false, 0, 0},
		{"/0xfffff000", false, 0, 0},
		{"", false, 0, 0},
		{"99999999999999999999999/0xfffff000", false, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mark_space s = {0};

		if (marks_parse_space(cases[i].text, &s) != cases[i].good)
			fail_msg("%s", cases[i].text);
		assert_int_equal(s.value, cases[i].value);
		assert_int_equal(s.mask, cases[i].mask);
	}
}

static void every_mark_is_there_once_and_never_the_bare_value(void **state)
{
	const struct mark_space wide = MARKS_DEFAULT;
	const struct mark_space split = {.value = 0x10, .mask = 0xfffffff5};
	const uint32_t expected[] = {0x12, 0x18, 0x1a};
	uint32_t before = wide.value;

	(void)state;
	assert_int_equal(marks_count(&wide), 4095);
	for (uint32_t i = 0; i < marks_count(&wide); i++) {
		assert_true(marks_at(&wide, i) > before);
		before = marks_at(&wide, i);
		assert_true(marks_within(&wide, before));
	}
	assert_false(marks_within(&wide, wide.value));
	assert_false(marks_within(&wide, 0x5b000001));
	assert_int_equal(marks_count(&split), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(marks_at(&split, i), expected[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_are_found_by_all_three_names),
		cmocka_unit_test(a_space_is_value_and_mask),
		cmocka_unit_test(every_mark_is_there_once_and_never_the_bare_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
