// SPDX-License-Identifier: GPL-2.0-or-later
// Reading of the headers by which somebody is known. What is not exactly of its form is not there.
#include "api/credentials.h"

#include "api/head.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *credentials_find_bearer(const char *authorization, char buf[CREDENTIALS_TOKEN_MAX])
{
	size_t length;

	if (strncasecmp(authorization, "Bearer ", 7) != 0)
		return NULL;
	authorization += 7;
	authorization += strspn(authorization, " ");
	length = strnlen(authorization, CREDENTIALS_TOKEN_MAX);
	if (length == 0 || length == CREDENTIALS_TOKEN_MAX)
		return NULL;
	memcpy(buf, authorization, length + 1);
	return buf;
}

const char *credentials_find_cookie(const char *cookies, char buf[CREDENTIALS_SECRET_MAX])
{
	static const char name[] = CREDENTIALS_COOKIE "=";
	const char *found = NULL;
	size_t length;

	for (const char *at = cookies; *at; at += strcspn(at, ";"), at += *at == ';') {
		at += strspn(at, " \t");
		if (strncmp(at, name, sizeof(name) - 1) != 0)
			continue;
		if (found)
			return NULL;
		found = at + sizeof(name) - 1;
	}
	if (!found)
		return NULL;
	length = strcspn(found, "; \t");
	if (length == 0 || length >= CREDENTIALS_SECRET_MAX)
		return NULL;
	memcpy(buf, found, length);
	buf[length] = '\0';
	return buf;
}

const char *credentials_format_cookie(const char *secret, char buf[CREDENTIALS_SET_MAX])
{
	snprintf(buf, CREDENTIALS_SET_MAX,
		 CREDENTIALS_COOKIE "=%s; Path=/; Secure; HttpOnly; SameSite=Strict%s", secret,
		 *secret ? "" : "; Max-Age=0");
	return buf;
}

/* In the clear only on loopback, where a proxy that speaks TLS may stand before us. */
static bool credentials_is_origin(const char *origin, const char *host, enum front_trust trust)
{
	if (!host)
		return false;
	if (strncasecmp(origin, "https://", 8) == 0)
		return strcasecmp(origin + 8, host) == 0;
	if (trust != FRONT_TLS && strncasecmp(origin, "http://", 7) == 0)
		return strcasecmp(origin + 7, host) == 0;
	return false;
}

enum credentials_site credentials_judge_site(const struct head *head, enum front_trust trust)
{
	const char *site = head_find(head, "Sec-Fetch-Site");
	const char *origin = head_find(head, "Origin");

	if (site) {
		if (strcmp(site, "same-origin") == 0)
			return SITE_OWN;
		if (strcmp(site, "none") == 0)
			return SITE_NONE;
		return strcmp(site, "same-site") == 0 ? SITE_NEAR : SITE_FOREIGN;
	}
	if (!origin)
		return SITE_UNKNOWN;
	return credentials_is_origin(origin, head_find(head, "Host"), trust) ? SITE_OWN
									     : SITE_FOREIGN;
}
