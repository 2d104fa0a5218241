/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a head says of who asks, and from which page: Authorization, Cookie, Sec-Fetch-Site, Origin. Pure. */
#ifndef ZG_API_CREDENTIALS_H
#define ZG_API_CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/front.h"

#define CREDENTIALS_COOKIE     "__Host-zonegate"
#define CREDENTIALS_TOKEN_MAX  513
#define CREDENTIALS_SECRET_MAX 65

struct head;

/* The token of "Bearer TOKEN"; NULL when it is of another kind, empty or too long. Returns `buf`. */
const char *credentials_find_bearer(const char *authorization, char buf[CREDENTIALS_TOKEN_MAX]);

/* The value of our cookie in a Cookie header; NULL when it is not there, twice or too long. Returns `buf`. */
const char *credentials_find_cookie(const char *cookies, char buf[CREDENTIALS_SECRET_MAX]);

/* The Set-Cookie that gives or (secret "") takes away the cookie. */
#define CREDENTIALS_SET_MAX 192
const char *credentials_format_cookie(const char *secret, char buf[CREDENTIALS_SET_MAX]);

/* Whose page sent the request. */
enum credentials_site {
	SITE_UNKNOWN, /* no browser says so */
	SITE_OWN,     /* a page of ours */
	SITE_NONE,    /* no page: typed, or a bookmark */
	SITE_NEAR,    /* another host of the same site */
	SITE_FOREIGN,
};
enum credentials_site credentials_judge_site(const struct head *head, enum front_trust trust);

#endif
