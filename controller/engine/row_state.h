/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the engine keeps of what is to be stored: rows.c. */
#ifndef ZG_ENGINE_ROW_STATE_H
#define ZG_ENGINE_ROW_STATE_H

#include "base/time.h"

#include <stdbool.h>

struct engine_row { /* waits for the store */
	char *kind;
	char *key;
	char *value;
	usec_t wall;      /* not 0: an entry of the journal */
	bool told;        /* an event that was published */
	int severity;     /* of an event: enum event_severity */
	const char *type; /* of an event, static; else NULL */
	char *object;     /* of an event */
	bool stale;       /* under way, and overtaken: not tried again */
};

#endif
