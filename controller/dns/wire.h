/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The message codec: one question, names with compression pointers, EDNS with the options that matter here. Every byte goes
 * through the cursor of base/buf.h; pointers only lead backwards, so that no name loops. */
#ifndef ZG_DNS_WIRE_H
#define ZG_DNS_WIRE_H

#include "base/addr.h"
#include "base/buf.h"
#include "dns/dns_name.h"

#define WIRE_HEADER_SIZE 12
#define WIRE_UDP_PLAIN   512  /* the longest answer over UDP without EDNS */
#define WIRE_UDP_MAX     1232 /* with it: no fragments on any sane path */
#define WIRE_TCP_MAX     65535
#define WIRE_COOKIE_MAX  40

/* Types, classes and response codes are numbers from the wire, so they stay uint16_t; these have names. */
enum {
	WIRE_TYPE_A = 1,
	WIRE_TYPE_NS = 2,
	WIRE_TYPE_SOA = 6,
	WIRE_TYPE_HINFO = 13,
	WIRE_TYPE_TXT = 16,
	WIRE_TYPE_AAAA = 28,
	WIRE_TYPE_OPT = 41,
	WIRE_TYPE_IXFR = 251,
	WIRE_TYPE_AXFR = 252,
	WIRE_TYPE_ANY = 255
};
enum { WIRE_CLASS_IN = 1, WIRE_CLASS_CH = 3 };
enum {
	WIRE_NOERROR = 0,
	WIRE_FORMERR = 1,
	WIRE_SERVFAIL = 2,
	WIRE_NXDOMAIN = 3,
	WIRE_NOTIMP = 4,
	WIRE_REFUSED = 5,
	WIRE_BADVERS = 16
};
enum {
	WIRE_QR = 0x8000,
	WIRE_OPCODE_MASK = 0x7800,
	WIRE_AA = 0x0400,
	WIRE_TC = 0x0200,
	WIRE_RD = 0x0100
};
enum { WIRE_OPTION_NSID = 3, WIRE_OPTION_ECS = 8, WIRE_OPTION_COOKIE = 10 };

/* EDNS client subnet (RFC 7871). */
struct wire_ecs {
	bool given;
	uint16_t family;     /* of the IANA list: 1 is IPv4, 2 is IPv6; 0 only with length 0 */
	uint8_t source;      /* prefix length */
	struct addr address; /* unset with family 0 */
};

struct wire_edns {
	bool given;
	bool dnssec_ok;
	bool nsid;
	uint8_t version; /* not 0: the options were not read */
	uint16_t udp_size;
	uint8_t cookie_size; /* 0, 8 (client's) or 16–40 (with the server's) */
	uint8_t cookie[WIRE_COOKIE_MAX];
	struct wire_ecs ecs;
};

struct wire_query {
	uint16_t id;
	uint16_t flags; /* the whole word */
	bool has_question;
	uint16_t type;
	uint16_t class;
	uint16_t question_size; /* octets of the question behind the header */
	struct dns_name name;   /* as it was asked: the case is kept */
	struct wire_edns edns;
};

enum wire_verdict {
	WIRE_READ,      /* a query; without a question only if it is there for its cookie */
	WIRE_MALFORMED, /* FORMERR is due; what was read until then is filled in */
	WIRE_UNKNOWN,   /* an opcode that is not QUERY: NOTIMP, only the header was read */
	WIRE_IGNORE     /* no header, or an answer: nothing may be sent */
};
enum wire_verdict wire_read_query(const void *data, size_t size, struct wire_query *ret_query);

/* Reads a name at the cursor, following pointers into what lies before it. Fails by the cursor's sticky error. */
void wire_read_name(struct buf_reader *r, struct dns_name *ret_name);

/* A writer over the caller's memory of `capacity` octets; never allocates. One octet stays unused. */
void wire_writer_init(struct buf_writer *w, void *memory, size_t capacity);
/* Two octets of the network's order. */
static inline uint16_t wire_be16(const uint8_t *p)
{
	return (uint16_t)((unsigned)p[0] << 8 | p[1]);
}
static inline void wire_put_be16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

#endif
