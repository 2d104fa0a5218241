/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wished of the engine and must be stored before it holds: a zone shift, an override. Of one kind they are checked and
 * committed one at a time, in the order of asking, and answered in it too. For the files of this directory only. */
#ifndef ZG_ENGINE_WISHES_H
#define ZG_ENGINE_WISHES_H

#include "base/err.h"

#include <stdint.h>

struct engine;
struct store_row;

/* First member of what its kind keeps of one. */
struct wish {
	struct err faults;
	uint64_t token; /* of its commit */
	struct wish *next;
};

struct wishes {
	struct wish *queue;      /* not checked yet, oldest first */
	struct wish *committing; /* at most one */
	struct wish
		*finishing; /* committed or refused by the store, not answered yet; oldest first */
};

typedef void wishes_answer_fn(struct engine *e, struct wish *w); /* frees `w` */

/* Takes `w` to the end of the queue; it stays here until it is taken out or answered. */
void wishes_add(struct wishes *l, struct wish *w);

/* The next one to be checked, which stays in the queue; NULL: there is none, or a commit is under way. */
struct wish *wishes_next(const struct wishes *l);

/* Takes the first one out of the queue, to be answered or committed. */
void wishes_take(struct wishes *l, const struct wish *w);

/* Gives the row to the store; what comes of it is told with w->token. The row is borrowed during the call. */
void wishes_commit(struct engine *e, struct wishes *l, struct wish *w, const struct store_row *row);

/* The one whose commit ended with this token, from now on at the end of those to be answered; NULL = not one of these. */
struct wish *wishes_note_commit(struct wishes *l, uint64_t token);

/* Takes the first one out of those to be answered. */
void wishes_finish(struct wishes *l, const struct wish *w);

/* None is on its way. */
bool wishes_idle(const struct wishes *l);

/* All that are on their way are answered: ERR_UNAVAILABLE, the daemon stops. */
void wishes_refuse(struct engine *e, struct wishes *l, wishes_answer_fn *answer);

/* Why the store did not take a commit, in words: of `err` (may be NULL), else of the negative `result`. Borrowed of `err`, or
 * valid until the next such call. */
const char *wishes_store_fault(int result, const struct err *err);

#endif
