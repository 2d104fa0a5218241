// SPDX-License-Identifier: GPL-2.0-or-later
// Authorization, Cookie and Origin: what is taken out of them is bounded and stood in them.
#include "api/credentials.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "api/head.h"

#define TEXT_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_bearer(const char *text)
{
	char buf[CREDENTIALS_TOKEN_MAX];
	const char *token = credentials_find_bearer(text, buf);

	assert(!token || (token[0] && strstr(text, token)));
}

static void check_cookie(const char *text)
{
	char buf[CREDENTIALS_SECRET_MAX];
	const char *secret = credentials_find_cookie(text, buf);
	const char *first = strstr(text, CREDENTIALS_COOKIE "=");

	if (!secret)
		return;
	assert(secret[0] && first && strstr(first, secret) && !strpbrk(secret, "; \t"));
}

static void check_site(const char *text)
{
	struct head h = {.version = "HTTP/1.1"};

	head_add(&h, "Host", "gw.example");
	head_add(&h, "Origin", text);
	if (credentials_judge_site(&h, FRONT_TLS) == SITE_OWN)
		assert(strcasecmp(text, "https://gw.example") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_MAX];

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	check_bearer(text);
	check_cookie(text);
	check_site(text);
	return 0;
}
