// SPDX-License-Identifier: GPL-2.0-or-later
// Member by member: a check has padding and strings.
#include "probe/probe_identity.h"

#include "base/vec.h"

#include <string.h>

/* A new member makes probes differ: add it to one of the two lists below. */
_Static_assert(sizeof(void *) != 8 || sizeof(struct health_check) == 184,
	       "probe_identity.c knows every member of a check");

#define NUMBERS 18
#define TEXTS   10

static void probe_identity_list_numbers(const struct health_check *c, uint32_t ret_numbers[NUMBERS])
{
	const uint32_t numbers[NUMBERS] = {
		c->enabled,
		c->type,
		c->interval_ms,
		c->timeout_ms,
		c->healthy_threshold << 16 | c->unhealthy_threshold,
		c->fast_retry,
		c->window_failures << 16 | c->window_of,
		c->port,
		c->close,
		c->fwmark,
		c->method,
		c->handshake,
		c->reuse_connection,
		c->watch,
		c->verify,
		c->expect,
		c->dns_qtype,
		c->dns_accepted_rcodes,
	};

	memcpy(ret_numbers, numbers, sizeof(numbers));
}

static void probe_identity_list_texts(const struct health_check *c, const char *ret_texts[TEXTS])
{
	const char *const texts[TEXTS] = {
		c->path,    c->host,    c->expected_status, c->expected_body, c->sni,
		c->ca_file, c->request, c->expected_reply,  c->service,       c->dns_name,
	};

	memcpy(ret_texts, texts, sizeof(texts));
}

uint64_t probe_identity_hash(const struct probe_target *t)
{
	const struct health_check *c = t->check;
	uint64_t h = hash_bytes(t->address.bytes, sizeof(t->address.bytes), t->port);
	uint32_t numbers[NUMBERS];
	const char *texts[TEXTS];

	probe_identity_list_numbers(c, numbers);
	probe_identity_list_texts(c, texts);
	h = hash_bytes(c->source_address.bytes, sizeof(c->source_address.bytes), h);
	h = hash_bytes(numbers, sizeof(numbers), h);
	for (size_t i = 0; i < TEXTS; i++) {
		h = hash_bytes(&i, sizeof(i), h);
		if (texts[i])
			h = hash_text(texts[i], h);
	}
	return h;
}

static bool probe_identity_equal_texts(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool probe_identity_equal_checks(const struct health_check *a, const struct health_check *b)
{
	uint32_t numbers_a[NUMBERS];
	uint32_t numbers_b[NUMBERS];
	const char *texts_a[TEXTS];
	const char *texts_b[TEXTS];

	if (a == b)
		return true;
	probe_identity_list_numbers(a, numbers_a);
	probe_identity_list_numbers(b, numbers_b);
	if (memcmp(numbers_a, numbers_b, sizeof(numbers_a)) != 0 ||
	    addr_compare(&a->source_address, &b->source_address) != 0)
		return false;
	probe_identity_list_texts(a, texts_a);
	probe_identity_list_texts(b, texts_b);
	for (size_t i = 0; i < TEXTS; i++) {
		if (!probe_identity_equal_texts(texts_a[i], texts_b[i]))
			return false;
	}
	return true;
}

bool probe_identity_equal(const struct probe_target *a, const struct probe_target *b)
{
	return a->port == b->port && addr_compare(&a->address, &b->address) == 0 &&
	       probe_identity_equal_checks(a->check, b->check);
}
