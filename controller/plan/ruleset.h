/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands before IPVS, as plain data: the sets of one family each, what is in them, and whether the chain that looks into
 * them is as it should be. */
#ifndef ZG_PLAN_RULESET_H
#define ZG_PLAN_RULESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

struct plan_ops;

/* An entry of RULESET_OPEN is address, protocol and port; of all others an address. */
enum ruleset_set {
	RULESET_OPEN,   /* what comes in through a guarded VIP */
	RULESET_FTP,    /* VIPs with FTP: its passive ports come in */
	RULESET_DROP,   /* guarded VIPs: what is not open is dropped … */
	RULESET_REJECT, /* … or refused */
	RULESET_SET_COUNT
};

enum ruleset_family { RULESET_V4, RULESET_V6, RULESET_FAMILY_COUNT };

/* The family's chain with its jump. */
enum ruleset_chain { CHAIN_ABSENT, CHAIN_RIGHT, CHAIN_WRONG };

struct ruleset_entry {
	struct addr address;
	enum ruleset_set set;
	uint16_t port;
	uint8_t protocol; /* IPPROTO_…; 0 without a port */
};

struct ruleset {
	struct ruleset_entry *entries; /* sorted: ruleset_sort() */
	size_t count;
	size_t capacity;
	unsigned sets[RULESET_FAMILY_COUNT]; /* bit n: enum ruleset_set */
	enum ruleset_chain chains[RULESET_FAMILY_COUNT];
};
#define RULESET_ALL_SETS ((1U << RULESET_SET_COUNT) - 1)

#define RULESET_NAME_MAX 32 /* what the kernel takes, with its end */
/* "zg4-open": as the kernel calls the set. */
const char *ruleset_set_name(enum ruleset_family f, enum ruleset_set s, char buf[RULESET_NAME_MAX]);
enum ruleset_family ruleset_family_of(const struct addr *a);
uint8_t ruleset_address_family(enum ruleset_family f); /* AF_INET, AF_INET6 */

/* Appends a zeroed entry; valid until the next one. */
struct ruleset_entry *ruleset_push(struct ruleset *r);
/* Sorts the entries and drops repeated ones. */
void ruleset_sort(struct ruleset *r);
int ruleset_compare_entries(const struct ruleset_entry *a, const struct ruleset_entry *b);
void ruleset_copy(const struct ruleset *from, struct ruleset *ret_ruleset);
void ruleset_clear(struct ruleset *r); /* empty, and usable again */
void ruleset_free(struct ruleset *r);  /* with the struct itself; NULL-safe */

/* Appends what is to be added so that `actual` becomes `desired`: sets, what is open, the chain, and last the guarded VIPs, so that
 * nothing is closed that shall be open. */
void ruleset_diff_adds(const struct ruleset *desired, const struct ruleset *actual,
		       struct plan_ops *ops);
/* … and what is to be taken away, the other way round. */
void ruleset_diff_deletes(const struct ruleset *desired, const struct ruleset *actual,
			  struct plan_ops *ops);

struct plan_op;
/* Runs one operation in memory as the kernel would: 0, or -ENOENT (no such set), -EBUSY (a chain still looks into it). Operations on
 * other things do nothing. */
int ruleset_apply_op(struct ruleset *r, const struct plan_op *op);

#endif
