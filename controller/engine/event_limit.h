/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One event for each transition, until one object has too many: then they are counted, and told in one. */
#ifndef ZG_ENGINE_EVENT_LIMIT_H
#define ZG_ENGINE_EVENT_LIMIT_H

#include "engine/parts.h"

/* Whether it is held back, and counted. What a person does never is. */
bool event_limit_holds(struct engine *e, const struct emission *x, const char *detail);
/* Tells what was held back in windows that are over; when it is to be called again. */
usec_t event_limit_tick(struct engine *e, usec_t now);
/* Tells all that is held back. */
void event_limit_flush(struct engine *e);
void event_limit_free(struct engine *e);

#endif
