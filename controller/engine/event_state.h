/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the engine keeps of its events: events.c and event_limit.c. */
#ifndef ZG_ENGINE_EVENT_STATE_H
#define ZG_ENGINE_EVENT_STATE_H

#include "base/time.h"
#include "base/vec.h"

struct event_state {
	uint64_t number;      /* of the newest one */
	uint64_t published;   /* of the newest that others know of */
	struct table windows; /* struct event_window; the memory of all: */
	struct vec window_blocks;
	struct vec windows_idle;
	usec_t tick_at; /* when the first of them is over */
};

#endif
