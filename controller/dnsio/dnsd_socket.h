/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the sockets of the DNS server with all their options. */
#ifndef ZG_DNSIO_DNSD_SOCKET_H
#define ZG_DNSIO_DNSD_SOCKET_H

#include "dnsio/dnsd.h"

/* Return a descriptor or a negative errno. UDP sockets block, and wait at most DNSD_SOCKET_WAIT_MS; several share an address. */
#define DNSD_SOCKET_WAIT_MS 500
int dnsd_socket_open_udp(const struct dnsd_listen *l);
int dnsd_socket_open_tcp(const struct dnsd_listen *l);

/* May a router cut an answer over IPv4? Whole ones are sent with DF and need no identification (RFC 6864), which costs the
 * kernel 2 % of an answer. Neither heeds a path MTU, as a forged ICMP may tell one. Returns 0 or a negative errno. */
enum dnsd_fragments { DNSD_FRAGMENTS, DNSD_WHOLE };
int dnsd_socket_set_fragments(int fd, enum dnsd_fragments f);

/* Bound to no address: who answers has to say from which. */
bool dnsd_socket_is_wildcard(const struct dnsd_listen *l);

/* What a person can do about such an error. */
const char *dnsd_socket_advice(int error);

#endif
