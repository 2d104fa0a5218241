/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept beside the configuration. Rows, replaced by (kind, key): removals that drain ("drain"), last known health
 * ("health"), VIP addresses that the daemon added ("vip"), sysctls before they were set ("sysctl"), drains by hand and weights
 * ("override"), how far an URL of [notify] has been told ("notify"). Entries of the journal, appended: health transitions
 * ("transition", key GROUP/SERVER), starts and stops ("event"). The audit ("audit") and the events ("events") have a table each. */
#ifndef ZG_MODEL_ROW_H
#define ZG_MODEL_ROW_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/time.h"

struct store_row {
	const char *kind;
	const char *key;
	const char *value; /* JSON text; NULL removes the row */
	usec_t wall;       /* not 0: an entry of the journal, made at that time; 0: a row */
};

/* Keys of the kind "audit"; the value is an object with actor, method, object and result among its members. */
#define STORE_AUDIT_KIND    "audit"
#define STORE_AUDIT_CHANGE  "change"
#define STORE_AUDIT_REFUSED "refused"

/* The kind of events; the key is the number, the value what the API shows: id, at, type, object, severity, detail, data. */
#define STORE_EVENT_KIND "events"

/* What can be asked of the store while the daemon runs. */
enum store_what {
	STORE_JOURNAL,   /* entries {id, key, wall, value (text)}, newest first */
	STORE_REVISIONS, /* {revision, wall, who, via, comment}, newest first */
	STORE_HISTORY,   /* the same with how many objects each `created`, `updated`, `deleted` */
	STORE_CHANGES, /* {revision, kind, parent, name, old, new} with after < revision <= before, in order */
	STORE_UNDO, /* {kind, parent, name, old, entries?}, each place once: what stood at revision `after` where it differs from
		     * revision `before` (0 = the newest). ERR_NOT_FOUND if `after` is not kept */
	STORE_AUDIT, /* entries {id, wall, value (text)}, newest first */
	STORE_EVENTS, /* entries {id, wall, value (text)}, newest first; forward: id >= after, oldest first */
};

/* Which entries of the audit; NULL and 0 = any. */
struct store_audit_filter {
	const char *actor;
	const char *method;
	const char *result;
	const char *object; /* and what is below it */
	usec_t since_wall;
	usec_t until_wall;
};

/* Which events; NULL and 0 = any. */
struct store_event_filter {
	const char *types;  /* "server.health_changed,shift.*" */
	const char *object; /* and what is below it */
	usec_t since_wall;
	usec_t until_wall;
	bool forward;
};

struct store_query {
	enum store_what what;
	const char *kind; /* journal */
	const char *key;  /* journal; NULL = any */
	uint64_t before;  /* id or revision; 0 = from the newest on */
	uint64_t after;
	unsigned limit;
	bool entries; /* STORE_UNDO: also entries of access lists (text) where the row has only their hash */
	struct store_audit_filter audit;
	struct store_event_filter events;
};

/* Gets a new array, or NULL and what is wrong in `e`. */
typedef void store_items_fn(void *ctx, json_t *items, const struct err *e);

#endif
