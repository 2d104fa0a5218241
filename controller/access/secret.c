// SPDX-License-Identifier: GPL-2.0-or-later
// Random bytes as text, and their digests.
#include "access/secret.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "late/late_gnutls.h"

_Static_assert(sizeof(struct secret_hash) == SECRET_BYTES, "one text form for both");

static const char secret_digits[] = "0123456789abcdef";

const char *secret_format(const uint8_t bytes[SECRET_BYTES], char buf[SECRET_TEXT_MAX])
{
	for (size_t i = 0; i < SECRET_BYTES; i++) {
		buf[2 * i] = secret_digits[bytes[i] >> 4];
		buf[2 * i + 1] = secret_digits[bytes[i] & 15];
	}
	buf[SECRET_TEXT_MAX - 1] = '\0';
	return buf;
}

bool secret_is_formed(const char *text)
{
	return strnlen(text, SECRET_TEXT_MAX) == SECRET_TEXT_MAX - 1 &&
	       strspn(text, secret_digits) == SECRET_TEXT_MAX - 1;
}

void secret_digest(const char *text, struct secret_hash *ret_hash)
{
	int error = gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), ret_hash->bytes);

	assert(error == 0); /* SHA-256 is always there */
}

bool secret_same(const struct secret_hash *a, const struct secret_hash *b)
{
	return gnutls_memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

const char *secret_format_hash(const struct secret_hash *hash, char buf[SECRET_TEXT_MAX])
{
	return secret_format(hash->bytes, buf);
}

int secret_parse_hash(const char *text, struct secret_hash *ret_hash)
{
	if (!secret_is_formed(text))
		return -EINVAL;
	for (size_t i = 0; i < sizeof(ret_hash->bytes); i++) {
		const char *high = strchr(secret_digits, text[2 * i]);
		const char *low = strchr(secret_digits, text[2 * i + 1]);

		ret_hash->bytes[i] = (uint8_t)((high - secret_digits) << 4 | (low - secret_digits));
	}
	return 0;
}
