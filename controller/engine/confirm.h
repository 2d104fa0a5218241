/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes that undo themselves unless they are confirmed in time: also over a restart, a crash and a clock that is set. One
 * waits at a time, and nothing else is written meanwhile, so that undoing it takes back that change and no other. */
#ifndef ZG_ENGINE_CONFIRM_H
#define ZG_ENGINE_CONFIRM_H

#include "engine/engine.h"

struct confirm_status { /* of the change that waits */
	uint64_t revision;
	const char *who;
	const char *via;
	const char *comment; /* or NULL */
	usec_t made_wall;
	usec_t within;
	usec_t undone_wall; /* by the clock as it stands */
	usec_t left; /* 0: it is being undone, or is as soon as the kernel's table is known */
};

/* False: nothing waits. Texts are borrowed until the next return to the loop. */
bool engine_confirm_status(const struct engine *e, struct confirm_status *ret_status);

/* A confirmation. Everything in it belongs to the caller and lives until `done`, which is called exactly once, at once or from
 * the loop. Faults: ERR_WAITING (nothing waits, another revision does, or it is too late), ERR_UNAVAILABLE. */
struct confirm_request {
	uint64_t revision; /* the one that is meant; 0 = whichever waits */
	const char *who;
	bool dry_run;
	void *ctx;
	/* `s`: what is confirmed; NULL with faults. */
	void (*done)(struct confirm_request *r, const struct err *faults,
		     const struct confirm_status *s);
};

/* `r` is the caller's and lives until r->done, which is called exactly once: at once, or when it is durable. */
void engine_confirm(struct engine *e, struct confirm_request *r);

#endif
