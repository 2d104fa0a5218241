/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Response rate limiting against reflection: a bucket of tokens for each client prefix (IPv4 /24, IPv6 /56), in a table of
 * fixed size that all threads share without locks. A prefix that is not in the table has a full bucket. */
#ifndef ZG_DNS_RRL_H
#define ZG_DNS_RRL_H

#include "base/addr.h"
#include "base/time.h"

#include <stddef.h>

#define RRL_EXEMPT_MAX 64

struct rrl_prefix {
	struct addr net;
	uint8_t length;
};

struct rrl_settings {
	uint32_t rate;  /* answers a second for a prefix, 1–1,000,000; 0 = no limit */
	uint32_t burst; /* answers at once; 0 = as many as in a second */
	uint32_t
		slip; /* of what is over the limit, one in so many is answered "truncated" (ask by TCP); 0 = none */
	uint32_t slots; /* of the table, rounded up to a power of two; 0 = 65536 */
	uint64_t seed;  /* random: nobody can choose who shares a slot */
	struct rrl_prefix exempt[RRL_EXEMPT_MAX];
	size_t exempt_count;
};

enum rrl_verdict { RRL_SEND, RRL_TRUNCATE, RRL_DROP };

struct rrl;

/* Never NULL; the settings are copied. The table has its full size from the start. */
struct rrl *rrl_new(const struct rrl_settings *s);
void rrl_free(struct rrl *r); /* NULL-safe */

/* Takes a token for one answer to `client`. `random` decides who slips. Any thread. */
enum rrl_verdict rrl_check(struct rrl *r, const struct addr *client, uint32_t random, usec_t now);

#endif
