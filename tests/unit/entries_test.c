// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/entries.h"

#include "entries_fixture.h"
#include "entries_slowly.h"

static void order_is_of_family_network_length(void **state)
{
	(void)state;
	struct entries *e = entries_fixture_list("+2001:db8::/32 -10.1.0.0/16 +10.0.0.0/8#x "
						 "-10.0.0.0/16 +192.0.2.1/32 -2001:db8::/48");
	entries_fixture_expect(e, "+10.0.0.0/8#x -10.0.0.0/16 -10.1.0.0/16 +192.0.2.1/32 "
				  "+2001:db8::/32 -2001:db8::/48");
	assert_int_equal(entries_count(e), 6);
	assert_int_equal(entries_count_family(e, AF_INET), 4);
	assert_int_equal(entries_count_family(e, AF_INET6), 2);
	struct entries *again = entries_ref(e);
	entries_unref(e);
	assert_int_equal(entries_count(again), 6);
	entries_unref(again);
	e = entries_new();
	entries_fixture_expect(e, "");
	assert_int_equal(entries_hash(e), 0);
	entries_unref(e);
	entries_unref(NULL);
}

static void longest_prefix_counts(void **state)
{
	static const struct {
		const char *client;
		const char *entry; /* NULL: none */
	} cases[] = {
		{"10.0.0.0", "10.0.0.0/24"},
		{"10.0.0.255", "10.0.0.0/24"},
		{"10.0.1.0", "10.0.0.0/16"},
		{"10.1.2.3", "10.1.2.3/32"},
		{"10.1.2.4", "10.0.0.0/8"},
		{"10.255.255.255", "10.255.0.0/16"},
		{"11.0.0.0", NULL},
		{"9.255.255.255", NULL},
		{"255.255.255.255", NULL},
		{"2001:db8::1", "2001:db8::/48"},
		{"2001:db8:1::", "2001:db8::/32"},
		{"2001:db9::", NULL},
		{"::", NULL},
		{"0.0.0.0", NULL},
		{"2001:db8:ffff::1", "2001:db8:ffff::1/128"},
	};
	(void)state;
	struct entries *e = entries_fixture_list(
		"+10.0.0.0/8 +10.0.0.0/16 -10.0.0.0/24 -10.1.2.3 +10.255.0.0/16 -10.255.0.0/24 "
		"+2001:db8::/32 -2001:db8::/48 +2001:db8:ffff::1");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct addr a = entries_fixture_addr(cases[i].client);
		const struct entry *x = entries_match(e, &a);
		char cidr[ENTRIES_CIDR_MAX];
		if (!x != !cases[i].entry ||
		    (x && strcmp(entries_format_cidr(x, cidr), cases[i].entry) != 0))
			fail_msg("%s: %s", cases[i].client, x ? cidr : "none");
	}
	entries_unref(e);
}

static void shorter_prefix_is_that_around(void **state)
{
	(void)state;
	struct entries *e = entries_fixture_list("+10.0.0.0/8 -10.1.0.0/16 -10.1.2.0/24");
	struct addr a = entries_fixture_addr("10.1.2.0");
	assert_int_equal(entries_match_shorter(e, &a, 24)->length, 16);
	a = entries_fixture_addr("10.1.0.0");
	assert_int_equal(entries_match_shorter(e, &a, 16)->length, 8);
	a = entries_fixture_addr("10.0.0.0");
	assert_null(entries_match_shorter(e, &a, 8));
	assert_null(entries_match_shorter(e, &a, 0));
	entries_unref(e);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void random_address(uint32_t *seed, struct addr *a)
{
	*a = (struct addr){.family = next_random(seed) % 2 ? AF_INET : AF_INET6};
	/* Few bits in use, or nothing would lie in anything. */
	a->bytes[0] = (uint8_t)(next_random(seed) % 4 << 6);
	a->bytes[1] = (uint8_t)next_random(seed);
	a->bytes[3] = (uint8_t)next_random(seed);
	if (a->family == AF_INET6)
		a->bytes[15] = (uint8_t)(next_random(seed) % 8);
}

static void random_lists_agree_with_a_plain_search(void **state)
{
	(void)state;
	uint32_t seed = 3;
	for (int round = 0; round < 100; round++) {
		struct entries *e = entries_new();
		for (int i = 0; i < 60; i++) {
			struct entry x = {.comment = "", .action = next_random(&seed) % 2};
			random_address(&seed, &x.net);
			unsigned bits = x.net.family == AF_INET ? 32 : 128;
			x.length = (uint8_t)(1 + next_random(&seed) % bits);
			for (unsigned bit = x.length; bit < 128; bit++)
				x.net.bytes[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
			struct entries *more = entries_edit(e, &x, 1);
			entries_unref(e);
			e = more;
		}
		for (int i = 0; i < 200; i++) {
			struct addr a;
			random_address(&seed, &a);
			assert_ptr_equal(entries_match(e, &a), entries_match_slowly(e, &a));
		}
		entries_unref(e);
	}
}

static void cursor_begins_anywhere(void **state)
{
	(void)state;
	struct entries *e = entries_fixture_many(5000);
	struct entries_cursor c;
	for (unsigned i = 0; i < 5000; i += 7) {
		struct entry key = {
			.net = {.family = AF_INET, .bytes = {10, (uint8_t)(i >> 8), (uint8_t)i}},
			.length = 24};
		entries_seek(e, &key, &c);
		assert_int_equal(entries_compare(entries_next(&c), &key), 0);
		assert_non_null(entries_find(e, &key.net, 24));
		key.length = 25; /* the next one */
		assert_null(entries_find(e, &key.net, 25));
		entries_seek(e, &key, &c);
		const struct entry *x = entries_next(&c);
		assert_true(i == 4999 ? !x : entries_compare(x, &key) > 0);
	}
	struct entry before = {.net = {.family = AF_INET}};
	entries_seek(e, &before, &c);
	assert_ptr_equal(entries_next(&c), &e->chunks[0]->items[0]);
	entries_unref(e);
}

static bool note(void *ctx, const struct entry *gone, const struct entry *come)
{
	char **text = ctx, cidr[ENTRIES_CIDR_MAX];
	char *more = mem_printf("%s%s%s%s\n", *text, gone ? "<" : "", come ? ">" : "",
				entries_format_cidr(gone ? gone : come, cidr));

	free(*text);
	*text = more;
	return strcmp(cidr, "192.0.2.9/32") != 0;
}

static void difference_is_told_in_order(void **state)
{
	(void)state;
	struct entries *a = entries_fixture_list("+10.0.0.0/8 -10.1.0.0/16 +172.16.0.0/12#old "
						 "+192.0.2.1/32");
	struct entries *b = entries_fixture_list("-10.0.0.0/8 +172.16.0.0/12#new +192.0.2.1/32 "
						 "+192.0.2.2/32");
	char *text = mem_strdup("");
	assert_true(entries_diff(a, b, note, &text));
	assert_string_equal(text, "<>10.0.0.0/8\n<10.1.0.0/16\n<>172.16.0.0/12\n>192.0.2.2/32\n");
	assert_false(entries_equal(a, b));
	assert_true(entries_equal(a, a));
	free(text);
	entries_unref(b);
	b = entries_fixture_edit(a, "+192.0.2.9 +192.0.2.10");
	text = mem_strdup("");
	assert_false(entries_diff(a, b, note, &text)); /* stopped by the first */
	assert_string_equal(text, ">192.0.2.9/32\n");
	free(text);
	entries_unref(a);
	entries_unref(b);
}

static void hash_is_of_what_is_in_it(void **state)
{
	static const char *const lists[] = {"",
					    "+10.0.0.0/8",
					    "-10.0.0.0/8",
					    "+10.0.0.0/9",
					    "+10.0.0.0/8#x",
					    "+10.0.0.0/8#y",
					    "+10.0.0.0/8 -10.0.0.0/16"};
	uint64_t seen[sizeof(lists) / sizeof(lists[0])];
	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct entries *e = entries_fixture_list(lists[i]);
		char text[ENTRIES_HASH_TEXT];
		seen[i] = entries_hash(e);
		assert_int_equal(strtoull(entries_format_hash(e, text), NULL, 16), seen[i]);
		assert_int_equal(strlen(text), 16);
		for (size_t k = 0; k < i; k++)
			assert_true(seen[k] != seen[i]);
		entries_unref(e);
	}
	struct entries *a = entries_fixture_list("+10.0.0.0/8 -10.0.0.0/16");
	struct entries *b = entries_fixture_list("-10.0.0.0/16 +10.0.0.0/8");
	assert_int_equal(entries_hash(a), entries_hash(b));
	assert_true(entries_equal(a, b));
	entries_unref(a);
	entries_unref(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_of_family_network_length),
		cmocka_unit_test(longest_prefix_counts),
		cmocka_unit_test(shorter_prefix_is_that_around),
		cmocka_unit_test(random_lists_agree_with_a_plain_search),
		cmocka_unit_test(cursor_begins_anywhere),
		cmocka_unit_test(difference_is_told_in_order),
		cmocka_unit_test(hash_is_of_what_is_in_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
