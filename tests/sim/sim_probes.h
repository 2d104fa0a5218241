/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes whose results are written down: what an endpoint answers, and after how long. */
#ifndef ZG_TESTS_SIM_PROBES_H
#define ZG_TESTS_SIM_PROBES_H

#include "base/vec.h"
#include "health/evidence.h"

struct engine;

struct sim_behaviour {
	enum probe_verdict verdict;
	enum health_reason reason;
	usec_t duration; /* to the answer; a silent failure takes the timeout */
};

struct sim_endpoint {
	struct addr address;
	uint16_t port;
	struct sim_behaviour standing;
	struct vec once; /* struct sim_behaviour: of the next probes that start */
};

struct sim_probe {
	struct probe_target target;
	void *ref;
	usec_t next_start;
	bool running;
	usec_t started;
	usec_t ends;
	struct sim_behaviour behaviour; /* of the running one */
};

struct sim_probes {
	struct vec entries;   /* struct sim_probe */
	struct vec endpoints; /* struct sim_endpoint */
	uint64_t started;     /* probes, since the beginning */
};

void sim_probes_clear(struct sim_probes *p);
void *sim_probes_add(struct sim_probes *p, const struct probe_target *t, void *ref,
		     usec_t first_start);
void sim_probes_remove(struct sim_probes *p, void *probe);

/* What an endpoint does from now on. SIM_ALSO_RUNNING: a probe that is under way meets it too. */
enum sim_reach { SIM_NEXT_PROBE, SIM_ALSO_RUNNING };
void sim_probes_set(struct sim_probes *p, const struct sim_endpoint *at, enum sim_reach reach,
		    usec_t now);
void sim_probes_set_once(struct sim_probes *p, const struct sim_endpoint *at,
			 const struct sim_behaviour *b);
struct sim_endpoint *sim_probes_endpoint(struct sim_probes *p, const struct addr *a, uint16_t port);

/* The next start or end; USEC_NEVER = none. */
usec_t sim_probes_due(const struct sim_probes *p);
/* Starts or ends one probe that is due. A probe that ended: fills its result and returns it, else NULL. */
struct sim_probe *sim_probes_step(struct sim_probes *p, usec_t now, usec_t wall,
				  struct probe_result *ret_result);

#endif
