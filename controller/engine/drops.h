/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the limits of listeners (rate_limit, max_connections) dropped, as last counted. Nothing here changes anything or waits. */
#ifndef ZG_ENGINE_DROPS_H
#define ZG_ENGINE_DROPS_H

#include "engine/engine.h"

/* New connections that were dropped for a limit of the listener, at all VIPs of this node, since its sets were made; as the last look at
 * them (at each audit) found it. False: it has no such limit, or they were not looked at yet. */
struct drop_status {
	uint64_t packets;
	uint64_t recent;    /* of these, those since an earlier look … */
	usec_t recent_usec; /* … so long before the last one; 0: there was none before */
	usec_t wall;        /* when */
};
enum drop_reason { DROP_RATE, DROP_CEILING, DROP_REASON_COUNT };
const char *engine_drop_reason_name(enum drop_reason r); /* "rate_limit" … */
bool engine_dropped(const struct engine *e, const char *lb, const struct listener *l,
		    enum drop_reason reason, struct drop_status *ret_status);
/* The sum of all limits of all its listeners; `lb` is one of the snapshot in force. */
bool engine_dropped_lb(const struct engine *e, const struct load_balancer *lb,
		       struct drop_status *ret_status);

#endif
