// SPDX-License-Identifier: GPL-2.0-or-later
// Reading queries. What is malformed is judged by the RFC of each part: 1035, 6891 (EDNS), 7871 (client subnet), 7873
// (cookies). Nothing here knows what will be answered.
#include "dns/wire.h"

#include <string.h>

#define RECORD_FIXED  10 /* type, class, TTL, length */
#define POINTER       0xc0
#define COOKIE_CLIENT 8
#define COOKIE_LEAST  16
#define EDNS_DO       0x80 /* in the first octet of the flags */
#define COUNTS        4

/* ---- names ---- */

/* Takes one label at the cursor. False at the root, or with the cursor failed. */
static bool wire_read_label(struct buf_reader *r, uint8_t length, struct dns_name *n)
{
	const uint8_t *label = buf_read_bytes(r, length);

	if (!label || n->size + length + 1u > DNS_NAME_MAX) {
		r->failed = true;
		return false;
	}
	n->bytes[n->size] = length;
	memcpy(n->bytes + n->size + 1, label, length);
	n->size = (uint8_t)(n->size + length + 1);
	n->labels = (uint8_t)(n->labels + (length != 0));
	return length != 0;
}

/* Moves the cursor to where a pointer leads: behind the header, and before `*segment`, where the labels read last began.
 * As that start only goes down, no chain of pointers is endless. */
static void wire_follow(struct buf_reader *r, uint8_t high, size_t *segment)
{
	size_t target = (size_t)(high & ~POINTER) << 8 | buf_read_u8(r);

	if (r->failed || target < WIRE_HEADER_SIZE || target >= *segment) {
		r->failed = true;
		return;
	}
	*segment = target;
	r->pos = target;
}

/* A name without pointers is one piece. False: it is another, or none; nothing was read. */
static bool wire_read_plain(struct buf_reader *r, struct dns_name *n)
{
	const uint8_t *begin = r->data + r->pos;
	size_t left = buf_left(r);
	size_t size = 0;
	uint8_t labels = 0;

	if (left > DNS_NAME_MAX)
		left = DNS_NAME_MAX;
	while (size < left && begin[size] && begin[size] <= DNS_NAME_LABEL_MAX) {
		size += begin[size] + 1u;
		labels++;
	}
	if (size >= left || begin[size])
		return false;
	n->size = (uint8_t)(size + 1);
	n->labels = labels;
	memcpy(n->bytes, begin, size + 1);
	r->pos += size + 1;
	return true;
}

static void wire_read_compressed(struct buf_reader *r, struct dns_name *ret_name)
{
	size_t segment = r->pos;
	size_t end = 0; /* behind the first pointer */
	unsigned pointers = 0;
	bool more = true;

	ret_name->size = 0;
	ret_name->labels = 0;
	while (more) {
		uint8_t length = buf_read_u8(r);

		if (length <= DNS_NAME_LABEL_MAX) {
			more = wire_read_label(r, length, ret_name);
		} else if (length >= POINTER && pointers++ < DNS_NAME_LABELS_MAX) {
			size_t behind = r->pos + 1;

			wire_follow(r, length, &segment);
			end = end ? end : behind;
		} else {
			r->failed = true; /* 01 and 10 are label types that died out */
		}
		more = more && !r->failed;
	}
	if (end && !r->failed)
		r->pos = end;
}

void wire_read_name(struct buf_reader *r, struct dns_name *ret_name)
{
	if (!wire_read_plain(r, ret_name))
		wire_read_compressed(r, ret_name);
}

/* ---- EDNS ---- */

static uint8_t wire_address_bits(uint16_t family)
{
	return family == 1 ? 32 : family == 2 ? 128 : 0;
}

/* RFC 7871 §6: as many octets as the prefix needs, the bits beyond it zero, the scope zero. */
static bool wire_read_ecs(struct buf_reader *r, struct wire_ecs *ecs)
{
	uint16_t family = buf_read_be16(r);
	uint8_t source = buf_read_u8(r);
	uint8_t scope = buf_read_u8(r);
	size_t size = buf_left(r);
	const uint8_t *bytes = buf_read_bytes(r, size);

	if (r->failed || family > 2 || scope != 0 || source > wire_address_bits(family) ||
	    size != (source + 7u) / 8)
		return false;
	if (source % 8 && bytes[size - 1] & 0xff >> source % 8)
		return false;
	if (ecs->given)
		return true; /* the first one counts */
	ecs->given = true;
	ecs->family = family;
	ecs->source = source;
	ecs->address.family = family == 1 ? AF_INET : family == 2 ? AF_INET6 : 0;
	if (size)
		memcpy(ecs->address.bytes, bytes, size);
	return true;
}

static bool wire_read_cookie(struct buf_reader *r, struct wire_edns *e)
{
	size_t size = buf_left(r);
	const uint8_t *bytes = buf_read_bytes(r, size);

	if (size != COOKIE_CLIENT && (size < COOKIE_LEAST || size > WIRE_COOKIE_MAX))
		return false;
	if (e->cookie_size)
		return true; /* RFC 7873 §5.2: all but the first are ignored */
	e->cookie_size = (uint8_t)size;
	memcpy(e->cookie, bytes, size);
	return true;
}

static bool wire_read_option(struct buf_reader *options, struct wire_edns *e)
{
	uint16_t code = buf_read_be16(options);
	uint16_t size = buf_read_be16(options);
	const uint8_t *data = buf_read_bytes(options, size);
	struct buf_reader r;

	if (!data)
		return false;
	buf_reader_init(&r, data, size);
	if (code == WIRE_OPTION_ECS)
		return wire_read_ecs(&r, &e->ecs);
	if (code == WIRE_OPTION_COOKIE)
		return wire_read_cookie(&r, e);
	if (code == WIRE_OPTION_NSID)
		e->nsid = true;
	return true;
}

/* The record behind its owner. A second one makes the query malformed. */
static bool wire_read_opt(struct buf_reader *r, const uint8_t fixed[RECORD_FIXED],
			  struct wire_edns *e)
{
	uint16_t size = wire_be16(fixed + 8);
	const uint8_t *data = buf_read_bytes(r, size);
	struct buf_reader options;

	if (!data || e->given)
		return false;
	e->given = true;
	e->udp_size = wire_be16(fixed + 2);
	e->version = fixed[5];
	e->dnssec_ok = fixed[6] & EDNS_DO;
	if (e->version != 0)
		return true; /* nobody knows how its options look */
	buf_reader_init(&options, data, size);
	while (buf_left(&options))
		if (!wire_read_option(&options, e))
			return false;
	return true;
}

/* ---- the message ---- */

enum wire_section { SECTION_ANSWER = 1, SECTION_AUTHORITY, SECTION_ADDITIONAL };

/* The owner of OPT is the root, one octet: most queries have no other record. */
static void wire_read_owner(struct buf_reader *r, struct dns_name *n)
{
	if (!buf_left(r) || r->data[r->pos]) {
		wire_read_name(r, n);
		return;
	}
	n->size = 1;
	n->labels = 0;
	r->pos++;
}

/* One record after the question: OPT is read, everything else skipped (IXFR brings a SOA, TSIG a signature). */
static bool wire_read_record(struct buf_reader *r, enum wire_section section, struct wire_edns *e)
{
	struct dns_name owner;
	const uint8_t *fixed;

	wire_read_owner(r, &owner);
	fixed = buf_read_bytes(r, RECORD_FIXED);
	if (!fixed)
		return false;
	if (wire_be16(fixed) == WIRE_TYPE_OPT)
		return owner.size == 1 && section == SECTION_ADDITIONAL &&
		       wire_read_opt(r, fixed, e);
	buf_skip(r, wire_be16(fixed + 8));
	return !r->failed;
}

static bool wire_read_question(struct buf_reader *r, struct wire_query *q)
{
	const uint8_t *fixed;

	wire_read_name(r, &q->name);
	fixed = buf_read_bytes(r, 4);
	if (!fixed)
		return false;
	q->type = wire_be16(fixed);
	q->class = wire_be16(fixed + 2);
	/* OPT is no type to ask for (RFC 6891 §6.1.1). */
	if (q->type == WIRE_TYPE_OPT)
		return false;
	/* Nothing lies before it that a pointer could lead to, so it is one piece. */
	q->question_size = (uint16_t)(r->pos - WIRE_HEADER_SIZE);
	q->has_question = true;
	return true;
}

static bool wire_read_body(struct buf_reader *r, const uint16_t counts[COUNTS],
			   struct wire_query *q)
{
	if (counts[0] > 1 || (counts[0] == 1 && !wire_read_question(r, q)))
		return false;
	for (int section = SECTION_ANSWER; section <= SECTION_ADDITIONAL; section++)
		for (unsigned i = 0; i < counts[section]; i++)
			if (!wire_read_record(r, (enum wire_section)section, &q->edns))
				return false;
	if (buf_left(r))
		return false;
	/* RFC 7873 §5.4: no question is a question for a cookie. */
	return q->has_question || q->edns.cookie_size;
}

enum wire_verdict wire_read_query(const void *data, size_t size, struct wire_query *ret_query)
{
	struct wire_query *q = ret_query;
	uint16_t counts[COUNTS];
	const uint8_t *header;
	struct buf_reader r;

	/* Not the name, which has a length of its own. */
	q->has_question = false;
	q->type = 0;
	q->class = 0;
	q->question_size = 0;
	q->name.size = 0;
	q->name.labels = 0;
	q->edns = (struct wire_edns){0};
	buf_reader_init(&r, data, size);
	header = buf_read_bytes(&r, WIRE_HEADER_SIZE);
	if (!header)
		return WIRE_IGNORE;
	q->id = wire_be16(header);
	q->flags = wire_be16(header + 2);
	for (size_t i = 0; i < COUNTS; i++)
		counts[i] = wire_be16(header + 4 + 2 * i);
	if (q->flags & WIRE_QR)
		return WIRE_IGNORE;
	if (q->flags & WIRE_OPCODE_MASK)
		return WIRE_UNKNOWN;
	return wire_read_body(&r, counts, q) ? WIRE_READ : WIRE_MALFORMED;
}

/* ---- writing ---- */

void wire_writer_init(struct buf_writer *w, void *memory, size_t capacity)
{
	/* With a limit below the capacity, the writer never asks for more memory. */
	*w = (struct buf_writer){.data = memory, .capacity = capacity, .limit = capacity - 1};
}
