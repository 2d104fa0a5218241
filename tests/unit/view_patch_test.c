// SPDX-License-Identifier: GPL-2.0-or-later
// A patched view answers as one that was built whole of the same, and those before it stay as they were.
#include "base/mem.h"
#include "dns/view_parts.h"
#include "dns/view_patch.h"
#include "dns_fixture.h"

#include <errno.h>

#define BALANCERS 5
#define ROUNDS    300

/* Verdicts on the zones of each load balancer: a bit is a zone that is handed out. */
struct picture {
	unsigned published[BALANCERS];
};

static const struct {
	const char *name;
	uint32_t ttl;
	size_t zones;
} balancers[BALANCERS] = {
	{"shop.lb.example.net", 60, 3},
	{"part.lb.example.net", 60, 3},
	{"lb.example.net", 30, 2}, /* at the apex */
	{"x.down.deep.lb.example.net", 2, 1},
	{"Alone.example.com", 60, 2},
};

/* As the engine does: half the TTL while a zone is missing. */
static struct view_builder_name name_of(const struct picture *p, size_t i,
					struct view_builder_zone zones[3])
{
	static const char *const names[] = {"zone-a", "zone-b", "Zone-C"};
	static const char *const v4[] = {"192.0.2.1", "192.0.2.2", "192.0.2.3"};
	const bool whole = p->published[i] == (1U << balancers[i].zones) - 1;
	uint32_t half = balancers[i].ttl / 2 > 5 ? balancers[i].ttl / 2 : balancers[i].ttl;

	for (size_t z = 0; z < balancers[i].zones; z++)
		zones[z] = fixture_zone(names[z], v4[z], z ? NULL : "2001:db8::1",
					p->published[i] >> z & 1);
	return (struct view_builder_name){.balancer = balancers[i].name,
					  .dns_name = balancers[i].name,
					  .ttl = whole ? balancers[i].ttl : half,
					  .affinity = VIEW_AFFINITY_PARTIAL,
					  .zones = zones,
					  .zone_count = balancers[i].zones};
}

static struct view *build(const struct picture *p, uint32_t serial)
{
	struct view_builder *b = view_builder_new(serial, NULL);
	struct addr net = fixture_addr("10.1.0.0");
	struct addr ns = fixture_addr("192.0.2.53");
	struct view_builder_zone zones[3];
	struct view *v;

	assert_int_equal(view_builder_add_apex(b, "lb.example.net"), 0);
	assert_int_equal(view_builder_add_ns(b, "ns.lb.example.net", &ns, 1), 0);
	view_builder_add_subnet(b, &net, 16, "zone-b");
	for (size_t i = 0; i < BALANCERS; i++) {
		struct view_builder_name n = name_of(p, i, zones);

		assert_int_equal(view_builder_add_name(b, &n), 0);
	}
	assert_int_equal(view_builder_finish(b, &v), 0);
	return v;
}

static void patch(struct view *v, const struct picture *p, size_t i)
{
	struct view_builder_zone zones[3];
	struct view_builder_name n = name_of(p, i, zones);

	assert_int_equal(view_patch_name(v, &n), 0);
}

/* ---- two views are alike ---- */

static void assert_same_text(const char *a, const char *b)
{
	assert_string_equal(a ? a : "-", b ? b : "-");
}

static void assert_same_entry(const struct view_entry *a, const struct view_entry *b)
{
	assert_int_equal(!a, !b);
	if (!a)
		return;
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->affinity, b->affinity);
	assert_int_equal(a->zone_count, b->zone_count);
	for (size_t i = 0; i < a->zone_count; i++) {
		assert_string_equal(a->zones[i].name, b->zones[i].name);
		assert_int_equal(a->zones[i].number, b->zones[i].number);
		for (int f = 0; f < VIEW_FAMILY_COUNT; f++) {
			assert_int_equal(a->zones[i].published[f], b->zones[i].published[f]);
			assert_same_text(a->zones[i].reason[f], b->zones[i].reason[f]);
			assert_int_equal(
				addr_compare(&a->zones[i].address[f], &b->zones[i].address[f]), 0);
		}
	}
}

static void assert_same_set(const struct view_set *a, const struct view_set *b)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->record_size, b->record_size);
	if (!a->count)
		return;
	assert_memory_equal(a->records, b->records, (size_t)a->count * a->record_size);
	assert_int_equal(!a->zones, !b->zones);
	if (a->zones)
		assert_memory_equal(a->zones, b->zones, a->count * sizeof(int));
}

/* What goes out: with the SOA of the apex where there is no such record. */
static void assert_same_answers(const struct view *a, const struct view *b, const char *name)
{
	static const uint16_t types[] = {WIRE_TYPE_A, WIRE_TYPE_AAAA, WIRE_TYPE_SOA, 16};
	static struct fixture_ask one, two;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		fixture_query(&one, name, types[i]);
		two = one;
		assert_int_equal(fixture_answer(&one, a), fixture_answer(&two, b));
		assert_memory_equal(one.reply, two.reply, one.size);
	}
}

static void assert_same(const struct view *a, const struct view *b)
{
	assert_int_equal(view_serial(a), view_serial(b));
	assert_int_equal(view_node_count(a), view_node_count(b));
	for (size_t i = 0; i < view_node_count(a); i++) {
		const struct view_node *x = view_node_at(a, i);
		const struct view_node *y = view_node_at(b, i);
		char text[DNS_NAME_TEXT_MAX];
		struct dns_name name;

		assert_int_equal(x->index, i);
		assert_int_equal(x->name_size, y->name_size);
		assert_memory_equal(x->name, y->name, x->name_size);
		assert_int_equal(x->ttl, y->ttl);
		assert_int_equal(x->negative_ttl, y->negative_ttl);
		assert_same_entry(x->entry, y->entry);
		assert_same_entry(x->owner, y->owner);
		assert_int_equal(!x->zone, !y->zone);
		for (int f = 0; f < VIEW_FAMILY_COUNT; f++)
			assert_same_set(&x->sets[f], &y->sets[f]);
		view_node_name(x, &name);
		assert_ptr_equal(view_find(a, &name).node, x);
		if (x->zone) /* the zone that its load balancer has */
			assert_in_range((uintptr_t)x->zone, (uintptr_t)x->owner->zones,
					(uintptr_t)(x->owner->zones + x->owner->zone_count - 1));
		assert_same_answers(a, b, dns_name_format(&name, text));
	}
	assert_same_answers(a, b, "nobody.lb.example.net");
}

/* ---- cases ---- */

static void test_one_verdict(void **state)
{
	struct picture p = {{7, 7, 3, 1, 3}};
	struct view *first = build(&p, 1);
	struct view *next = view_patch_new(first, 2);
	struct view *expected;
	struct view *before = build(&p, 1);

	(void)state;
	p.published[0] = 5;
	patch(next, &p, 0);
	expected = build(&p, 2);
	assert_same(next, expected);
	assert_same(first, before); /* who reads it sees what it was */
	view_unref(first);
	assert_same(next, expected); /* it needs no other */
	view_unref(next);
	view_unref(expected);
	view_unref(before);
}

/* Views that are held for a while end in any order; a load balancer has one piece, however often it changed. */
static void test_many_verdicts(void **state)
{
	struct picture p = {{7, 7, 3, 1, 3}};
	struct view *v = build(&p, 1);
	struct view *held[3] = {NULL};
	unsigned random = 1;

	(void)state;
	for (uint32_t round = 2; round < ROUNDS; round++) {
		struct view *next = view_patch_new(v, round);
		struct view *expected;

		for (unsigned changes = round % 3; changes > 0; changes--) {
			size_t i = (random = random * 1103515245 + 12345) >> 16;

			i %= BALANCERS;
			p.published[i] = (random >> 8) & ((1U << balancers[i].zones) - 1);
			patch(next, &p, i);
		}
		expected = build(&p, round);
		assert_same(next, expected);
		assert_true(next->pieces.count <= BALANCERS);
		view_unref(expected);
		view_unref(held[round % 3]);
		held[round % 3] = v;
		v = next;
	}
	assert_int_equal(v->pieces.count, BALANCERS);
	for (size_t i = 0; i < 3; i++)
		view_unref(held[i]);
	view_unref(v);
}

static void test_stale(void **state)
{
	struct picture p = {{7, 7, 3, 1, 3}};
	struct view *v = build(&p, 1);
	struct view_builder_zone zones[3];
	struct view_builder_name n;

	(void)state;
	n = name_of(&p, 0, zones);
	n.dns_name = "new.lb.example.net";
	assert_int_equal(view_patch_name(v, &n), -ESTALE);
	n.dns_name = "..";
	assert_int_equal(view_patch_name(v, &n), -ESTALE);
	n.dns_name = "zone-a.shop.lb.example.net"; /* a zone's name */
	assert_int_equal(view_patch_name(v, &n), -ESTALE);
	n.dns_name = "deep.lb.example.net"; /* only names beneath */
	assert_int_equal(view_patch_name(v, &n), -ESTALE);
	n = name_of(&p, 0, zones);
	n.balancer = "another";
	assert_int_equal(view_patch_name(v, &n), -ESTALE);
	n = name_of(&p, 0, zones);
	n.ttl = 4; /* that of negative answers, of the apex too, would be another */
	assert_int_equal(view_patch_name(v, &n), -ESTALE);
	n.ttl = 0;
	assert_int_equal(view_patch_name(v, &n), -ESTALE);
	n = name_of(&p, 0, zones);
	n.zone_count = 2;
	assert_int_equal(view_patch_name(v, &n), -ESTALE);
	n = name_of(&p, 0, zones);
	zones[1].name = "zone-d";
	assert_int_equal(view_patch_name(v, &n), -ESTALE);
	view_unref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_verdict),
		cmocka_unit_test(test_many_verdicts),
		cmocka_unit_test(test_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
