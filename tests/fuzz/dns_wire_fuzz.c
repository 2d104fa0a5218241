// SPDX-License-Identifier: GPL-2.0-or-later
// Queries, answers and names from the bytes: what is read stays within its bounds, and is what stands there.
#include "dns/wire_reply.h"

#include <assert.h>
#include <string.h>

#define NAMES_MAX 40   /* read of one input */
#define INPUT_MAX 4096 /* longer ones hold the same again */

static void assert_name(const struct dns_name *n)
{
	char text[DNS_NAME_TEXT_MAX];
	struct dns_name lower = *n;
	size_t labels = 0;
	size_t at = 0;

	assert(n->size >= 1);
	for (; n->bytes[at]; at += n->bytes[at] + 1u) {
		assert(n->bytes[at] <= DNS_NAME_LABEL_MAX);
		labels++;
		assert(at < DNS_NAME_MAX);
	}
	assert(at + 1 == n->size && labels == n->labels);
	assert(strlen(dns_name_format(n, text)) < DNS_NAME_TEXT_MAX);
	dns_name_lower(&lower);
	assert(lower.size == n->size);
	assert(dns_name_hash(lower.bytes, lower.size) == dns_name_hash(lower.bytes, lower.size));
	do {
		assert(dns_name_within(n, n));
	} while (dns_name_up(&lower));
}

static void check_query(const uint8_t *data, size_t size)
{
	struct wire_query q;
	enum wire_verdict verdict = wire_read_query(data, size, &q);
	const struct wire_ecs *ecs = &q.edns.ecs;

	assert((verdict == WIRE_IGNORE) == (size < WIRE_HEADER_SIZE || data[2] & 0x80));
	if (verdict == WIRE_IGNORE)
		return;
	assert((verdict == WIRE_UNKNOWN) == ((data[2] & 0x78) != 0));
	if (q.has_question) {
		assert_name(&q.name);
		assert(q.question_size == q.name.size + 4);
		assert(memcmp(data + WIRE_HEADER_SIZE, q.name.bytes, q.name.size) == 0);
	} else {
		assert(q.question_size == 0);
	}
	if (verdict == WIRE_READ)
		assert(q.has_question || q.edns.cookie_size);
	assert(q.edns.cookie_size <= WIRE_COOKIE_MAX);
	assert(ecs->source <= (ecs->family == 1 ? 32 : ecs->family == 2 ? 128 : 0));
}

static void check_reply(const uint8_t *data, size_t size)
{
	static struct wire_reply reply;

	if (wire_read_reply(data, size, &reply) < 0)
		return;
	assert(reply.count <= WIRE_REPLY_RECORDS_MAX);
	assert_name(&reply.name);
	for (size_t i = 0; i < reply.count; i++)
		assert(reply.records[i].address.family ==
		       (reply.type == WIRE_TYPE_A ? AF_INET : AF_INET6));
}

static void check_name(const uint8_t *data, size_t size, size_t at)
{
	struct buf_reader r;
	struct dns_name n;

	buf_reader_init(&r, data, size);
	r.pos = at;
	wire_read_name(&r, &n);
	if (r.failed)
		return;
	assert(r.pos > at && r.pos <= size);
	assert_name(&n);
}

/* Names from the first octets, the question's among them, and from every pointer: from each octet of a long message it would be
 * ten times slower, and told nothing more. */
static void check_names(const uint8_t *data, size_t size)
{
	unsigned names = 0;

	for (size_t at = 0; at < size && names < NAMES_MAX; at++) {
		if (at > WIRE_HEADER_SIZE && data[at] < 0xc0)
			continue; /* no pointer */
		check_name(data, size, at);
		names++;
	}
}

/* What is asked is what is read. */
static void check_round(const uint8_t *data, size_t size)
{
	char text[300] = "";
	uint8_t message[512];
	struct buf_writer w;
	struct dns_name n;
	struct wire_query q;

	memcpy(text, data, size < sizeof(text) ? size : sizeof(text) - 1);
	if (dns_name_parse(text, &n) < 0)
		return;
	assert_name(&n);
	wire_writer_init(&w, message, sizeof(message));
	wire_write_query(&w, 1, &n, WIRE_TYPE_A);
	assert(!w.failed && wire_read_query(w.data, w.size, &q) == WIRE_READ);
	assert(dns_name_equal(&q.name, &n) && q.edns.udp_size == WIRE_UDP_MAX);
	if (dns_name_prepend("label", &n, &q.name) == 0)
		assert_name(&q.name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > INPUT_MAX)
		return 0;
	check_query(data, size);
	check_reply(data, size);
	check_names(data, size);
	check_round(data, size);
	return 0;
}
