/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of this directory do for each other. */
#ifndef ZG_ENGINE_PARTS_H
#define ZG_ENGINE_PARTS_H

#include "engine/internal.h"

/* engine.c */
void engine_mark(struct engine *e, unsigned marks);
struct emission {
	enum engine_event_id id;
	const char *object;
	json_t *data;  /* "from", "to", "reason_code" …; NULL = none */
	bool bad;      /* a change for the worse: a warning at least */
	bool unlogged; /* the log says it at another time */
};
/* events.c. The data is taken over. */
void engine_emit_with(struct engine *e, const struct emission *x, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Without regard to limits; `data` stays the caller's. */
void events_tell(struct engine *e, const struct emission *x, const char *detail);
/* Those of the rows that nobody was told of yet. */
void events_publish(struct engine *e, const struct vec *rows);
void engine_emit(struct engine *e, enum engine_event_id id, const char *object, const char *fmt,
		 ...) __attribute__((format(printf, 4, 5)));

/* runtime.c: groups, servers, probes follow the snapshot */
void runtime_sync(struct engine *e);
void runtime_free(struct engine *e);
struct engine_group *runtime_find_group(const struct engine *e, const char *name);
struct engine_server *runtime_find_server(const struct engine_group *g, const char *name);
/* Names of all groups that a listener uses, also as the backup of such a group. Sorted, once each. */
void runtime_list_used(const struct snapshot *s, struct vec *ret_used);
bool runtime_is_checked(const struct engine_server *s);
uint64_t runtime_probe_hash(const struct engine_server *s); /* of where its probes go */
/* A desired_state_fn; ctx is the engine. Also right for a snapshot that is not in force. */
void runtime_state(void *ctx, const struct server_group *g, size_t index,
		   struct desired_state *ret_state);
void runtime_mark_group(struct engine *e, struct engine_group *g); /* its services are dirty */

/* runtime_ramp.c: slow start */
void runtime_begin_ramp(struct engine *e,
			struct engine_server *s); /* none, where the group has none */
void runtime_end_ramp(struct engine *e, struct engine_server *s);
void runtime_end_lone_ramp(struct engine *e, const struct engine_group *g);
usec_t runtime_step_ramps(struct engine *e, usec_t now); /* the next step, USEC_NEVER if none */

/* runtime_health.c: health over a restart */
void runtime_load_health(struct engine *e,
			 const struct store_row *row); /* kept until its server appears */
void runtime_take_health(struct engine *e,
			 struct engine_server *s); /* what was loaded of it, if anything */
void runtime_drop_health(struct engine *e); /* the rest: rows of servers that are gone, removed */
void runtime_save_server(struct engine *e, const struct engine_server *s);
void runtime_forget_health(struct engine *e, const struct engine_server *s); /* removes its row */

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
/* The service is at this place from now on, or at none. */
void services_place_at(struct engine *e, struct engine_service *s, const struct service_place *p);
void services_leave(struct engine *e, struct engine_service *s);
void services_list_dependents(struct engine *e); /* of each group, anew */
void services_count(struct engine *e, const struct snapshot *s, const struct desired_place *p,
		    struct zone_count *ret_count);
void services_set_adopted(struct engine *e, struct engine_service *s);
void services_mark(struct engine *e, struct engine_service *s);
void services_mark_all(struct engine *e);
void services_insert(struct engine *e,
		     struct engine_service *s); /* one that nobody wants, or that stands in */
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
#define ACKS_ADVICE_MAX 1200 /* with the words of each backend of iptables */
void acks_submit(struct engine *e);
void acks_request_table(struct engine *e); /* to compare and mend */
void acks_request_read(struct engine *e);  /* to show */
void acks_tick(struct engine *e, usec_t now);
/* Something else is wanted of the kernel: what failed before is looked at with it, however long the next try was put off. */
void acks_renew(struct engine *e);
/* The next try: at once, then ever more seldom; further failures do not put it off. */
void acks_put_off(usec_t now, usec_t *retry_at, usec_t *retry_delay);
/* Whether the answer is as good as success. */
bool acks_succeeded(const struct plan_op *op);
/* Whether the kernel has something else (NULL: nothing) than it acknowledged. */
bool acks_differ(const struct engine_service *s, const struct plan_service *actual);
/* Something was changed by others: `ops` operations mend it. */
void acks_note_drift(struct engine *e, const char *what, size_t ops, const char *text);
/* … and these are planned. */
void acks_note_repaired(struct engine *e, const char *what, uint64_t ops);
/* Whether the revision in force is in the kernel whole: told once. */
#define ACKS_TOLD_APPLIED "config.applied"
void acks_note_settled(struct engine *e);

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
/* For a flush: whatever stands on a dummy device of ours is ours, and so are its services. */
void vips_claim(struct engine *e);
void vips_note_addresses(struct engine *e);
void vips_load_row(struct engine *e, const struct store_row *row);
/* Rows for VIPs that `s` brings; appended to `rows` (struct engine_row). */
void vips_note_candidates(struct engine *e, const struct snapshot *s, struct vec *rows);
bool vips_hold(const struct engine *e, const struct addr *a);
bool vips_is_present(const struct engine *e,
		     const struct addr *a); /* on the device, as far as known */
/* What the network must do so that packets for the VIPs arrive, as far as it is not evident; or NULL. */
const char *vips_advise(const struct engine *e);

/* fwmarks.c */
/* Gives the document its marks: those held, and free ones for what is new. For a snapshot that nobody else has yet. */
void fwmarks_attach(const struct engine *e, struct snapshot *s);
/* Faults where none is left. */
void fwmarks_check(const struct engine *e, const struct snapshot *s, struct err *err);
/* Rows for marks that are new in `s`; appended to `rows` (struct engine_row). */
void fwmarks_note_candidates(const struct engine *e, const struct snapshot *s, struct vec *rows);
void fwmarks_load_row(struct engine *e, const struct store_row *row);
void fwmarks_sync(struct engine *e);   /* first of all: services are found by their marks */
void fwmarks_plan(struct engine *e);   /* behind all others */
void fwmarks_finish(struct engine *e); /* gives back those that nothing has any more */
bool fwmarks_hold(const struct engine *e, uint32_t number);
/* For a flush: those that name sets are ours, and so are their services. */
void fwmarks_claim(struct engine *e, const struct ruleset *r);
void fwmarks_note_table(struct engine *e, const struct plan_table *t);
void fwmarks_read_uses(struct engine *e); /* of "ip rule": at the start, and with each table */
void fwmarks_free(struct engine *e);

/* node_zones.c */
/* Compares [node] zones with the document; tells it once when that changes, and keeps the advice. */
void node_zones_check(struct engine *e);

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
/* The same for an event; `as` tells type (static), object and severity, which are in its text, too. */
void rows_append_event(struct engine *e, const char *key, char *value,
		       const struct event_record *as);
void rows_commit(struct engine *e);
/* What waits for this row is not written any more: a commit of it overtakes it. */
void rows_forget(struct engine *e, const char *kind, const char *key);
/* Nothing is on its way, and nothing waits but for a store that has failed. */
bool rows_idle(const struct engine *e);
void rows_free(struct vec *rows);
void rows_export(const struct vec *rows, struct store_row **ret_rows); /* caller frees the array */
bool rows_note_commit(struct engine *e, uint64_t token, int result, const struct err *err);

/* sysctls.c */
void sysctls_init(struct engine *e);
void sysctls_sync(struct engine *e); /* with a new snapshot */
void sysctls_plan(struct engine *e);
void sysctls_preview(const struct engine *e, const struct snapshot *s, struct plan_ops *ops);
void sysctls_note_op(struct engine *e, const struct plan_op *op);
bool sysctls_note_failure(struct engine *e,
			  const struct plan_op *op); /* true: it has not been told yet */
void sysctls_load_row(struct engine *e, const struct store_row *row);
void sysctls_restore(struct engine *e);
bool sysctls_are_restored(const struct engine *e); /* all that are there */
/* What was planned and not sent is planned again. */
void sysctls_forget(struct engine *e);
/* Faults of a document that needs what this node may not set. */
void sysctls_check(struct engine *e, const struct snapshot *s, struct err *err);

/* limits.c: faults of a document that asks for more probes at once than this process can make */
void limits_check(struct engine *e, const struct snapshot *s, struct err *err);

/* propose.c */
void propose_pump(struct engine *e);
void propose_note_submitted(
	struct engine *e); /* those that wait now know which list they wait for */
void propose_note_failure(struct engine *e, const char *pointer, const char *detail);
/* The same of sets and rules: for those that wait for them. */
void propose_note_guard_failure(struct engine *e, const char *pointer, const char *detail);
void propose_finish(struct engine *e); /* answers whose lists are done */
bool propose_note_commit(struct engine *e, uint64_t token, int result, const struct err *err);
bool propose_idle(const struct engine *e);
void propose_free(struct engine *e);

/* hit_reads.c */
void hit_reads_free(struct engine *e);

/* filter_reads.c */
void filter_reads_free(struct engine *e);

#endif
