// SPDX-License-Identifier: GPL-2.0-or-later
// The probe scheduler of the plays: every reference has a probe of its own, which takes as long as the play says.
#include "sim/sim_probes.h"

#include <string.h>

#include "base/mem.h"

struct sim_endpoint *sim_probes_endpoint(struct sim_probes *p, const struct addr *a, uint16_t port)
{
	struct sim_endpoint *e;

	for (size_t i = 0; i < p->endpoints.count; i++) {
		e = p->endpoints.items[i];
		if (e->port == port && addr_compare(&e->address, a) == 0)
			return e;
	}
	e = mem_new(struct sim_endpoint);
	e->address = *a;
	e->port = port;
	e->standing = (struct sim_behaviour){.verdict = PROBE_PASS, .duration = USEC_PER_MS};
	vec_push(&p->endpoints, e);
	return e;
}

void sim_probes_clear(struct sim_probes *p)
{
	for (size_t i = 0; i < p->entries.count; i++)
		free(p->entries.items[i]);
	vec_clear(&p->entries);
	for (size_t i = 0; i < p->endpoints.count; i++) {
		struct sim_endpoint *e = p->endpoints.items[i];

		for (size_t j = 0; j < e->once.count; j++)
			free(e->once.items[j]);
		vec_clear(&e->once);
		free(e);
	}
	vec_clear(&p->endpoints);
}

void *sim_probes_add(struct sim_probes *p, const struct probe_target *t, void *ref,
		     usec_t first_start)
{
	struct sim_probe *probe = mem_new(struct sim_probe);

	probe->target = *t;
	probe->ref = ref;
	probe->next_start = first_start;
	vec_push(&p->entries, probe);
	return probe;
}

void sim_probes_remove(struct sim_probes *p, void *probe)
{
	for (size_t i = 0; i < p->entries.count; i++) {
		if (p->entries.items[i] != probe)
			continue;
		free(probe);
		/* The order of the others does not matter. */
		p->entries.items[i] = p->entries.items[--p->entries.count];
		return;
	}
	abort();
}

static usec_t probe_timeout(const struct sim_probe *probe)
{
	return probe->target.check->timeout_ms * USEC_PER_MS;
}

static void probe_behave(struct sim_probe *probe, const struct sim_behaviour *b, usec_t now)
{
	probe->behaviour = *b;
	if (b->verdict != PROBE_FAIL_SILENT && b->duration >= probe_timeout(probe)) {
		probe->behaviour.verdict = PROBE_FAIL_SILENT; /* an answer after T is none */
		probe->behaviour.reason = REASON_CONNECT_TIMEOUT;
	}
	if (probe->behaviour.verdict == PROBE_FAIL_SILENT)
		probe->behaviour.duration = probe_timeout(probe);
	probe->ends = probe->started + probe->behaviour.duration;
	if (probe->ends < now)
		probe->ends = now;
}

void sim_probes_set(struct sim_probes *p, const struct sim_endpoint *at, enum sim_reach reach,
		    usec_t now)
{
	struct sim_endpoint *e = sim_probes_endpoint(p, &at->address, at->port);

	e->standing = at->standing;
	for (size_t i = 0; reach == SIM_ALSO_RUNNING && i < p->entries.count; i++) {
		struct sim_probe *probe = p->entries.items[i];

		if (probe->running && probe->target.port == at->port &&
		    addr_compare(&probe->target.address, &at->address) == 0)
			probe_behave(probe, &at->standing, now);
	}
}

void sim_probes_set_once(struct sim_probes *p, const struct sim_endpoint *at,
			 const struct sim_behaviour *b)
{
	vec_push(&sim_probes_endpoint(p, &at->address, at->port)->once, mem_dup(b, sizeof(*b)));
}

static usec_t probe_due(const struct sim_probe *probe)
{
	return probe->running ? probe->ends : probe->next_start;
}

static struct sim_probe *find_first(const struct sim_probes *p)
{
	struct sim_probe *first = NULL;

	for (size_t i = 0; i < p->entries.count; i++) {
		struct sim_probe *probe = p->entries.items[i];

		if (!first || probe_due(probe) < probe_due(first))
			first = probe;
	}
	return first;
}

usec_t sim_probes_due(const struct sim_probes *p)
{
	const struct sim_probe *first = find_first(p);

	return first ? probe_due(first) : USEC_NEVER;
}

static void probe_start(struct sim_probes *p, struct sim_probe *probe, usec_t now)
{
	struct sim_endpoint *e = sim_probes_endpoint(p, &probe->target.address, probe->target.port);
	struct sim_behaviour behaviour = e->standing;

	if (e->once.count) {
		struct sim_behaviour *next = e->once.items[0];

		behaviour = *next;
		free(next);
		vec_remove(&e->once, 0);
	}
	probe->running = true;
	probe->started = now;
	p->started++;
	probe_behave(probe, &behaviour, now);
}

static void probe_end(struct sim_probe *probe, usec_t now, usec_t wall, struct probe_result *r)
{
	usec_t took = now - probe->started;

	memset(r, 0, sizeof(*r));
	probe->running = false;
	r->health.verdict = probe->behaviour.verdict;
	r->health.reason = probe->behaviour.verdict == PROBE_PASS ? REASON_NONE
								  : probe->behaviour.reason;
	r->health.planned = probe->next_start;
	r->health.ended = now;
	r->evidence.started_wall = wall - took;
	r->evidence.duration_usec = (uint32_t)took;
	if (probe->behaviour.verdict == PROBE_PASS)
		r->evidence.connect_usec = (uint32_t)took;
}

struct sim_probe *sim_probes_step(struct sim_probes *p, usec_t now, usec_t wall,
				  struct probe_result *ret_result)
{
	struct sim_probe *probe = find_first(p);

	if (!probe->running) {
		probe_start(p, probe, now);
		return NULL;
	}
	probe_end(probe, now, wall, ret_result);
	return probe;
}
