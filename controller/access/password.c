// SPDX-License-Identifier: GPL-2.0-or-later
// yescrypt by libcrypt, at its default cost.
#include "access/password.h"

#include <crypt.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "late/late_gnutls.h"

_Static_assert(PASSWORD_HASH_MAX == CRYPT_OUTPUT_SIZE, "what libcrypt writes fits");

static size_t password_count_characters(const char *password)
{
	size_t count = 0;

	for (; *password; password++)
		count += ((unsigned char)*password & 0xc0) != 0x80;
	return count;
}

const char *password_find_fault(const char *password, const char *user)
{
	if (strnlen(password, PASSWORD_SIZE_MAX + 1) > PASSWORD_SIZE_MAX)
		return "must have at most 256 bytes";
	if (password_count_characters(password) < PASSWORD_LENGTH_MIN)
		return "must have at least 10 characters";
	if (!text_is_clean(password))
		return "must not hold control characters";
	if (strcasecmp(password, user) == 0)
		return "must not be the name of the user";
	return NULL;
}

int password_hash(const char *password, const uint8_t salt[PASSWORD_SALT],
		  char ret_hash[PASSWORD_HASH_MAX])
{
	struct crypt_data *data = mem_new(struct crypt_data);
	char bytes[PASSWORD_SALT];
	char setting[CRYPT_GENSALT_OUTPUT_SIZE];
	const char *hash = NULL;

	memcpy(bytes, salt, sizeof(bytes));
	if (crypt_gensalt_rn("$y$", 0, bytes, sizeof(bytes), setting, sizeof(setting)))
		hash = crypt_rn(password, setting, data, sizeof(*data));
	if (hash)
		memcpy(ret_hash, hash, strlen(hash) + 1);
	explicit_bzero(data, sizeof(*data));
	free(data);
	return hash ? 0 : -ENOMEM;
}

bool password_matches(const char *password, const char *hash)
{
	static const uint8_t nobody[PASSWORD_SALT] = {0};
	char ignored[PASSWORD_HASH_MAX];
	struct crypt_data *data;
	const char *made;
	bool same;

	if (!*hash) {
		password_hash(password, nobody, ignored);
		return false;
	}
	data = mem_new(struct crypt_data);
	made = crypt_rn(password, hash, data, sizeof(*data));
	same = made && strlen(made) == strlen(hash) && gnutls_memcmp(made, hash, strlen(hash)) == 0;
	explicit_bzero(data, sizeof(*data));
	free(data);
	return same;
}
