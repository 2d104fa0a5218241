// SPDX-License-Identifier: GPL-2.0-or-later
// Rotation is fair, shares are as promised, and what a client gets is what is published.
#include "dns/dns_choice.h"
#include "dns_fixture.h"

#include <stdlib.h>

#define DRAWS 60000

static uint64_t draw(void)
{
	return (uint64_t)(random() & 0xffff) << 48 | (uint64_t)(random() & 0xffffff) << 24 |
	       (uint64_t)(random() & 0xffffff);
}

static const struct view_node *node(const struct view *v, const char *text)
{
	struct dns_name n;

	assert_int_equal(dns_name_parse(text, &n), 0);
	return view_find(v, &n).node;
}

static void test_rotation_is_fair(void **state)
{
	(void)state;
	srandom(1);
	for (size_t zones = 1; zones <= 10; zones++) {
		struct view_builder *b = view_builder_new(1, NULL);
		struct view_builder_zone z[10];
		struct view_builder_name n = {.balancer = "x",
					      .dns_name = "x.example",
					      .ttl = 60,
					      .zones = z,
					      .zone_count = zones};
		char names[10][24];
		unsigned first[10] = {0};
		struct view *v;

		for (size_t i = 0; i < zones; i++) {
			snprintf(names[i], sizeof(names[i]), "z%zu", i);
			z[i] = fixture_zone(names[i], "192.0.2.1", NULL, true);
			z[i].address[VIEW_V4].bytes[3] = (uint8_t)i;
		}
		assert_int_equal(view_builder_add_name(b, &n), 0);
		assert_int_equal(view_builder_finish(b, &v), 0);
		for (int i = 0; i < DRAWS; i++) {
			struct dns_choice c = dns_choice_make(node(v, "x.example"), VIEW_V4, -1,
							      draw());

			assert_int_equal(c.count, zones);
			assert_true(c.first < zones);
			first[c.first]++;
		}
		/* Six standard deviations and more. */
		for (size_t i = 0; i < zones; i++)
			assert_in_range(first[i], DRAWS / zones - 800, DRAWS / zones + 800);
		view_unref(v);
	}
}

/* In thousandths: answers with one address only, of each zone. */
static void test_affinity(void **state)
{
	static const struct {
		const char *name;
		const char *client;
		unsigned own; /* percent */
		const char *zone;
	} rows[] = {
		{"shop.lb.example.net", "10.1.0.1", 0, NULL},
		{"part.lb.example.net", "10.1.0.1", 85, "zone-a"},
		{"part.lb.example.net", "10.2.0.1", 85, "zone-b"},
		{"part.lb.example.net", "10.3.0.1", 0, NULL}, /* zone-c is not published */
		{"part.lb.example.net", "10.9.0.1", 0, NULL},
		{"near.lb.example.net", "10.1.0.1", 100, "zone-a"},
		{"near.lb.example.net", "10.2.0.1", 100, "zone-b"},
		{"near.lb.example.net", "10.3.0.1", 0, NULL},
		{"near.lb.example.net", "10.9.0.1", 0, NULL},
	};
	struct view *v = fixture_view(1);

	(void)state;
	srandom(2);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct view_node *n = node(v, rows[i].name);
		struct addr a = fixture_addr(rows[i].client);
		uint8_t scope;
		int zone = view_client_zone(v, &a, &scope);
		unsigned own = 0;

		for (int k = 0; k < DRAWS; k++) {
			struct dns_choice c = dns_choice_make(n, VIEW_V4, zone, draw());

			own += c.count == 1;
			if (c.count == 1)
				assert_string_equal(view_zone_name(v, c.set->zones[c.first]),
						    rows[i].zone);
			else
				assert_int_equal(c.count, 2);
		}
		assert_in_range(own, rows[i].own * (DRAWS / 100) - (rows[i].own == 85 ? 600 : 0),
				rows[i].own * (DRAWS / 100) + (rows[i].own == 85 ? 600 : 0));
	}
	view_unref(v);
}

static void test_family_of_its_own(void **state)
{
	struct view *v = fixture_view(1);
	const struct view_node *n = node(v, "near.lb.example.net");
	struct addr a = fixture_addr("10.2.0.1");
	uint8_t scope;
	int zone = view_client_zone(v, &a, &scope);

	(void)state;
	/* The client's zone has no IPv6: it gets that of the other. */
	assert_int_equal(dns_choice_make(n, VIEW_V6, zone, 1).count, 1);
	assert_string_equal(view_zone_name(v, n->sets[VIEW_V6].zones[0]), "zone-a");
	assert_int_equal(
		dns_choice_make(node(v, "down.deep.lb.example.net"), VIEW_V4, zone, 1).count, 0);
	view_unref(v);
}

static void test_shares(void **state)
{
	struct view *v = fixture_view(1);
	struct addr a = fixture_addr("10.1.0.1");
	uint8_t scope;
	int zone = view_client_zone(v, &a, &scope);

	(void)state;
	assert_int_equal(dns_choice_share(node(v, "shop.lb.example.net"), VIEW_V4, zone, 1), 100);
	assert_int_equal(dns_choice_share(node(v, "part.lb.example.net"), VIEW_V4, zone, 0), 100);
	assert_int_equal(dns_choice_share(node(v, "part.lb.example.net"), VIEW_V4, zone, 1), 15);
	assert_int_equal(dns_choice_share(node(v, "near.lb.example.net"), VIEW_V4, zone, 0), 100);
	assert_int_equal(dns_choice_share(node(v, "near.lb.example.net"), VIEW_V4, zone, 1), 0);
	assert_int_equal(dns_choice_share(node(v, "near.lb.example.net"), VIEW_V4, -1, 1), 100);
	view_unref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rotation_is_fair),
		cmocka_unit_test(test_affinity),
		cmocka_unit_test(test_family_of_its_own),
		cmocka_unit_test(test_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
