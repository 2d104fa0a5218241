/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of access lists as people write them. */
#ifndef ZG_MODEL_ENTRIES_TEXT_H
#define ZG_MODEL_ENTRIES_TEXT_H

#include "base/err.h"
#include "model/entries.h"

#define ENTRIES_CIDR_MAX 56 /* "2001:db8::/32" */

/* "198.51.100.0/24", or an address for itself alone, into net and length of `x`; the rest of it is left. Returns 0, or -EINVAL with one
 * fault at `pointer`, which names the mend: bits beyond the length, a prefix that is everything. */
int entries_parse_cidr(const char *text, const char *pointer, struct err *e, struct entry *ret_x);
const char *entries_format_cidr(const struct entry *x, char buf[ENTRIES_CIDR_MAX]);

const char *entries_action_name(enum access_action action);

#endif
