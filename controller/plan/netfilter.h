/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What there is of netfilter in the kernel, as it was read to be shown: our sets with what is in them, our rules, and the sets of
 * everybody by name. */
#ifndef ZG_PLAN_NETFILTER_H
#define ZG_PLAN_NETFILTER_H

#include "plan/ruleset.h"

#define NETFILTER_SETS_MAX 4096 /* as many as 65,535 sets may be there: the rest is counted only */

struct netfilter_set {
	char name[RULESET_NAME_MAX];
	char type[24];  /* "hash:ip,port" */
	uint8_t family; /* AF_INET, AF_INET6; 0: the type has none */
	uint64_t entries;
	uint64_t memory;     /* bytes */
	uint64_t references; /* by rules, and by sets of sets */
};

struct netfilter {
	struct ruleset ruleset;     /* ours, with rules */
	struct netfilter_set *sets; /* of all, sorted by name */
	size_t count;
	size_t capacity;
	size_t left_out; /* more of them than NETFILTER_SETS_MAX */
	int rules_error; /* not 0: why our rules of this family could not be read, and those behind them */
	enum ruleset_family rules_family;
	char *rules_words; /* what the program said, or NULL */
	/* The program that our rules are set by, "iptables-legacy"; "": not known yet. */
	char backends[RULESET_FAMILY_COUNT][24];
};

void netfilter_free(struct netfilter *f); /* NULL-safe */
/* Whether our rules of the family were read: then what `ruleset` lacks of them is not there. */
bool netfilter_has_read_rules(const struct netfilter *f, enum ruleset_family family);
/* A zeroed set, valid until the next; NULL: it is counted, and there is no room for more. */
struct netfilter_set *netfilter_push(struct netfilter *f);
void netfilter_sort(struct netfilter *f);
/* The sets of what is only in memory: with nothing of the kernel's. */
void netfilter_take_memory(struct netfilter *f);

#endif
