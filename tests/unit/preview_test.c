// SPDX-License-Identifier: GPL-2.0-or-later
#include "dns/preview.h"
#include "dns_fixture.h"

#include <errno.h>

/* "zone-a 192.0.2.10 100 healthy, zone-c 192.0.2.30 0 withdrawn_manual" */
static const char *text(const struct preview *p, char *buf, size_t size)
{
	size_t at = 0;
	char address[ADDR_TEXT_MAX];

	buf[0] = '\0';
	for (size_t i = 0; i < p->count; i++) {
		const struct preview_address *a = &p->addresses[i];

		at += (size_t)snprintf(buf + at, size - at, "%s%s %s %s%u %s", i ? ", " : "",
				       a->zone ? a->zone : "-", addr_format(&a->address, address),
				       a->published ? "" : "!", a->share,
				       a->reason ? a->reason : "-");
	}
	return buf;
}

#define ALL    "zone-a 192.0.2.10 100 healthy, zone-b 192.0.2.20 100 healthy, "
#define ZONE_C "zone-c 192.0.2.30 !0 withdrawn_manual"

static void test_table(void **state)
{
	static const struct {
		const char *name;
		enum view_family family;
		const char *client;
		unsigned rcode;
		const char *client_zone;
		const char *addresses;
	} rows[] = {
		{"shop.lb.example.net", VIEW_V4, NULL, 0, NULL, ALL ZONE_C},
		{"shop.lb.example.net", VIEW_V4, "10.1.0.1", 0, NULL, ALL ZONE_C},
		{"Part.lb.example.net.", VIEW_V4, "10.1.0.1", 0, "zone-a",
		 "zone-a 192.0.2.10 100 healthy, zone-b 192.0.2.20 15 healthy, " ZONE_C},
		{"near.lb.example.net", VIEW_V4, "10.2.0.1", 0, "zone-b",
		 "zone-a 192.0.2.10 0 healthy, zone-b 192.0.2.20 100 healthy, " ZONE_C},
		{"near.lb.example.net", VIEW_V4, "10.3.0.1", 0, "zone-c", ALL ZONE_C},
		{"near.lb.example.net", VIEW_V6, "10.2.0.1", 0, "zone-b",
		 "zone-a 2001:db8::10 100 healthy"},
		{"zone-c.shop.lb.example.net", VIEW_V4, "10.1.0.1", 0, NULL,
		 "zone-c 192.0.2.30 100 withdrawn_manual"},
		{"ns1.lb.example.net", VIEW_V4, NULL, 0, NULL, "- 192.0.2.53 100 -"},
		{"down.deep.lb.example.net", VIEW_V4, NULL, 0, NULL,
		 "zone-a 192.0.2.40 !0 withdrawn_manual"},
		{"deep.lb.example.net", VIEW_V4, NULL, 0, NULL, ""},
		{"nothing.lb.example.net", VIEW_V4, NULL, WIRE_NXDOMAIN, NULL, ""},
		{"example.net", VIEW_V4, NULL, WIRE_REFUSED, NULL, ""},
	};
	struct view *v = fixture_view(9);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct addr client;
		struct preview p;
		char buf[512];

		if (rows[i].client)
			client = fixture_addr(rows[i].client);
		assert_int_equal(preview_make(v, rows[i].name, rows[i].family,
					      rows[i].client ? &client : NULL, &p),
				 0);
		assert_int_equal(p.rcode, rows[i].rcode);
		assert_int_equal(p.serial, 9);
		assert_string_equal(text(&p, buf, sizeof(buf)), rows[i].addresses);
		assert_true(!p.client_zone == !rows[i].client_zone);
		if (p.client_zone)
			assert_string_equal(p.client_zone, rows[i].client_zone);
	}
	view_unref(v);
}

static void test_rest(void **state)
{
	struct view *v = fixture_view(9);
	struct addr client = fixture_addr("10.1.0.1");
	struct preview p;

	(void)state;
	assert_int_equal(preview_make(v, "a..b", VIEW_V4, NULL, &p), -EINVAL);
	assert_int_equal(preview_make(v, "zone-c.part.lb.example.net", VIEW_V4, &client, &p), 0);
	assert_string_equal(p.balancer, "part.lb.example.net");
	assert_string_equal(p.zone, "zone-c");
	assert_int_equal(p.ttl, 60);
	assert_int_equal(preview_make(v, "part.lb.example.net", VIEW_V4, &client, &p), 0);
	assert_int_equal(p.affinity, VIEW_AFFINITY_PARTIAL);
	assert_int_equal(p.scope, 16);
	assert_null(p.zone);
	assert_int_equal(preview_make(v, "x.lb.example.net", VIEW_V4, &client, &p), 0);
	assert_int_equal(p.negative_ttl, 2);
	view_unref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),
					   cmocka_unit_test(test_rest)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
