/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON of what there is of netfilter: everybody's sets, our rules, and whether they are as they should be. */
#ifndef ZG_API_FILTERS_JSON_H
#define ZG_API_FILTERS_JSON_H

#include <jansson.h>

#include "plan/netfilter.h"

struct engine;

enum netfilter_owner { NETFILTER_ALL, NETFILTER_OURS, NETFILTER_FOREIGN };

/* As engine_request_filters() gives it: `fault` (NULL: none) says why not all of it could be read; what was not is left out. `f` may be
 * NULL. */
json_t *netfilter_json(const struct engine *e, const struct netfilter *f, const char *fault,
		       enum netfilter_owner owner);

#endif
