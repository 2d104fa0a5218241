/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `zonegated --check` judges beyond the form of the settings file. */
#ifndef ZG_WIRING_CHECK_H
#define ZG_WIRING_CHECK_H

#include "base/err.h"

struct settings;

/* Everything that a start would refuse and that can be seen without opening anything. Adds every fault. Returns 0 or -EINVAL. */
int wiring_check(const struct settings *s, struct err *e);

#endif
