/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a certificate of ours is for. */
#ifndef ZG_API_TLS_NAMES_H
#define ZG_API_TLS_NAMES_H

#include "api/tls.h"
#include "base/addr.h"

struct api_settings;

#define TLS_NAME_MAX 256

struct tls_names {
	char list[TLS_NAMES_MAX][TLS_NAME_MAX];
	size_t count;
};

/* The node's name first, then the hosts that are allowed, the addresses that are listened on (for "any" those of the machine's
 * interfaces), and loopback. Each once; what does not fit is left out. */
void tls_names_collect(struct tls_names *n, const struct api_settings *s);

#endif
