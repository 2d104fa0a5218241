/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands before IPVS, as plain data: the sets of each family, what is in them, and the rules that look into them. */
#ifndef ZG_PLAN_RULESET_H
#define ZG_PLAN_RULESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "model/entries.h"

struct plan_op;
struct plan_ops;

/* In the order in which they are filled. */
enum ruleset_kind {
	RULESET_OPEN,   /* what comes in through a guarded VIP: its address, protocol and port */
	RULESET_FTP,    /* VIPs with FTP: its passive ports come in */
	RULESET_MARK,   /* the VIPs at which the uid, a firewall mark, is set */
	RULESET_RANGED, /* all VIPs at which a mark is set … */
	RULESET_SINGLE, /* … but for these ports of theirs: address, protocol and port */
	RULESET_PEERS, /* other gateways, and the ports of VIPs that they probe: no access list is asked */
	RULESET_AT,   /* of an access list (the uid): VIPs, protocols and ports where it is asked */
	RULESET_LIST, /* … and its entries: a source that is matched is denied */
	RULESET_TEMP, /* … and what it is filled in before it is put in place: a leftover where it stands elsewhere */
	RULESET_LIMIT_TCP, /* VIPs, protocols and ports with this rate_limit (the uid) */
	RULESET_LIMIT_UDP, /* … of UDP */
	RULESET_MAX_TCP, /* VIPs, protocol and port of a listener (the uid) with max_connections */
	RULESET_MAX_UDP, /* … of UDP */
	RULESET_LIMIT_RANGE, /* VIPs of a listener (the uid) with a range of ports and a rate_limit */
	RULESET_MAX_RANGE,   /* … with max_connections */
	RULESET_SNAT, /* servers, with protocol and port, towards which this gateway is the client */
	RULESET_AUTO, /* … towards which it is for some clients: those on a network with the server, and … */
	RULESET_AUTO_TO,      /* … towards these servers of a group (the uid) … */
	RULESET_AUTO_FROM,    /* … the servers of the group themselves */
	RULESET_SNAT_KEEP,    /* as RULESET_SNAT: servers that keep the port of a range … */
	RULESET_AUTO_KEEP,    /* … as RULESET_AUTO … */
	RULESET_AUTO_KEEP_TO, /* … and as RULESET_AUTO_TO */
	RULESET_DROP,         /* guarded VIPs: what is not open is dropped … */
	RULESET_REJECT,       /* … or refused */
	RULESET_KIND_COUNT
};
#define RULESET_GUARD_KINDS \
	(1U << RULESET_OPEN | 1U << RULESET_FTP | 1U << RULESET_DROP | 1U << RULESET_REJECT)

/* What an entry of a set is made of. */
enum ruleset_type {
	RULESET_IP,              /* an address */
	RULESET_IP_COUNTED,      /* … and counters */
	RULESET_IP_PORT,         /* … with protocol and port */
	RULESET_IP_PORT_COUNTED, /* … and counters */
	RULESET_IP_PORT_IP,      /* … and a second address */
	RULESET_NET /* prefixes, each matched or not, the longest decides; with counters */
};

enum ruleset_family { RULESET_V4, RULESET_V6, RULESET_FAMILY_COUNT };

/* The tables of iptables that a chain of ours is in; see rules_text.h. */
enum ruleset_table { RULESET_FILTER, RULESET_NAT, RULESET_TABLE_COUNT };

/* Which set it is. The uid tells apart those of a kind of which there are many; 0 elsewhere. */
struct ruleset_id {
	uint64_t uid;
	enum ruleset_kind kind;
	enum ruleset_family family;
};

struct ruleset_entry {
	struct ruleset_id set;
	struct addr address;
	struct addr peer; /* RULESET_IP_PORT_IP: the source */
	uint8_t protocol; /* IPPROTO_…; 0 without a port */
	uint16_t port;
	uint64_t packets; /* counted when it was read: no part of what it is */
};

/* What a set of RULESET_LIST is made of: in it stand those of its family, and the halves of all addresses ([0.0.0.0/1], …) with what
 * is done with others, if they have no entries of their own. Never in `entries` of the ruleset: they may be a million. */
struct ruleset_list {
	struct entries *entries; /* a reference; NULL: it is not known what is in it */
	enum access_action fallback;
};

struct ruleset_set {
	struct ruleset_id id;
	struct ruleset_list list; /* RULESET_LIST */
};

struct ruleset {
	struct ruleset_set *sets; /* sorted: ruleset_sort() */
	size_t set_count;
	size_t set_capacity;
	struct ruleset_entry *entries; /* sorted, of sets in `sets` */
	size_t count;
	size_t capacity;
	/* Our chains of a table as rules_text.h writes them, owned; NULL: there are none. RULES_STRANGE: nothing that was asked for. */
	char *rules[RULESET_FAMILY_COUNT][RULESET_TABLE_COUNT];
};
#define RULES_STRANGE ""

#define RULESET_NAME_MAX 32 /* what the kernel takes, with its end */
/* "zg4-open": as the kernel calls the set. */
const char *ruleset_format_id(const struct ruleset_id *id, char buf[RULESET_NAME_MAX]);
/* False: no set of ours. */
bool ruleset_parse_id(const char *name, struct ruleset_id *ret_id);
enum ruleset_type ruleset_type_of(enum ruleset_kind kind);
const char *ruleset_type_name(enum ruleset_type t); /* "hash:ip" … */
/* Its entries close something: they come last and go first. */
bool ruleset_closes(enum ruleset_kind k);
enum ruleset_family ruleset_family_of(const struct addr *a);
uint8_t ruleset_address_family(enum ruleset_family f); /* AF_INET, AF_INET6 */

bool ruleset_same_list(const struct ruleset_list *a, const struct ruleset_list *b);

/* Append a zeroed one; valid until the next. */
struct ruleset_set *ruleset_push_set(struct ruleset *r, const struct ruleset_id *id);
struct ruleset_entry *ruleset_push(struct ruleset *r);
/* Sorts sets and entries and drops repeated ones. */
void ruleset_sort(struct ruleset *r);
int ruleset_compare_ids(const struct ruleset_id *a, const struct ruleset_id *b);
int ruleset_compare_entries(const struct ruleset_entry *a, const struct ruleset_entry *b);
bool ruleset_equal_rules(const char *a, const char *b); /* NULL-safe */
const struct ruleset_set *ruleset_find_set(const struct ruleset *r, const struct ruleset_id *id);
/* Puts what is known of a list in place of what was, and the set, if it is new. Takes its own reference. */
void ruleset_put_list(struct ruleset *r, const struct ruleset_id *id,
		      const struct ruleset_list *list);
const struct ruleset_entry *ruleset_find_entry(const struct ruleset *r,
					       const struct ruleset_entry *e);
bool ruleset_has_entry(const struct ruleset *r, const struct ruleset_entry *e);
/* Whether rules of the table can be there: they look into sets of the family. To look at nat alone makes the kernel track connections. */
bool ruleset_may_have_rules(const struct ruleset *r, enum ruleset_family f, enum ruleset_table t);
/* Whether there is any set of the family. */
bool ruleset_has_family(const struct ruleset *r, enum ruleset_family f);
void ruleset_set_rules(struct ruleset *r, enum ruleset_family f, enum ruleset_table t,
		       const char *text); /* copied; NULL: none */
void ruleset_copy(const struct ruleset *from, struct ruleset *ret_ruleset);
bool ruleset_is_empty(const struct ruleset *r);
void ruleset_clear(struct ruleset *r); /* empty, and usable again */
void ruleset_free(struct ruleset *r);  /* with the struct itself; NULL-safe */

/* ---- ruleset_diff.c ---- */

/* Appends one PLAN_FILL_SET for each list of `desired` that `actual` has not, or has otherwise. It also makes the set. */
void ruleset_diff_fills(const struct ruleset *desired, const struct ruleset *actual,
			struct plan_ops *ops);
/* The rest. Appends what is to be added so that `actual` becomes `desired`: sets, what is open, the rules, and last what is closed, so that
 * nothing is closed that shall be open. */
void ruleset_diff_adds(const struct ruleset *desired, const struct ruleset *actual,
		       struct plan_ops *ops);
/* … and what is to be taken away, the other way round. */
void ruleset_diff_deletes(const struct ruleset *desired, const struct ruleset *actual,
			  struct plan_ops *ops);

/* Runs one operation in memory as the kernel would: 0, or -ENOENT (no such set), -EBUSY (rules still look into it). Operations on
 * other things do nothing. */
int ruleset_apply_op(struct ruleset *r, const struct plan_op *op);

#endif
