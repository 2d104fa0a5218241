/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view that threads read while another replaces it: no lock, no reference count on the way of a query. A reader shows what
 * it reads in a place of its own; a view that was replaced is released once it stands in none of these places. */
#ifndef ZG_DNSIO_DNSD_CURRENT_H
#define ZG_DNSIO_DNSD_CURRENT_H

#include "dns/view.h"

struct dnsd_current;

/* For readers 0 … readers - 1. Takes a reference of `view`. */
struct dnsd_current *dnsd_current_new(const struct view *view, size_t readers);
void dnsd_current_free(struct dnsd_current *c); /* NULL-safe; no reader is inside */

/* Reader `reader` may use the view until it leaves, which it does before it waits for anything. */
const struct view *dnsd_current_enter(struct dnsd_current *c, size_t reader);
void dnsd_current_leave(struct dnsd_current *c, size_t reader);

/* One writer. Takes a reference. */
void dnsd_current_replace(struct dnsd_current *c, const struct view *view);
/* Releases what nobody reads any more; returns how many replaced views are left. */
size_t dnsd_current_reap(struct dnsd_current *c);

#endif
