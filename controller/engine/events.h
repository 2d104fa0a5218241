/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events as others see them. Each has a number that rises, also over restarts; it is logged at once, stored with what else waits
 * for the store, and published when it is on disk, or when the store has failed to take it. */
#ifndef ZG_ENGINE_EVENTS_H
#define ZG_ENGINE_EVENTS_H

#include "engine/ports.h"

struct engine;

#define EVENT_TYPE_MAX 64

/* What happens by itself, of one object: so many events in such a time; what is beyond is counted, and told in one at its end. */
#define EVENT_LIMIT_COUNT  10
#define EVENT_LIMIT_WINDOW (60 * USEC_PER_SEC)

/* The number of the newest event that the store has. Before the first settle. */
void engine_load_event_number(struct engine *e, uint64_t number);
/* Of the newest that was published, or was loaded. */
uint64_t engine_last_event(const struct engine *e);

/* "error", "warning", "notice" or "info". */
const char *engine_event_severity_name(enum event_severity s);
int engine_event_severity_parse(const char *name); /* -1 if it is none */

/* From the parts beside the engine. */
void engine_tell(struct engine *e, enum engine_event_id id, const char *detail);
/* The daemon runs. Also, that it had ended without a stop. After the first settle. */
void engine_tell_started(struct engine *e, const char *detail);
/* A sign-in that was refused; `user` "" = not known. */
void engine_note_login_failed(struct engine *e, const char *user, const char *source,
			      const char *why);

/* Whether a type is one of a list, "server.health_changed,shift.*"; NULL = any. */
bool engine_event_matches(const char *types, const char *type);
/* Whether a list of types has only such as there are; *ret_fault is the first that is none. */
bool engine_event_list_is_valid(const char *types, char ret_fault[EVENT_TYPE_MAX]);
/* Whether an event's object is this one or below it; NULL = any. */
bool engine_event_concerns(const char *object, const char *of_event);

#endif
