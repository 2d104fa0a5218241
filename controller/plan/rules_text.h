/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of iptables: the rules of our chains as "iptables -S" prints them, what iptables-restore is to read so that they become
 * others, and back. */
#ifndef ZG_PLAN_RULES_TEXT_H
#define ZG_PLAN_RULES_TEXT_H

#include "model/model.h"
#include "plan/ruleset.h"

struct buf_writer;

#define RULES_TEXT_CHAIN "ZONEGATE"        /* in every table; further chains are ZONEGATE-… */
#define RULES_TEXT_MAX   (2 * 1024 * 1024) /* of 4095 marks half of it */
#define RULES_CHAIN_MAX  29                /* what iptables takes, with its end */

/* A mark, and on which packets to the VIPs in its set it is set. */
struct rules_mark {
	uint32_t mark;
	enum protocol protocol;
	struct model_range ports;
	unsigned families; /* bit n: enum ruleset_family */
	uint64_t list;     /* its access list (uid); 0 = none */
};

/* A listener with a ceiling: where it is, and what one source may have open there. */
struct rules_ceiling {
	struct ruleset_id set; /* RULESET_MAX_… */
	uint32_t connections;
};

/* What one source may do at a listener with a range, of whose ports all count together. */
struct rules_bound {
	struct ruleset_id
		set; /* RULESET_LIMIT_RANGE: new ones a second; RULESET_MAX_RANGE: at once */
	enum protocol protocol;
	struct model_range ports;
	uint32_t most;
};

/* What the rules depend on. Whatever else changes is in the sets. */
struct rules_plan {
	bool guard;            /* VIPs are guarded */
	const uint64_t *lists; /* access lists in use at single ports (uids) */
	size_t list_count;
	struct mark_space space; /* of the marks */
	const struct rules_mark
		*marks; /* of all families; at least one of the family if there are any */
	size_t mark_count;
	const struct rules_bound *bounds; /* of any family, of listeners that have marks */
	size_t bound_count;
	const struct ruleset_id *limits; /* sets of RULESET_LIMIT_… in use */
	size_t limit_count;
	const struct rules_ceiling *ceilings; /* of any family */
	size_t ceiling_count;
	bool snat;      /* servers see this gateway as their client */
	bool snat_keep; /* … also such as keep the port of a range */
	bool snat_auto; /* … or do for some clients */
	bool auto_keep;
	const struct model_prefix
		*networks; /* of any family, on which that is so for all clients */
	size_t network_count;
	const struct ruleset_id *
		snat_groups; /* of the family, where it is so for the servers themselves: RULESET_AUTO_TO, RULESET_AUTO_KEEP_TO */
	size_t snat_group_count;
};

/* What the table is called, and the chain of others from which ours is jumped to: of the filter INPUT, before IPVS, which takes its
 * packets behind it. */
const char *rules_text_table(enum ruleset_table t);
const char *rules_text_hook(enum ruleset_table t);

/* All rules of the family's table, chain by chain: "-N ZONEGATE\n-A ZONEGATE …\n-N ZONEGATE-…", in the words and the order of words
 * that iptables itself prints. Nothing at all if the plan needs none there. */
void rules_text_write(struct buf_writer *w, const struct rules_plan *p, enum ruleset_family f,
		      enum ruleset_table t);

/* One atomic restore, without flush, that makes the chains of `present` those of `wanted` (texts as above; "": none), with the jump
 * that there then is. */
struct rules_change {
	enum ruleset_table table;
	const char *present;
	const char *wanted;
	bool jumps; /* there is one now */
};
void rules_text_write_change(struct buf_writer *w, const struct rules_change *c);

/* The next chain of ours that a rule of `text` goes to and that is not in `text` itself. False: there is none. */
bool rules_text_find_chain(const char *text, char ret_chain[RULES_CHAIN_MAX]);

#endif
