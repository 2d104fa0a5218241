/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A second opinion: states and weights as the behaviour document has them, without a line of the engine, health/ or plan/. It knows
 * the random runs' small world: group "gN" has servers "sM", whose addresses say which group and server they belong to. */
#ifndef ZG_TESTS_SIM_ORACLE_H
#define ZG_TESTS_SIM_ORACLE_H

#include "sim/sim_world.h"

#define ORACLE_GROUPS  3
#define ORACLE_SERVERS 4
#define ORACLE_RESULTS 64
#define ORACLE_TOLD    64

enum oracle_state { ORACLE_INITIAL, ORACLE_HEALTHY, ORACLE_UNHEALTHY };

struct oracle_server {
	bool exists;
	struct addr address;
	uint32_t port;
	enum oracle_state state;
	bool trusted;
	unsigned passes;
	unsigned failures;
	bool failed[ORACLE_RESULTS]; /* newest first */
	unsigned results;
	bool drained; /* itself or its zone, by hand */
	usec_t up_at; /* when it turned healthy; 0 = not since the start */
	bool early;   /* one start that came before its time, behind it */
};

struct oracle_group {
	bool used;
	bool check_enabled;
	enum check_type check_type;
	uint32_t check_port;
	uint32_t interval_ms;
	struct oracle_server servers[ORACLE_SERVERS];
};

struct oracle_told { /* an override, as the engine tells it */
	enum override_kind kind;
	enum override_target target;
	char parent[8];
	char name[8];
	uint32_t weight;
	usec_t timeout;
};

struct oracle {
	const struct sim_world *world;
	uint64_t revision; /* of the document that it knows */
	struct oracle_group groups[ORACLE_GROUPS];
	struct oracle_told told[ORACLE_TOLD];
	size_t told_count;
	bool quiet;      /* for so long that every drain has gone as far as it can */
	unsigned edges;  /* since they were last looked at */
	uint32_t serial; /* of DNS, as last seen */
	uint64_t views;  /* that were published then */
	char *why;       /* what is wrong: of the caller, empty = nothing */
	size_t why_size;
};

/* The daemon is gone: what the store holds is what will be known. */
void oracle_stop(struct oracle *o);
/* The daemon has started: states are those of the store. */
void oracle_start(struct oracle *o);
/* The engine has taken a new document, if it has. */
void oracle_sync(struct oracle *o);
void oracle_note_result(struct oracle *o, const struct sim_probe *p, const struct probe_result *r);

/* Takes over which initial servers the engine trusts, because the kernel showed them in service. */
void oracle_learn_trust(struct oracle *o);

/* Whether the engine shows the same states. */
bool oracle_check_states(struct oracle *o);
/* Whether the kernel holds what it should: services, weights, addresses, and nothing else of ours. */
bool oracle_check_kernel(struct oracle *o);
/* Whether zones are handed out as they should be, and DNS says so. At any time. */
bool oracle_check_zones(struct oracle *o);
/* Whether the store holds the states, after a clean stop. */
bool oracle_check_rows(struct oracle *o);

/* "10.G.A.S", A = 0 or 1: two addresses a server; v6 the same below 2001:db8. */
bool oracle_find_server(const struct addr *a, unsigned *ret_group, unsigned *ret_server);

#endif
