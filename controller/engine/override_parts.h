/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of overrides do for each other and for the engine. For the files of this directory only. */
#ifndef ZG_ENGINE_OVERRIDE_PARTS_H
#define ZG_ENGINE_OVERRIDE_PARTS_H

#include "engine/dns_changes.h"
#include "engine/overrides.h"
#include "engine/parts.h"

struct engine_override {
	struct override_place place; /* texts are owned */
	char *id;
	char *who;
	char *comment;
	json_t *history;
	uint64_t uid; /* of the object (zone of a group: of the group): another one is not meant */
	usec_t created_wall;
	usec_t changed_wall;
	usec_t duration;      /* of a drain its timeout; of a weight 0 = it does not expire */
	usec_t deadline;      /* monotonic; USEC_NEVER = none */
	usec_t finished_wall; /* 0 = it still drains */
	uint32_t weight;
	bool deadline_seen;   /* what follows from it was planned */
	size_t destinations;  /* as last summed up */
	uint64_t connections; /* the same */
	uint64_t active;      /* the same: of these the open ones */
	bool uncounted;       /* the same: some of them have not been read yet */
};

/* override_state.c: values, the caller's, and the list of those in force */
struct engine_override *override_state_new(struct engine *e, const struct override_request *r);
struct engine_override *override_state_copy(const struct engine_override *from);
void override_state_free(struct engine_override *o); /* NULL-safe */
struct engine_override *override_state_find(const struct engine *e, const struct override_place *p);
/* Takes `o`; gives back what it replaces, or NULL. */
struct engine_override *override_state_put(struct engine *e, struct engine_override *o);
/* Gives back what was taken out, or NULL. */
struct engine_override *override_state_take(struct engine *e, const struct override_place *p);

/* override_rows.c */
#define OVERRIDE_KEY_MAX 200
void override_rows_load(struct engine *e, const struct store_row *row);
char *override_rows_encode(const struct engine *e,
			   const struct engine_override *o); /* caller frees */
const char *override_rows_key(const struct override_place *p, char buf[OVERRIDE_KEY_MAX]);

/* override_check.c: faults of a wish, and the object that it names */
void override_check_request(const struct engine *e, const struct override_request *r,
			    struct err *err);
bool override_check_object(const struct snapshot *s, const struct override_place *p,
			   uint64_t *ret_uid);
usec_t override_check_timeout(const struct engine *e, const struct override_place *p);

/* override_cover.c: which override covers what */
#define OVERRIDE_COVERS_MAX 4
/* The drains that keep server `s` of `g` out of a place (NULL: wherever it is). Returns how many. */
size_t overrides_list_covers(const struct engine *e, const struct desired_place *p,
			     const struct server_group *g, const struct server *s,
			     struct engine_override *ret_covers[OVERRIDE_COVERS_MAX]);
/* Itself, its zone, or all listeners of its group are drained: the first of these, or NULL. */
const struct engine_override *overrides_find_drain(const struct engine *e,
						   const struct server_group *g,
						   const struct server *s);
const struct engine_override *overrides_find_weight(const struct engine *e,
						    const struct server_group *g,
						    const struct server *s);
uint32_t overrides_weight(const struct engine *e, const struct server_group *g,
			  const struct server *s);
/* A desired_drained_fn; ctx is a struct overrides_view. */
struct overrides_view {
	const struct engine *engine;
	const struct engine_service *service; /* as the kernel has it; NULL = not there */
	struct vec *held; /* gets a struct engine_held for each that is held; NULL = nobody asks */
};
enum desired_drained overrides_judge(void *ctx, const struct desired_place *p,
				     const struct server_group *g, const struct server *s,
				     const struct plan_dest *dest);
void overrides_list_services(const struct engine *e, const struct engine_override *o,
			     struct vec *ret_services); /* struct engine_service, borrowed */
void overrides_mark_covered(struct engine *e, const struct engine_override *o);

/* override_held.c: destinations that drain in a service */
void overrides_take_held(struct engine *e, struct engine_service *s, struct vec *held);
void overrides_free_held(struct vec *held);
void overrides_note_counts(struct engine *e, struct engine_service *s,
			   const struct plan_service *actual);
usec_t overrides_poll(struct engine *e, usec_t now);
void overrides_sum(const struct engine *e); /* destinations and connections of each */
/* The same of one that is in force: it looks at the services that it concerns only. */
void overrides_sum_one(const struct engine *e, struct engine_override *o);

/* override_life.c */
usec_t overrides_tick(struct engine *e, usec_t now); /* when it is due again */
void overrides_settle(struct engine *e);             /* behind the plan: which drains have ended */
void overrides_sync(struct engine *e);               /* those whose object is gone go too */
void overrides_begin_ramps(struct engine *e, const struct engine_override *o);
void overrides_tell(struct engine *e, enum engine_event_id id, const struct engine_override *o,
		    const char *text);

/* override_preview.c: what a wish would do, without doing it */
struct override_preview {
	struct plan_ops ops;
	struct dns_changes dns;
	struct err starved; /* services that have a server for new connections now, and would not */
};
void overrides_preview(struct engine *e, const struct override_request *r,
		       struct engine_override *next, struct override_preview *ret);

/* What the kernel would be told of the services that it covers, as things stand; which of them would be left without a server for new
 * connections and have one now (NULL: nobody asks). */
void overrides_plan_services(struct engine *e, const struct engine_override *o,
			     struct plan_ops *ops, struct err *starved);

/* override_status.c */
#define OVERRIDE_WITH_MAX 160
/* "", or with what a drain takes a server out: " with listener http of shop". Returns `buf` or "". */
const char *overrides_say_with(const struct engine_override *o, char buf[OVERRIDE_WITH_MAX]);
void overrides_fill_status(const struct engine *e, const struct engine_override *o,
			   struct override_status *ret_status);
/* What overrides make of a server's state, which was filled in without them. */
void overrides_write_server(const struct engine *e, const struct engine_server *s,
			    struct server_status *st);

/* overrides.c */
void overrides_pump(struct engine *e);
bool overrides_note_commit(struct engine *e, uint64_t token, int result, const struct err *err);
void overrides_finish(struct engine *e);
/* A change of it is being committed, which decides. */
bool overrides_on_way(const struct engine *e, const struct engine_override *o);
/* Whether one takes destinations out with their flows, whatever the group says. */
bool overrides_remove_now(const struct engine *e);
bool overrides_idle(const struct engine *e);
void overrides_free(struct engine *e);

#endif
