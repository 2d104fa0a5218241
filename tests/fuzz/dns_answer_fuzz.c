// SPDX-License-Identifier: GPL-2.0-or-later
// A query from the bytes, put to a view: never longer than allowed, never answered when it may not be, and what comes back can be
// read. First byte: bit 0 TCP, bit 1 NSID, bit 2 cookies, bit 3 over the rate limit, bit 4 a client by IPv6; second byte:
// chance; then the query.
#include "dns/answer.h"
#include "dns/preview.h"
#include "dns/view_builder.h"

#include <assert.h>
#include <string.h>

static struct view_builder_zone make_zone(const char *name, const char *v4, const char *v6)
{
	struct view_builder_zone z = {.name = name, .published = {true, true}};

	(void)addr_parse(v4, &z.address[VIEW_V4]);
	(void)addr_parse(v6, &z.address[VIEW_V6]);
	return z;
}

static struct view *make_view(void)
{
	struct view_builder *b = view_builder_new(1, "hostmaster@example");
	struct view_builder_zone zones[3] = {make_zone("za", "192.0.2.1", "2001:db8::1"),
					     make_zone("zb", "192.0.2.2", "2001:db8::2"),
					     make_zone("zc", "192.0.2.3", "2001:db8::3")};
	struct view_builder_name n = {.balancer = "x", .ttl = 60, .zones = zones, .zone_count = 3};
	struct addr net = {AF_INET, {10}};
	struct view *v;

	zones[2].published[VIEW_V4] = false;
	view_builder_add_apex(b, "lb");
	view_builder_add_ns(b, "ns.lb", &zones[0].address[VIEW_V4], 1);
	n.dns_name = "any.lb";
	view_builder_add_name(b, &n);
	n.dns_name = "part.lb";
	n.affinity = VIEW_AFFINITY_PARTIAL;
	view_builder_add_name(b, &n);
	n.dns_name = "near.x.lb";
	n.affinity = VIEW_AFFINITY_ZONE;
	view_builder_add_name(b, &n);
	view_builder_add_subnet(b, &net, 8, "za");
	net = (struct addr){AF_INET6, {0x20, 1}};
	view_builder_add_subnet(b, &net, 16, "zb");
	view_builder_finish(b, &v);
	return v;
}

static size_t allowed(const struct answer_request *request, const struct wire_edns *e)
{
	if (request->transport == ANSWER_TCP)
		return ANSWER_SIZE_MAX;
	if (!e->given || e->udp_size < WIRE_UDP_PLAIN)
		return WIRE_UDP_PLAIN;
	return e->udp_size < WIRE_UDP_MAX ? e->udp_size : WIRE_UDP_MAX;
}

static void skip_record(struct buf_reader *r)
{
	struct dns_name owner;

	wire_read_name(r, &owner);
	buf_skip(r, 8);
	buf_skip(r, buf_read_be16(r));
}

/* Every record is there whole, and nothing behind the last. */
static void check_shape(const uint8_t *reply, size_t size, const struct answer_request *request)
{
	struct buf_reader r;
	unsigned records = 0;
	struct dns_name name;

	buf_reader_init(&r, reply, size);
	assert(memcmp(reply, request->data, 2) == 0 && reply[2] & 0x80 && !(reply[3] & 0xf0));
	r.pos = 6;
	for (int i = 0; i < 3; i++)
		records += buf_read_be16(&r);
	if (reply[5]) {
		wire_read_name(&r, &name);
		buf_skip(&r, 4);
		assert(memcmp(reply + 12, (const uint8_t *)request->data + 12, r.pos - 12) == 0);
	}
	for (unsigned i = 0; i < records; i++)
		skip_record(&r);
	assert(!r.failed && buf_left(&r) == 0);
}

static void check_preview(const struct view *v, const uint8_t *data, size_t size,
			  const struct addr *client)
{
	static struct preview p;
	char name[256] = "";

	memcpy(name, data, size < sizeof(name) ? size : sizeof(name) - 1);
	if (preview_make(v, name, VIEW_V4, client, &p) == 0)
		assert(p.count <= PREVIEW_ADDRESSES_MAX);
	if (preview_make(v, name, VIEW_V6, NULL, &p) == 0)
		assert(!p.client_zone);
}

/* The same reply where the query stood. */
static void check_in_place(const struct answer_source *source, struct answer_request request,
			   enum answer_extent extent, const uint8_t *reply, size_t size)
{
	static uint8_t place[ANSWER_SIZE_MAX + 1];
	struct answer_memory memory = {place, sizeof(place)};
	struct answer a;

	if (request.size > sizeof(place))
		return;
	memcpy(place, request.data, request.size);
	request.data = place;
	assert(answer_read(source->settings, &request, &a));
	assert(answer_write(source, &request, extent, &a, memory) == size);
	assert(memcmp(place, reply, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct view *view;
	static struct answer_settings settings;
	static uint8_t reply[ANSWER_SIZE_MAX + 1];
	struct answer_request request = {.now_wall = 1000000, .client = {AF_INET, {10, 1, 2, 3}}};
	struct answer_memory memory = {reply, sizeof(reply)};
	enum answer_extent extent;
	struct answer_source source;
	struct answer a;
	size_t length;

	if (!view)
		view = make_view();
	if (size < 2)
		return 0;
	request.transport = data[0] & 1 ? ANSWER_TCP : ANSWER_UDP;
	settings.nsid_size = data[0] & 2 ? 5 : 0;
	settings.secret_count = data[0] & 4 ? 2 : 0;
	if (data[0] & 16)
		request.client = (struct addr){AF_INET6, {0x20, 1, 0xd, 0xb8}};
	request.random = (uint64_t)data[1] << 56 | (uint64_t)data[1] << 24;
	request.data = data + 2;
	request.size = size - 2;
	source = (struct answer_source){view, &settings};
	check_preview(view, data + 2, size - 2, &request.client);
	if (!answer_read(&settings, &request, &a)) {
		assert(request.size < 12 || data[4] & 0x80);
		return 0;
	}
	extent = data[0] & 8 ? ANSWER_HEAD_ONLY : ANSWER_WHOLE;
	length = answer_write(&source, &request, extent, &a, memory);
	assert(length >= 12 && length <= allowed(&request, &a.query.edns));
	check_shape(reply, length, &request);
	check_in_place(&source, request, extent, reply, length);
	return 0;
}
