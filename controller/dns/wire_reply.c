// SPDX-License-Identifier: GPL-2.0-or-later
// Questions out, records in. A reply is hostile: all lengths go through the cursor.
#include "dns/wire_reply.h"

#include <errno.h>
#include <string.h>

void wire_write_query(struct buf_writer *w, uint16_t id, const struct dns_name *name, uint16_t type)
{
	static const uint8_t counts[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 1};
	static const uint8_t opt[] = {
		0, 0, WIRE_TYPE_OPT, WIRE_UDP_MAX >> 8, WIRE_UDP_MAX & 0xff, 0, 0, 0, 0, 0, 0};

	buf_write_be16(w, id);
	buf_write(w, counts, sizeof(counts));
	buf_write(w, name->bytes, name->size);
	buf_write_be16(w, type);
	buf_write_be16(w, WIRE_CLASS_IN);
	buf_write(w, opt, sizeof(opt));
}

static size_t wire_address_size(uint16_t type)
{
	return type == WIRE_TYPE_A ? 4 : type == WIRE_TYPE_AAAA ? 16 : 0;
}

/* One record of the answer section; kept if it is what was asked for. */
static bool wire_take_record(struct buf_reader *r, struct wire_reply *reply)
{
	struct dns_name owner;
	struct wire_reply_record record = {0};
	const uint8_t *data;
	uint16_t type;
	uint16_t size;

	wire_read_name(r, &owner);
	type = buf_read_be16(r);
	buf_skip(r, 2);
	record.ttl = buf_read_be32(r);
	size = buf_read_be16(r);
	data = buf_read_bytes(r, size);
	if (r->failed)
		return false;
	dns_name_lower(&owner);
	if (type != reply->type || !dns_name_equal(&owner, &reply->name))
		return true;
	if (size != wire_address_size(type) || reply->count == WIRE_REPLY_RECORDS_MAX)
		return false;
	record.address.family = type == WIRE_TYPE_A ? AF_INET : AF_INET6;
	memcpy(record.address.bytes, data, size);
	reply->records[reply->count++] = record;
	return true;
}

int wire_read_reply(const void *data, size_t size, struct wire_reply *ret_reply)
{
	struct wire_reply *reply = ret_reply;
	struct buf_reader r;
	uint16_t answers;

	*reply = (struct wire_reply){0};
	buf_reader_init(&r, data, size);
	reply->id = buf_read_be16(&r);
	reply->flags = buf_read_be16(&r);
	reply->rcode = reply->flags & 0xf;
	if (buf_read_be16(&r) != 1 || !(reply->flags & WIRE_QR))
		return -EBADMSG;
	answers = buf_read_be16(&r);
	buf_skip(&r, 4);
	wire_read_name(&r, &reply->name);
	reply->type = buf_read_be16(&r);
	buf_skip(&r, 2);
	if (r.failed)
		return -EBADMSG;
	dns_name_lower(&reply->name);
	for (unsigned i = 0; i < answers; i++)
		if (!wire_take_record(&r, reply))
			return -EBADMSG;
	return 0;
}
