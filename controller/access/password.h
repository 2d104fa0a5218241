/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passwords: what is taken for one, and its yescrypt hash. Hashing costs tens of milliseconds and 16 MiB: not on the loop. */
#ifndef ZG_ACCESS_PASSWORD_H
#define ZG_ACCESS_PASSWORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PASSWORD_LENGTH_MIN 10  /* characters */
#define PASSWORD_SIZE_MAX   256 /* bytes */
#define PASSWORD_HASH_MAX   384 /* CRYPT_OUTPUT_SIZE */
#define PASSWORD_SALT       16  /* random bytes */

/* What speaks against a password of this user, as the rest of a sentence ("must …"), or NULL. */
const char *password_find_fault(const char *password, const char *user);

/* "$y$…". 0, or -ENOMEM when the library cannot. */
int password_hash(const char *password, const uint8_t salt[PASSWORD_SALT],
		  char ret_hash[PASSWORD_HASH_MAX]);

/* Whether the hash ("" = of nobody) is that of the password. Nobody's takes as long as anybody's. */
bool password_matches(const char *password, const char *hash);

#endif
