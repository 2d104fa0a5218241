/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the engine speaks upwards. main.c joins these to the edges; tests/sim to fakes. No port may call back into the engine
 * before it has returned. */
#ifndef ZG_ENGINE_PORTS_H
#define ZG_ENGINE_PORTS_H

#include "health/evidence.h"
#include "model/row.h"
#include "model/snapshot.h"
#include "plan/hits.h"
#include "plan/netfilter.h"
#include "plan/ops.h"

struct dns_status;
struct update_status;
struct view;

enum engine_event_id {
#define EVENT(id, name, level, meaning, remedy) EVENT_##id,
#include "engine/events.def"
#undef EVENT
	EVENT_COUNT
};

/* As the levels of the log. */
enum event_severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTICE, SEVERITY_INFO };

struct engine_event {
	enum engine_event_id id;
	uint64_t number;
	enum event_severity severity;
	usec_t wall;
	const char *object; /* "server_groups/web/servers/web-1", "" for the node */
	const char *detail; /* a sentence: reason, old -> new, duration */
};

/* An event on its way to others; borrowed. */
struct event_record {
	uint64_t id;
	enum event_severity severity;
	const char *type;
	const char *object;
	const char *text; /* the whole of it as JSON */
};

struct engine_ports {
	void *ctx;
	usec_t (*now)(void *ctx);
	usec_t (*wall)(void *ctx);
	uint64_t (*random)(void *ctx);
	/* Durable commit of a batch (may be NULL) and rows; answered by engine_note_commit(token). The batch lives until then. */
	void (*commit)(void *ctx, struct batch *b, const struct store_row *rows, size_t row_count,
		       uint64_t token);
	/* Reads the store; `done` later, from the loop. */
	void (*query)(void *ctx, const struct store_query *q, store_items_fn *done, void *done_ctx);
	/* Takes the operations, none of which is of sets and rules; answered by engine_note_ops(), lists in order. */
	void (*kernel_submit)(void *ctx, struct plan_ops *ops);
	/* Takes operations on sets and rules, beside those lists; answered by engine_note_guarded(), one such list at a time. */
	void (*kernel_guard)(void *ctx, struct plan_ops *ops);
	/* Answered by engine_note_table(). */
	void (*kernel_request_table)(void *ctx);
	/* Answered by engine_note_service(). */
	void (*kernel_request_service)(void *ctx, const struct plan_key *key);
	/* Answered by engine_note_ruleset(), behind the lists of kernel_guard(). */
	void (*kernel_request_ruleset)(void *ctx);
	/* Takes PLAN_FILL_SET operations, which later lists overtake; answered by engine_note_filled(), one such list at a time. */
	void (*kernel_fill)(void *ctx, struct plan_ops *ops);
	/* Answered by engine_note_hits(). */
	void (*kernel_request_hits)(void *ctx, uint64_t uid);
	/* Answered by engine_note_filters(), once for all requests before it. */
	void (*kernel_request_filters)(void *ctx);
	/* Addresses on the VIP device now; borrowed. */
	size_t (*kernel_addresses)(void *ctx, const struct addr **ret_addresses);
	/* Value of a sysctl below net.ipv4.vs, or, with a dot in its name, of any; or a negative errno. */
	int (*kernel_read_sysctl)(void *ctx, const char *name);
	/* Which marks the rules of routing look at now ("ip rule"), at most `size`: how many there are of these. */
	size_t (*kernel_mark_uses)(void *ctx, struct mark_space *ret_uses, size_t size);
	/* The mend for an operation that failed, into buf. */
	const char *(*kernel_advise)(void *ctx, const struct plan_op *op, char *buf, size_t size);
	/* Probes: results come by engine_note_result(ref). */
	void *(*probe_add)(void *ctx, const struct probe_target *t, void *ref, usec_t first_start);
	void (*probe_remove)(void *ctx, void *probe);
	void (*probe_retarget)(void *ctx, void *probe, const struct health_check *check);
	/* One probe now; `done` once, later (r NULL: cancelled). False: too many are under way, `done` is not called. The check of
	 * the target lives until then. */
	bool (*probe_once)(void *ctx, const struct probe_target *t,
			   void (*done)(void *done_ctx, const struct probe_target *t,
					const struct probe_result *r, int error),
			   void *done_ctx);
	/* Of the server of [dns_update]; NULL port: there is none. */
	void (*update_status)(void *ctx, struct update_status *ret_status);
	/* Counters of the DNS server, the serial apart; NULL port: there is none. */
	void (*dns_status)(void *ctx, struct dns_status *ret_status);
	/* How many probes can be in flight at once. */
	size_t (*probe_capacity)(void *ctx);
	/* A new view for the DNS workers (takes its own reference). NULL port: this node answers no DNS. */
	void (*publish_dns)(void *ctx, const struct view *v);
	/* Carrier of the link on which packets for the VIPs arrive: 1, 0, or a negative errno. */
	int (*link_carrier)(void *ctx);
	/* Runs `work` on a worker thread (or at once), then `done` on the loop. */
	void (*offload)(void *ctx, void (*work)(void *arg), void (*done)(void *arg), void *arg);
	/* Asks for engine_settle() at `at` (monotonic) at the latest; replaces the former wish. */
	void (*wake_at)(void *ctx, usec_t at);
	void (*event)(void *ctx, const struct engine_event *ev);
	/* It is stored, or the store has failed to: in the order of their numbers. NULL port: nobody listens. */
	void (*publish)(void *ctx, const struct event_record *r);
};

/* "server.health_changed" …; never NULL. */
const char *engine_event_name(enum engine_event_id id);

#endif
