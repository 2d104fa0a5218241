/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The client's side of the codec: asking for addresses, and reading what a server answered. */
#ifndef ZG_DNS_WIRE_REPLY_H
#define ZG_DNS_WIRE_REPLY_H

#include "dns/wire.h"

/* A question (class IN) with an OPT record, as a client asks it. */
void wire_write_query(struct buf_writer *w, uint16_t id, const struct dns_name *name,
		      uint16_t type);

#define WIRE_REPLY_RECORDS_MAX 64

struct wire_reply_record {
	uint32_t ttl;
	struct addr address;
};

/* What a client needs of an answer to an A or AAAA question. */
struct wire_reply {
	uint16_t id;
	uint16_t flags;
	uint8_t rcode;
	uint16_t type;
	struct dns_name name;
	size_t count; /* records of the asked name and type; others are skipped */
	struct wire_reply_record records[WIRE_REPLY_RECORDS_MAX];
};

/* Returns 0 or -EBADMSG: not an answer, malformed, or more records than there is room for. */
int wire_read_reply(const void *data, size_t size, struct wire_reply *ret_reply);

#endif
