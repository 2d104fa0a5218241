/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a setting stands: what is found only when all of them are there is told with file and line, too. */
#ifndef ZG_SETTINGS_PLACE_H
#define ZG_SETTINGS_PLACE_H

#include "settings.h"

#define SETTINGS_PLACE_MAX 512

/* To stand before the fault, "FILE:LINE: [api] tls_key: " for the pointer "[api] tls_key" of a fault: the line that gave the key, or, where it is the lack of it
 * that is at fault, the last line of its section. Any other pointer as it is, and nothing for none. Returns `buf`. */
const char *settings_place_format(const struct settings *s, const char *pointer,
				  char buf[SETTINGS_PLACE_MAX]);

#endif
