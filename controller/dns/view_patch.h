/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A view that differs from another by the verdicts on a few load balancers, and by its serial. All else is shared with it, so
 * that it is made in the time of a few names, however many there are. */
#ifndef ZG_DNS_VIEW_PATCH_H
#define ZG_DNS_VIEW_PATCH_H

#include "dns/view_builder.h"

/* The same as `v` (which may end before it does), one reference. */
struct view *view_patch_new(const struct view *v, uint32_t serial);

/* What a load balancer hands out from now on; only before anybody else has `v`. Returns 0, or -ESTALE: names, zones or the time
 * that a negative answer lives differ from those in `v`, a whole view has to be built, and `v` is only good for view_unref(). */
int view_patch_name(struct view *v, const struct view_builder_name *name);

#endif
