/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ADDRESS:PORT as a person writes it in the settings. */
#ifndef ZG_BASE_ENDPOINT_H
#define ZG_BASE_ENDPOINT_H

#include "base/addr.h"
#include "base/err.h"

/* What one key takes. */
struct endpoint_rule {
	const char *place;    /* of faults: "[dns] listen" */
	uint16_t port;        /* without one in the text; 0 = it must be there */
	uint16_t lowest_port; /* 1, or 0 where the kernel may choose */
};

struct endpoint {
	struct addr address;
	uint16_t port;
};

/* "192.0.2.1:53", "[2001:db8::1]:53" and, if the rule has a port, "192.0.2.1", "2001:db8::1" and "[2001:db8::1]". No names, no
 * white space, no sign. Returns 0, or -EINVAL with one fault that holds the text and says what is wrong with it. */
int endpoint_parse(const char *text, const struct endpoint_rule *rule, struct err *e,
		   struct endpoint *ret_endpoint);

#endif
