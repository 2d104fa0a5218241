/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IP addresses and prefixes as values. Text form: strict on input (no leading zeros, no names), RFC 5952 on output. */
#ifndef ZG_BASE_ADDR_H
#define ZG_BASE_ADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct addr {
	uint8_t family;    /* 0 (unset), AF_INET or AF_INET6 */
	uint8_t bytes[16]; /* network order; IPv4 in the first four, the rest zero */
};

#define ADDR_TEXT_MAX          48 /* "2001:db8::1" */
#define ADDR_ENDPOINT_TEXT_MAX 64 /* "[2001:db8::1]:80" */

/* Returns 0 or -EINVAL. IPv4-mapped IPv6 ("::ffff:1.2.3.4") is refused. */
int addr_parse(const char *text, struct addr *ret_addr);
const char *addr_format(const struct addr *a, char buf[ADDR_TEXT_MAX]);
const char *addr_format_endpoint(const struct addr *a, uint16_t port,
				 char buf[ADDR_ENDPOINT_TEXT_MAX]);

/* memcmp order: family, then bytes. */
int addr_compare(const struct addr *a, const struct addr *b);
static inline bool addr_is_set(const struct addr *a)
{
	return a->family != 0;
}
uint32_t addr_hash(const struct addr *a, uint32_t seed);

/* What the address is not good for as a server or VIP: "unspecified", "multicast", "broadcast", "link-local", "loopback",
 * or NULL for an ordinary unicast address. (Loopback is the caller's choice.) */
const char *addr_special_kind(const struct addr *a);

/* Fills a socket address; returns its length. And back: -EAFNOSUPPORT for other families. */
socklen_t addr_to_sockaddr(const struct addr *a, uint16_t port, struct sockaddr_storage *ret_sa);
int addr_from_sockaddr(const struct sockaddr *sa, struct addr *ret_addr, uint16_t *ret_port);

/* "10.0.0.0/8": host bits beyond the prefix must be zero. Returns 0 or -EINVAL. */
int addr_parse_prefix(const char *text, struct addr *ret_addr, uint8_t *ret_length);
bool addr_in_prefix(const struct addr *a, const struct addr *net, uint8_t length);

#endif
