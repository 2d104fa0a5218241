// SPDX-License-Identifier: GPL-2.0-or-later
// The members of a check are those of the model's field table: a new one makes probes differ by itself.
#include "probe/probe_identity.h"

#include "base/vec.h"
#include "model/health_check.h"

uint64_t probe_identity_hash(const struct probe_target *t)
{
	uint64_t h = hash_bytes(t->address.bytes, sizeof(t->address.bytes), t->port);

	return health_check_hash(t->check, h);
}

bool probe_identity_equal(const struct probe_target *a, const struct probe_target *b)
{
	return a->port == b->port && addr_compare(&a->address, &b->address) == 0 &&
	       health_check_equal(a->check, b->check);
}
