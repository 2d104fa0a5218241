/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What view.c reads, and view_builder.c and view_patch.c fill in: of these only. */
#ifndef ZG_DNS_VIEW_PARTS_H
#define ZG_DNS_VIEW_PARTS_H

#include "base/mem.h"
#include "base/vec.h"
#include "dns/view.h"

#include <stdatomic.h>

/* What a view was built of; those that were patched from it share it. */
struct view_base {
	atomic_uint refs;
	struct arena *arena;   /* nodes, names, records */
	struct vec zone_names; /* char *, by number */
	struct subnet_map *subnets;
};

/* The nodes of one load balancer as of a later verdict, in place of those of the base; shared likewise. */
struct view_piece {
	atomic_uint refs;
	struct arena *arena;
	const struct view_entry *entry;
};

struct view {
	atomic_uint refs;
	uint32_t serial;
	struct view_base *base;
	struct vec pieces;  /* struct view_piece, one for a load balancer at most */
	struct table table; /* struct view_node by the hash of its whole name */
	struct vec nodes;
	uint8_t labels_max;
};

/* A name to look for in the table: a suffix in wire form. */
struct view_key {
	const uint8_t *name;
	size_t size;
};
bool view_key_equal(const void *key, const void *node);

void view_piece_unref(struct view_piece *p);

#endif
