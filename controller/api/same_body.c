// SPDX-License-Identifier: GPL-2.0-or-later
// Remembers one document, the last. It knows no revisions but the one it was told.
#include "api/same_body.h"

#include <assert.h>
#include <string.h>

#include "late/late_gnutls.h"

void same_body_digest(const char *data, size_t size, uint8_t ret_digest[SAME_BODY_DIGEST])
{
	int error = gnutls_hash_fast(GNUTLS_DIG_SHA256, data, size, ret_digest);

	assert(error == 0);
}

void same_body_note(struct same_body *s, const uint8_t digest[SAME_BODY_DIGEST], uint64_t revision)
{
	memcpy(s->digest, digest, SAME_BODY_DIGEST);
	s->revision = revision;
	s->known = true;
}

bool same_body_holds(const struct same_body *s, const uint8_t digest[SAME_BODY_DIGEST],
		     uint64_t revision)
{
	return s->known && s->revision == revision &&
	       memcmp(s->digest, digest, SAME_BODY_DIGEST) == 0;
}
