/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept beside the configuration. Rows, replaced by (kind, key): removals that drain ("drain"), last known health
 * ("health"), VIP addresses that the daemon added ("vip"), sysctls before they were set ("sysctl"), drains by hand and weights
 * ("override"). Entries of the journal, appended: health transitions ("transition", key GROUP/SERVER), events ("event"). */
#ifndef ZG_MODEL_ROW_H
#define ZG_MODEL_ROW_H

#include <jansson.h>

#include "base/err.h"
#include "base/time.h"

struct store_row {
	const char *kind;
	const char *key;
	const char *value; /* JSON text; NULL removes the row */
	usec_t wall;       /* not 0: an entry of the journal, made at that time; 0: a row */
};

/* What can be asked of the store while the daemon runs. */
enum store_what {
	STORE_JOURNAL,   /* entries {id, key, wall, value (text)}, newest first */
	STORE_REVISIONS, /* {revision, wall, who, via, comment}, newest first */
	STORE_CHANGES, /* {revision, kind, parent, name, old, new} with after < revision <= before, in order */
};

struct store_query {
	enum store_what what;
	const char *kind; /* journal */
	const char *key;  /* journal; NULL = any */
	uint64_t before;  /* id or revision; 0 = from the newest on */
	uint64_t after;
	unsigned limit;
};

/* Gets a new array, or NULL and what is wrong in `e`. */
typedef void store_items_fn(void *ctx, json_t *items, const struct err *e);

#endif
