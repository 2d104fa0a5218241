/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A view with a few load balancers, and one query put to it.
 *
 *   lb.example.net            apex, NS ns1.lb.example.net (192.0.2.53), ns2.example.org
 *   shop.lb.example.net       any: zone-a 192.0.2.10, 2001:db8::10; zone-b 192.0.2.20 (both published), zone-c 192.0.2.30 (not)
 *   part.lb.example.net       as shop, affinity partial
 *   near.lb.example.net       as shop, affinity zone
 *   down.deep.lb.example.net  zone-a 192.0.2.40, not published; TTL 2
 *   alone.example.com         under no apex: zone-a 192.0.2.50
 */
#ifndef DNS_FIXTURE_H
#define DNS_FIXTURE_H

#include "dns/answer.h"
#include "dns/view_builder.h"
#include "dns/wire_reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static inline struct addr fixture_addr(const char *text)
{
	struct addr a;

	assert_int_equal(addr_parse(text, &a), 0);
	return a;
}

static inline struct view_builder_zone fixture_zone(const char *name, const char *v4,
						    const char *v6, bool published)
{
	struct view_builder_zone z = {.name = name,
				      .published = {published, published},
				      .reason = {published ? "healthy" : "withdrawn_manual",
						 published ? "healthy" : "withdrawn_manual"}};

	if (v4)
		z.address[VIEW_V4] = fixture_addr(v4);
	if (v6)
		z.address[VIEW_V6] = fixture_addr(v6);
	return z;
}

static inline void fixture_add(struct view_builder *b, const char *name,
			       enum view_affinity affinity)
{
	const struct view_builder_zone zones[] = {
		fixture_zone("zone-a", "192.0.2.10", "2001:db8::10", true),
		fixture_zone("zone-b", "192.0.2.20", NULL, true),
		fixture_zone("zone-c", "192.0.2.30", NULL, false)};
	const struct view_builder_name n = {.balancer = name,
					    .dns_name = name,
					    .ttl = 60,
					    .affinity = affinity,
					    .zones = zones,
					    .zone_count = 3};

	assert_int_equal(view_builder_add_name(b, &n), 0);
}

static inline void fixture_add_one(struct view_builder *b, const char *name, uint32_t ttl,
				   struct view_builder_zone zone)
{
	const struct view_builder_name n = {
		.balancer = "one", .dns_name = name, .ttl = ttl, .zones = &zone, .zone_count = 1};

	assert_int_equal(view_builder_add_name(b, &n), 0);
}

static inline struct view_builder *fixture_builder(uint32_t serial)
{
	struct view_builder *b = view_builder_new(serial, "admin@example.net");
	struct addr ns = fixture_addr("192.0.2.53");
	struct addr net = fixture_addr("10.1.0.0");

	assert_int_equal(view_builder_add_apex(b, "lb.example.net"), 0);
	assert_int_equal(view_builder_add_ns(b, "ns1.lb.example.net", &ns, 1), 0);
	assert_int_equal(view_builder_add_ns(b, "ns2.example.org", NULL, 0), 0);
	fixture_add(b, "shop.lb.example.net", VIEW_AFFINITY_ANY);
	fixture_add(b, "part.lb.example.net", VIEW_AFFINITY_PARTIAL);
	fixture_add(b, "Near.LB.example.net", VIEW_AFFINITY_ZONE);
	fixture_add_one(b, "down.deep.lb.example.net", 2,
			fixture_zone("zone-a", "192.0.2.40", NULL, false));
	fixture_add_one(b, "alone.example.com", 60,
			fixture_zone("zone-a", "192.0.2.50", NULL, true));
	view_builder_add_subnet(b, &net, 16, "zone-a");
	net = fixture_addr("10.2.0.0");
	view_builder_add_subnet(b, &net, 16, "zone-b");
	net = fixture_addr("10.3.0.0");
	view_builder_add_subnet(b, &net, 16, "zone-c");
	return b;
}

static inline struct view *fixture_view(uint32_t serial)
{
	struct view *v;

	assert_int_equal(view_builder_finish(fixture_builder(serial), &v), 0);
	return v;
}

/* One query and its reply. */
struct fixture_ask {
	struct answer_request request;
	struct answer_settings settings;
	enum answer_extent extent;
	uint8_t query[1024];
	uint8_t reply[ANSWER_SIZE_MAX + 1];
	size_t size;
	struct answer answer;
};

static inline void fixture_query(struct fixture_ask *f, const char *name, uint16_t type)
{
	struct dns_name wire;
	struct buf_writer w;

	memset(f, 0, sizeof(*f));
	assert_int_equal(dns_name_parse(name, &wire), 0);
	wire_writer_init(&w, f->query, sizeof(f->query));
	wire_write_query(&w, 0x1234, &wire, type);
	f->request.data = f->query;
	f->request.size = w.size - 11; /* without OPT */
	f->query[11] = 0;
	f->request.client = fixture_addr("198.51.100.7");
	f->request.now_wall = 1800000000;
}

/* Adds an OPT record to the query. */
static inline void fixture_edns(struct fixture_ask *f, uint16_t udp_size, const void *options,
				size_t size)
{
	struct buf_writer w;

	wire_writer_init(&w, f->query, sizeof(f->query));
	w.size = f->request.size;
	buf_write(&w, "\0\0\51", 3);
	buf_write_be16(&w, udp_size);
	buf_write_be32(&w, 0);
	buf_write_be16(&w, (uint16_t)size);
	buf_write(&w, options, size);
	f->request.size = w.size;
	f->query[11]++;
}

/* The same reply where the query stands. */
static inline void fixture_answer_in_place(const struct fixture_ask *f, const struct view *v)
{
	uint8_t place[ANSWER_SIZE_MAX + 1];
	struct answer_source source = {v, &f->settings};
	struct answer_memory memory = {place, sizeof(place)};
	struct answer_request request = f->request;
	struct answer a;

	memcpy(place, request.data, request.size);
	request.data = place;
	assert_true(answer_read(&f->settings, &request, &a));
	assert_int_equal(answer_write(&source, &request, f->extent, &a, memory), f->size);
	assert_memory_equal(place, f->reply, f->size);
}

/* Returns the size of the reply; 0 if there is none. */
static inline size_t fixture_answer(struct fixture_ask *f, const struct view *v)
{
	struct answer_source source = {v, &f->settings};
	struct answer_memory memory = {f->reply, sizeof(f->reply)};

	f->size = 0;
	if (answer_read(&f->settings, &f->request, &f->answer)) {
		f->size = answer_write(&source, &f->request, f->extent, &f->answer, memory);
		fixture_answer_in_place(f, v);
	}
	return f->size;
}

static inline unsigned fixture_be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* "NOERROR aa ans=2 auth=0 add=0": head of a reply as text, for tables. */
static inline const char *fixture_head(const struct fixture_ask *f, char buf[64])
{
	static const char *const names[16] = {"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",
					      "NOTIMP",  "REFUSED", "6",        "7"};
	unsigned flags;

	if (!f->size)
		return "none";
	flags = fixture_be16(f->reply + 2);
	snprintf(buf, 64, "%s%s%s %u %u %u %u", names[flags & 15], flags & WIRE_AA ? " aa" : "",
		 flags & WIRE_TC ? " tc" : "", fixture_be16(f->reply + 4),
		 fixture_be16(f->reply + 6), fixture_be16(f->reply + 8),
		 fixture_be16(f->reply + 10));
	return buf;
}

/* The addresses of a reply, in their order, with blanks between. */
static inline const char *fixture_addresses(const struct fixture_ask *f, char *buf, size_t size)
{
	struct wire_reply reply;
	size_t at = 0;
	char text[ADDR_TEXT_MAX];

	buf[0] = '\0';
	assert_int_equal(wire_read_reply(f->reply, f->size, &reply), 0);
	for (size_t i = 0; i < reply.count; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? " " : "",
				       addr_format(&reply.records[i].address, text));
	return buf;
}

#endif
