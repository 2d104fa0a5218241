/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A document that was sent before, and is what stands, need not be read again: whoever applies a file every minute costs one
 * digest of it. Known by SHA-256 of its bytes and the revision that they made or matched. */
#ifndef ZG_API_SAME_BODY_H
#define ZG_API_SAME_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAME_BODY_DIGEST 32

struct same_body {
	uint64_t revision;
	uint8_t digest[SAME_BODY_DIGEST];
	bool known;
};

/* May run on any thread. */
void same_body_digest(const char *data, size_t size, uint8_t ret_digest[SAME_BODY_DIGEST]);

/* These bytes are the document of that revision. */
void same_body_note(struct same_body *s, const uint8_t digest[SAME_BODY_DIGEST], uint64_t revision);

/* Are these bytes the document of that revision? */
bool same_body_holds(const struct same_body *s, const uint8_t digest[SAME_BODY_DIGEST],
		     uint64_t revision);

#endif
