/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was dropped for limits of listeners, as the engine keeps it. For the files of this directory only; others: drops.h. */
#ifndef ZG_ENGINE_DROP_STATE_H
#define ZG_ENGINE_DROP_STATE_H

#include "base/time.h"
#include "base/vec.h"
#include "plan/ruleset.h"

struct engine;

/* So many new connections dropped for one limit between two looks are told. */
#define DROPS_MANY 100

struct engine_drops {
	struct ruleset counted; /* entries alone */
	struct ruleset before;  /* the same of an earlier look, to compare with */
	usec_t at;              /* when they were read; 0: never */
	usec_t before_at;
	usec_t wall;      /* as `at` */
	struct vec heavy; /* struct drops_heavy: what was told, until none is dropped */
};

void drops_note(struct engine *e, const struct ruleset *found);
void drops_free(struct engine *e);

#endif
