// SPDX-License-Identifier: GPL-2.0-or-later
// Packets of raw sockets: the first octet chooses family and protocol. What is accepted lies within the packet.
#include "probe/packet_parse.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_icmp(uint8_t family, uint8_t *packet, size_t size)
{
	struct packet_icmp p;

	if (packet_parse_icmp(family, packet, size, &p))
		return;
	assert(p.payload >= packet && p.payload + p.payload_size == packet + size);
	if (p.kind == PACKET_ERROR)
		assert(p.quote.destination.family == family && p.payload_size >= 28);
}

/* Without a valid checksum nothing of IPv4 would ever be looked at: sets it. */
static void seal(uint8_t *packet, size_t size)
{
	size_t begin = size ? (size_t)(packet[0] & 0xf) * 4 : 0;
	uint16_t sum;

	if (begin + 4 > size)
		return;
	packet[begin + 2] = packet[begin + 3] = 0;
	sum = packet_checksum(packet + begin, size - begin, 0);
	packet[begin + 2] = (uint8_t)(sum >> 8);
	packet[begin + 3] = (uint8_t)sum;
	assert(packet_checksum(packet + begin, size - begin, 0) == 0 || size - begin < 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t family = size && data[0] & 1 ? AF_INET6 : AF_INET;
	struct packet_tcp t;
	uint8_t *packet;

	if (!size)
		return 0;
	size--;
	packet = malloc(size); /* of its exact size, for the sanitizer */
	assert(packet || !size);
	if (size)
		memcpy(packet, data + 1, size);
	check_icmp(family, packet, size);
	(void)packet_parse_tcp(family, packet, size, &t);
	if (family == AF_INET) {
		seal(packet, size);
		check_icmp(family, packet, size);
	}
	free(packet);
	return 0;
}
