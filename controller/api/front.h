/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A listening socket of the API: what is known of those who come in by it. Whatever treats them differently switches on `trust`,
 * so that a new kind of listener is a compiler's list of places. */
#ifndef ZG_API_FRONT_H
#define ZG_API_FRONT_H

enum front_trust {
	FRONT_UNIX, /* the kernel says who the peer is */
	FRONT_LOOPBACK, /* plain TCP of this machine: a token says who asks, and the host must be one of ours */
	FRONT_TLS, /* TCP from anywhere, encrypted: as on loopback, and the node's name and address are hosts too */
};

struct front {
	enum front_trust trust;
};

/* "unix", "tcp", "tls": as revisions and the log name it. */
static inline const char *front_name(enum front_trust trust)
{
	switch (trust) {
	case FRONT_UNIX:
		return "unix";
	case FRONT_LOOPBACK:
		return "tcp";
	case FRONT_TLS:
		break;
	}
	return "tls";
}

#endif
