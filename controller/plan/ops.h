/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations that turn one table into another, as an ordered list of values. */
#ifndef ZG_PLAN_OPS_H
#define ZG_PLAN_OPS_H

#include "plan/ruleset.h"
#include "plan/table.h"

enum plan_op_kind {
	PLAN_SET_SYSCTL,   /* name, value */
	PLAN_SET_TIMEOUTS, /* timeouts; 0 = as it is */
	PLAN_ADD_SERVICE,
	PLAN_EDIT_SERVICE,
	PLAN_ADD_DEST,
	PLAN_EDIT_DEST,
	PLAN_DELETE_DEST,
	PLAN_ADD_ADDRESS,
	PLAN_DELETE_ADDRESS,
	PLAN_DELETE_SERVICE,
	PLAN_FILL_SET,  /* entry.set, list: whatever was in it before; it also makes the set */
	PLAN_ADD_SET,   /* entry.set */
	PLAN_ADD_ENTRY, /* entry */
	PLAN_SET_RULES, /* entry.set.family, table, rules: our chains with all rules, and the jump to them */
	PLAN_DELETE_RULES, /* entry.set.family, table */
	PLAN_DELETE_ENTRY, /* entry */
	PLAN_DELETE_SET,   /* entry.set */
	PLAN_OP_KIND_COUNT
};

/* What an edit makes otherwise than it was: for whoever reads of it. */
enum plan_change {
	PLAN_CHANGE_WEIGHT = 1,
	PLAN_CHANGE_FORWARD = 2,
	PLAN_CHANGE_TUNNEL = 4, /* its port or flags */
	PLAN_CHANGE_LIMITS = 8, /* upper and lower */
	PLAN_CHANGE_SCHEDULER = 16,
	PLAN_CHANGE_FLAGS = 32, /* persistence, too */
	PLAN_CHANGE_NETMASK = 64,
	PLAN_CHANGE_ENGINE = 128
};

/* One operation. `service` is without destinations. */
struct plan_op {
	enum plan_op_kind kind;
	struct plan_service service; /* service and destination operations; dests NULL */
	struct plan_dest dest;       /* destination operations */
	union {
		struct {
			struct addr address; /* address operations */
			const char *
				sysctl; /* static: below net.ipv4.vs, or in full; see kernel/sysctl.h */
			int value;
			struct plan_timeouts timeouts;
		};
		struct { /* operations on sets, entries and rules */
			struct ruleset_entry entry;
			enum ruleset_table table;
			/* All of these live as long as the list of operations. */
			const char *rules; /* see rules_text.h */
			struct ruleset_list list;
			const char *words; /* what a program said that failed, or NULL */
		};
	};
	int result;      /* after it ran: 0 or -errno */
	uint8_t changes; /* of an edit: enum plan_change; 0 = not told */
};

struct plan_kept;

struct plan_ops {
	struct plan_op *ops;
	size_t count;
	size_t capacity;
	struct plan_kept *kept; /* what operations point at */
};

/* Appends a zeroed operation; the pointer is valid until the next push. */
struct plan_op *plan_ops_push(struct plan_ops *l, enum plan_op_kind kind);
/* A copy of the text that lives until the list is cleared. */
const char *plan_ops_keep_text(struct plan_ops *l, const char *text);
void plan_ops_keep_entries(struct plan_ops *l,
			   const struct entries *entries); /* takes a reference */
void plan_ops_clear(struct plan_ops *l);
/* "SET_DEST tcp 192.0.2.10:80 10.0.1.11:8080 weight 0": for dry runs, logs and errors. */
const char *plan_op_format(const struct plan_op *op, char *buf, size_t size);
bool plan_op_is_ruleset(enum plan_op_kind kind);  /* of sets, their entries and rules */
const char *plan_op_name(enum plan_op_kind kind); /* "add_service" … */

#endif
