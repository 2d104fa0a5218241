/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of change_build(): what is wanted, as objects, and its difference from what is there. */
#ifndef ZG_MODEL_CHANGE_DOCUMENT_H
#define ZG_MODEL_CHANGE_DOCUMENT_H

#include "model/snapshot.h"

/* Decodes a whole document into an unapplied snapshot (revision 0, heads empty). With faults the objects are partial. What is
 * equal in `base` (NULL = none) is shared with it. */
struct snapshot *change_document_decode(const struct snapshot *base, const json_t *body,
					struct err *e);

/* Collects the changes from old to new. New objects get heads; those that stay keep uid and creation. */
struct change_set {
	struct batch *batch;
	struct vec removed; /* struct removal: they go behind all else */
	uint64_t uid_seed;
	uint64_t uid_count;
};

/* Collects into `b`, which stays the caller's. The uids of new objects come of `uid_seed`. */
void change_set_init(struct change_set *c, struct batch *b, uint64_t uid_seed);
/* Compares two objects of one place with all beneath them; either may be NULL. `wanted` must not be in a snapshot yet,
 * unless it is `old` itself or a child taken over from it. Returns whether anything differs. */
bool change_set_compare(struct change_set *c, const char *parent, struct object *old,
			struct object *wanted);
bool change_set_compare_all(struct change_set *c, const char *parent, const struct vec *old,
			    const struct vec *wanted);
/* Puts `parent` into the batch with a higher revision, ahead of its children's changes. */
void change_set_touch(struct change_set *c, struct object *parent);
/* Takes back all changes behind the first `count`. */
void change_set_rewind(struct change_set *c, size_t count);
/* Moves the removals into the batch and releases what is held. */
void change_set_finish(struct change_set *c);

#endif
