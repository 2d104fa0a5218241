/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands before the VIPs in the kernel: sets and chains follow the snapshot, one entry an operation. What is there is read before
 * the first change and at every audit; a host that guards nothing is never asked. All of it goes beside the table of IPVS, which waits
 * for none of it but where guards_holding() and guards_pending() are asked. Access lists may be long: they are filled beside the
 * other operations, which a new list holds back where they need it, and a changed one does not. Internal to engine/. */
#ifndef ZG_ENGINE_GUARDS_H
#define ZG_ENGINE_GUARDS_H

#include "base/vec.h"
#include "plan/guard.h"
#include "plan/ops.h"

struct engine;
struct snapshot;
struct store_row;

struct desired_place;

/* What runs beside each other. */
enum guards_work { GUARDS_LIST, GUARDS_FILL, GUARDS_WORK_COUNT };

struct guards_fault {
	char *text; /* NULL: there is none */
	int error;  /* the result of the operation that it tells of */
	bool told;  /* of what is under way */
};

struct engine_guards {
	struct ruleset desired; /* of the snapshot that was synced last */
	struct ruleset
		expected;  /* the kernel's, as it was read last and by what has succeeded since */
	bool known;        /* `expected` means something */
	bool dirty;        /* the two may differ */
	bool held;         /* a row says that something of ours may be there */
	bool claimed;      /* no row does, but it is looked for */
	bool asked;        /* a look is under way */
	bool unread;       /* the last look failed: what is left there is not known */
	bool applying;     /* a list of operations is under way … */
	bool removing;     /* … of those that take something away */
	uint64_t sent;     /* … and made for this version */
	uint64_t version;  /* of `desired`: rises with every change of it */
	uint64_t tried;    /* the version all of whose additions were answered, done or not … */
	uint64_t settled;  /* … and all that it takes away */
	uint64_t unmarked; /* … and whose marks were taken out though its rules failed */
	uint64_t after;    /* lists of the table before which nothing is taken away … */
	uint64_t after_version; /* … of this version */
	bool failed
		[RULESET_FAMILY_COUNT]; /* nothing more is tried of it before the next look or version */
	bool failing;                   /* an operation failed and was not yet overcome */
	usec_t retry_at;                /* USEC_NEVER: no retry is planned */
	usec_t retry_delay;
	bool filling;                  /* access lists are being filled */
	bool fill_failed;              /* the last time; not tried again before the next look */
	bool held_back;                /* what is desired cannot be planned before that has ended */
	bool look_lost;                /* one came in the middle of it, and is to be made again */
	uint64_t mark;                 /* rises with what a look under way may show, or not */
	uint64_t mark_asked;           /* … when the look was asked for */
	bool lacking;                  /* a service has something that is not in force */
	struct model_prefix *networks; /* that this host is on */
	size_t network_count;
	size_t stand_ins; /* services that stand in for a range or for another port */
	struct guards_fault faults[GUARDS_WORK_COUNT];
	unsigned fault_rounds; /* tries in a row that failed */
};

void guards_sync(struct engine *e);
/* Whether something is waited for before what was committed is in force, or has failed to be. */
bool guards_pending(const struct engine *e);
/* The same but for lists that are filled; and whether one of them (its uid) is not in force, nor has failed to be. */
bool guards_settling(const struct engine *e);
bool guards_list_pending(const struct engine *e, uint64_t uid);
/* Whether VIP addresses must wait, and services that clients should not find without it: nothing was tried yet. */
bool guards_holding(const struct engine *e);
bool guards_idle(const struct engine *e); /* nothing is under way */
void guards_note_filled(struct engine *e, const struct plan_ops *ops);
void guards_note_done(struct engine *e, const struct plan_ops *ops);
void guards_request(struct engine *e); /* for an audit */
void guards_tick(struct engine *e, usec_t now);
void guards_plan_adds(struct engine *e);
void guards_plan_deletes(struct engine *e);
void guards_preview_adds(const struct engine *e, const struct snapshot *s, struct plan_ops *ops);
void guards_preview_deletes(const struct engine *e, const struct snapshot *s, struct plan_ops *ops);
void guards_claim(struct engine *e);          /* looks for what is ours by its name, for a flush */
bool guards_are_gone(const struct engine *e); /* after that: nothing is left */
void guards_finish(struct engine *e);         /* forgets what is gone from the kernel */
/* An operation failed; whether it is to be told. */
bool guards_note_failure(struct engine *e, const struct plan_op *op, const char *advice);
void guards_overcome(struct engine *e); /* forgets the faults when all was done in the end */
/* The one that is shown; without a text there is none. */
const struct guards_fault *guards_find_fault(const struct engine *e);
/* The row for a snapshot that is about to be committed; appended to `rows` (struct engine_row). */
void guards_note_candidate(const struct engine *e, const struct snapshot *s, struct vec *rows);
void guards_load_row(struct engine *e, const struct store_row *row);
void guards_free(struct engine *e);

/* ---- guards_lack.c: what of the fault concerns whom ---- */

enum guards_lack {
	LACK_NONE,
	LACK_MARK,
	LACK_LIST,
	LACK_LIMIT,
	LACK_CEILING,
	LACK_GUARD,
	LACK_SNAT,
	LACK_COUNT
};
struct guards_lacking { /* what of a service sets and rules do not do, and why; NULL = nothing */
	char *text;
	enum guards_lack kind;
};
/* What that means for clients: a half sentence; "" for LACK_NONE. */
const char *guards_lack_text(enum guards_lack l);
/* Whether the packets of a range get its mark in the kernel, as far as is known. */
bool guards_marks(const struct engine *e, const struct desired_place *p);
/* After the kernel's answer: each service learns what of its own is not in force; what is new is told. */
void guards_find_lacks(struct engine *e);

#endif
