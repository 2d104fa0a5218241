/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was last put into the sets of access lists, as the thread of sets.c remembers it. */
#ifndef ZG_KERNEL_SET_KNOWN_H
#define ZG_KERNEL_SET_KNOWN_H

#include "base/time.h"
#include "plan/ruleset.h"

struct set_known_item {
	struct ruleset_id id;
	struct ruleset_list list; /* a reference */
	usec_t checked;           /* when all of it was compared with the kernel */
};

struct set_known {
	struct set_known_item *items;
	size_t count;
	size_t capacity;
};

/* NULL: it is not known what is in it. Valid until the next put or drop. */
struct set_known_item *set_known_find(const struct set_known *k, const struct ruleset_id *id);
void set_known_put(struct set_known *k, const struct ruleset_id *id,
		   const struct ruleset_list *list, usec_t now);
void set_known_drop(struct set_known *k, const struct ruleset_id *id);
void set_known_clear(struct set_known *k);

#endif
