// SPDX-License-Identifier: GPL-2.0-or-later
// Member by member: a check has padding and strings. The two functions below name the same members.
#include "probe/probe_identity.h"

#include "base/vec.h"

#include <string.h>

/* The numbers of a check, in one array: hashed and compared as a whole. */
struct probe_numbers {
	uint32_t n[12];
};

static struct probe_numbers probe_identity_numbers(const struct health_check *c)
{
	return (struct probe_numbers){{
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
		0,
	}};
}

static uint64_t probe_identity_mix_text(const char *text, uint64_t seed)
{
	return text ? hash_text(text, seed) : seed ^ 1;
}

uint64_t probe_identity_hash(const struct probe_target *t)
{
	const struct health_check *c = t->check;
	struct probe_numbers numbers = probe_identity_numbers(c);
	uint64_t h = hash_bytes(t->address.bytes, sizeof(t->address.bytes), t->port);

	h = hash_bytes(c->source_address.bytes, sizeof(c->source_address.bytes), h);
	h = hash_bytes(numbers.n, sizeof(numbers.n), h);
	h = probe_identity_mix_text(c->path, h);
	h = probe_identity_mix_text(c->host, h);
	h = probe_identity_mix_text(c->expected_status, h);
	return probe_identity_mix_text(c->expected_body, h);
}

static bool probe_identity_equal_texts(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool probe_identity_equal_checks(const struct health_check *a, const struct health_check *b)
{
	struct probe_numbers numbers_a;
	struct probe_numbers numbers_b;

	if (a == b)
		return true;
	numbers_a = probe_identity_numbers(a);
	numbers_b = probe_identity_numbers(b);
	return memcmp(numbers_a.n, numbers_b.n, sizeof(numbers_a.n)) == 0 &&
	       addr_compare(&a->source_address, &b->source_address) == 0 &&
	       probe_identity_equal_texts(a->path, b->path) &&
	       probe_identity_equal_texts(a->host, b->host) &&
	       probe_identity_equal_texts(a->expected_status, b->expected_status) &&
	       probe_identity_equal_texts(a->expected_body, b->expected_body);
}

bool probe_identity_equal(const struct probe_target *a, const struct probe_target *b)
{
	return a->port == b->port && addr_compare(&a->address, &b->address) == 0 &&
	       probe_identity_equal_checks(a->check, b->check);
}
