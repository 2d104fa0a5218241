/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets as raw sockets deliver them: IPv4 ones begin with their IP header, IPv6 ones behind it. Reads only; whether a packet
 * is the answer to something that was sent is for the caller to say. */
#ifndef ZG_PROBE_PACKET_PARSE_H
#define ZG_PROBE_PACKET_PARSE_H

#include <stddef.h>

#include "base/addr.h"

/* What an ICMP error quotes of the packet that it is about. */
struct packet_quote {
	uint8_t protocol;
	struct addr destination;
	uint16_t source_port;      /* of TCP */
	uint16_t destination_port; /* of TCP */
	uint32_t word; /* sequence number of TCP; of an echo request id << 16 | sequence */
};

enum packet_kind { PACKET_ECHO_REPLY, PACKET_ERROR };

struct packet_icmp {
	enum packet_kind kind;
	uint8_t type;
	uint8_t code;
	uint16_t id; /* of an echo reply, as the next three */
	uint16_t sequence;
	const uint8_t *payload; /* within the packet */
	size_t payload_size;
	struct packet_quote quote; /* of an error */
};

/* Returns 0, or -EBADMSG for what is cut, damaged, or neither an echo reply nor an error about an echo request or TCP. */
int packet_parse_icmp(uint8_t family, const void *data, size_t size, struct packet_icmp *ret_icmp);

#define PACKET_TCP_SYN 0x02
#define PACKET_TCP_RST 0x04
#define PACKET_TCP_ACK 0x10

struct packet_tcp {
	uint16_t source_port;
	uint16_t destination_port;
	uint32_t acknowledged;
	uint8_t flags;
};

/* Returns 0 or -EBADMSG. */
int packet_parse_tcp(uint8_t family, const void *data, size_t size, struct packet_tcp *ret_tcp);

/* The Internet checksum over `size` bytes, in the order of the net's bytes; 0 over a packet that holds its own. */
uint16_t packet_checksum(const void *data, size_t size, uint32_t seed);

#endif
