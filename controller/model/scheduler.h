/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of IPVS schedulers. Any name is taken, as a module may bring it; those that Linux itself has are known. Pure. */
#ifndef ZG_MODEL_SCHEDULER_H
#define ZG_MODEL_SCHEDULER_H

#include <stdbool.h>

bool scheduler_is_of_linux(const char *name);

/* The one that was meant by a name that Linux does not have; NULL: none is near. */
const char *scheduler_nearest(const char *name);

/* What follows a sentence about a name that Linux does not have: "; did you mean \"wrr\"?", or all that it has. */
#define SCHEDULER_HINT_MAX 128
const char *scheduler_hint(const char *name, char buf[SCHEDULER_HINT_MAX]);

#endif
