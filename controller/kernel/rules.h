/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our chain of each family, by the programs of iptables: read, set by one atomic restore, removed. No shell; one program at a time,
 * with a time limit, beside the loop. Nothing but our chain and the jump to it is ever named. */
#ifndef ZG_KERNEL_RULES_H
#define ZG_KERNEL_RULES_H

#include "plan/ruleset.h"

struct ev_loop;
struct child;

enum rules_work { RULES_READ, RULES_SET, RULES_DELETE };

enum rules_step {
	RULES_LIST,    /* what is in the chain? */
	RULES_JUMP,    /* is it jumped to? */
	RULES_RESTORE, /* the change */
	RULES_LEARN    /* how does the program print what was set? */
};

struct rules {
	/* Set by the owner. */
	struct ev_loop *loop;
	unsigned iptables; /* enum kernel_iptables */
	void *ctx;
	/* The work is done: 0 and what the chain is now; or a negative errno. May come from within rules_start(). */
	void (*done)(void *ctx, enum rules_work work, enum ruleset_chain chain, int error);
	void (*complained)(void *ctx, const char *program, const char *text);
	/* Its own. */
	enum rules_work work;
	enum ruleset_family family;
	enum rules_step step;
	struct child *child;
	bool running;
	bool differs;  /* the chain is not as it was learnt */
	bool jumps;    /* there is a jump to it */
	unsigned turn; /* the backend that is used, or tried */
	char *refusal; /* of the first backend that was tried, or NULL */
	int refused;
	/* Of each family: the backend that works, counted from 1 (0: not known yet); what was printed after the last set. */
	unsigned backends[RULESET_FAMILY_COUNT];
	char *learnt[RULESET_FAMILY_COUNT];
	char *complaints[RULESET_FAMILY_COUNT]; /* told last, and not overcome */
};

/* One at a time. */
void rules_start(struct rules *r, enum rules_work work, enum ruleset_family f);
/* Ends what runs without a callback; usable again. */
void rules_clear(struct rules *r);

#endif
