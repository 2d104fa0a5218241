/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Revisions and what they changed as JSON. Pure; may run on a worker thread. */
#ifndef ZG_API_REVISION_JSON_H
#define ZG_API_REVISION_JSON_H

#include <jansson.h>

#include "engine/confirm.h"

/* {revision, at, who, via, comment}, and `changes` {created, updated, deleted} of an item that has them. New reference. */
json_t *revision_json_head(const json_t *item);

/* [{action, path, old, new}] of {kind, parent, name, old, new}: of an update only the members that differ. At most `max`. */
json_t *revision_json_changes(const json_t *rows, size_t max);

/* {revision, who, via, comment, made_at, undone_at, left_s}. */
json_t *revision_json_confirm(const struct confirm_status *s);

struct revision_rollback {
	const char *comment;
	unsigned confirm_within_s; /* 0 = it stays */
};
/* Body of a rollback; texts are borrowed of it. Returns 0, or -EINVAL with all faults. */
int revision_json_decode(const json_t *body, unsigned confirm_max, struct err *e,
			 struct revision_rollback *ret_rollback);

#endif
