/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A certificate that signs itself, for a node that was given none. */
#ifndef ZG_API_TLS_MAKE_H
#define ZG_API_TLS_MAKE_H

#include <stddef.h>

#include "base/err.h"

#define TLS_MAKE_DAYS 825

struct tls_wish {
	const char *cert_path; /* 0644 */
	const char *key_path;  /* 0600 */
	const char *const *
		names; /* of hosts, addresses ("192.0.2.1", "[2001:db8::1]"); the first is the subject */
	size_t name_count;
};

/* ECDSA on P-256, TLS_MAKE_DAYS long. Replaces both files, each at once and durably. Returns 0, or -EINVAL with the reason. */
int tls_make_files(const struct tls_wish *w, struct err *e);

#endif
