/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A service of a port that is a range's now, or whose listener has moved to another port, goes on until what takes its place serves.
 * For the files of this directory only. */
#ifndef ZG_ENGINE_STAND_INS_H
#define ZG_ENGINE_STAND_INS_H

#include "engine/parts.h"

/* Until the packets of the range are known to get their mark, a service of one of its ports that is in the kernel goes on, with the
 * servers of the range; so does that of the port before, until the kernel has taken the one of the new port. False: there is nothing
 * in `places` that it can stand in for. */
bool stand_ins_hold(struct engine *e, struct engine_service *s,
		    const struct service_places *places);
/* A service of a port that is found in the kernel at the start, and that a range has now whose rules are not known to be in force: it
 * goes on until they are. False: there is no such range. */
bool stand_ins_insert(struct engine *e, struct engine_service *s);
/* Those that are needed no more leave. */
void stand_ins_relieve(struct engine *e);
/* Whether a service that was moved to another port is on its way, and the one it replaces leaves once it is there. */
bool stand_ins_moving(const struct engine *e);

#endif
