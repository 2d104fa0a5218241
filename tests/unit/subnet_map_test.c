// SPDX-License-Identifier: GPL-2.0-or-later
// Zones and scopes by table, then against the plain definition: longest prefix, and the widest block in which all agree.
#include "dns/subnet_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

struct prefix {
	const char *net;
	int zone;
};

static void add(struct subnet_map *m, const struct prefix *p)
{
	struct addr net;
	uint8_t length;

	assert_int_equal(addr_parse_prefix(p->net, &net, &length), 0);
	subnet_map_add(m, &net, length, p->zone);
}

static void test_table(void **state)
{
	static const struct prefix prefixes[] = {
		{"10.0.0.0/8", 1},   {"10.1.0.0/16", 2},   {"10.1.2.0/24", 1},
		{"192.0.2.7/32", 3}, {"2001:db8::/32", 4}, {"2001:db8:0:1::/64", 5},
		{"10.1.0.0/16", 2}, /* twice the same is none too many */
	};
	static const struct {
		const char *client;
		int zone;
		unsigned scope;
	} rows[] = {
		{"10.2.3.4", 1, 15}, /* 10.2.0.0/15 holds no part of 10.1.0.0/16 */
		{"10.0.0.1", 1, 16},        {"10.128.0.1", 1, 9},
		{"10.1.3.4", 2, 24},        {"10.1.2.200", 1, 24},
		{"10.1.128.1", 2, 17},      {"11.0.0.1", -1, 8},
		{"192.0.2.7", 3, 32},       {"192.0.2.6", -1, 32},
		{"128.0.0.1", -1, 2},       {"64.0.0.1", -1, 2},
		{"2001:db8:0:1::9", 5, 64}, {"2001:db8::1", 4, 64},
		{"2001:db9::1", -1, 32},    {"::", -1, 3},
	};
	struct subnet_map *m = subnet_map_new();

	(void)state;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		add(m, &prefixes[i]);
	assert_int_equal(subnet_map_finish(m), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct addr a;
		uint8_t scope;
		int zone;

		addr_parse(rows[i].client, &a);
		zone = subnet_map_find(m, &a, &scope);
		if (zone != rows[i].zone || scope != rows[i].scope)
			fail_msg("%s: zone %d, scope %d", rows[i].client, zone, scope);
	}
	subnet_map_free(m);
}

static void test_edges(void **state)
{
	static const struct prefix all[] = {{"0.0.0.0/0", 7}, {"255.255.255.255/32", 8}};
	struct subnet_map *m = subnet_map_new();
	struct addr a;
	uint8_t scope = 99;

	(void)state;
	assert_int_equal(subnet_map_finish(m), 0);
	addr_parse("10.0.0.1", &a);
	assert_int_equal(subnet_map_find(m, &a, &scope), SUBNET_MAP_NONE);
	assert_int_equal(scope, 0);
	subnet_map_free(m);

	m = subnet_map_new();
	add(m, &all[0]);
	add(m, &all[1]);
	assert_int_equal(subnet_map_finish(m), 0);
	assert_int_equal(subnet_map_find(m, &a, &scope), 7);
	assert_int_equal(scope, 1);
	addr_parse("255.255.255.255", &a);
	assert_int_equal(subnet_map_find(m, &a, &scope), 8);
	assert_int_equal(scope, 32);
	addr_parse("255.255.255.254", &a);
	assert_int_equal(subnet_map_find(m, &a, &scope), 7);
	assert_int_equal(scope, 32);
	addr_parse("::1", &a);
	assert_int_equal(subnet_map_find(m, &a, &scope), SUBNET_MAP_NONE);
	subnet_map_free(m);
}

static void test_conflict(void **state)
{
	static const struct prefix twice[] = {{"10.0.0.0/8", 1}, {"10.0.0.0/8", 2}};
	struct subnet_map *m = subnet_map_new();

	(void)state;
	add(m, &twice[0]);
	add(m, &twice[1]);
	assert_int_equal(subnet_map_finish(m), -EEXIST);
	subnet_map_free(m);
}

/* In a world of 8 bits, 10.0.0.x: every client against the definition. */
#define WORLD 24

struct small {
	unsigned first;
	unsigned length; /* 24–32 */
	int zone;
};

static int slow_zone(const struct small *s, size_t count, unsigned client)
{
	int zone = SUBNET_MAP_NONE;
	unsigned longest = 0;

	for (size_t i = 0; i < count; i++)
		if (client >> (32 - s[i].length) == s[i].first >> (32 - s[i].length) &&
		    s[i].length >= longest) {
			longest = s[i].length;
			zone = s[i].zone;
		}
	return zone;
}

static bool agrees(const struct small *s, size_t count, unsigned client, unsigned length)
{
	unsigned size = 1u << (32 - length);
	unsigned first = client & ~(size - 1);
	int zone = slow_zone(s, count, client);

	for (unsigned i = 0; i < size; i++)
		if (slow_zone(s, count, first + i) != zone)
			return false;
	return true;
}

static void test_against_definition(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 200; round++) {
		struct small s[12];
		size_t count = 0;
		struct subnet_map *m = subnet_map_new();

		/* One that holds the whole world, so that the scope never leaves it. */
		for (int i = 0; i < 11; i++) {
			unsigned length = i ? WORLD + 1 + (unsigned)rand() % 8 : WORLD;
			unsigned first = (unsigned)rand() % 256 & ~((1u << (32 - length)) - 1);
			struct addr net = {AF_INET, {10, 0, 0, (uint8_t)first}};
			bool there = false;

			for (size_t k = 0; k < count; k++)
				there |= s[k].first == first && s[k].length == length;
			if (there)
				continue;
			s[count++] = (struct small){first, length, rand() % 3};
			subnet_map_add(m, &net, (uint8_t)length, s[count - 1].zone);
		}
		assert_int_equal(subnet_map_finish(m), 0);
		for (unsigned client = 0; client < 256; client++) {
			struct addr a = {AF_INET, {10, 0, 0, (uint8_t)client}};
			uint8_t scope;

			assert_int_equal(subnet_map_find(m, &a, &scope),
					 slow_zone(s, count, client));
			assert_true(scope <= 32);
			assert_true(agrees(s, count, client, scope < WORLD ? WORLD : scope));
			if (scope > WORLD)
				assert_false(agrees(s, count, client, scope - 1u));
		}
		subnet_map_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_conflict),
		cmocka_unit_test(test_against_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
