/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What readers (API, metrics) see of the engine. Nothing here changes anything or waits. Pointers are borrowed until the next
 * return to the loop. */
#ifndef ZG_ENGINE_STATUS_H
#define ZG_ENGINE_STATUS_H

#include "engine/engine.h"

/* The snapshot in force; referenced by the engine (take your own reference to keep it or to use it on another thread). */
const struct snapshot *engine_snapshot(const struct engine *e);

#define STATUS_SENTENCE_MAX 320

struct server_status {
	const char *state; /* initial healthy unhealthy draining disabled unavailable unused */
	const char *reason_code;
	char sentence[STATUS_SENTENCE_MAX]; /* with numbers, for a person */
	char next_change
		[STATUS_SENTENCE_MAX]; /* when it can next change: "healthy after 2 more passes, in 6.0 s at the earliest" or "" */
	char advice[STATUS_SENTENCE_MAX]; /* what to try, or "" */
	usec_t since_wall;
	bool in_service; /* healthy, unavailable or trusted, and of a weight above 0 */
	bool trusted;
	bool rests_on_silence; /* healthy because nothing came back that says otherwise */
	unsigned passes;       /* consecutive */
	unsigned failures;     /* consecutive */
	uint32_t weight_configured;
	struct probe_evidence seen[2];             /* where the next two point to */
	const struct probe_evidence *last;         /* of the last probe, NULL before the first */
	enum health_reason last_reason;            /* REASON_NONE = it passed */
	const struct probe_evidence *last_failure; /* NULL = none since the start */
	enum health_reason last_failure_reason;
	struct probe_target target; /* target.check NULL: not probed */
};

/* 0 or -ENOENT. */
int engine_server_status(const struct engine *e, const char *group, const char *server,
			 struct server_status *ret_status);

/* History: asks the store (journal, revisions); `done` is called later, from the loop. */
void engine_query(struct engine *e, const struct store_query *q, store_items_fn *done, void *ctx);

/* The last results of a server's probes, newest first. Returns how many were written, at most RECENT_RESULTS. */
#define RECENT_RESULTS 32
struct recent_result {
	enum health_reason reason; /* REASON_NONE = it passed */
	uint32_t duration_usec;
};
size_t engine_recent_results(const struct engine *e, const char *group, const char *server,
			     struct recent_result ret_results[RECENT_RESULTS]);

/* One probe of a server now, beside its schedule; changes no state. `done` is called once, later, from the loop: r NULL with a
 * negative errno if it could not be started. Returns 0, -ENOENT (no such server), -ENOTSUP (its group is not checked), -EAGAIN (too
 * many at once). */
typedef void engine_probe_fn(void *ctx, const struct probe_target *t, const struct probe_result *r,
			     int error);
int engine_probe_now(struct engine *e, const char *group, const char *server, engine_probe_fn *done,
		     void *ctx);

struct group_status {
	unsigned servers;
	unsigned healthy;     /* in service */
	unsigned unchecked;   /* in service, as the health check of their group is off */
	unsigned weight_zero; /* of these two: get nothing, as their weight is 0 */
	unsigned unhealthy;
	unsigned initial;
	unsigned disabled;
	unsigned draining; /* by hand */
	bool used;         /* by a listener */
};
int engine_group_status(const struct engine *e, const char *group, struct group_status *ret_status);

/* One virtual service that this node programs. */
struct service_status {
	const char *lb;
	const char *zone;
	const char *listener;
	const char *group;
	uint8_t family;
	enum protocol protocol;
	struct addr vip;
	struct model_range ports; /* of a listener with a range */
	const struct plan_service *
		expected; /* what the kernel acknowledged last: dests with weights; NULL = not there (yet) */
	const char *fault; /* why the kernel refused it, NULL = fine */
	bool programmed;   /* it is in the kernel */
	bool planned;      /* [kernel] ipvs = off: `expected` is what would be in one */
	unsigned eligible; /* of the rules in behaviour: in scope, enabled, weight > 0 */
	unsigned in_service;
	unsigned initial; /* of the eligible: without a verdict yet */
	bool min_healthy_breached;
	const char *
		none_healthy; /* "closed", "open", "backup": what is in force while breached, else "" */
};
typedef void engine_service_fn(void *ctx, const struct service_status *s);
/* Calls `fn` for each service of a load balancer (NULL = all), in order of lb, zone, listener, family. */
void engine_each_service(const struct engine *e, const char *lb, engine_service_fn *fn, void *ctx);

struct drain_status { /* a removed server whose flows are still let run */
	const char *lb;
	const char *listener;
	struct addr address;
	uint16_t port;
	const char *group;
	const char *server;
	usec_t started_wall;
	usec_t deadline_wall;
	uint32_t connections; /* active + inactive + templates, as last read */
	uint32_t active;      /* of these: open ones */
};
typedef void engine_drain_fn(void *ctx, const struct drain_status *d);
void engine_each_drain(const struct engine *e, engine_drain_fn *fn, void *ctx);

struct update_status {      /* of the name server that is kept equal ([dns_update]) */
	const char *server; /* NULL = none */
	const char *zone;
	const char *phase;
	bool in_sync; /* it has what is answered here */
	size_t records;
	unsigned failures;   /* in a row */
	usec_t success_wall; /* 0 = never */
	usec_t failure_wall;
	char error[STATUS_SENTENCE_MAX]; /* of the last failure */
};

struct dns_counter {
	const char *name;
	uint64_t value;
};

#define DNS_COUNTERS_MAX 20
struct dns_counters {
	struct dns_counter items[DNS_COUNTERS_MAX];
	size_t count;
};

struct dns_query_counter { /* queries that were answered, by their names */
	const char *qtype;
	const char *rcode;
	const char *transport;
	uint64_t value;
};
#define DNS_QUERY_COUNTERS_MAX 200

struct dns_status {
	bool served;     /* this node answers */
	uint32_t serial; /* of the view; 0 = none yet */
	/* Since the start; of a node that does not answer there is nothing. */
	struct dns_query_counter queries[DNS_QUERY_COUNTERS_MAX]; /* all that can be */
	size_t query_count;
	struct dns_counters events;
	const uint32_t *latency_bounds; /* microseconds, one less than latencies */
	uint64_t latency[DNS_COUNTERS_MAX];
	size_t latency_count;
	uint64_t latency_sum_usec;
	uint64_t tcp_connections; /* now */
};
void engine_dns_status(const struct engine *e, struct dns_status *ret_status);

struct node_status {
	const char *node_name;
	const char *const *zones; /* whose VIPs this node programs */
	size_t zone_count;        /* 0 = all */
	size_t dns_apex_count;    /* names that it serves with all that is below them */
	bool kernel_off;
	bool kernel_available;
	int kernel_error;             /* why not, negative errno */
	bool kernel_known;            /* the table was read since it became available */
	const char *vip_device;       /* NULL = none */
	bool vip_device_is_dummy;     /* ours */
	const char *vip_device_fault; /* why it cannot be used; NULL = it can */
	const char *guard_fault; /* why VIPs are not guarded as they should be; NULL = they are */
	int guard_error;         /* of the operation that failed, negative errno */
	const char *
		vip_device_advice; /* what the network must do for it, or why no VIP of a zone is on it; NULL = nothing */
	const char *zones_advice; /* [node] zones that the document does not know; or NULL */
	bool store_ok;
	const char *store_fault;   /* why not; NULL = it is */
	uint64_t revision;         /* of the snapshot */
	uint64_t applied_revision; /* newest one that the kernel acknowledged whole */
	usec_t started_wall;
	uint64_t drift_count;   /* entries repaired since the start */
	usec_t last_audit_wall; /* 0 = none yet */
	size_t services;
	size_t probes; /* servers that are probed */
	double probes_per_second; /* of them at the pace of healthy ones: a bound, identical ones are made once */
};
void engine_update_status(const struct engine *e, struct update_status *ret_status);
void engine_node_status(const struct engine *e, struct node_status *ret_status);

/* Timeouts of IPVS as they are in the kernel, or (ipvs = off) would be. False: not known. */
bool engine_timeouts(const struct engine *e, struct plan_timeouts *ret_timeouts);

/* Asks for a fresh read of the kernel's table; `fn` is called once, later, from the loop. The table (NULL with a negative
 * errno when it could not be read) is borrowed during the call. Several askers share one read; it mends nothing. */
typedef void engine_table_fn(void *ctx, const struct plan_table *t, int error);
void engine_request_table(struct engine *e, engine_table_fn *fn, void *ctx);
void engine_cancel_table(struct engine *e, void *ctx); /* forget the asker */
/* The same, and what differs is mended from the table that `fn` sees, as at every audit. */
void engine_request_audit(struct engine *e, engine_table_fn *fn, void *ctx);

/* Asks for the counters of an access list's entries (its uid); `fn` is called once, later, from the loop. NULL: the list is nowhere in
 * use on this node, or they could not be read. Borrowed during the call. Several askers share one read. */
typedef void engine_hits_fn(void *ctx, const struct hits *h);
void engine_request_hits(struct engine *e, uint64_t uid, engine_hits_fn *fn, void *ctx);
void engine_cancel_hits(struct engine *e, void *ctx); /* forget the asker */

/* Which marks are ours to give, and which others look for at the moment (at most `size`; returns how many). */
const struct mark_space *engine_mark_space(const struct engine *e);
size_t engine_mark_uses(const struct engine *e, struct mark_space *ret_uses, size_t size);

/* Asks for a fresh read of netfilter's sets and of our rules; `fn` is called once, later, from the loop. `fault`, if any, says why not
 * all could be read. `f` may be NULL, without a fault where no set is wanted. Both are borrowed. Several askers share one read. */
typedef void engine_filters_fn(void *ctx, const struct netfilter *f, const char *fault);
void engine_request_filters(struct engine *e, engine_filters_fn *fn, void *ctx);
void engine_cancel_filters(struct engine *e, void *ctx); /* forget the asker */
/* Where what was read is not what should be: the operations that would mend it, appended. Caller clears. */
void engine_drift_filters(const struct engine *e, const struct netfilter *f, struct plan_ops *ops);
/* What should stand before the VIPs; borrowed. */
const struct ruleset *engine_ruleset(const struct engine *e);

/* Whether the client is one of the [node] peers and probes the VIPs where the listener is: no access list is asked. */
bool engine_is_peer(const struct engine *e, const struct load_balancer *lb,
		    const struct listener *l, const struct addr *client);

/* Whether a service belongs to this controller, and which (lb/zone/listener may be NULL when it is on its way out). */
bool engine_owns(const struct engine *e, const struct plan_key *k, const char **ret_lb,
		 const char **ret_zone, const char **ret_listener);

/* What differs between the kernel's table and what the document wants: the operations that would mend it. Caller clears. */
void engine_drift(struct engine *e, const struct plan_table *actual, struct plan_ops *ret_ops);

/* A wanted service that is not in the kernel, or not as it should be. All borrowed. */
struct engine_lacking {
	const struct plan_key *key;
	const char *lb, *zone, *listener;
	const char *
		fault; /* what the kernel said of it last, with what mends it; NULL = it was not asked yet */
	bool missing; /* not there at all */
};
typedef void engine_lacking_fn(void *ctx, const struct engine_lacking *l);
/* In the order of their keys. */
void engine_list_lacking(const struct engine *e, const struct plan_table *actual,
			 engine_lacking_fn *fn, void *ctx);

#endif
