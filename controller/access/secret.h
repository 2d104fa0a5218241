/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Secrets of tokens and sessions: 32 random bytes as text, kept as their SHA-256 only. With 256 bits of chance in them nothing
 * slower is needed. */
#ifndef ZG_ACCESS_SECRET_H
#define ZG_ACCESS_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECRET_BYTES    32
#define SECRET_TEXT_MAX 65 /* in hexadecimal */

struct secret_hash {
	uint8_t bytes[32];
};

/* The text of random bytes; returns `buf`. */
const char *secret_format(const uint8_t bytes[SECRET_BYTES], char buf[SECRET_TEXT_MAX]);

/* Whether a text has the form that secret_format() gives. */
bool secret_is_formed(const char *text);

void secret_digest(const char *text, struct secret_hash *ret_hash);
/* Takes the same time wherever they differ. */
bool secret_same(const struct secret_hash *a, const struct secret_hash *b);

/* As rows keep it. Parsing: 0 or -EINVAL. */
const char *secret_format_hash(const struct secret_hash *hash, char buf[SECRET_TEXT_MAX]);
int secret_parse_hash(const char *text, struct secret_hash *ret_hash);

#endif
