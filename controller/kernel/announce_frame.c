// SPDX-License-Identifier: GPL-2.0-or-later
// Byte by byte, as the RFCs draw them; no sockets.
#include "kernel/announce_frame.h"

#include <string.h>

#define ARP_SIZE      28
#define IP6_SIZE      40
#define NA_SIZE       32 /* with the option that carries the link-layer address */
#define ICMP6_NA      136
#define OPTION_TARGET 2
#define HOP_LIMIT     255 /* what has passed a router is not believed */

static const uint8_t announce_all_nodes[16] = {0xff, 0x02, [15] = 1};

size_t announce_frame_arp(const struct addr *a, const uint8_t mac[ANNOUNCE_MAC_SIZE],
			  uint8_t ret_frame[ANNOUNCE_FRAME_MAX])
{
	/* Ethernet, IPv4, their lengths, request */
	static const uint8_t head[] = {0, 1, 8, 0, 6, 4, 0, 1};

	memcpy(ret_frame, head, sizeof(head));
	memcpy(ret_frame + 8, mac, ANNOUNCE_MAC_SIZE);
	memcpy(ret_frame + 14, a->bytes, 4);
	memset(ret_frame + 18, 0, ANNOUNCE_MAC_SIZE);
	memcpy(ret_frame + 24, a->bytes, 4);
	return ARP_SIZE;
}

static uint32_t announce_add_words(uint32_t sum, const uint8_t *p, size_t size)
{
	for (size_t i = 0; i < size; i += 2)
		sum += (uint32_t)(p[i] << 8 | p[i + 1]);
	return sum;
}

/* Over the addresses, the length, the next header, and the message with a checksum of zero. */
static uint16_t announce_checksum(const uint8_t *ip6, const uint8_t *na)
{
	uint32_t sum = announce_add_words(NA_SIZE + IPPROTO_ICMPV6, ip6 + 8, 32);

	sum = announce_add_words(sum, na, NA_SIZE);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

size_t announce_frame_na(const struct addr *a, const uint8_t mac[ANNOUNCE_MAC_SIZE],
			 uint8_t na_flags, uint8_t ret_frame[ANNOUNCE_FRAME_MAX])
{
	uint8_t *na = ret_frame + IP6_SIZE;
	uint16_t checksum;

	memset(ret_frame, 0, IP6_SIZE + NA_SIZE);
	ret_frame[0] = 0x60;
	ret_frame[5] = NA_SIZE;
	ret_frame[6] = IPPROTO_ICMPV6;
	ret_frame[7] = HOP_LIMIT;
	memcpy(ret_frame + 8, a->bytes, 16);
	memcpy(ret_frame + 24, announce_all_nodes, 16);
	na[0] = ICMP6_NA;
	na[4] = na_flags;
	memcpy(na + 8, a->bytes, 16);
	na[24] = OPTION_TARGET;
	na[25] = 1; /* in units of eight bytes */
	memcpy(na + 26, mac, ANNOUNCE_MAC_SIZE);
	checksum = announce_checksum(ret_frame, na);
	na[2] = (uint8_t)(checksum >> 8);
	na[3] = (uint8_t)checksum;
	return IP6_SIZE + NA_SIZE;
}
