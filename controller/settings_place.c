// SPDX-License-Identifier: GPL-2.0-or-later
// From the key that a fault names to the line that gave it.
#include "settings_place.h"

#include <stdio.h>
#include <string.h>

#include "settings_keys.h"

/* Whether the pointer is "[section] key" of this row; or of its section. */
static bool place_is(const char *pointer, const struct settings_key *k, const char *name)
{
	size_t section = strlen(k->section);

	if (pointer[0] != '[' || strncmp(pointer + 1, k->section, section) != 0 ||
	    strncmp(pointer + 1 + section, "] ", 2) != 0)
		return false;
	return !name || strcmp(pointer + 1 + section + 2, name) == 0;
}

static const struct settings_place *place_find(const struct settings *s, const char *pointer)
{
	const struct settings_place *last = NULL;

	for (size_t i = 0; i < settings_keys_count; i++) {
		const struct settings_place *p = &s->places[i];

		if (!p->file || !place_is(pointer, &settings_keys[i], NULL))
			continue;
		if (place_is(pointer, &settings_keys[i], settings_keys[i].name))
			return p;
		if (!last || p->order > last->order)
			last = p;
	}
	return last;
}

const char *settings_place_format(const struct settings *s, const char *pointer,
				  char buf[SETTINGS_PLACE_MAX])
{
	const struct settings_place *p = place_find(s, pointer);

	if (p)
		snprintf(buf, SETTINGS_PLACE_MAX, "%s:%u: %s: ", p->file, p->line, pointer);
	else
		snprintf(buf, SETTINGS_PLACE_MAX, "%s%s", pointer, *pointer ? ": " : "");
	return buf;
}
