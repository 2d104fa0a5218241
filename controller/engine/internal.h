/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's state, for the files of this directory only. */
#ifndef ZG_ENGINE_INTERNAL_H
#define ZG_ENGINE_INTERNAL_H

#include "engine/status.h"
#include "plan/desired.h"

enum engine_mark {
	MARK_CHECKS = 1, /* the snapshot changed: groups, servers, probes */
	MARK_PLAN = 2,   /* services are dirty */
	MARK_KERNEL = 4, /* operations wait, or somebody waits for their answers */
	MARK_STORE = 8,  /* rows wait */
};

struct engine_group;

/* The newest results: reason in the upper five bits, duration in microseconds in the others (134 s at most). */
struct results_ring {
	uint32_t items[RECENT_RESULTS];
	uint8_t next;
	uint8_t count;
};

struct engine_server {
	const struct server *server; /* of the snapshot in force */
	struct engine_group *group;
	struct health health;
	void *probe;
	usec_t next_start;
	usec_t since_wall;
	usec_t ramp_start; /* monotonic; 0 = no slow start under way */
	usec_t ramp_steps; /* taken so far */
	bool quiet_start;  /* known when the daemon started: no slow start at its first verdict */
	bool error_told;   /* a prober_error was reported and not yet overcome */
	bool has_last;
	enum health_reason last_reason;
	enum health_reason last_failure_reason;
	struct probe_evidence last;
	struct results_ring recent;
	struct probe_evidence *last_failure; /* NULL = none */
};

struct engine_group {
	const struct server_group *group; /* of the snapshot in force */
	struct object *check_owner; /* referenced: its health_check is what the probes point to */
	struct health_settings settings;
	struct vec servers;  /* struct engine_server, in the order of group->servers */
	struct vec services; /* struct engine_service that depend on it, also as backup */
	bool used;
};

struct engine_service {
	struct plan_key key;
	struct desired_place place; /* place.lb NULL: leftover, to be deleted */
	struct plan_service
		expected; /* the kernel's, once the operations under way have succeeded */
	bool present;     /* `expected` means something */
	bool dirty;
	bool adopted;        /* was compared with the kernel for the first time */
	bool asked;          /* that comparison was asked for */
	uint64_t fault_list; /* the list in which `fault` was told */
	uint64_t touched;    /* number of the last list with an operation on it */
	struct desired_verdict verdict;
	char *fault;
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
	usec_t deadline; /* monotonic */
	uint32_t connections;
	uint32_t sum;     /* of the services that answered this round */
	unsigned waiting; /* services that have not answered this round */
	bool counted;     /* `connections` was read at least once */
	bool saved;       /* its row is in the store or on its way */
};

struct engine_sysctl {
	const char *name; /* static */
	int old_value;    /* before we set it; -1 = not set by us */
	bool submitted;
};
#define ENGINE_SYSCTLS 2

struct engine_row { /* waits for the store */
	char *kind;
	char *key;
	char *value;
	usec_t wall; /* not 0: an entry of the journal */
};

struct engine_asker {
	engine_table_fn *fn;
	void *ctx;
	bool asked; /* the read under way is for it */
};

struct engine_pending; /* a proposal on its way: propose.c */

struct engine {
	struct engine_settings settings;
	struct engine_ports ports;
	struct snapshot *snapshot;
	struct snapshot *planned_snapshot; /* what groups and services were last synced with */
	unsigned marks;
	bool started;
	bool flushing;

	struct vec groups;   /* struct engine_group, sorted by name */
	struct vec services; /* struct engine_service, sorted by key */
	struct vec vips;     /* struct engine_vip, sorted by address */
	struct vec drains;   /* struct engine_drain */
	size_t unadopted;    /* services not yet compared with the kernel */
	struct vec dirty;    /* struct engine_service that are dirty */
	struct vec ramping;  /* struct engine_server in slow start */
	struct vec askers;   /* struct engine_asker */
	struct engine_sysctl sysctls[ENGINE_SYSCTLS];
	struct table loaded_health; /* struct engine_row, until their servers appear */

	struct plan_ops ops; /* to be submitted */
	uint64_t lists_submitted;
	uint64_t lists_done;
	bool kernel_available;
	bool availability_known;
	int kernel_error;
	bool kernel_known;
	bool table_requested;
	bool table_wanted;    /* once more, after the one under way */
	uint64_t table_after; /* lists submitted when it was requested */
	bool failing;         /* an operation failed and was not yet overcome */
	usec_t retry_at;      /* USEC_NEVER = no retry planned */
	usec_t retry_delay;
	usec_t audit_at;
	usec_t drain_poll_at;
	usec_t last_audit_wall;
	char *device_fault; /* why the VIP device cannot be used; NULL = it can */
	uint64_t drift_count;
	uint64_t applied_revision;

	struct vec rows; /* struct engine_row */
	struct vec rows_in_flight;
	uint64_t rows_token;
	usec_t rows_retry_at;
	bool store_ok;

	struct engine_pending *queue_head;
	struct engine_pending *queue_tail;
	struct engine_pending *building; /* being built or committed */
	struct engine_pending *applying; /* committed, waiting for the kernel; newest last */
	uint64_t next_token;
	usec_t started_wall;
};

/* engine.c */
void engine_mark(struct engine *e, unsigned marks);
void engine_emit(struct engine *e, enum engine_event_id id, const char *object, const char *fmt,
		 ...) __attribute__((format(printf, 4, 5)));

/* runtime.c: groups, servers, probes follow the snapshot */
void runtime_sync(struct engine *e);
void runtime_free(struct engine *e);
struct engine_group *runtime_find_group(const struct engine *e, const char *name);
struct engine_server *runtime_find_server(const struct engine_group *g, const char *name);
bool runtime_is_checked(const struct engine_server *s);
/* A desired_state_fn; ctx is the engine. Also right for a snapshot that is not in force. */
void runtime_state(void *ctx, const struct server_group *g, size_t index,
		   struct desired_state *ret_state);
void runtime_mark_group(struct engine *e, struct engine_group *g); /* its services are dirty */
usec_t runtime_step_ramps(struct engine *e, usec_t now); /* the next step, USEC_NEVER if none */
void runtime_begin_ramp(struct engine *e, struct engine_server *s);
void runtime_save_server(struct engine *e, const struct engine_server *s);
void runtime_load_health(struct engine *e, const struct store_row *row);

/* results.c */
size_t results_recent(const struct results_ring *r,
		      struct recent_result ret_results[RECENT_RESULTS]);
char *results_encode(const struct results_ring
			     *r); /* JSON array of [reason, usec], newest first; caller frees */
void results_decode(struct results_ring *r, const json_t *json);

/* services.c: the list of virtual services, and the plan */
struct service_place {
	struct plan_key key;
	struct desired_place place;
};
struct service_places {
	struct service_place *items; /* sorted by key */
	size_t count;
	size_t capacity;
};
void services_list_places(const struct engine *e, const struct snapshot *s,
			  struct service_places *ret_places);
void services_sync(struct engine *e);
void services_plan(struct engine *e);
void services_set_adopted(struct engine *e, struct engine_service *s);
void services_mark(struct engine *e, struct engine_service *s);
void services_mark_all(struct engine *e);
void services_drop(struct engine *e,
		   struct engine_service *s); /* gone from the kernel and the document */
void services_free(struct engine *e);
struct engine_service *services_find(const struct engine *e, const struct plan_key *k);
void services_build(struct engine *e, const struct snapshot *s, const struct desired_place *p,
		    const struct vec *more_drains, struct plan_service *ret_service,
		    struct desired_verdict *ret_verdict);
/* What turns the kernel into what `s` wants, with the drains that it would start: for a dry run. */
void services_preview(struct engine *e, const struct snapshot *s, const struct vec *drains,
		      struct plan_ops *ops);
bool services_owned(const struct engine *e, const struct plan_key *k);
bool services_has_zone(const struct engine *e, const char *zone); /* this node programs its VIPs */
/* Whether nothing that the place depends on differs between the two snapshots. */
bool services_same_inputs(const struct snapshot *a, const struct desired_place *pa,
			  const struct snapshot *b, const struct desired_place *pb);

/* acks.c: what the kernel said */
void acks_submit(struct engine *e);
void acks_request_table(struct engine *e);
void acks_tick(struct engine *e, usec_t now);

/* vips.c */
void vips_list(const struct engine *e, const struct snapshot *s,
	       struct vec *ret_addresses); /* struct addr, borrowed */
void vips_sync(struct engine *e);
void vips_plan_adds(struct engine *e);
void vips_plan_deletes(struct engine *e);
void vips_finish(struct engine *e); /* forgets those that are gone */
void vips_preview(const struct engine *e, const struct snapshot *s, struct plan_ops *ops);
void vips_note_op(struct engine *e, const struct plan_op *op);
bool vips_note_failure(struct engine *e, const struct plan_op *op); /* whether it is to be told */
void vips_note_addresses(struct engine *e);
void vips_load_row(struct engine *e, const struct store_row *row);
/* Rows for VIPs that `s` brings; appended to `rows` (struct engine_row). */
void vips_note_candidates(struct engine *e, const struct snapshot *s, struct vec *rows);
bool vips_hold(const struct engine *e, const struct addr *a);
/* What the network must do so that packets for the VIPs arrive, as far as it is not evident; or NULL. */
const char *vips_advise(const struct engine *e);

/* drains.c */
/* The drains (struct engine_drain, caller's) that the change from the snapshot in force to `next` starts. */
void drains_collect(struct engine *e, const struct snapshot *next, struct vec *ret_drains);
void drains_add(struct engine *e, struct vec *drains);
void drains_free_list(struct vec *drains);
void drains_write_row(const struct engine_drain *d, struct vec *rows);
void drains_load_row(struct engine *e, const struct store_row *row);
void drains_sync(
	struct engine *e); /* forget those whose listener is gone or whose server is back */
void drains_tick(struct engine *e, usec_t now);
void drains_note_service(struct engine *e, const struct plan_key *k, const struct plan_service *s);
size_t drains_fill(const struct engine *e, const struct vec *more,
		   struct desired_drain **ret_array);

/* rows.c */
void rows_add(struct vec *rows, const char *kind, const char *key,
	      char *value); /* value taken over */
void rows_put(struct engine *e, const char *kind, const char *key, char *value);
void rows_append(struct engine *e, const char *kind, const char *key,
		 char *value); /* to the journal */
void rows_commit(struct engine *e);
void rows_free(struct vec *rows);
void rows_export(const struct vec *rows, struct store_row **ret_rows); /* caller frees the array */
bool rows_note_commit(struct engine *e, uint64_t token, int result, const struct err *err);

/* sysctls.c */
void sysctls_plan(struct engine *e);
void sysctls_note_op(struct engine *e, const struct plan_op *op);
void sysctls_load_row(struct engine *e, const struct store_row *row);
void sysctls_restore(struct engine *e);
/* Faults of a document that needs what this node may not set. */
void sysctls_check(struct engine *e, const struct snapshot *s, struct err *err);

/* propose.c */
void propose_pump(struct engine *e);
void propose_note_submitted(
	struct engine *e); /* those that wait now know which list they wait for */
void propose_note_failure(struct engine *e, const char *pointer, const char *detail);
void propose_finish(struct engine *e); /* answers whose lists are done */
bool propose_note_commit(struct engine *e, uint64_t token, int result, const struct err *err);
bool propose_idle(const struct engine *e);
void propose_free(struct engine *e);

#endif
