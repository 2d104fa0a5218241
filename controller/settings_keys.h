/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One row per key of the settings file. For settings.c only. */
#ifndef ZG_SETTINGS_KEYS_H
#define ZG_SETTINGS_KEYS_H

#include <stddef.h>

#include "settings_value.h"

enum key_type { KEY_TEXT, KEY_LIST, KEY_NUMBER, KEY_CHOICE };

struct settings_key {
	const char *section;
	const char *name;
	enum key_type type;
	enum value_form form; /* of a text, or of each item of a list */
	size_t offset;
	const char *initial; /* as it would stand in the file; NULL = not set */
	unsigned min;
	unsigned max;
	const char *choices; /* in the order of their numbers, separated by | */
	const char *help;
};

extern const struct settings_key settings_keys[];
extern const size_t settings_keys_count;

#endif
