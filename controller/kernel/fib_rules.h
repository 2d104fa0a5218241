/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which firewall marks the rules of routing look at ("ip rule"): linux/fib_rules.h. */
#ifndef ZG_KERNEL_FIB_RULES_H
#define ZG_KERNEL_FIB_RULES_H

#include <stddef.h>

#include "model/marks.h"

/* Reads them, of both families, each mark once, at most `size`; waits for the kernel, some ten microseconds. Returns how many there are of these; none
 * if they cannot be read. */
size_t fib_rules_read(struct mark_space *ret_uses, size_t size);

#endif
