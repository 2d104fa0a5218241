// SPDX-License-Identifier: GPL-2.0-or-later
// The header and OPT are written here, whatever the answer; answer_body() decides what stands between.
#include "dns/answer.h"

#include "dns/dns_choice.h"

#include <assert.h>
#include <string.h>

#define SOA_TTL     60 /* of a SOA that was asked for; in a negative answer it is the minimum */
#define SOA_NUMBERS 20 /* octets: serial, three times and the minimum */
#define OPT_SIZE    11
#define OPTION      4 /* code and length */
#define ECS_FIXED   4
#define POINTER     0xc000
#define META_FIRST  249 /* TKEY, TSIG, IXFR, AXFR, MAILB, MAILA: no records of a name */
#define META_LAST   254
#define COUNT_AT    4 /* where the four counts stand in the header */

struct answer_writing {
	const struct answer_source *source;
	const struct answer_request *request;
	struct answer *a;
	struct buf_writer w;
	size_t question_end;
	uint16_t answers;
	uint16_t authorities;
	bool authoritative;
	uint8_t scope; /* of the client subnet */
};

/* ---- what was asked ---- */

static enum dns_cookie_verdict answer_check_cookie(const struct answer_settings *s,
						   const struct answer_request *request,
						   const struct wire_edns *e)
{
	struct dns_cookie_party party = {.client = request->client, .now_wall = request->now_wall};
	enum dns_cookie_verdict verdict = DNS_COOKIE_NONE;

	for (size_t i = 0; i < s->secret_count; i++) {
		party.secret = s->secrets[i];
		verdict = dns_cookie_check(&party, e->cookie, e->cookie_size);
		if (verdict == DNS_COOKIE_FRESH || verdict == DNS_COOKIE_AGING)
			/* By an old secret: to be renewed. */
			return i ? DNS_COOKIE_AGING : verdict;
	}
	return verdict;
}

bool answer_read(const struct answer_settings *s, const struct answer_request *request,
		 struct answer *ret_answer)
{
	struct answer *a = ret_answer;

	a->verdict = wire_read_query(request->data, request->size, &a->query);
	a->cookie = a->query.edns.cookie_size ? answer_check_cookie(s, request, &a->query.edns)
					      : DNS_COOKIE_NONE;
	a->rcode = WIRE_NOERROR;
	a->truncated = false;
	return a->verdict != WIRE_IGNORE;
}

/* ---- records ---- */

/* The start of a record whose owner is the question's name without its first labels. */
static void answer_write_record(struct answer_writing *aw, size_t owner_offset, uint16_t type,
				uint32_t ttl)
{
	buf_write_be16(&aw->w, (uint16_t)(POINTER | (WIRE_HEADER_SIZE + owner_offset)));
	buf_write_be16(&aw->w, type);
	buf_write_be16(&aw->w, WIRE_CLASS_IN);
	buf_write_be32(&aw->w, ttl);
}

static void answer_write_soa(struct answer_writing *aw, const struct view_apex *apex, uint32_t ttl,
			     uint32_t minimum)
{
	size_t owner = (size_t)aw->a->query.name.size - apex->node->name_size;

	answer_write_record(aw, owner, WIRE_TYPE_SOA, ttl);
	buf_write_be16(&aw->w, (uint16_t)(apex->soa_size + SOA_NUMBERS));
	buf_write(&aw->w, apex->soa, apex->soa_size);
	buf_write_be32(&aw->w, view_serial(aw->source->view));
	buf_write_be32(&aw->w, VIEW_SOA_REFRESH);
	buf_write_be32(&aw->w, VIEW_SOA_RETRY);
	buf_write_be32(&aw->w, VIEW_SOA_EXPIRE);
	buf_write_be32(&aw->w, minimum);
}

static void answer_negative(struct answer_writing *aw, const struct view_apex *apex,
			    uint32_t minimum)
{
	answer_write_soa(aw, apex, minimum, minimum);
	aw->authorities = 1;
}

/* The zone of who asks, by EDNS client subnet or by address; only where it matters, as only then the answer is for one
 * subnet (RFC 7871 §7.2.1). */
static int answer_client_zone(struct answer_writing *aw, const struct view_node *n)
{
	const struct wire_ecs *ecs = &aw->a->query.edns.ecs;
	uint8_t scope;
	int zone;

	if (!dns_choice_has_affinity(n))
		return SUBNET_MAP_NONE;
	if (!ecs->given || !ecs->source) /* length 0: the client wants its subnet left out */
		return view_client_zone(aw->source->view, &aw->request->client, &scope);
	zone = view_client_zone(aw->source->view, &ecs->address, &scope);
	aw->scope = scope;
	return zone;
}

static void answer_addresses(struct answer_writing *aw, const struct view_node *n,
			     enum view_family family)
{
	int zone = answer_client_zone(aw, n);
	struct dns_choice c = dns_choice_make(n, family, zone, aw->request->random);
	size_t tail;

	if (!c.count) {
		answer_negative(aw, n->here ? n->here : n->apex, n->negative_ttl);
		return;
	}
	tail = (size_t)(c.set->count - c.first);
	if (tail > c.count)
		tail = c.count;
	buf_write(&aw->w, c.set->records + (size_t)c.first * c.set->record_size,
		  tail * c.set->record_size);
	if (tail < c.count)
		buf_write(&aw->w, c.set->records, (c.count - tail) * c.set->record_size);
	aw->answers = c.count;
}

/* RFC 8482 §4.2: one small record instead of all. */
static void answer_any(struct answer_writing *aw, const struct view_node *n)
{
	static const uint8_t hinfo[] = {0, 9, 7, 'R', 'F', 'C', '8', '4', '8', '2', 0};

	answer_write_record(aw, 0, WIRE_TYPE_HINFO, n->ttl ? n->ttl : SOA_TTL);
	buf_write(&aw->w, hinfo, sizeof(hinfo));
	aw->answers = 1;
}

/* A name that exists. */
static void answer_node(struct answer_writing *aw, const struct view_node *n)
{
	const struct view_apex *apex = n->here ? n->here : n->apex;
	uint16_t type = aw->a->query.type;

	if (type == WIRE_TYPE_A) {
		answer_addresses(aw, n, VIEW_V4);
	} else if (type == WIRE_TYPE_AAAA) {
		answer_addresses(aw, n, VIEW_V6);
	} else if (type == WIRE_TYPE_SOA && n->here) {
		answer_write_soa(aw, apex, SOA_TTL, n->negative_ttl);
		aw->answers = 1;
	} else if (type == WIRE_TYPE_NS && n->here && apex->ns_count) {
		buf_write(&aw->w, apex->ns, apex->ns_size);
		aw->answers = apex->ns_count;
	} else if (type == WIRE_TYPE_ANY && (n->ttl || n->here)) {
		answer_any(aw, n);
	} else {
		answer_negative(aw, apex, n->negative_ttl);
	}
}

/* Writes the records and returns the response code. */
static uint16_t answer_body(struct answer_writing *aw)
{
	struct wire_query *q = &aw->a->query;
	struct view_found found;

	if (aw->a->verdict != WIRE_READ)
		return aw->a->verdict == WIRE_UNKNOWN ? WIRE_NOTIMP : WIRE_FORMERR;
	if (q->edns.version)
		return WIRE_BADVERS;
	if (!q->has_question)
		return WIRE_NOERROR; /* a cookie is all that was asked for */
	if (q->class != WIRE_CLASS_IN || (q->type >= META_FIRST && q->type <= META_LAST))
		return WIRE_REFUSED;
	dns_name_lower(&q->name);
	found = view_find(aw->source->view, &q->name);
	if (!found.apex)
		return WIRE_REFUSED;
	aw->authoritative = true;
	if (!found.node) {
		answer_negative(aw, found.apex, found.apex->negative_ttl);
		return WIRE_NXDOMAIN;
	}
	answer_node(aw, found.node);
	return WIRE_NOERROR;
}

/* ---- EDNS ---- */

static size_t answer_ecs_octets(const struct wire_ecs *ecs)
{
	return (ecs->source + 7u) / 8;
}

static size_t answer_opt_size(const struct answer_writing *aw)
{
	const struct wire_edns *e = &aw->a->query.edns;
	const struct answer_settings *s = aw->source->settings;
	size_t size = OPT_SIZE;

	if (!e->given)
		return 0;
	if (e->nsid && s->nsid_size)
		size += OPTION + (size_t)s->nsid_size;
	if (e->cookie_size && s->secret_count)
		size += OPTION + DNS_COOKIE_SIZE;
	if (e->ecs.given)
		size += OPTION + ECS_FIXED + answer_ecs_octets(&e->ecs);
	return size;
}

static void answer_write_cookie(struct answer_writing *aw)
{
	const struct answer *a = aw->a;
	struct dns_cookie_party party = {.secret = aw->source->settings->secrets[0],
					 .client = aw->request->client,
					 .now_wall = aw->request->now_wall};
	uint8_t cookie[DNS_COOKIE_SIZE];

	buf_write_be16(&aw->w, WIRE_OPTION_COOKIE);
	buf_write_be16(&aw->w, DNS_COOKIE_SIZE);
	if (a->cookie == DNS_COOKIE_FRESH) {
		buf_write(&aw->w, a->query.edns.cookie, DNS_COOKIE_SIZE);
		return;
	}
	dns_cookie_make(&party, a->query.edns.cookie, cookie);
	buf_write(&aw->w, cookie, sizeof(cookie));
}

static void answer_write_ecs(struct answer_writing *aw, const struct wire_ecs *ecs)
{
	size_t octets = answer_ecs_octets(ecs);

	buf_write_be16(&aw->w, WIRE_OPTION_ECS);
	buf_write_be16(&aw->w, (uint16_t)(ECS_FIXED + octets));
	buf_write_be16(&aw->w, ecs->family);
	buf_write_u8(&aw->w, ecs->source);
	buf_write_u8(&aw->w, aw->scope);
	buf_write(&aw->w, ecs->address.bytes, octets);
}

static void answer_write_opt(struct answer_writing *aw, size_t size)
{
	const struct wire_edns *e = &aw->a->query.edns;
	const struct answer_settings *s = aw->source->settings;
	const uint8_t fixed[OPT_SIZE] = {0,
					 0,
					 WIRE_TYPE_OPT,
					 WIRE_UDP_MAX >> 8,
					 WIRE_UDP_MAX & 0xff,
					 (uint8_t)(aw->a->rcode >> 4),
					 0,
					 e->dnssec_ok ? 0x80 : 0,
					 0,
					 (uint8_t)((size - OPT_SIZE) >> 8),
					 (uint8_t)(size - OPT_SIZE)};

	buf_write(&aw->w, fixed, sizeof(fixed));
	if (size == OPT_SIZE)
		return;
	if (e->nsid && s->nsid_size) {
		buf_write_be16(&aw->w, WIRE_OPTION_NSID);
		buf_write_be16(&aw->w, s->nsid_size);
		buf_write(&aw->w, s->nsid, s->nsid_size);
	}
	if (e->cookie_size && s->secret_count)
		answer_write_cookie(aw);
	if (e->ecs.given)
		answer_write_ecs(aw, &e->ecs);
}

/* ---- the message ---- */

static size_t answer_limit(const struct answer_request *request, const struct wire_edns *e)
{
	if (request->transport == ANSWER_TCP)
		return ANSWER_SIZE_MAX;
	if (!e->given || e->udp_size <= WIRE_UDP_PLAIN)
		return WIRE_UDP_PLAIN;
	return e->udp_size < WIRE_UDP_MAX ? e->udp_size : WIRE_UDP_MAX;
}

/* Takes back all behind the question. */
static void answer_truncate(struct answer_writing *aw)
{
	aw->w.size = aw->question_end;
	aw->w.failed = false;
	aw->answers = 0;
	aw->authorities = 0;
	aw->a->truncated = true;
}

static void answer_write_header(struct answer_writing *aw, bool has_opt)
{
	const struct wire_query *q = &aw->a->query;
	unsigned flags = WIRE_QR | (q->flags & (WIRE_OPCODE_MASK | WIRE_RD)) |
			 (aw->a->rcode & 0xfu) | (aw->authoritative ? WIRE_AA : 0u) |
			 (aw->a->truncated ? WIRE_TC : 0u);
	uint8_t *header = aw->w.data;

	/* The id came with the question. */
	wire_put_be16(header + 2, (uint16_t)flags);
	wire_put_be16(header + COUNT_AT, q->has_question);
	wire_put_be16(header + COUNT_AT + 2, aw->answers);
	wire_put_be16(header + COUNT_AT + 4, aw->authorities);
	wire_put_be16(header + COUNT_AT + 6, has_opt);
}

size_t answer_write(const struct answer_source *source, const struct answer_request *request,
		    enum answer_extent extent, struct answer *a, struct answer_memory memory)
{
	struct answer_writing aw = {.source = source, .request = request, .a = a};
	size_t limit = answer_limit(request, &a->query.edns);
	size_t opt_size = answer_opt_size(&aw);

	assert(memory.capacity > limit);
	wire_writer_init(&aw.w, memory.data, limit + 1);
	aw.w.limit = limit - opt_size;
	/* The question as it came; the header in front of it is written last. */
	aw.question_end = (size_t)WIRE_HEADER_SIZE + a->query.question_size;
	if (memory.data != request->data)
		memcpy(aw.w.data, request->data, aw.question_end);
	aw.w.size = aw.question_end;
	a->rcode = answer_body(&aw);
	if (aw.w.failed || extent == ANSWER_HEAD_ONLY)
		answer_truncate(&aw);
	aw.w.limit = limit;
	if (opt_size)
		answer_write_opt(&aw, opt_size);
	answer_write_header(&aw, opt_size != 0);
	assert(!aw.w.failed && aw.w.size <= limit);
	return aw.w.size;
}
