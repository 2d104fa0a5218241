// SPDX-License-Identifier: GPL-2.0-or-later
// Everything goes through the cursor of base/buf.h. The kernel has checked the IP header of the packet itself, but nothing of
// what an ICMP error quotes, nor the ICMP checksum of IPv4.
#include "probe/packet_parse.h"

#include "base/buf.h"

#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <string.h>

#define FRAGMENT_OFFSET 0x1fff
#define IP4_HEADER_MIN  20

uint16_t packet_checksum(const void *data, size_t size, uint32_t seed)
{
	const uint8_t *bytes = data;
	uint64_t sum = seed;

	for (size_t i = 0; i + 1 < size; i += 2)
		sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
	if (size % 2)
		sum += (uint32_t)bytes[size - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static struct addr packet_read_address(struct buf_reader *r, uint8_t family)
{
	const size_t size = family == AF_INET ? 4 : 16;
	const uint8_t *bytes = buf_read_bytes(r, size);
	struct addr a = {.family = family};

	if (bytes)
		memcpy(a.bytes, bytes, size);
	return a;
}

/* An IPv4 header with its options. A later fragment is no beginning of anything: it fails. */
static void packet_read_ip4(struct buf_reader *r, uint8_t *ret_protocol,
			    struct addr *ret_destination)
{
	uint8_t first = buf_read_u8(r);
	size_t length = (size_t)(first & 0xf) * 4;

	buf_skip(r, 5);
	if (first >> 4 != 4 || length < IP4_HEADER_MIN || buf_read_be16(r) & FRAGMENT_OFFSET)
		r->failed = true;
	buf_skip(r, 1);
	*ret_protocol = buf_read_u8(r);
	buf_skip(r, 6);
	*ret_destination = packet_read_address(r, AF_INET);
	buf_skip(r, length - IP4_HEADER_MIN);
}

/* An IPv6 header. Our own packets have no extension headers, so a quote of them has none. */
static void packet_read_ip6(struct buf_reader *r, uint8_t *ret_protocol,
			    struct addr *ret_destination)
{
	if (buf_read_u8(r) >> 4 != 6)
		r->failed = true;
	buf_skip(r, 5);
	*ret_protocol = buf_read_u8(r);
	buf_skip(r, 1 + 16);
	*ret_destination = packet_read_address(r, AF_INET6);
}

static int packet_read_quote(struct buf_reader *r, uint8_t family, struct packet_quote *q)
{
	const uint8_t echo_protocol = family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	const uint8_t echo_type = family == AF_INET ? ICMP_ECHO : ICMP6_ECHO_REQUEST;
	bool is_echo;

	if (family == AF_INET)
		packet_read_ip4(r, &q->protocol, &q->destination);
	else
		packet_read_ip6(r, &q->protocol, &q->destination);
	q->source_port = buf_read_be16(r);
	q->destination_port = buf_read_be16(r);
	q->word = buf_read_be32(r);
	is_echo = q->protocol == echo_protocol && q->source_port == echo_type << 8;
	return r->failed || (!is_echo && q->protocol != IPPROTO_TCP) ? -EBADMSG : 0;
}

static bool packet_is_error(uint8_t family, uint8_t type)
{
	if (family == AF_INET)
		return type == ICMP_DEST_UNREACH || type == ICMP_TIME_EXCEEDED ||
		       type == ICMP_PARAMETERPROB;
	return type == ICMP6_DST_UNREACH || type == ICMP6_TIME_EXCEEDED || type == ICMP6_PARAM_PROB;
}

/* From the ICMP header on. */
static int packet_read_icmp(struct buf_reader *r, uint8_t family, struct packet_icmp *p)
{
	p->type = buf_read_u8(r);
	p->code = buf_read_u8(r);
	buf_skip(r, 2);
	p->id = buf_read_be16(r);
	p->sequence = buf_read_be16(r);
	if (r->failed)
		return -EBADMSG;
	p->payload = r->data + r->pos;
	p->payload_size = buf_left(r);
	if (packet_is_error(family, p->type)) {
		p->kind = PACKET_ERROR;
		return packet_read_quote(r, family, &p->quote);
	}
	p->kind = PACKET_ECHO_REPLY;
	return p->type == (family == AF_INET ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY) && !p->code
		       ? 0
		       : -EBADMSG;
}

/* Skips the header that only packets of IPv4 come with. */
static int packet_begin(struct buf_reader *r, uint8_t family, uint8_t protocol)
{
	struct addr to;
	uint8_t found = protocol;

	if (family == AF_INET)
		packet_read_ip4(r, &found, &to);
	return r->failed || found != protocol ? -EBADMSG : 0;
}

int packet_parse_icmp(uint8_t family, const void *data, size_t size, struct packet_icmp *ret_icmp)
{
	const uint8_t protocol = family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	struct packet_icmp p = {0};
	struct buf_reader r;

	buf_reader_init(&r, data, size);
	if (packet_begin(&r, family, protocol))
		return -EBADMSG;
	if (family == AF_INET && packet_checksum(r.data + r.pos, buf_left(&r), 0))
		return -EBADMSG;
	if (packet_read_icmp(&r, family, &p))
		return -EBADMSG;
	*ret_icmp = p;
	return 0;
}

int packet_parse_tcp(uint8_t family, const void *data, size_t size, struct packet_tcp *ret_tcp)
{
	struct packet_tcp p;
	struct buf_reader r;

	buf_reader_init(&r, data, size);
	if (packet_begin(&r, family, IPPROTO_TCP))
		return -EBADMSG;
	p.source_port = buf_read_be16(&r);
	p.destination_port = buf_read_be16(&r);
	buf_skip(&r, 4);
	p.acknowledged = buf_read_be32(&r);
	buf_skip(&r, 1);
	p.flags = buf_read_u8(&r);
	buf_skip(&r, 6);
	if (r.failed)
		return -EBADMSG;
	*ret_tcp = p;
	return 0;
}
