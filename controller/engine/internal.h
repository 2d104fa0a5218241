/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's state, for the files of this directory only. What they do for each other is in parts.h. */
#ifndef ZG_ENGINE_INTERNAL_H
#define ZG_ENGINE_INTERNAL_H

#include "engine/drop_state.h"
#include "engine/event_state.h"
#include "engine/figures.h"
#include "engine/fwmark_state.h"
#include "engine/guards.h"
#include "engine/row_state.h"
#include "engine/timeouts.h"
#include "engine/wishes.h"
#include "health/evidence_kept.h"
#include "plan/desired.h"

enum engine_mark {
	MARK_CHECKS = 1,  /* the snapshot changed: groups, servers, probes */
	MARK_ZONES = 16,  /* verdicts of zones are to be judged again */
	MARK_PLAN = 2,    /* services are dirty */
	MARK_DNS = 32,    /* what DNS hands out may have changed */
	MARK_KERNEL = 4,  /* operations wait, or somebody waits for their answers */
	MARK_STORE = 8,   /* rows wait */
	MARK_SHIFTS = 64, /* what a shift would do is not known of all load balancers yet */
};

struct engine_group;

/* What a probe's result refers to: the first member of whoever asked for it. */
enum engine_ref { REF_SERVER, REF_VIP };

/* The newest results: reason in the upper five bits, duration in microseconds in the others (134 s at most). */
struct results_ring {
	uint32_t items[RECENT_RESULTS];
	uint8_t next;
	uint8_t count;
};

struct engine_server {
	enum engine_ref ref; /* REF_SERVER; first */
	enum health_reason last_reason;
	const struct server *server; /* of the snapshot in force */
	struct engine_group *group;
	struct health health;
	void *probe;
	usec_t next_start;
	usec_t since_wall;
	usec_t since; /* the same on the monotonic clock, modulo 2^64: the other may be set meanwhile */
	usec_t ramp_start; /* monotonic; 0 = no slow start under way */
	usec_t ramp_steps; /* taken so far */
	bool quiet_start;  /* known when the daemon started: no slow start at its first verdict */
	bool error_told;   /* a prober_error was reported and not yet overcome */
	bool heard;        /* at the last pass something came back that says so */
	bool has_last;
	enum health_reason last_failure_reason;
	struct evidence_kept last;
	struct evidence_kept *last_failure; /* NULL = none */
	struct results_ring recent;
};
_Static_assert(sizeof(struct engine_server) <= 312, "with what malloc adds: 320, of each server");

struct engine_group {
	const struct server_group *group; /* of the snapshot in force */
	struct object *check_owner;       /* a copy without servers: probes have its check */
	struct health_settings settings;
	struct vec servers;  /* struct engine_server, in the order of group->servers */
	struct vec services; /* struct engine_service that depend on it, also as backup */
	bool used;
	struct check_durations durations;
};

/* A destination of a member that is drained by hand: at weight 0 until its flows have ended. */
struct engine_held {
	struct plan_dest dest;
	char *group;
	char *server;
	uint32_t connections, active; /* as last read: all; open ones */
	bool counted;                 /* they were read at least once */
	bool asked;                   /* a read was asked for since its weight is 0 */
	bool ended;                   /* there were none: it leaves the kernel */
};

struct engine_service {
	struct plan_key key;
	struct desired_place place; /* place.lb NULL: leftover, to be deleted */
	struct plan_service
		expected; /* the kernel's, once the operations under way have succeeded */
	bool present;     /* `expected` means something */
	bool dirty;
	bool asked, adopted; /* the first comparison with the kernel: asked for, done */
	bool unmade; /* the kernel refused to make it the last time: `present` is what is hoped for */
	uint64_t fault_list; /* the list in which `fault` was told; 0 = looked at since */
	uint64_t touched;    /* number of the last list with an operation on it */
	struct desired_verdict verdict;
	struct vec held; /* struct engine_held, in the order of plan_dest_compare() */
	char *fault;
	struct guards_lacking lack;
};

struct engine_vip {
	struct addr address;
	bool wanted;
	bool added; /* by us: we may remove it */
	bool put; /* ... and it went through, or may have; until then one that is there is somebody's */
	bool failed;  /* it could not be added, which was told */
	bool present; /* on the device, as far as known */
	bool held;    /* a row names it: its services are ours */
	bool leaving; /* not wanted any more: forgotten once list `leave_after` is done */
	uint64_t leave_after;
};

struct engine_drain {
	char *lb;
	char *listener;
	char *group;
	char *server;
	uint8_t family;
	bool cut; /* at the deadline the flows are cut */
	struct plan_dest dest;
	usec_t started_wall;
	usec_t deadline_wall;
	usec_t deadline;              /* monotonic */
	uint32_t connections, active; /* of these: open ones */
	uint32_t sum, active_sum;     /* of the services that answered this round */
	unsigned waiting;             /* services that have not answered this round */
	bool counted;                 /* `connections` was read at least once */
	bool saved;                   /* its row is in the store or on its way */
};

struct engine_sysctl {
	const char *name;       /* static */
	int old_value;          /* before we set it; -1 = not set by us */
	int fault;              /* of the failure that was told last, negative errno; 0 = none */
	bool submitted, needed; /* needed: by the snapshot that was synced last */
};
#define ENGINE_SYSCTLS 5

struct engine_asker {
	engine_table_fn *fn;
	void *ctx;
	bool asked; /* the read under way is for it */
};

struct engine_pending; /* a proposal on its way: propose.c */
struct engine_confirm; /* a change that waits for its confirmation: confirm_parts.h */

struct engine {
	struct engine_settings settings;
	struct engine_ports ports;
	struct snapshot *snapshot;
	struct snapshot *planned_snapshot; /* what groups and services were last synced with */
	usec_t settle_now; /* when the settle step under way began: asked once, not for each server */
	usec_t settle_wall; /* likewise, of its first step */
	unsigned marks;
	bool started;
	bool unclean; /* the run before ended without a stop; since the first settle */
	bool flushing;

	struct vec groups;        /* struct engine_group, sorted by name */
	struct vec services;      /* struct engine_service, sorted by key */
	struct vec vips;          /* struct engine_vip, sorted by address */
	struct vec drains;        /* struct engine_drain */
	size_t unadopted;         /* services not yet compared with the kernel */
	struct vec dirty;         /* struct engine_service that are dirty */
	struct vec ramping;       /* struct engine_server in slow start */
	struct vec askers;        /* struct engine_asker */
	struct vec hit_askers;    /* of hit_reads.c */
	struct vec filter_askers; /* of filter_reads.c */
	struct engine_sysctl sysctls[ENGINE_SYSCTLS];
	struct engine_timeouts timeouts;
	struct engine_guards guards;
	struct engine_fwmarks fwmarks;
	struct engine_drops drops;
	struct table loaded_health; /* struct engine_row, until their servers appear */

	struct plan_ops ops; /* to be submitted */
	uint64_t lists_submitted;
	uint64_t lists_done;
	uint64_t dropped_list; /* the last one that deletes services which nothing here remembers */
	bool kernel_available;
	bool availability_known;
	int kernel_error;
	bool kernel_known;
	bool table_requested;
	bool table_audits;    /* the read under way is compared and mended, not only shown */
	bool table_serving;   /* one has come: who asks now waits for the next one */
	bool table_wanted;    /* an audit once more, after the read under way */
	uint64_t table_after; /* lists submitted when it was requested */
	bool failing;         /* an operation failed and was not yet overcome */
	bool renewed;         /* what is wanted has changed, and has not been sent */
	usec_t retry_at;      /* USEC_NEVER = no retry planned */
	usec_t retry_delay;
	usec_t audit_at;
	usec_t drain_poll_at;
	usec_t last_audit_wall;
	uint64_t check_failures[REASON_COUNT];
	char *zones_advice; /* what is wrong with [node] zones; NULL = nothing */
	char *device_fault; /* why the VIP device cannot be used; NULL = it can */
	uint64_t drift_count, applied_revision;

	struct event_state events;
	struct table told; /* struct told_entry */
	struct vec rows;   /* struct engine_row */
	struct vec rows_in_flight;
	uint64_t rows_token;
	size_t rows_kept; /* when they were last bounded */
	size_t rows_gone; /* committed since free memory was last given back */
	usec_t rows_retry_at;
	bool store_ok;
	char *store_fault; /* why not; NULL while it is */
	/* zones.h */
	struct vec lbs;               /* struct engine_lb, sorted by name */
	struct vec shifts;            /* struct engine_shift, oldest first */
	struct vec loaded_vip_health; /* struct engine_row, until the first sync */
	struct wishes shift_wishes;   /* of shifts.c; answered at the end of the settle step */
	usec_t vip_tick_at;
	size_t vip_looks; /* what looks at VIPs have cost in this step */
	/* override_parts.h */
	struct vec overrides;          /* struct engine_override, oldest first */
	struct table override_index;   /* the same, by what they override */
	struct wishes override_wishes; /* of overrides.c; answered like those */
	usec_t override_tick_at;
	size_t override_counts
		[8];          /* of each kind and target: what is not there is not looked for */
	bool overrides_moved; /* something happened that may end a drain */
	usec_t held_poll_at;

	struct view *dns_view;
	uint64_t dns_hash; /* of what it was made of, or what the next one is being made of */
	struct view_builder *dns_builder; /* of the next one; NULL = none is in the making */
	size_t dns_built;                 /* load balancers in it */
	bool dns_moved;        /* the document may have changed more of it than verdicts do */
	unsigned dns_restarts; /* since one was finished */
	uint64_t dns_begun;    /* looks at all verdicts … */
	uint64_t dns_done;     /* … of which DNS knows what came of this one */
	uint32_t dns_serial;
	uint32_t dns_serial_bound; /* as stored: a restart goes on from here */
	char *dns_pushed;          /* names in the server of [dns_update], as stored; NULL = none */

	struct engine_pending *queue_head;
	struct engine_pending *queue_tail;
	struct engine_pending *building;    /* being built or committed */
	struct engine_pending *applying;    /* committed, waiting for the kernel; newest last */
	struct engine_confirm *confirm;     /* NULL = none */
	struct confirm_pending *confirming; /* NULL = none */
	uint64_t next_token;
	usec_t started_wall;
};

#endif
