/* SPDX-License-Identifier: GPL-2.0-or-later */
/* (view, query) → reply, as behaviour says. In two steps, so that the caller can limit the rate between them: what was asked,
 * and what is answered. Pure: time and chance are arguments. */
#ifndef ZG_DNS_ANSWER_H
#define ZG_DNS_ANSWER_H

#include "dns/dns_cookie.h"
#include "dns/view.h"
#include "dns/wire.h"

#define ANSWER_NSID_MAX    128
#define ANSWER_SECRETS_MAX 2
#define ANSWER_SIZE_MAX    4608 /* no answer is longer, over TCP either */

enum answer_transport { ANSWER_UDP, ANSWER_TCP };

struct answer_settings {
	uint8_t nsid_size; /* 0: NSID is not answered */
	uint8_t nsid[ANSWER_NSID_MAX];
	uint8_t secret_count; /* 0: no cookies. The first one is given out, the others are still known. */
	uint8_t secrets[ANSWER_SECRETS_MAX][SIPHASH_KEY_SIZE];
};

struct answer_request {
	const void *data;
	size_t size;
	struct addr client;
	enum answer_transport transport;
	uint32_t now_wall; /* seconds */
	uint64_t random;   /* all bits uniform */
};

enum answer_extent {
	ANSWER_WHOLE,
	ANSWER_HEAD_ONLY /* over the rate limit: "truncated", so that who did ask comes again by TCP */
};

struct answer {
	enum wire_verdict verdict;
	enum dns_cookie_verdict
		cookie;          /* DNS_COOKIE_FRESH, _AGING: the client's address is its own */
	struct wire_query query; /* the name in lower case once the answer is written */
	/* Set by answer_write(): */
	uint16_t rcode; /* with its upper part (EDNS) */
	bool truncated;
};

/* Returns false if nothing may be sent. */
bool answer_read(const struct answer_settings *s, const struct answer_request *request,
		 struct answer *ret_answer);

struct answer_source {
	const struct view *view;
	const struct answer_settings *settings;
};

/* Writes the reply and returns its size: at most what the client takes, at most `capacity` - 1, and never 0 with room for a
 * header. */
struct answer_memory {
	uint8_t *data;   /* may be that of the request, which is written over then */
	size_t capacity; /* WIRE_UDP_MAX + 1 or ANSWER_SIZE_MAX + 1 */
};
size_t answer_write(const struct answer_source *source, const struct answer_request *request,
		    enum answer_extent extent, struct answer *a, struct answer_memory memory);

#endif
