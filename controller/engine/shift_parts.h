/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of zone shifts do for each other and for the zones. For the files of this directory only. */
#ifndef ZG_ENGINE_SHIFT_PARTS_H
#define ZG_ENGINE_SHIFT_PARTS_H

#include "engine/parts.h"
#include "engine/shifts.h"

struct engine_lb;

struct engine_shift {
	char *id;
	char *zone;
	char *lb; /* "*" = all */
	char *who;
	char *comment;
	json_t *history;
	usec_t created_wall;
	usec_t expires_wall;
	usec_t expires; /* monotonic */
	bool evacuate;
	bool forced;
	bool expiry_told;
};

/* shift_state.c: values, the caller's */
#define SHIFT_EXPIRING_NOTICE (5 * 60 * USEC_PER_SEC) /* told so long before the end */
struct engine_shift *shift_state_start(struct engine *e, const struct shift_request *r);
struct engine_shift *shift_state_change(struct engine *e, const struct engine_shift *old,
					const struct shift_request *r);
struct engine_shift *shift_state_copy(const struct engine_shift *from);
void shift_state_free(struct engine_shift *s); /* NULL-safe */

/* shift_rows.c */
void shift_rows_load(struct engine *e, const struct store_row *row);
char *shift_rows_encode(const struct engine *e, const struct engine_shift *s); /* caller frees */

/* shift_check.c: faults of a wish; what it would do to the zones is not looked at */
void shift_check_request(const struct engine *e, const struct shift_request *r, struct err *err);

/* shifts.c */
struct engine_shift *shifts_find(const struct engine *e, const char *id, size_t *ret_index);
const struct engine_shift *shifts_find_cover(const struct engine *e, const char *lb,
					     const char *zone);
/* The same of those with evacuate_servers. */
const struct engine_shift *shifts_find_evacuation(const struct engine *e, const char *lb,
						  const char *zone);
/* Names of its zones whose servers are evacuated in this load balancer, each once; at most `max`. */
size_t shifts_list_evacuated(const struct engine *e, const struct load_balancer *lb, size_t max,
			     const char **ret_zones);
void shifts_pump(struct engine *e); /* takes the next wish */
bool shifts_note_commit(struct engine *e, uint64_t token, int result, const struct err *err);
void shifts_finish(struct engine *e); /* answers what is in force */
usec_t shifts_tick(struct engine *e, usec_t now);
bool shifts_idle(const struct engine *e);
void shifts_free(struct engine *e);
void shifts_fill_status(const struct engine_shift *s, struct shift_status *ret_status);

/* shift_tell.c: an event of `s`; of a change with what it was before (NULL: it had ended, and begins anew). `who` did it; of what comes by time: who started it. */
void shifts_tell(struct engine *e, enum engine_event_id id, const struct engine_shift *s,
		 const struct engine_shift *before, const char *who);

/* What follows once the shift is over. False: nothing does for now, as another one covers all of it. */
#define SHIFT_NEXT_MAX 200
bool shifts_say_next(const struct engine *e, const struct engine_shift *s,
		     char buf[SHIFT_NEXT_MAX]);

/* shift_effects.c */
/* A shift that is not there yet, or is no more. */
struct shift_rehearsal {
	const char *zone;
	const char *lb;
	bool evacuate;
	struct engine_shift *removed; /* NULL: one is added */
	struct plan_ops *ops;         /* gets what the kernel would be told; NULL: nobody asks */
};
/* What it would do to a load balancer; false if nothing. Texts are borrowed of the snapshot. Faults unless forced:
 * ERR_IN_USE. */
bool shift_effects_judge(struct engine *e, const struct engine_lb *lb,
			 const struct shift_rehearsal *r, struct err *refusals,
			 struct shift_effect *ret_effect);

#endif
