/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Server cookies (RFC 7873) in the form of RFC 9018, so that servers with one secret know each other's. */
#ifndef ZG_DNS_DNS_COOKIE_H
#define ZG_DNS_DNS_COOKIE_H

#include "base/addr.h"
#include "dns/siphash.h"

#include <stddef.h>

#define DNS_COOKIE_CLIENT_SIZE 8
#define DNS_COOKIE_SERVER_SIZE 16
#define DNS_COOKIE_SIZE        (DNS_COOKIE_CLIENT_SIZE + DNS_COOKIE_SERVER_SIZE)

enum dns_cookie_verdict {
	DNS_COOKIE_NONE,  /* the client's part only, or none */
	DNS_COOKIE_BAD,   /* a server's part that we did not give, or too long ago */
	DNS_COOKIE_AGING, /* ours, and to be renewed */
	DNS_COOKIE_FRESH
};

/* `now_wall` in seconds since the epoch, cut to 32 bits. */
struct dns_cookie_party {
	const uint8_t *secret; /* SIPHASH_KEY_SIZE octets */
	struct addr client;
	uint32_t now_wall;
};

/* Judges the content of a COOKIE option (RFC 7873, server part RFC 9018); in constant time as far as the secret is concerned. */
enum dns_cookie_verdict dns_cookie_check(const struct dns_cookie_party *p, const uint8_t *cookie,
					 size_t size);

/* The cookie for the reply, client's part first. */
void dns_cookie_make(const struct dns_cookie_party *p, const uint8_t *client_cookie,
		     uint8_t ret_cookie[DNS_COOKIE_SIZE]);

#endif
