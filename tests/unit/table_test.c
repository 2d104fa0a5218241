// SPDX-License-Identifier: GPL-2.0-or-later
// Order, search and text of the table's entries.
#include "plan/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <string.h>

#include "base/mem.h"

static struct plan_key test_key(uint8_t protocol, const char *address, uint16_t port)
{
	struct plan_key k = {.protocol = protocol, .port = port};

	assert_int_equal(addr_parse(address, &k.address), 0);
	k.family = k.address.family;
	return k;
}

static void test_key_order(void **unused)
{
	const struct plan_key keys[] = {
		test_key(IPPROTO_TCP, "192.0.2.1", 80),   test_key(IPPROTO_TCP, "192.0.2.1", 443),
		test_key(IPPROTO_TCP, "192.0.2.2", 80),   test_key(IPPROTO_UDP, "192.0.2.1", 80),
		{.family = AF_INET, .fwmark = 7},         {.family = AF_INET, .fwmark = 70000},
		test_key(IPPROTO_TCP, "2001:db8::1", 80), {.family = AF_INET6, .fwmark = 7},
	};
	const size_t count = sizeof(keys) / sizeof(keys[0]);

	(void)unused;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++) {
			int order = plan_key_compare(&keys[i], &keys[j]);

			assert_int_equal(order < 0, i < j);
			assert_int_equal(order > 0, i > j);
			assert_int_equal(plan_key_hash(&keys[i]) == plan_key_hash(&keys[j]),
					 i == j);
		}
	}
}

/* The kernel gives mark services a protocol: it is no part of their key. */
static void test_mark_key_ignores_the_rest(void **unused)
{
	const struct plan_key a = {.family = AF_INET, .fwmark = 7};
	const struct plan_key b = {
		.family = AF_INET, .fwmark = 7, .protocol = IPPROTO_TCP, .port = 1};

	(void)unused;
	assert_int_equal(plan_key_compare(&a, &b), 0);
	assert_int_equal(plan_key_hash(&a), plan_key_hash(&b));
}

static void test_key_text(void **unused)
{
	struct plan_key k = test_key(IPPROTO_SCTP, "2001:db8::1", 65535);
	char text[PLAN_KEY_TEXT_MAX];

	(void)unused;
	assert_string_equal(plan_key_format(&k, text), "sctp [2001:db8::1]:65535");
	k = test_key(IPPROTO_UDP, "192.0.2.1", 53);
	assert_string_equal(plan_key_format(&k, text), "udp 192.0.2.1:53");
	k = (struct plan_key){.family = AF_INET6, .fwmark = 7};
	assert_string_equal(plan_key_format(&k, text), "fwmark 7 (v6)");
	k.family = AF_INET;
	assert_string_equal(plan_key_format(&k, text), "fwmark 7");
}

static void test_fill(struct plan_service *s, uint16_t port, const uint8_t *last_bytes,
		      size_t count)
{
	*s = (struct plan_service){.key = test_key(IPPROTO_TCP, "192.0.2.1", port)};
	s->dest_count = count;
	s->dests = mem_alloc_array(count, sizeof(*s->dests));
	s->counts = mem_alloc_array(count, sizeof(*s->counts));
	for (size_t i = 0; i < count; i++) {
		s->dests[i] = (struct plan_dest){.address = {AF_INET, {10, 0, 0, last_bytes[i]}}};
		s->counts[i].active = last_bytes[i];
	}
}

static void test_sort_keeps_counts_and_drops_repeats(void **unused)
{
	struct plan_table *t = mem_new(struct plan_table);
	const struct plan_service *s;

	(void)unused;
	t->count = 3;
	t->services = mem_alloc_array(t->count, sizeof(*t->services));
	test_fill(&t->services[0], 443, (const uint8_t[]){3, 1, 2, 3, 1}, 5);
	test_fill(&t->services[1], 80, (const uint8_t[]){1}, 1);
	test_fill(&t->services[2], 443, (const uint8_t[]){1, 2, 3}, 3);
	plan_table_sort(t);
	assert_int_equal(t->count, 2);
	assert_int_equal(t->services[0].key.port, 80);
	s = &t->services[1];
	assert_int_equal(s->key.port, 443);
	assert_int_equal(s->dest_count, 3);
	for (uint8_t i = 0; i < 3; i++) {
		assert_int_equal(s->dests[i].address.bytes[3], i + 1);
		assert_int_equal(s->counts[i].active, i + 1);
	}
	plan_table_free(t);
}

static void test_find(void **unused)
{
	struct plan_table *t = mem_new(struct plan_table);
	const struct addr address = {AF_INET, {10, 0, 0, 2}};
	struct plan_key k = test_key(IPPROTO_TCP, "192.0.2.1", 80);

	(void)unused;
	assert_null(plan_table_find(t, &k));
	t->count = 1;
	t->services = mem_alloc_array(1, sizeof(*t->services));
	test_fill(&t->services[0], 80, (const uint8_t[]){3, 2, 1}, 3);
	plan_table_sort(t);
	assert_ptr_equal(plan_table_find(t, &k), &t->services[0]);
	assert_ptr_equal(plan_service_find(&t->services[0], &address, 0), &t->services[0].dests[1]);
	assert_null(plan_service_find(&t->services[0], &address, 1));
	k.port = 81;
	assert_null(plan_table_find(t, &k));
	plan_table_free(t);
	plan_table_free(NULL);
}

static void test_copy(void **unused)
{
	struct plan_service s;
	struct plan_service copy;

	(void)unused;
	test_fill(&s, 80, (const uint8_t[]){1, 2}, 2);
	s.stats.connections = 5;
	plan_service_copy(&s, &copy);
	assert_ptr_not_equal(copy.dests, s.dests);
	assert_memory_equal(copy.dests, s.dests, 2 * sizeof(*s.dests));
	assert_null(copy.counts);
	assert_int_equal(copy.stats.connections, 0);
	plan_service_clear(&s);
	assert_null(s.dests);
	plan_service_clear(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_order),
		cmocka_unit_test(test_mark_key_ignores_the_rest),
		cmocka_unit_test(test_key_text),
		cmocka_unit_test(test_sort_keeps_counts_and_drops_repeats),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
