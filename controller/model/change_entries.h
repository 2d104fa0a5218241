/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of single entries of an access list. */
#ifndef ZG_MODEL_CHANGE_ENTRIES_H
#define ZG_MODEL_CHANGE_ENTRIES_H

#include <jansson.h>

#include "base/err.h"
#include "model/entries.h"

/* `base` with {"add": [{cidr, action, comment}], "remove": [cidr]}: what is added replaces an entry of that prefix, what is removed
 * must be there, and no prefix stands there twice. Faults with their pointers; one reference, of no meaning if there are any. */
struct entries *change_entries_patch(const struct entries *base, const json_t *body, struct err *e);

#endif
