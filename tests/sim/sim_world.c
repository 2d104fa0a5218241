// SPDX-License-Identifier: GPL-2.0-or-later
// The loop of the plays: what is due is done one after the other, and the engine settles behind each, as in the daemon.
#include "sim/sim_world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "dns/view.h"

#define SIM_START      (1000 * USEC_PER_SEC)
#define SIM_EPOCH      (1800000000 * USEC_PER_SEC)
#define SIM_SPIN_MAX   1000
#define SIM_STOP_LIMIT (5 * USEC_PER_SEC) /* as the daemon waits for its last answers */

void sim_world_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("FAIL sim: ", stdout);
	vprintf(fmt, ap);
	fputc('\n', stdout);
	va_end(ap);
	fflush(stdout);
	abort();
}

/* ---- ports ---- */

static usec_t port_now(void *ctx)
{
	return ((const struct sim_world *)ctx)->now;
}

static usec_t port_wall(void *ctx)
{
	const struct sim_world *w = ctx;

	return w->now + w->wall_offset;
}

static uint64_t port_random(void *ctx)
{
	struct sim_world *w = ctx;

	w->random = hash_bytes(&w->random, sizeof(w->random), 7);
	return w->random;
}

static void port_commit(void *ctx, struct batch *b, const struct store_row *rows, size_t count,
			uint64_t token)
{
	struct sim_world *w = ctx;

	sim_store_commit(&w->store, b, rows, count, token, w->now);
}

/* A question to the store: answered in the next turn. */
struct sim_question {
	json_t *items;
	struct err fault;
	store_items_fn *done;
	void *ctx;
};

static void question_drop(void *arg)
{
	struct sim_question *q = arg;

	json_decref(q->items);
	err_clear(&q->fault);
	free(q);
}

static void question_done(void *arg)
{
	struct sim_question *q = arg;

	q->done(q->ctx, q->items, &q->fault);
	q->items = NULL;
	question_drop(q);
}

static void port_query(void *ctx, const struct store_query *q, store_items_fn *done, void *done_ctx)
{
	struct sim_world *w = ctx;
	struct sim_question *question = mem_new(struct sim_question);
	struct sim_job *j = mem_new(struct sim_job);

	question->items = fake_history_query(&w->store.history, q, &question->fault);
	question->done = done;
	question->ctx = done_ctx;
	*j = (struct sim_job){.done = question_done, .drop = question_drop, .arg = question};
	vec_push(&w->jobs, j);
}

static void port_submit(void *ctx, struct plan_ops *ops)
{
	struct sim_world *w = ctx;

	sim_kernel_submit(&w->kernel, ops, w->now);
}

static void port_request_table(void *ctx)
{
	struct sim_world *w = ctx;

	sim_kernel_request_table(&w->kernel, w->now);
}

static void port_request_service(void *ctx, const struct plan_key *key)
{
	struct sim_world *w = ctx;

	sim_kernel_request_service(&w->kernel, key, w->now);
}

static void port_request_ruleset(void *ctx)
{
	struct sim_world *w = ctx;

	sim_kernel_request_ruleset(&w->kernel, w->now);
}

/* No play asks for it. */
static void port_request_filters(void *ctx)
{
	(void)ctx;
}

static void port_guard(void *ctx, struct plan_ops *ops)
{
	struct sim_world *w = ctx;

	sim_kernel_guard(&w->kernel, ops, w->now);
}

static void port_fill(void *ctx, struct plan_ops *ops)
{
	struct sim_world *w = ctx;

	sim_kernel_fill(&w->kernel, ops, w->now);
}

static size_t port_addresses(void *ctx, const struct addr **ret_addresses)
{
	return sim_kernel_addresses(&((struct sim_world *)ctx)->kernel, ret_addresses);
}

static int port_read_sysctl(void *ctx, const char *name)
{
	return sim_kernel_read_sysctl(&((const struct sim_world *)ctx)->kernel, name);
}

static size_t port_mark_uses(void *ctx, struct mark_space *ret_uses, size_t size)
{
	const struct sim_world *w = ctx;

	if (!w->mark_use.mask || !size)
		return 0;
	*ret_uses = w->mark_use;
	return 1;
}

static const char *port_advise(void *ctx, const struct plan_op *op, char *buf, size_t size)
{
	char text[200];

	(void)ctx;
	snprintf(buf, size, "%s: %s", plan_op_format(op, text, sizeof(text)),
		 strerror(-op->result));
	return buf;
}

static void *port_probe_add(void *ctx, const struct probe_target *t, void *ref, usec_t first_start)
{
	return sim_probes_add(&((struct sim_world *)ctx)->probes, t, ref, first_start);
}

static void port_probe_remove(void *ctx, void *probe)
{
	sim_probes_remove(&((struct sim_world *)ctx)->probes, probe);
}

static size_t port_probe_capacity(void *ctx)
{
	const struct sim_world *w = ctx;

	return w->probe_capacity ? w->probe_capacity : SIZE_MAX;
}

static void port_probe_retarget(void *ctx, void *probe, const struct health_check *check)
{
	(void)ctx;
	((struct sim_probe *)probe)->target.check = check;
}

static void port_offload(void *ctx, void (*work)(void *arg), void (*done)(void *arg), void *arg)
{
	struct sim_world *w = ctx;
	struct sim_job *j = mem_new(struct sim_job);

	work(arg);
	j->done = done;
	j->arg = arg;
	vec_push(&w->jobs, j);
}

static void port_wake_at(void *ctx, usec_t at)
{
	((struct sim_world *)ctx)->wake_at = at;
}

static void port_publish_dns(void *ctx, const struct view *v)
{
	struct sim_world *w = ctx;

	w->published++;
	if (w->keep_views)
		vec_push(&w->views, view_ref(v));
}

static int port_link_carrier(void *ctx)
{
	return !((const struct sim_world *)ctx)->no_carrier;
}

static void port_event(void *ctx, const struct engine_event *ev)
{
	struct sim_world *w = ctx;
	struct sim_event *copy = mem_new(struct sim_event);

	copy->at = w->now;
	copy->id = ev->id;
	copy->object = mem_strdup(ev->object);
	copy->detail = mem_strdup(ev->detail);
	vec_push(&w->events, copy);
}

static void port_publish(void *ctx, const struct event_record *r)
{
	struct sim_world *w = ctx;

	vec_push(&w->told, mem_strdup(r->text));
}

/* ---- life ---- */

void sim_world_init(struct sim_world *w)
{
	memset(w, 0, sizeof(*w));
	w->now = SIM_START;
	w->wall_offset = SIM_EPOCH - SIM_START;
	w->random = 1;
	w->wake_at = USEC_NEVER;
	w->settings = (struct engine_settings){.node_name = "gw1",
					       .manage_addresses = true,
					       .manage_sysctls = true,
					       .boot_id = "the play's boot",
					       .audit_interval = 30 * USEC_PER_SEC};
	sim_kernel_init(&w->kernel);
	sim_store_init(&w->store);
}

void sim_world_clear_events(struct sim_world *w)
{
	for (size_t i = 0; i < w->events.count; i++) {
		struct sim_event *ev = w->events.items[i];

		free(ev->object);
		free(ev->detail);
		free(ev);
	}
	w->events.count = 0;
	for (size_t i = 0; i < w->told.count; i++)
		free(w->told.items[i]);
	w->told.count = 0;
}

void sim_world_clear_views(struct sim_world *w)
{
	for (size_t i = 0; i < w->views.count; i++)
		view_unref(w->views.items[i]);
	w->views.count = 0;
	w->turns = 0;
}

void sim_world_clear(struct sim_world *w)
{
	sim_world_kill(w);
	sim_world_clear_events(w);
	vec_clear(&w->events);
	vec_clear(&w->told);
	sim_world_clear_views(w);
	vec_clear(&w->views);
	sim_kernel_clear(&w->kernel);
	sim_store_clear(&w->store);
	sim_probes_clear(&w->probes);
}

void sim_world_start(struct sim_world *w)
{
	struct engine_ports ports = {
		.ctx = w,
		.now = port_now,
		.wall = port_wall,
		.random = port_random,
		.commit = port_commit,
		.query = port_query,
		.kernel_submit = port_submit,
		.kernel_request_table = port_request_table,
		.kernel_request_service = port_request_service,
		.kernel_request_ruleset = port_request_ruleset,
		.kernel_request_filters = port_request_filters,
		.kernel_guard = port_guard,
		.kernel_fill = port_fill,
		.kernel_addresses = port_addresses,
		.kernel_read_sysctl = port_read_sysctl,
		.kernel_mark_uses = port_mark_uses,
		.kernel_advise = port_advise,
		.probe_add = port_probe_add,
		.probe_remove = port_probe_remove,
		.probe_retarget = port_probe_retarget,
		.probe_capacity = port_probe_capacity,
		.publish_dns = port_publish_dns,
		.link_carrier = port_link_carrier,
		.offload = port_offload,
		.wake_at = port_wake_at,
		.event = port_event,
		.publish = port_publish,
	};

	assert(!w->engine);
	w->engine = engine_new(&w->settings, &ports, snapshot_ref(w->store.snapshot));
	for (size_t i = 0; engine_row_kind(i); i++)
		sim_store_load(&w->store, engine_row_kind(i), w->engine);
	engine_settle(w->engine);
	if (!engine_dns_view(w->engine))
		sim_world_fail("no view after the first turn: DNS begins with it");
}

static void drop_jobs(struct sim_world *w)
{
	for (size_t i = 0; i < w->jobs.count; i++) {
		struct sim_job *j = w->jobs.items[i];

		if (j->drop)
			j->drop(j->arg);
		free(j);
	}
	vec_clear(&w->jobs);
}

void sim_world_kill(struct sim_world *w)
{
	if (!w->engine)
		return;
	drop_jobs(w);
	sim_store_disconnect(&w->store);
	engine_free(w->engine);
	w->engine = NULL;
	sim_kernel_disconnect(&w->kernel);
	w->wake_at = USEC_NEVER;
	if (w->probes.entries.count)
		sim_world_fail("%zu probes outlive the engine", w->probes.entries.count);
}

void sim_world_stop(struct sim_world *w, enum sim_stop how)
{
	usec_t end = w->now + SIM_STOP_LIMIT;

	if (how == SIM_STOP_FLUSH)
		engine_flush(w->engine);
	else
		engine_save_health(w->engine);
	engine_settle(w->engine);
	sim_world_run(w);
	while (!engine_idle(w->engine) && w->now < end)
		sim_world_run_to(w, w->now + USEC_PER_MS);
	sim_world_kill(w);
}

/* ---- the loop ---- */

static usec_t world_due(const struct sim_world *w)
{
	const usec_t times[] = {w->jobs.count ? 0 : USEC_NEVER, sim_store_due(&w->store),
				sim_kernel_due(&w->kernel), sim_probes_due(&w->probes), w->wake_at};
	usec_t first = USEC_NEVER;

	for (size_t i = 0; w->engine && i < sizeof(times) / sizeof(times[0]); i++)
		if (times[i] < first)
			first = times[i];
	return first;
}

static void run_job(struct sim_world *w)
{
	struct sim_job *j = w->jobs.items[0];

	vec_remove(&w->jobs, 0);
	j->done(j->arg);
	free(j);
}

static void run_probe(struct sim_world *w)
{
	struct probe_result r;
	struct sim_probe *p = sim_probes_step(&w->probes, w->now, port_wall(w), &r);

	if (!p)
		return;
	p->next_start = engine_note_result(w->engine, p->ref, &r);
	if (p->next_start < r.health.ended)
		sim_world_fail("the next probe is to start before the last one ended");
	if (w->on_result)
		w->on_result(w->ctx, p, &r);
}

/* One thing that is due. */
static void world_turn(struct sim_world *w)
{
	if (w->jobs.count) {
		run_job(w);
	} else if (sim_store_due(&w->store) <= w->now) {
		sim_store_answer(&w->store, w->engine);
	} else if (sim_kernel_due(&w->kernel) <= w->now) {
		sim_kernel_answer(&w->kernel, w->engine, w->now);
	} else if (sim_probes_due(&w->probes) <= w->now) {
		run_probe(w);
	} else {
		w->wake_at = USEC_NEVER;
		if (++w->idle_turns > SIM_SPIN_MAX)
			sim_world_fail("the engine wakes itself without end");
		engine_settle(w->engine);
		return;
	}
	w->idle_turns = 0;
	engine_settle(w->engine);
}

void sim_world_run(struct sim_world *w)
{
	w->idle_turns = 0;
	while (world_due(w) <= w->now) {
		w->turns++;
		world_turn(w);
		if (w->turns_left && --w->turns_left == 0)
			return;
		if (w->on_turn)
			w->on_turn(w->ctx);
	}
	if (w->engine && w->on_settled)
		w->on_settled(w->ctx);
}

void sim_world_run_to(struct sim_world *w, usec_t end)
{
	usec_t due;

	sim_world_run(w);
	while ((due = world_due(w)) <= end) {
		w->now = due > w->now ? due : w->now;
		sim_world_run(w);
	}
	w->now = end;
}

bool sim_world_is_calm(const struct sim_world *w)
{
	return w->engine && w->jobs.count == 0 && w->store.commits.count == 0 &&
	       w->kernel.requests.count == 0 && w->kernel.guards.count == 0 &&
	       !w->kernel.announce && engine_idle(w->engine);
}
