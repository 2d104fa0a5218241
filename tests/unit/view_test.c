// SPDX-License-Identifier: GPL-2.0-or-later
// What the builder makes of its input, and what is found in it.
#include "base/mem.h"
#include "dns/view.h"
#include "dns_fixture.h"

#include <errno.h>

static struct view_found find(const struct view *v, const char *text)
{
	struct dns_name n;

	assert_int_equal(dns_name_parse(text, &n), 0);
	dns_name_lower(&n);
	return view_find(v, &n);
}

static const char *node_text(const struct view_node *n, char buf[DNS_NAME_TEXT_MAX])
{
	struct dns_name name;

	if (!n)
		return "-";
	view_node_name(n, &name);
	return dns_name_format(&name, buf);
}

static void test_find(void **state)
{
	static const struct {
		const char *name;
		const char *node;
		const char *apex;
	} rows[] = {
		{"shop.lb.example.net", "shop.lb.example.net", "lb.example.net"},
		{"SHOP.lb.EXAMPLE.net", "shop.lb.example.net", "lb.example.net"},
		{"near.lb.example.net", "near.lb.example.net", "lb.example.net"},
		{"zone-b.shop.lb.example.net", "zone-b.shop.lb.example.net", "lb.example.net"},
		{"lb.example.net", "lb.example.net", "lb.example.net"},
		{"deep.lb.example.net", "deep.lb.example.net", "lb.example.net"}, /* between */
		{"ns1.lb.example.net", "ns1.lb.example.net", "lb.example.net"},
		{"alone.example.com", "alone.example.com", "alone.example.com"},
		{"zone-a.alone.example.com", "zone-a.alone.example.com", "alone.example.com"},
		{"x.alone.example.com", "-", "alone.example.com"},
		{"x.lb.example.net", "-", "lb.example.net"},
		{"a.b.c.d.e.f.g.h.zone-b.shop.lb.example.net", "-", "lb.example.net"},
		{"example.net", "-", "-"},
		{"ns2.example.org", "-", "-"}, /* not ours */
		{"net", "-", "-"},
		{".", "-", "-"},
		{"xlb.example.net", "-", "-"},
	};
	struct view *v = fixture_view(1);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct view_found f = find(v, rows[i].name);
		char buf[DNS_NAME_TEXT_MAX];

		assert_string_equal(node_text(f.node, buf), rows[i].node);
		assert_string_equal(node_text(f.apex ? f.apex->node : NULL, buf), rows[i].apex);
	}
	view_unref(v);
}

static void test_sets(void **state)
{
	struct view *v = fixture_view(1);
	const struct view_node *n = find(v, "shop.lb.example.net").node;
	struct addr a = view_set_address(&n->sets[VIEW_V4], 1);
	struct addr expected = fixture_addr("192.0.2.20");

	(void)state;
	assert_int_equal(n->ttl, 60);
	assert_int_equal(n->negative_ttl, 5);
	assert_int_equal(n->sets[VIEW_V4].count, 2);
	assert_int_equal(n->sets[VIEW_V6].count, 1);
	assert_int_equal(addr_compare(&a, &expected), 0);
	assert_string_equal(view_zone_name(v, n->sets[VIEW_V4].zones[1]), "zone-b");
	assert_null(view_zone_name(v, SUBNET_MAP_NONE));
	assert_int_equal(n->entry->zone_count, 3);
	assert_string_equal(n->entry->zones[2].reason[VIEW_V4], "withdrawn_manual");
	/* A zone's own name has its address, published or not. */
	n = find(v, "zone-c.shop.lb.example.net").node;
	assert_int_equal(n->sets[VIEW_V4].count, 1);
	assert_int_equal(n->sets[VIEW_V6].count, 0);
	assert_string_equal(n->zone->name, "zone-c");
	assert_string_equal(n->owner->name, "shop.lb.example.net");
	n = find(v, "down.deep.lb.example.net").node;
	assert_int_equal(n->negative_ttl, 2);
	assert_int_equal(n->sets[VIEW_V4].count, 0);
	assert_int_equal(n->apex->negative_ttl, 2); /* the lowest beneath */
	n = find(v, "deep.lb.example.net").node;
	assert_int_equal(n->ttl, 0);
	assert_int_equal(n->negative_ttl, 2);
	assert_int_equal(find(v, "alone.example.com").apex->negative_ttl, 5);
	view_unref(v);
}

static void test_nodes_in_order(void **state)
{
	struct view *v = fixture_view(1);
	char before[DNS_NAME_TEXT_MAX];
	uint8_t labels = 0;

	(void)state;
	/* Apex, ns1, 3 × 4, down, deep and its zone, alone and its zone. */
	assert_int_equal(view_node_count(v), 1 + 1 + 12 + 3 + 2);
	for (size_t i = 0; i < view_node_count(v); i++) {
		assert_true(view_node_at(v, i)->labels >= labels);
		assert_non_null(view_node_at(v, i)->apex);
		labels = view_node_at(v, i)->labels;
	}
	assert_string_equal(node_text(view_node_at(v, 0), before), "lb.example.net");
	view_unref(v);
}

static void test_faults(void **state)
{
	struct view_builder *b = fixture_builder(1);
	struct view_builder_zone zone = fixture_zone("zone-a", "192.0.2.1", NULL, true);
	struct view_builder_name n = {.balancer = "x",
				      .dns_name = "shop.lb.example.net",
				      .ttl = 1,
				      .zones = &zone,
				      .zone_count = 1};
	struct addr a = fixture_addr("192.0.2.1");
	struct view *v;

	(void)state;
	assert_int_equal(view_builder_add_name(b, &n), -EEXIST);
	n.dns_name = "zone-b.shop.lb.example.net"; /* derived from another */
	assert_int_equal(view_builder_add_name(b, &n), -EEXIST);
	n.dns_name = "ns1.lb.example.net";
	assert_int_equal(view_builder_add_name(b, &n), -EEXIST);
	n.dns_name = "a..b";
	assert_int_equal(view_builder_add_name(b, &n), -EINVAL);
	n.dns_name = "fine.lb.example.net";
	n.ttl = 0;
	assert_int_equal(view_builder_add_name(b, &n), -EINVAL);
	n.ttl = 1;
	zone.name = "";
	assert_int_equal(view_builder_add_name(b, &n), -EINVAL);
	assert_int_equal(view_builder_add_apex(b, "LB.example.net"), -EEXIST);
	assert_int_equal(view_builder_add_apex(b, ""), -EINVAL);
	assert_int_equal(view_builder_add_ns(b, "NS2.example.org", NULL, 0), -EEXIST);
	assert_int_equal(view_builder_add_ns(b, "shop.lb.example.net", &a, 1), -EEXIST);
	assert_int_equal(view_builder_add_ns(b, "..", NULL, 0), -EINVAL);
	for (int i = 0; i < 11; i++) {
		char name[32];

		snprintf(name, sizeof(name), "ns%d.example", i);
		assert_int_equal(view_builder_add_ns(b, name, NULL, 0), 0);
	}
	assert_int_equal(view_builder_add_ns(b, "one.too.many", NULL, 0), -ENOSPC);
	assert_int_equal(view_builder_finish(b, &v), 0);
	assert_null(find(v, "fine.lb.example.net").node);
	assert_int_equal(find(v, "lb.example.net").apex->ns_count, 13);
	view_unref(v);
}

static void test_apex_in_apex(void **state)
{
	struct view_builder *b = view_builder_new(1, NULL);
	struct view *v;

	(void)state;
	fixture_add_one(b, "www.eu.far.example", 30, fixture_zone("z", "192.0.2.1", NULL, true));
	fixture_add_one(b, "example", 40,
			fixture_zone("z", "192.0.2.2", NULL, true)); /* an apex too */
	assert_int_equal(view_builder_add_apex(b, "eu.far.example"), 0);
	assert_int_equal(view_builder_add_apex(b, "example"), 0);
	assert_int_equal(view_builder_finish(b, &v), 0);
	assert_ptr_equal(find(v, "www.eu.far.example").apex->node, find(v, "eu.far.example").node);
	assert_ptr_equal(find(v, "x.eu.far.example").apex->node, find(v, "eu.far.example").node);
	assert_ptr_equal(find(v, "far.example").apex->node, find(v, "example").node);
	assert_non_null(find(v, "far.example").node); /* between the two */
	assert_ptr_equal(find(v, "z.example").apex->node, find(v, "example").node);
	assert_int_equal(find(v, "example").node->sets[VIEW_V4].count, 1);
	view_unref(v);
}

/* Without addresses a name server's name exists, and may be that of a load balancer. */
static void test_ns_without_addresses(void **state)
{
	struct view_builder *b = view_builder_new(1, NULL);
	struct view *v;

	(void)state;
	assert_int_equal(view_builder_add_apex(b, "lb.example.net"), 0);
	assert_int_equal(view_builder_add_ns(b, "ns1.lb.example.net", NULL, 0), 0);
	assert_int_equal(view_builder_add_ns(b, "shop.lb.example.net", NULL, 0), 0);
	fixture_add(b, "shop.lb.example.net", VIEW_AFFINITY_ANY);
	assert_int_equal(view_builder_finish(b, &v), 0);
	assert_non_null(find(v, "ns1.lb.example.net").node);
	assert_int_equal(find(v, "ns1.lb.example.net").node->sets[VIEW_V4].count, 0);
	assert_int_equal(find(v, "ns1.lb.example.net").node->negative_ttl, 5);
	assert_int_equal(find(v, "shop.lb.example.net").node->sets[VIEW_V4].count, 2);
	view_unref(v);
}

static void test_clients(void **state)
{
	struct view_builder *b = fixture_builder(1);
	struct view *v = fixture_view(77);
	struct addr a = fixture_addr("10.2.3.4");
	uint8_t scope;

	(void)state;
	assert_int_equal(view_serial(v), 77);
	assert_string_equal(view_zone_name(v, view_client_zone(v, &a, &scope)), "zone-b");
	assert_int_equal(scope, 16);
	view_unref(v);
	a = fixture_addr("10.1.0.0");
	view_builder_add_subnet(b, &a, 16, "zone-b"); /* it is zone-a's already */
	assert_int_equal(view_builder_finish(b, &v), -EEXIST);
	assert_int_equal(view_client_zone(v, &a, &scope), SUBNET_MAP_NONE);
	assert_non_null(find(v, "shop.lb.example.net").node);
	view_unref(v);
}

static void test_references(void **state)
{
	struct view *v = fixture_view(1);
	struct view *again = view_ref(v);

	(void)state;
	assert_ptr_equal(v, again);
	view_unref(v);
	assert_non_null(find(again, "shop.lb.example.net").node);
	view_unref(again);
	view_unref(NULL);
	view_builder_free(fixture_builder(1));
	view_builder_free(NULL);
}

#define SLICED_NAMES 50

/* Names of load balancers under an apex, some with one between. */
static struct view_builder *start_many(void)
{
	struct view_builder *b = view_builder_new(1, NULL);

	assert_int_equal(view_builder_add_apex(b, "lb.example.net"), 0);
	for (unsigned i = 0; i < SLICED_NAMES; i++) {
		AUTO_FREE char *text = mem_printf(
			i % 2 ? "n%u.lb.example.net" : "n%u.deep.lb.example.net", i);
		struct view_builder_name n = {.balancer = "x", .dns_name = text, .ttl = i + 1};

		assert_int_equal(view_builder_add_name(b, &n), 0);
	}
	return b;
}

/* Settled name by name it is the view that it is at once. */
static void test_settled_in_steps(void **state)
{
	struct view_builder *steps = start_many();
	struct view_builder *once = start_many();
	struct view *a;
	struct view *b;
	unsigned count = 1;

	(void)state;
	while (view_builder_settle_some(steps, 1))
		count++;
	assert_int_equal(count, SLICED_NAMES + 1); /* and the apex */
	assert_int_equal(view_builder_finish(steps, &a), 0);
	assert_int_equal(view_builder_finish(once, &b), 0);
	assert_int_equal(view_node_count(a), view_node_count(b));
	assert_int_equal(view_node_count(a), SLICED_NAMES + 2);
	for (size_t i = 0; i < view_node_count(a); i++) {
		char x[DNS_NAME_TEXT_MAX];
		char y[DNS_NAME_TEXT_MAX];

		assert_string_equal(node_text(view_node_at(a, i), x),
				    node_text(view_node_at(b, i), y));
		assert_string_equal(node_text(view_node_at(a, i)->apex->node, x), "lb.example.net");
		assert_int_equal(view_node_at(a, i)->negative_ttl,
				 view_node_at(b, i)->negative_ttl);
	}
	view_unref(a);
	view_unref(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_nodes_in_order),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_apex_in_apex),
		cmocka_unit_test(test_clients),
		cmocka_unit_test(test_ns_without_addresses),
		cmocka_unit_test(test_settled_in_steps),
		cmocka_unit_test(test_references),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
