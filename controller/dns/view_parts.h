/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What view.c reads and view_builder.c fills in: of these two only. */
#ifndef ZG_DNS_VIEW_PARTS_H
#define ZG_DNS_VIEW_PARTS_H

#include "base/mem.h"
#include "base/vec.h"
#include "dns/view.h"

#include <stdatomic.h>

struct view {
	atomic_uint refs;
	uint32_t serial;
	struct arena *arena; /* nodes, names, records: everything but what follows */
	struct table table;  /* struct view_node by the hash of its whole name */
	struct vec nodes;
	struct vec zone_names; /* char *, by number */
	struct subnet_map *subnets;
	uint8_t labels_max;
};

/* A name to look for in the table: a suffix in wire form. */
struct view_key {
	const uint8_t *name;
	size_t size;
};
bool view_key_equal(const void *key, const void *node);

#endif
