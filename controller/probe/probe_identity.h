/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When two targets are the same probe: every member of the check, the address and the effective port are equal. */
#ifndef ZG_PROBE_PROBE_IDENTITY_H
#define ZG_PROBE_PROBE_IDENTITY_H

#include "health/evidence.h"

/* Equal targets have equal hashes. Texts of the check are compared, not their pointers. */
uint64_t probe_identity_hash(const struct probe_target *t);
bool probe_identity_equal(const struct probe_target *a, const struct probe_target *b);

#endif
