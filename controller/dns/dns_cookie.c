// SPDX-License-Identifier: GPL-2.0-or-later
// Version, time and hash as RFC 9018 lays them out. Keeps no state of a client.
#include "dns/dns_cookie.h"

#include <string.h>

#define COOKIE_VERSION 1
#define COOKIE_AGE_MAX 3600
#define COOKIE_RENEW   1800
#define COOKIE_AHEAD   300 /* clocks of servers that share a secret */
#define COOKIE_INPUT   (DNS_COOKIE_CLIENT_SIZE + 8 + 16)

/* The hash at the end of `cookie`, from what stands before it. */
static void dns_cookie_hash(const struct dns_cookie_party *p, const uint8_t *cookie,
			    uint8_t ret_hash[8])
{
	uint8_t input[COOKIE_INPUT];
	size_t address = p->client.family == AF_INET ? 4 : 16;
	uint64_t hash;

	memcpy(input, cookie, DNS_COOKIE_CLIENT_SIZE + 8);
	memcpy(input + DNS_COOKIE_CLIENT_SIZE + 8, p->client.bytes, address);
	hash = siphash_bytes(p->secret, input, DNS_COOKIE_CLIENT_SIZE + 8 + address);
	for (unsigned i = 0; i < 8; i++)
		ret_hash[i] = (uint8_t)(hash >> 8 * i);
}

static uint32_t dns_cookie_time(const uint8_t *cookie)
{
	const uint8_t *t = cookie + DNS_COOKIE_CLIENT_SIZE + 4;

	return (uint32_t)t[0] << 24 | (uint32_t)t[1] << 16 | (uint32_t)t[2] << 8 | t[3];
}

enum dns_cookie_verdict dns_cookie_check(const struct dns_cookie_party *p, const uint8_t *cookie,
					 size_t size)
{
	uint8_t hash[8];
	uint8_t differ = 0;
	int32_t age;

	if (size <= DNS_COOKIE_CLIENT_SIZE)
		return DNS_COOKIE_NONE;
	if (size != DNS_COOKIE_SIZE || cookie[DNS_COOKIE_CLIENT_SIZE] != COOKIE_VERSION)
		return DNS_COOKIE_BAD;
	/* Serial arithmetic (RFC 1982): it works past 2106. */
	age = (int32_t)(p->now_wall - dns_cookie_time(cookie));
	if (age > COOKIE_AGE_MAX || age < -COOKIE_AHEAD)
		return DNS_COOKIE_BAD;
	dns_cookie_hash(p, cookie, hash);
	for (size_t i = 0; i < sizeof(hash); i++)
		differ |= hash[i] ^ cookie[DNS_COOKIE_SIZE - sizeof(hash) + i];
	if (differ)
		return DNS_COOKIE_BAD;
	return age > COOKIE_RENEW ? DNS_COOKIE_AGING : DNS_COOKIE_FRESH;
}

void dns_cookie_make(const struct dns_cookie_party *p, const uint8_t *client_cookie,
		     uint8_t ret_cookie[DNS_COOKIE_SIZE])
{
	uint8_t *server = ret_cookie + DNS_COOKIE_CLIENT_SIZE;

	memmove(ret_cookie, client_cookie, DNS_COOKIE_CLIENT_SIZE);
	memset(server, 0, 4);
	server[0] = COOKIE_VERSION;
	server[4] = (uint8_t)(p->now_wall >> 24);
	server[5] = (uint8_t)(p->now_wall >> 16);
	server[6] = (uint8_t)(p->now_wall >> 8);
	server[7] = (uint8_t)p->now_wall;
	dns_cookie_hash(p, ret_cookie, server + 8);
}
