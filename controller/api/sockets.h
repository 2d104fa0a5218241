/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Listening sockets of the API. */
#ifndef ZG_API_SOCKETS_H
#define ZG_API_SOCKETS_H

#include <sys/types.h>

#include "api/front.h"
#include "base/addr.h"
#include "base/err.h"

/* A unix socket at `path`, mode 0660. A socket that nobody listens on is replaced; one in use, or a file that is no socket, is
 * a fault. Returns 0 and a non-blocking descriptor, or -EINVAL. */
int sockets_open_unix(const char *path, struct err *e, int *ret_fd);

/* "127.0.0.1:7480", "[::1]:7480": an address and a port (0 = the kernel's choice), without TLS of loopback only; else a fault. */
int sockets_open_tcp(const char *endpoint, enum front_trust trust, struct err *e, int *ret_fd);

/* The same judgement, and nothing is opened. Returns 0 or -EINVAL. */
int sockets_check_tcp(const char *endpoint, enum front_trust trust, struct err *e);

/* The peer's uid as the kernel knows it. */
int sockets_peer_uid(int fd, uid_t *ret_uid);

/* The address of ours that the peer of a TCP connection came to. */
int sockets_local_address(int fd, struct addr *ret_address);

/* Sends at once: a handshake is several small pieces, each of which would wait for the peer's late ACK of the one before. */
void sockets_set_nodelay(int fd);

/* The local port of a TCP socket, 0 if it has none. */
unsigned sockets_port(int fd);

#endif
