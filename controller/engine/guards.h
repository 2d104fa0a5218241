/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands before the VIPs in the kernel: sets and chains follow the snapshot, one entry an operation. What is there is read before
 * the first change and at every audit; a host that guards nothing is never asked. Access lists may be long: they are filled beside the
 * other operations, which a new list holds back where they need it, and a changed one does not. Internal to engine/. */
#ifndef ZG_ENGINE_GUARDS_H
#define ZG_ENGINE_GUARDS_H

#include "base/vec.h"
#include "plan/guard.h"
#include "plan/ops.h"

struct engine;
struct snapshot;
struct store_row;

struct engine_guards {
	struct ruleset desired;  /* of the snapshot that was synced last */
	struct ruleset expected; /* the kernel's, once the operations under way have succeeded */
	bool known;              /* `expected` means something */
	bool dirty;              /* the two may differ */
	bool held;               /* a row says that something of ours may be there */
	bool claimed;            /* no row does, but it is looked for */
	bool asked;              /* a look is under way */
	bool unread;             /* the last look failed: what is left there is not known */
	uint64_t after;          /* lists submitted when the look was asked for */
	uint64_t list;           /* the last list with an operation of the guard */
	bool filling;            /* access lists are being filled, beside the queue of lists */
	bool fill_failed;        /* the last time; not tried again before the next look */
	bool held_back;          /* what is desired cannot be planned before that has ended */
	bool look_lost;          /* one came in the middle of it, and is to be made again */
	uint64_t fill_mark;      /* rises when a fill begins or ends */
	uint64_t fill_asked;     /* … when the look was asked for */
	struct model_prefix *networks; /* that this host is on */
	size_t network_count;
	uint64_t fault_list; /* the list in which `fault` was told */
	char *fault;
	int fault_error; /* the result of the operation that it tells of */
};

void guards_sync(struct engine *e);
/* Whether something is waited for before what was committed is in force. */
bool guards_pending(const struct engine *e);
/* Whether VIP addresses must wait. */
bool guards_holding(const struct engine *e);
/* Whether access lists are being filled. */
bool guards_filling(const struct engine *e);
void guards_note_filled(struct engine *e, const struct plan_ops *ops);
/* Whether a look is under way. */
bool guards_looking(const struct engine *e);
void guards_request(struct engine *e); /* for an audit */
void guards_plan_adds(struct engine *e);
void guards_plan_deletes(struct engine *e);
void guards_preview_adds(const struct engine *e, const struct snapshot *s, struct plan_ops *ops);
void guards_preview_deletes(const struct engine *e, const struct snapshot *s, struct plan_ops *ops);
void guards_claim(struct engine *e);          /* looks for what is ours by its name, for a flush */
bool guards_are_gone(const struct engine *e); /* after that: nothing is left */
void guards_finish(struct engine *e);         /* forgets what is gone from the kernel */
void guards_forget(struct engine *e);         /* the kernel's state is not known any more */
/* An operation failed; whether it is to be told. */
bool guards_note_failure(struct engine *e, const struct plan_op *op, const char *advice);
void guards_clear_fault(struct engine *e);
/* The row for a snapshot that is about to be committed; appended to `rows` (struct engine_row). */
void guards_note_candidate(const struct engine *e, const struct snapshot *s, struct vec *rows);
void guards_load_row(struct engine *e, const struct store_row *row);
void guards_free(struct engine *e);

#endif
