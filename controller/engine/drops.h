/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was dropped for rate limits, as last counted. For the files of this directory only; others: engine_dropped(). */
#ifndef ZG_ENGINE_DROPS_H
#define ZG_ENGINE_DROPS_H

#include "base/time.h"
#include "plan/ruleset.h"

struct engine;

struct engine_drops {
	struct ruleset counted; /* entries alone */
	usec_t wall;            /* when they were read */
};

void drops_note(struct engine *e, const struct ruleset *found);
void drops_free(struct engine *e);

#endif
