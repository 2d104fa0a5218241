/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who asks, and what he may. Unix socket: the kernel's word on the peer's uid. TCP: the token of the token file. */
#ifndef ZG_API_AUTH_H
#define ZG_API_AUTH_H

#include <stdbool.h>
#include <sys/types.h>

#include "access/role.h"
#include "base/err.h"

/* root and the daemon's own user are admins, anybody else is nobody. */
enum role auth_peer_role(uid_t uid, uid_t own);

/* The name of a user for the record: "root", "uid 1000". */
#define AUTH_NAME_MAX 80
const char *auth_peer_name(uid_t uid, char buf[AUTH_NAME_MAX]);

/* The token of a file, read again when the file changes. */
struct auth_token;
#define AUTH_TOKEN_MIN 16
#define AUTH_TOKEN_MAX 512

/* Fails (with the sentence in `e`) when the file cannot be read, holds no token of AUTH_TOKEN_MIN to AUTH_TOKEN_MAX printable
 * characters, or is readable by everybody. */
int auth_token_new(const char *path, struct err *e, struct auth_token **ret_token);
void auth_token_free(struct auth_token *t); /* NULL-safe */

/* Whether `authorization` ("Bearer …", or NULL) holds the token of the file as it is now. Time does not depend on how much of
 * it is right. A file that became unreadable lets nobody in. */
bool auth_token_matches(struct auth_token *t, const char *authorization);

/* Another one whenever the file holds another token, or none, than before; never 0. */
unsigned auth_token_version(struct auth_token *t);

/* Whether a Host header names this machine's loopback or one of `hosts`, with any port. NULL never does. */
bool auth_host_allowed(const char *host, const char *const *hosts, size_t count);

#endif
