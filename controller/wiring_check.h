/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `zonegated --check` judges beyond the form of the settings file. */
#ifndef ZG_WIRING_CHECK_H
#define ZG_WIRING_CHECK_H

#include "base/err.h"

struct passwd;
struct settings;

/* Everything that a start would refuse and that can be seen without opening anything. Adds every fault. Returns 0 or -EINVAL. */
int wiring_check(const struct settings *s, struct err *e);

/* Libraries of which a start would tell only when it serves already: adds the first that cannot be used. 0 or -EINVAL. */
int wiring_check_libraries(struct err *e);

/* The same of what stands in the files that the settings name, as far as who asks may read them: a start that may not ends
 * before. Returns 0 or -EINVAL. */
int wiring_check_contents(const struct settings *s, struct err *e);

/* What of the files that the settings name would keep a daemon of the user `reader` (NULL: of whom is not looked at) from
 * starting here and now: that is no fault of the settings, and may be mended before the start. Adds each. */
void wiring_check_files(const struct settings *s, const struct passwd *reader,
			struct err *ret_obstacles);

#endif
