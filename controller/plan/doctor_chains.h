/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of iptables-save as chains of rules, for the doctor. */
#ifndef ZG_PLAN_DOCTOR_CHAINS_H
#define ZG_PLAN_DOCTOR_CHAINS_H

#include "base/vec.h"

/* Built-in chains of all tables: a bit each. */
enum chain_hook {
	CHAIN_PREROUTING = 1,
	CHAIN_INPUT = 2,
	CHAIN_FORWARD = 4,
	CHAIN_OUTPUT = 8,
	CHAIN_POSTROUTING = 16
};

struct chain_rule {
	char *line; /* as it was printed; UTF-8 */
	char *text; /* the words, each ended by a zero */
	struct vec
		words; /* char *, into `text`: behind "-A CHAIN", without comments; "" may be one */
	const char *target; /* "ACCEPT", "DOCKER"; "" = none */
	struct chain *to;   /* where the target is a chain of the table; NULL: it is not */
	bool gone;          /* by -g: it does not come back here */
};

struct chain {
	char *table; /* "filter" */
	char *name;
	bool drops; /* by its policy */
	unsigned
		hooks; /* enum chain_hook: of the built-in chains that lead here, itself too; 0: nothing does */
	struct vec rules; /* struct chain_rule *, in order */
};

/* Chains of all tables in the text, sorted by table and name; the text may be anything, lines that are none of iptables-save are passed
 * over. The caller clears them. */
void doctor_chains_read(const char *text, struct vec *ret_chains);
void doctor_chains_clear(struct vec *chains);
struct chain *doctor_chains_find(const struct vec *chains, const char *table, const char *name);

/* What stands behind an option of a match or of the target ("-m mark --mark 7": module "mark", option "--mark"), or NULL: it is not
 * there, or negated. */
const char *doctor_chains_value(const struct chain_rule *r, const char *module, const char *option);

#endif
