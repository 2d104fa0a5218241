// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel of the plays. Requests are answered in their order; an operation without a fault does what diff_apply_op() does.
#include "sim/sim_kernel.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "engine/engine.h"
#include "plan/diff.h"
#include "sim/sim_world.h"

/* The last two are those of a host that is a router already. */
static const struct {
	const char *name;
	int value;
} sim_sysctls[SIM_SYSCTLS] = {{"expire_nodest_conn", 0},  {"expire_quiescent_template", 0},
			      {"conntrack", 0},           {"net.ipv6.conf.*.accept_ra", 1},
			      {"net.ipv4.ip_forward", 1}, {"net.ipv6.conf.all.forwarding", 1}};

static int address_compare(const void *a, const void *b)
{
	return addr_compare(a, b);
}

/* As Linux has them. */
static const struct plan_timeouts sim_timeouts = {{900, 120, 300}};

void sim_kernel_init(struct sim_kernel *k)
{
	memset(k, 0, sizeof(*k));
	k->announce = true;
	k->table.timeouts = sim_timeouts;
	for (size_t i = 0; i < SIM_SYSCTLS; i++)
		k->sysctls[i] = sim_sysctls[i].value;
}

void sim_kernel_empty(struct sim_kernel *k)
{
	for (size_t i = 0; i < k->table.count; i++)
		plan_service_clear(&k->table.services[i]);
	free(k->table.services);
	memset(&k->table, 0, sizeof(k->table));
	k->table.timeouts = sim_timeouts;
}

static void request_free(struct sim_request *r)
{
	plan_ops_clear(&r->ops);
	free(r);
}

void sim_kernel_clear(struct sim_kernel *k)
{
	sim_kernel_empty(k);
	ruleset_clear(&k->ruleset);
	for (size_t i = 0; i < k->requests.count; i++)
		request_free(k->requests.items[i]);
	vec_clear(&k->requests);
	for (size_t i = 0; i < k->guards.count; i++)
		request_free(k->guards.items[i]);
	vec_clear(&k->guards);
	for (size_t i = 0; i < k->fills.count; i++)
		request_free(k->fills.items[i]);
	vec_clear(&k->fills);
	for (size_t i = 0; i < k->flows.count; i++)
		free(k->flows.items[i]);
	vec_clear(&k->flows);
	for (size_t i = 0; i < k->addresses.count; i++)
		free(k->addresses.items[i]);
	vec_clear(&k->addresses);
	plan_ops_clear(&k->log);
	free(k->address_list);
}

void sim_kernel_clear_counts(struct sim_kernel *k)
{
	memset(k->ops_by_kind, 0, sizeof(k->ops_by_kind));
	k->dumps = 0;
	k->looks = 0;
	plan_ops_clear(&k->log);
}

uint64_t sim_kernel_count_ops(const struct sim_kernel *k)
{
	uint64_t n = 0;

	for (size_t i = 0; i < PLAN_OP_KIND_COUNT; i++)
		n += k->ops_by_kind[i];
	return n;
}

/* ---- addresses, sysctls ---- */

bool sim_kernel_has_address(const struct sim_kernel *k, const struct addr *a)
{
	return vec_find(&k->addresses, a, address_compare, NULL) != NULL;
}

void sim_kernel_set_address(struct sim_kernel *k, const struct addr *a, bool present)
{
	size_t index;
	struct addr *there = vec_find(&k->addresses, a, address_compare, &index);

	if (present && !there)
		vec_insert(&k->addresses, index, mem_dup(a, sizeof(*a)));
	if (present || !there)
		return;
	free(there);
	vec_remove(&k->addresses, index);
}

size_t sim_kernel_addresses(struct sim_kernel *k, const struct addr **ret_addresses)
{
	k->address_list = mem_realloc_array(k->address_list, k->addresses.count + 1,
					    sizeof(*k->address_list));
	for (size_t i = 0; i < k->addresses.count; i++)
		k->address_list[i] = *(const struct addr *)k->addresses.items[i];
	*ret_addresses = k->address_list;
	return k->addresses.count;
}

int *sim_kernel_find_sysctl(struct sim_kernel *k, const char *name)
{
	for (size_t i = 0; i < SIM_SYSCTLS; i++)
		if (strcmp(sim_sysctls[i].name, name) == 0)
			return &k->sysctls[i];
	return NULL;
}

int sim_kernel_read_sysctl(const struct sim_kernel *k, const char *name)
{
	if (k->absent && !strchr(name, '.')) /* one of IPVS */
		return -ENOENT;
	for (size_t i = 0; i < SIM_SYSCTLS; i++)
		if (strcmp(sim_sysctls[i].name, name) == 0)
			return k->sysctls[i];
	return -ENOENT;
}

static int run_address(struct sim_kernel *k, const struct plan_op *op)
{
	bool there = sim_kernel_has_address(k, &op->address);

	if (op->kind == PLAN_ADD_ADDRESS && there)
		return -EEXIST;
	if (op->kind == PLAN_DELETE_ADDRESS && !there)
		return -EADDRNOTAVAIL;
	sim_kernel_set_address(k, &op->address, op->kind == PLAN_ADD_ADDRESS);
	return 0;
}

/* ---- operations ---- */

static int run_op(struct sim_kernel *k, const struct plan_op *op)
{
	int *sysctl;

	if (op->kind == PLAN_ADD_ADDRESS || op->kind == PLAN_DELETE_ADDRESS)
		return run_address(k, op);
	if (plan_op_is_ruleset(op->kind))
		return ruleset_apply_op(&k->ruleset, op);
	if (k->absent && (op->kind != PLAN_SET_SYSCTL || !strchr(op->sysctl, '.')))
		return -ENOENT;
	if (op->kind != PLAN_SET_SYSCTL)
		return diff_apply_op(&k->table, op);
	sysctl = sim_kernel_find_sysctl(k, op->sysctl);
	if (!sysctl)
		return -ENOENT;
	*sysctl = op->value;
	return 0;
}

static void take_one(uint32_t *count)
{
	if (*count && *count != SIM_FOREVER)
		(*count)--;
}

static void answer_op(struct sim_kernel *k, struct plan_op *op)
{
	if (k->fail_count[op->kind]) {
		take_one(&k->fail_count[op->kind]);
		op->result = -k->fail_error[op->kind];
		return;
	}
	op->result = run_op(k, op);
	if (k->lose_count) {
		take_one(&k->lose_count);
		op->result = -ETIMEDOUT;
	}
}

int sim_kernel_edit(struct sim_kernel *k, const struct plan_op *op)
{
	return plan_op_is_ruleset(op->kind) ? ruleset_apply_op(&k->ruleset, op)
					    : diff_apply_op(&k->table, op);
}

void sim_kernel_load(struct sim_kernel *k, bool present)
{
	k->absent = !present;
	k->announce = true;
	sim_kernel_empty(k);
}

void sim_kernel_set_flows(struct sim_kernel *k, const struct sim_flows *f)
{
	for (size_t i = 0; i < k->flows.count; i++) {
		struct sim_flows *there = k->flows.items[i];

		if (plan_key_compare(&there->key, &f->key) == 0 && there->port == f->port &&
		    addr_compare(&there->address, &f->address) == 0) {
			there->count = f->count;
			return;
		}
	}
	vec_push(&k->flows, mem_dup(f, sizeof(*f)));
}

/* ---- dumps ---- */

uint32_t sim_kernel_count_flows(const struct sim_kernel *k, const struct plan_key *key,
				const struct addr *a, uint16_t port)
{
	for (size_t i = 0; i < k->flows.count; i++) {
		const struct sim_flows *f = k->flows.items[i];

		if (plan_key_compare(&f->key, key) == 0 && f->port == port &&
		    addr_compare(&f->address, a) == 0)
			return f->count;
	}
	return 0;
}

static void copy_service(const struct sim_kernel *k, const struct plan_service *from,
			 struct plan_service *to)
{
	plan_service_copy(from, to);
	to->counts = mem_alloc_array(to->dest_count + 1, sizeof(*to->counts));
	for (size_t i = 0; i < to->dest_count; i++)
		to->counts[i].active = sim_kernel_count_flows(k, &to->key, &to->dests[i].address,
							      to->dests[i].port);
}

static struct plan_table *copy_table(const struct sim_kernel *k, const struct plan_key *only)
{
	struct plan_table *t = mem_new(struct plan_table);

	t->services = mem_alloc_array(k->table.count + 1, sizeof(*t->services));
	for (size_t i = 0; i < k->table.count; i++) {
		const struct plan_service *s = &k->table.services[i];

		if (!only || plan_key_compare(only, &s->key) == 0)
			copy_service(k, s, &t->services[t->count++]);
	}
	if (!only)
		t->timeouts = k->table.timeouts;
	return t;
}

/* ---- requests ---- */

static struct sim_request *push_request(struct sim_kernel *k, enum sim_request_kind kind,
					usec_t now)
{
	struct sim_request *r = mem_new(struct sim_request);

	r->kind = kind;
	if (kind == SIM_FILL) {
		r->due = now + k->fill_delay;
		vec_push(&k->fills, r);
	} else if (kind == SIM_GUARD || kind == SIM_RULESET) {
		const struct sim_request *before = k->guards.count
							   ? k->guards.items[k->guards.count - 1]
							   : NULL;

		/* One after the other: a program that hangs holds those behind it. */
		r->due = (before && before->due > now ? before->due : now) + k->guard_delay;
		vec_push(&k->guards, r);
	} else {
		r->due = now + k->delay;
		vec_push(&k->requests, r);
	}
	return r;
}

static void take_ops(struct sim_kernel *k, struct sim_request *r, struct plan_ops *ops)
{
	r->ops = *ops;
	memset(ops, 0, sizeof(*ops));
	for (size_t i = 0; i < r->ops.count; i++) {
		k->ops_by_kind[r->ops.ops[i].kind]++;
		if (k->log.count < SIM_LOG_MAX)
			*plan_ops_push(&k->log, r->ops.ops[i].kind) = r->ops.ops[i];
	}
}

void sim_kernel_submit(struct sim_kernel *k, struct plan_ops *ops, usec_t now)
{
	take_ops(k, push_request(k, SIM_OPS, now), ops);
}

void sim_kernel_guard(struct sim_kernel *k, struct plan_ops *ops, usec_t now)
{
	take_ops(k, push_request(k, SIM_GUARD, now), ops);
}

void sim_kernel_fill(struct sim_kernel *k, struct plan_ops *ops, usec_t now)
{
	take_ops(k, push_request(k, SIM_FILL, now), ops);
}

void sim_kernel_request_table(struct sim_kernel *k, usec_t now)
{
	push_request(k, SIM_TABLE, now);
	k->dumps++;
}

void sim_kernel_request_service(struct sim_kernel *k, const struct plan_key *key, usec_t now)
{
	push_request(k, SIM_SERVICE, now)->key = *key;
}

void sim_kernel_request_ruleset(struct sim_kernel *k, usec_t now)
{
	push_request(k, SIM_RULESET, now);
	k->looks++;
}

/* The next one does not know what is in the lists; fills are given up. */
static void forget_lists(struct sim_kernel *k)
{
	static const struct ruleset_list unknown;

	for (size_t i = 0; i < k->ruleset.set_count; i++)
		if (k->ruleset.sets[i].id.kind == RULESET_LIST)
			ruleset_put_list(&k->ruleset, &k->ruleset.sets[i].id, &unknown);
	for (size_t i = 0; i < k->fills.count; i++)
		request_free(k->fills.items[i]);
	vec_clear(&k->fills);
}

static void finish_queue(struct sim_kernel *k, struct vec *queue)
{
	for (size_t i = 0; i < queue->count; i++) {
		struct sim_request *r = queue->items[i];

		for (size_t j = 0; j < r->ops.count; j++)
			answer_op(k, &r->ops.ops[j]);
		request_free(r);
	}
	vec_clear(queue);
}

void sim_kernel_disconnect(struct sim_kernel *k)
{
	finish_queue(k, &k->requests);
	finish_queue(k, &k->guards);
	forget_lists(k);
	k->announce = true;
}

static usec_t queue_due(const struct vec *queue)
{
	return queue->count ? ((const struct sim_request *)queue->items[0])->due : USEC_NEVER;
}

/* The one whose first answer is due first; of equal ones the table's. */
static const struct vec *queue_next(const struct sim_kernel *k)
{
	const struct vec *next = &k->requests;

	if (queue_due(&k->guards) < queue_due(next))
		next = &k->guards;
	return queue_due(&k->fills) < queue_due(next) ? &k->fills : next;
}

usec_t sim_kernel_due(const struct sim_kernel *k)
{
	return k->announce ? 0 : queue_due(queue_next(k));
}

static void answer_read(struct sim_kernel *k, struct engine *e, const struct sim_request *r)
{
	int error = k->absent ? -ENOENT : 0;
	struct plan_table *t;

	if (!error && k->dump_errors) {
		take_one(&k->dump_errors);
		error = -ENOBUFS;
	}
	t = error ? NULL : copy_table(k, r->kind == SIM_SERVICE ? &r->key : NULL);
	if (r->kind == SIM_TABLE) {
		engine_note_table(e, t, error);
		return;
	}
	if (t && t->count == 0) {
		plan_table_free(t);
		t = NULL;
		error = -ESRCH;
	}
	engine_note_service(e, &r->key, t, error);
}

static void answer_look(struct sim_kernel *k, struct engine *e)
{
	struct ruleset *r = NULL;

	if (!k->blind) {
		r = mem_new(struct ruleset);
		ruleset_copy(&k->ruleset, r);
	}
	engine_note_ruleset(e, r, r ? 0 : -EPERM);
}

void sim_kernel_answer(struct sim_kernel *k, struct engine *e, usec_t now)
{
	struct vec *queue;
	struct sim_request *r;

	(void)now;
	if (k->announce) {
		k->announce = false;
		engine_note_availability(e, k->absent ? -ENOENT : 0);
		return;
	}
	queue = (struct vec *)(uintptr_t)queue_next(k);
	r = queue->items[0];
	vec_remove(queue, 0);
	if (r->kind == SIM_GUARD) {
		for (size_t i = 0; i < r->ops.count; i++)
			answer_op(k, &r->ops.ops[i]);
		engine_note_guarded(e, &r->ops);
	} else if (r->kind == SIM_FILL) {
		for (size_t i = 0; i < r->ops.count; i++)
			answer_op(k, &r->ops.ops[i]);
		engine_note_filled(e, &r->ops);
	} else if (r->kind == SIM_OPS) {
		for (size_t i = 0; i < r->ops.count; i++)
			answer_op(k, &r->ops.ops[i]);
		engine_note_ops(e, &r->ops);
	} else if (r->kind == SIM_RULESET) {
		answer_look(k, e);
	} else {
		answer_read(k, e, r);
	}
	request_free(r);
}
