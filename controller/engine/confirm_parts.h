/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The waiting change, for the files of this directory only. */
#ifndef ZG_ENGINE_CONFIRM_PARTS_H
#define ZG_ENGINE_CONFIRM_PARTS_H

#include "engine/confirm.h"
#include "engine/parts.h"

struct engine_confirm {
	uint64_t revision; /* and the one before it is what it goes back to */
	char *who;
	char *via;
	char *comment; /* or NULL */
	usec_t made_wall;
	usec_t within;
	usec_t deadline; /* monotonic */
	usec_t retry_at; /* an undo that failed is tried again */
	bool undoing;
	bool failure_told;
};

/* confirm_rows.c: as the store keeps it, in the row ("confirm", "pending") */
char *confirm_rows_encode(const struct engine *e, const struct engine_confirm *c);
struct engine_confirm *confirm_rows_decode(const struct engine *e, const char *value); /* or NULL */
void confirm_rows_free(struct engine_confirm *c); /* NULL-safe */

/* confirm.c */
/* A fault for a write that has to wait until the waiting change is confirmed or undone. */
void confirm_check(const struct engine *e, const struct proposal *p, struct err *err);
/* The row that goes with the commit of a change: it waits, or ends the wait. */
void confirm_note_candidate(const struct engine *e, const struct proposal *p, const struct batch *b,
			    struct vec *rows);
void confirm_load_row(struct engine *e,
		      const struct store_row *row); /* at the start, or committed */
usec_t confirm_tick(struct engine *e, usec_t now);  /* when it must be looked at again */
bool confirm_note_commit(struct engine *e, uint64_t token, int result, const struct err *err);
void confirm_free(struct engine *e);

#endif
