// SPDX-License-Identifier: GPL-2.0-or-later
// Random events: time, answers of servers, writes, zone shifts, faults and edits of the kernel, faults of the store, restarts. Zones
// must be handed out as the oracle says at any time; whenever nothing is on its way and nobody meddled, so must states and kernel.
#include "sim/sim_random.h"

#include <linux/ip_vs.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sim/sim_oracle.h"
#include "sim/sim_random_overrides.h"
#include "sim/sim_random_shifts.h"

#define CALM_EVERY  4000 /* steps between two times when everything is put right and looked at */
#define CALM_TIME   (70 * USEC_PER_SEC)
#define TOLD_EVENTS 12

struct run {
	struct sim_world world;
	struct oracle oracle;
	struct random_writes writes;
	struct random_shifts shifts;
	struct random_overrides overrides;
	uint64_t step;
	bool meddled; /* faults or edits since all was put right */
	uint64_t looked_ops;
	uint64_t checks;
	char why[1024];
};

static void on_result(void *ctx, const struct sim_probe *p, const struct probe_result *r)
{
	struct run *run = ctx;

	oracle_note_result(&run->oracle, p, r);
}

/* Several writes may come into force in one moment: each is seen. */
static void on_turn(void *ctx)
{
	struct run *run = ctx;

	if (run->world.engine)
		oracle_sync(&run->oracle);
}

static void check_all(struct run *run)
{
	if (oracle_check_states(&run->oracle) && oracle_check_kernel(&run->oracle))
		run->checks++;
}

/* Looks when something happened, and now and then. */
static void on_settled(void *ctx)
{
	struct run *run = ctx;
	uint64_t ops = sim_kernel_count_ops(&run->world.kernel);
	bool news = run->oracle.edges || ops != run->looked_ops || run->step % 64 == 0;

	oracle_sync(&run->oracle);
	oracle_learn_trust(&run->oracle);
	if (!news || run->why[0])
		return;
	if (!oracle_check_zones(&run->oracle) ||
	    !random_shifts_check(&run->shifts, run->why, sizeof(run->why)) ||
	    !random_overrides_check(&run->overrides, run->why, sizeof(run->why)))
		return;
	if (run->meddled || !sim_world_is_calm(&run->world)) {
		oracle_check_states(&run->oracle);
		return;
	}
	run->looked_ops = ops;
	run->oracle.edges = 0;
	check_all(run);
}

/* ---- events ---- */

static void pass_time(struct run *run)
{
	usec_t d = random_below(&run->writes, 8) ? random_below(&run->writes, 50)
						 : random_below(&run->writes, 2000);

	sim_world_run_to(&run->world, run->world.now + d * USEC_PER_MS);
}

static void change_answers(struct run *run)
{
	static const struct sim_behaviour behaviours[] = {
		{PROBE_PASS, REASON_NONE, 1000},
		{PROBE_PASS, REASON_NONE, 150 * USEC_PER_MS},
		{PROBE_FAIL_ACTIVE, REASON_CONNECT_REFUSED, 1000},
		{PROBE_FAIL_ACTIVE, REASON_HTTP_STATUS_MISMATCH, 90 * USEC_PER_MS},
		{PROBE_FAIL_SILENT, REASON_CONNECT_TIMEOUT, 0},
		{PROBE_ERROR, REASON_PROBER_ERROR, 0},
	};
	struct sim_probes *probes = &run->world.probes;
	const struct sim_probe *p;
	struct sim_endpoint at = {0};

	if (!probes->entries.count)
		return;
	p = probes->entries.items[random_below(&run->writes, probes->entries.count)];
	at.address = p->target.address;
	at.port = p->target.port;
	at.standing = behaviours[random_below(&run->writes, 6)];
	if (random_below(&run->writes, 3))
		at.standing = behaviours[0];
	sim_probes_set(probes, &at,
		       random_below(&run->writes, 2) ? SIM_NEXT_PROBE : SIM_ALSO_RUNNING,
		       run->world.now);
}

/* Somebody edits the table by hand; never the foreign service. */
static void edit_kernel(struct run *run)
{
	struct sim_kernel *k = &run->world.kernel;
	struct plan_op op = {0};
	const struct plan_service *s;

	run->meddled = true;
	if (k->table.count < 2)
		return;
	s = &k->table.services[random_below(&run->writes, k->table.count)];
	if (s->key.address.family == AF_INET && s->key.address.bytes[0] == 203)
		return;
	op.service.key = s->key;
	op.kind = PLAN_DELETE_SERVICE;
	if (s->dest_count && random_below(&run->writes, 4)) {
		op.dest = s->dests[random_below(&run->writes, s->dest_count)];
		op.dest.weight = (uint32_t)random_below(&run->writes, 200);
		op.kind = random_below(&run->writes, 2) ? PLAN_EDIT_DEST : PLAN_DELETE_DEST;
	}
	sim_kernel_edit(k, &op);
}

static void fail_kernel(struct run *run)
{
	static const int errors[] = {12 /* ENOMEM */, 1 /* EPERM */, 110 /* ETIMEDOUT */};
	struct sim_kernel *k = &run->world.kernel;
	size_t kind = random_below(&run->writes, PLAN_OP_KIND_COUNT);

	run->meddled = true;
	switch (random_below(&run->writes, 6)) {
	case 0:
		k->lose_count = (uint32_t)random_below(&run->writes, 4);
		break;
	case 1:
		k->dump_errors = (uint32_t)random_below(&run->writes, 3);
		break;
	case 2:
		sim_kernel_load(k, k->absent);
		break;
	case 3:
		k->fail_count[kind] = 0;
		break;
	default:
		k->fail_error[kind] = errors[random_below(&run->writes, 3)];
		k->fail_count[kind] = (uint32_t)random_below(&run->writes, 5);
		break;
	}
}

static void change_delays(struct run *run)
{
	static const usec_t delays[] = {0, 0, 0, 1000, 30000, 400000};

	run->world.kernel.delay = delays[random_below(&run->writes, 6)];
	run->world.store.delay = delays[random_below(&run->writes, 6)];
	run->world.store.early = random_below(&run->writes, 2);
	if (random_below(&run->writes, 8) == 0)
		run->world.store.fail_count = (uint32_t)random_below(&run->writes, 4);
}

static void restart(struct run *run)
{
	struct sim_world *w = &run->world;

	if (random_below(&run->writes, 3) == 0) {
		sim_world_kill(w);
	} else {
		w->store.fail_count = 0;
		w->store.delay = 0;
		sim_world_stop(w, SIM_STOP_KEEP);
	}
	random_writes_forget(&run->writes);
	oracle_stop(&run->oracle);
	sim_world_start(w);
	oracle_start(&run->oracle);
	sim_world_run(w);
}

static void change_flows(struct run *run)
{
	const struct sim_kernel *k = &run->world.kernel;
	const struct plan_service *s;
	struct sim_flows f = {0};

	if (k->table.count == 0)
		return;
	s = &k->table.services[random_below(&run->writes, k->table.count)];
	if (s->dest_count == 0)
		return;
	f.key = s->key;
	f.address = s->dests[random_below(&run->writes, s->dest_count)].address;
	f.port = s->dests[0].port;
	f.count = (uint32_t)random_below(&run->writes, 3);
	sim_kernel_set_flows(&run->world.kernel, &f);
}

static void set_clock(struct run *run)
{
	run->world.wall_offset += 3600 * USEC_PER_SEC;
	if (random_below(&run->writes, 2))
		run->world.wall_offset -= 7200 * USEC_PER_SEC;
}

/* Everything is put right, and time goes by until it must all be so. */
static void calm_down(struct run *run)
{
	struct sim_kernel *k = &run->world.kernel;

	memset(k->fail_count, 0, sizeof(k->fail_count));
	k->lose_count = k->dump_errors = 0;
	k->delay = run->world.store.delay = 0;
	run->world.store.fail_count = 0;
	if (k->absent)
		sim_kernel_load(k, true);
	random_place_foreign(&run->world);
	sim_world_run_to(&run->world, run->world.now + CALM_TIME);
	if (run->why[0])
		return;
	run->meddled = false;
	if (!sim_world_is_calm(&run->world))
		snprintf(run->why, sizeof(run->why), "it does not come to rest");
	else if (random_writes_open(&run->writes) || run->shifts.open || run->overrides.calls.count)
		snprintf(run->why, sizeof(run->why), "a write was never answered");
	else {
		run->oracle.quiet = true;
		check_all(run);
		run->oracle.quiet = false;
	}
	if (!run->why[0] && !random_foreign_stands(&run->world))
		snprintf(run->why, sizeof(run->why), "the foreign service was touched");
	sim_world_clear_events(&run->world);
}

static void one_step(struct run *run)
{
	uint64_t dice = random_below(&run->writes, 4000);

	if (run->step % CALM_EVERY == CALM_EVERY - 1)
		calm_down(run);
	else if (dice < 3200)
		pass_time(run);
	else if (dice < 3800)
		change_answers(run);
	else if (dice < 3890)
		random_write(&run->writes, &run->world);
	else if (dice < 3900)
		random_shift(&run->shifts);
	else if (dice < 3910)
		random_override(&run->overrides);
	else if (dice < 3930)
		change_flows(run);
	else if (dice < 3970)
		change_delays(run);
	else if (dice < 3980 && run->step / CALM_EVERY % 2)
		edit_kernel(run);
	else if (dice < 3990 && run->step / CALM_EVERY % 2)
		fail_kernel(run);
	else if (dice < 3996)
		restart(run);
	else
		set_clock(run);
}

/* The last events, for whoever looks into a fault. */
static void tell_events(const struct run *run)
{
	size_t count = run->world.events.count;

	for (size_t i = count > TOLD_EVENTS ? count - TOLD_EVENTS : 0; i < count; i++) {
		const struct sim_event *ev = run->world.events.items[i];

		printf("     %.6f %s %s: %s\n", (double)ev->at / 1e6, engine_event_name(ev->id),
		       ev->object, ev->detail);
	}
}

static void begin(struct run *run, const struct sim_random_plan *plan)
{
	struct sim_world *w = &run->world;

	sim_world_init(w);
	w->settings.audit_interval = 10 * USEC_PER_SEC;
	w->on_result = on_result;
	w->on_turn = on_turn;
	w->on_settled = on_settled;
	w->ctx = run;
	run->oracle.world = w;
	run->oracle.why = run->why;
	run->oracle.why_size = sizeof(run->why);
	run->writes.seed = plan->seed;
	run->shifts.dice = &run->writes;
	run->shifts.world = w;
	run->overrides.dice = &run->writes;
	run->overrides.world = w;
	random_place_foreign(w);
	sim_world_start(w);
	oracle_start(&run->oracle);
	random_write_first(&run->writes, w);
}

bool sim_random_run(const struct sim_random_plan *plan, char *why, size_t size)
{
	struct run *run = mem_new(struct run);
	usec_t end = time_monotonic() + plan->seconds * USEC_PER_SEC;
	bool passed;

	begin(run, plan);
	for (run->step = 0; run->step < plan->steps && !run->why[0]; run->step++) {
		if (run->step % 1024 == 0 && time_monotonic() > end)
			break;
		one_step(run);
		random_writes_sweep(&run->writes);
	}
	passed = !run->why[0];
	if (passed && run->checks < run->step / 100)
		snprintf(run->why, sizeof(run->why), "only %llu looks at the kernel",
			 (unsigned long long)run->checks);
	if (run->why[0])
		tell_events(run);
	if (run->why[0])
		snprintf(why, size, "seed %llu, step %llu, t=%.6f: %s",
			 (unsigned long long)plan->seed, (unsigned long long)run->step,
			 (double)run->world.now / 1e6, run->why);
	else
		printf("     %llu steps, %llu looks at the kernel, %llu writes, %llu shifts, %llu overrides, %llu probes\n",
		       (unsigned long long)run->step, (unsigned long long)run->checks,
		       (unsigned long long)run->writes.answered,
		       (unsigned long long)run->shifts.answered,
		       (unsigned long long)run->overrides.answered,
		       (unsigned long long)run->world.probes.started);
	passed = !run->why[0];
	sim_world_clear(&run->world);
	random_writes_forget(&run->writes);
	vec_clear(&run->overrides.calls);
	free(run);
	return passed;
}
