/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine with everything around it played: clocks, store, kernel and probes. Time stands still unless it is advanced. */
#ifndef ZG_TESTS_SIM_WORLD_H
#define ZG_TESTS_SIM_WORLD_H

#include "engine/overrides.h"
#include "engine/shifts.h"
#include "engine/status.h"
#include "sim/sim_kernel.h"
#include "sim/sim_probes.h"
#include "sim/sim_store.h"

/* A job that the engine gave away: the work is done at once, the rest in the next turn. */
struct sim_job {
	void (*done)(void *arg);
	void (*drop)(void *arg); /* instead, when the engine is gone; NULL = nothing */
	void *arg;
};

struct sim_event {
	usec_t at;
	enum engine_event_id id;
	char *object;
	char *detail;
};

struct sim_world {
	usec_t now;
	usec_t wall_offset; /* wall clock = now + this */
	uint64_t random;
	usec_t wake_at;
	struct engine_settings settings;
	size_t probe_capacity; /* 0 = there is no limit */
	struct engine *engine; /* NULL while the daemon is down */
	struct sim_kernel kernel;
	struct sim_store store;
	struct sim_probes probes;
	struct vec jobs;            /* struct sim_job */
	struct vec events;          /* struct sim_event, since they were last cleared */
	struct vec told;            /* char *, the same as others are told them */
	bool no_carrier;            /* of the link on which packets for the VIPs arrive */
	struct mark_space mark_use; /* that a rule of routing looks at; mask 0: none does */
	uint64_t published;         /* views that were given to DNS */
	struct vec views;           /* struct view, given out since they were last cleared */
	bool keep_views;            /* as long as this is set */
	uint64_t turns;             /* of the loop */
	uint64_t turns_left;        /* until it stands still; 0 = it does not */
	unsigned idle_turns;        /* woken by itself without anything else to do, in a row */
	/* Called behind every result, for an independent model of the rules; NULL = nobody listens. */
	void (*on_result)(void *ctx, const struct sim_probe *p, const struct probe_result *r);
	void (*on_turn)(void *ctx);    /* behind everything that is done */
	void (*on_settled)(void *ctx); /* when nothing more is due */
	void *ctx;
};

void sim_world_init(struct sim_world *w);
void sim_world_clear(struct sim_world *w);

/* The daemon starts from what the store holds. */
void sim_world_start(struct sim_world *w);
/* It stops in order: last states are stored, or with `flush` everything is taken out of the kernel. */
enum sim_stop { SIM_STOP_KEEP, SIM_STOP_FLUSH };
void sim_world_stop(struct sim_world *w, enum sim_stop how);
/* It is gone in the middle of whatever it did. */
void sim_world_kill(struct sim_world *w);

/* Does all that is due now, settling behind each; time does not move. */
void sim_world_run(struct sim_world *w);
/* Moves to a point of time, doing what is due on the way; what is due at `end` is done too. */
void sim_world_run_to(struct sim_world *w, usec_t end);

/* Nothing is on its way: neither in the engine nor in what is played. */
bool sim_world_is_calm(const struct sim_world *w);
void sim_world_clear_events(struct sim_world *w);
void sim_world_clear_views(struct sim_world *w); /* and the turns */

/* What can never be right, whatever the play: says so and ends the program. */
void sim_world_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
