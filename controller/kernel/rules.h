/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our chains of each family, by the programs of iptables: read, set by one atomic restore, removed. No shell; one program at a time,
 * with a time limit, beside the loop. Nothing but our chains and the jump to them is ever named. */
#ifndef ZG_KERNEL_RULES_H
#define ZG_KERNEL_RULES_H

#include "plan/rules_text.h"

struct ev_loop;
struct child;

struct rules_place {
	enum ruleset_family family;
	enum ruleset_table table;
};

enum rules_work { RULES_READ, RULES_SET, RULES_DELETE };

enum rules_step {
	RULES_LIST,    /* what is in the chains? */
	RULES_JUMP,    /* are they jumped to? */
	RULES_RESTORE, /* the change */
	RULES_LEARN    /* how does the program print what was set? */
};

struct rules_learnt {
	char *wanted; /* what was set last … */
	char *seen;   /* … and how it was printed then */
};

struct rules {
	/* Set by the owner. */
	struct ev_loop *loop;
	unsigned iptables; /* enum kernel_iptables */
	void *ctx;
	/* The work is done: 0 and what the rules are now (as in struct ruleset: NULL, RULES_STRANGE or a text; borrowed); or a negative
	 * errno. May come from within rules_start(). */
	void (*done)(void *ctx, enum rules_work work, const char *text, int error);
	void (*complained)(void *ctx, const char *program, const char *text);
	/* Its own. */
	enum rules_work work;
	enum ruleset_family family;
	enum ruleset_table table;
	char *wanted; /* RULES_SET */
	enum rules_step step;
	char chain[RULES_CHAIN_MAX]; /* that is listed */
	char *listing;               /* of those that were */
	struct child *child;
	bool running;
	bool jumps;    /* there is a jump to them */
	unsigned turn; /* the backend that is used, or tried */
	char *refusal; /* what the backends that were tried said, or NULL */
	int refused;   /* the error of the first of them … */
	unsigned refuser;
	struct rules_learnt learnt[RULESET_FAMILY_COUNT][RULESET_TABLE_COUNT];
	/* Of each family: the backend that works, counted from 1 (0: not known yet). */
	unsigned backends[RULESET_FAMILY_COUNT];
	char *complaints[RULESET_FAMILY_COUNT]; /* told last, and not overcome */
};

/* One at a time. `wanted` (rules_text.h) is copied: what RULES_SET sets; NULL for others. */
void rules_start(struct rules *r, enum rules_work work, const struct rules_place *at,
		 const char *wanted);
/* What the programs of the family said when they failed last, until one succeeds; NULL: nothing. Borrowed. */
const char *rules_words(const struct rules *r, enum ruleset_family f);
/* A listing of our chains (as `done` brings it) in the words in which it was set, if it is what was set last. */
const char *rules_in_own_words(const struct rules *r, const struct rules_place *at,
			       const char *text);
/* The program that sets the rules of the family: "ip6tables-nft"; false: none has yet. */
bool rules_backend(const struct rules *r, enum ruleset_family f, char ret_name[24]);
/* Ends what runs without a callback; usable again. */
void rules_clear(struct rules *r);

#endif
