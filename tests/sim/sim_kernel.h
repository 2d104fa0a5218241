/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel in memory: a table, addresses, sysctls; answers in order and after a delay; faults on demand. */
#ifndef ZG_TESTS_SIM_KERNEL_H
#define ZG_TESTS_SIM_KERNEL_H

#include "base/time.h"
#include "base/vec.h"
#include "plan/ops.h"

struct engine;

enum sim_request_kind { SIM_OPS, SIM_TABLE, SIM_SERVICE, SIM_GUARD, SIM_RULESET, SIM_FILL };

struct sim_request {
	enum sim_request_kind kind;
	struct plan_ops ops;
	struct plan_key key;
	usec_t due;
};

struct sim_flows { /* what a destination counts */
	struct plan_key key;
	struct addr address;
	uint16_t port;
	uint32_t count;
};

#define SIM_SYSCTLS 6
#define SIM_FOREVER UINT32_MAX

struct sim_kernel {
	bool absent;   /* no ip_vs */
	bool announce; /* the engine is to be told whether it is there */
	struct plan_table table;
	struct ruleset ruleset;
	uint64_t looks;       /* at the ruleset */
	bool blind;           /* they fail */
	struct vec addresses; /* struct addr, sorted */
	int sysctls[SIM_SYSCTLS];
	struct vec flows;    /* struct sim_flows */
	struct vec requests; /* struct sim_request, in order */
	usec_t delay;
	struct vec guards; /* of sets and rules: struct sim_request, in order, beside those */
	usec_t guard_delay;
	struct vec fills; /* struct sim_request, in order, beside the others */
	usec_t fill_delay;
	int fail_error[PLAN_OP_KIND_COUNT];      /* the errno of a kind that is refused */
	uint32_t fail_count[PLAN_OP_KIND_COUNT]; /* how many more times */
	uint32_t lose_count;  /* operations that are done but whose answers get lost */
	uint32_t dump_errors; /* dumps that fail */
	uint64_t ops_by_kind
		[PLAN_OP_KIND_COUNT]; /* that were asked for, since they were last cleared */
	uint64_t dumps;
	struct plan_ops log;       /* the operations themselves, at most SIM_LOG_MAX */
	struct addr *address_list; /* what kernel_addresses() lent out */
};
#define SIM_LOG_MAX 64

void sim_kernel_init(struct sim_kernel *k);
void sim_kernel_clear(struct sim_kernel *k);
/* The other side is gone: nobody waits for answers. What was sent is done all the same. */
void sim_kernel_disconnect(struct sim_kernel *k);
void sim_kernel_clear_counts(struct sim_kernel *k);
uint64_t sim_kernel_count_ops(const struct sim_kernel *k);

/* The ports. */
void sim_kernel_submit(struct sim_kernel *k, struct plan_ops *ops, usec_t now);
void sim_kernel_guard(struct sim_kernel *k, struct plan_ops *ops, usec_t now);
void sim_kernel_request_table(struct sim_kernel *k, usec_t now);
void sim_kernel_request_service(struct sim_kernel *k, const struct plan_key *key, usec_t now);
void sim_kernel_request_ruleset(struct sim_kernel *k, usec_t now);
void sim_kernel_fill(struct sim_kernel *k, struct plan_ops *ops, usec_t now);
size_t sim_kernel_addresses(struct sim_kernel *k, const struct addr **ret_addresses);
int sim_kernel_read_sysctl(const struct sim_kernel *k, const char *name);

/* When the next answer is due; USEC_NEVER = none. */
usec_t sim_kernel_due(const struct sim_kernel *k);
/* Answers one request. */
void sim_kernel_answer(struct sim_kernel *k, struct engine *e, usec_t now);

/* ip_vs is loaded or taken away; the table is empty afterwards. */
void sim_kernel_load(struct sim_kernel *k, bool present);
/* Edits by somebody else: applied at once. Returns 0 or a negative errno. */
int sim_kernel_edit(struct sim_kernel *k, const struct plan_op *op);
void sim_kernel_empty(struct sim_kernel *k);
void sim_kernel_set_flows(struct sim_kernel *k, const struct sim_flows *f);
uint32_t sim_kernel_count_flows(const struct sim_kernel *k, const struct plan_key *key,
				const struct addr *a, uint16_t port);
int *sim_kernel_find_sysctl(struct sim_kernel *k, const char *name); /* NULL if there is none */
bool sim_kernel_has_address(const struct sim_kernel *k, const struct addr *a);
void sim_kernel_set_address(struct sim_kernel *k, const struct addr *a, bool present);

#endif
