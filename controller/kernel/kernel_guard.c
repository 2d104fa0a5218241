// SPDX-License-Identifier: GPL-2.0-or-later
// Sets over their own netlink socket, rules by programs; and the look at both. A family none of whose sets exists has no rules of
// ours: they look into the sets, which the kernel therefore keeps.
#include "kernel/kernel_parts.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kernel/ipset.h"
#include "kernel/ipset_parse.h"

static int kernel_guard_open(struct kernel *k)
{
	return k->sets ? 0 : channel_new(k->loop, NETLINK_NETFILTER, &k->sets);
}

/* ---- operations ----------------------------------------------------------------------------- */

static void kernel_guard_put_op(void *ctx, struct netmsg *m, const struct plan_op *op)
{
	(void)ctx;
	ipset_put_op(m, op);
}

/* The type of a set, or ipset itself. */
static bool kernel_guard_may_load(void *ctx, const struct plan_op *op)
{
	const struct kernel *k = ctx;

	return op->kind == PLAN_ADD_SET || !k->sets_spoken;
}

static void kernel_guard_note_op(void *ctx, const struct plan_op *op)
{
	struct kernel *k = ctx;

	if (!op->result)
		k->sets_spoken = true;
}

bool kernel_guard_run_sets(struct kernel *k, struct plan_op *ops, size_t count)
{
	int error = kernel_guard_open(k);

	if (!error) {
		k->set_batch.channel = k->sets;
		batch_start(&k->set_batch, ops, count);
		return true;
	}
	for (size_t i = 0; i < count; i++)
		ops[i].result = error;
	return false;
}

void kernel_guard_run_rules(struct kernel *k, const struct plan_op *op)
{
	rules_start(&k->rules, op->kind == PLAN_SET_RULES ? RULES_SET : RULES_DELETE, op->family);
}

/* ---- the look ------------------------------------------------------------------------------- */

static void kernel_guard_finish(struct kernel *k, int error)
{
	struct ruleset *r = NULL;

	kernel_free_job(kernel_pop(k));
	if (!error) {
		r = mem_new(struct ruleset);
		*r = k->look.found;
		ruleset_sort(r);
	} else {
		ruleset_clear(&k->look.found);
	}
	k->look.found = (struct ruleset){0};
	k->cb.ruleset(k->cb.ctx, r, error);
}

static void kernel_guard_look_on(struct kernel *k);

static void kernel_guard_on_chain(struct kernel *k, enum ruleset_chain chain, int error)
{
	if (error) {
		kernel_guard_finish(k, error);
		return;
	}
	k->look.found.chains[k->look.family++] = chain;
	kernel_guard_look_on(k);
}

static void kernel_guard_on_rules(void *ctx, enum rules_work work, enum ruleset_chain chain,
				  int error)
{
	if (work == RULES_READ)
		kernel_guard_on_chain(ctx, chain, error);
	else
		kernel_run_rules_done(ctx, error);
}

static void kernel_guard_look_at_chains(struct kernel *k)
{
	while (k->look.family < RULESET_FAMILY_COUNT && !k->look.found.sets[k->look.family])
		k->look.family++;
	if (k->look.family == RULESET_FAMILY_COUNT)
		kernel_guard_finish(k, 0);
	else
		rules_start(&k->rules, RULES_READ, k->look.family);
}

static void kernel_guard_on_entries(void *ctx, const struct nlmsghdr *m)
{
	struct kernel *k = ctx;

	if (ipset_parse_list(m, k->look.family, k->look.set, &k->look.found))
		k->look.error = -EBADMSG;
}

static void kernel_guard_on_error(void *ctx, uint32_t index, int error)
{
	struct kernel *k = ctx;

	(void)index;
	if (error == -ENOENT)
		k->look.missing = true;
	else
		k->look.error = error;
}

static void kernel_guard_on_set_end(void *ctx, int error)
{
	struct kernel *k = ctx;

	if (!error)
		error = k->look.error;
	if (error) {
		kernel_guard_finish(k, error);
		return;
	}
	k->sets_spoken = true;
	if (!k->look.missing)
		k->look.found.sets[k->look.family] |= 1U << k->look.set;
	k->look.set++;
	if (k->look.set == RULESET_SET_COUNT && k->look.family + 1 < RULESET_FAMILY_COUNT) {
		k->look.set = 0;
		k->look.family++;
	}
	if (k->look.set == RULESET_SET_COUNT)
		k->look.family = 0; /* now their chains */
	kernel_guard_look_on(k);
}

static void kernel_guard_look_on(struct kernel *k)
{
	const struct channel_events events = {.ctx = k,
					      .data = kernel_guard_on_entries,
					      .error = kernel_guard_on_error,
					      .end = kernel_guard_on_set_end};

	if (k->look.set == RULESET_SET_COUNT) {
		kernel_guard_look_at_chains(k);
		return;
	}
	k->look.missing = false;
	ipset_put_list(channel_begin(k->sets), k->look.family, k->look.set);
	if (k->sets_spoken)
		channel_send(k->sets, &events);
	else
		channel_send_aside(k->sets, &events);
}

void kernel_guard_read(struct kernel *k)
{
	int error = kernel_guard_open(k);

	k->busy = true;
	k->look = (struct kernel_guard_look){0};
	if (error)
		kernel_guard_finish(k, error);
	else
		kernel_guard_look_on(k);
}

void kernel_guard_read_memory(struct kernel *k)
{
	ruleset_copy(&k->memory.ruleset, &k->look.found);
	kernel_guard_finish(k, 0);
}

static void kernel_guard_on_complaint(void *ctx, const char *program, const char *text)
{
	struct kernel *k = ctx;

	k->cb.complained(k->cb.ctx, program, text);
}

void kernel_guard_ready(struct kernel *k)
{
	k->set_batch = (struct batch){.ctx = k,
				      .put = kernel_guard_put_op,
				      .may_load = kernel_guard_may_load,
				      .note = kernel_guard_note_op,
				      .done = kernel_run_on_end};
	k->rules = (struct rules){.loop = k->loop,
				  .iptables = k->settings.iptables,
				  .ctx = k,
				  .done = kernel_guard_on_rules,
				  .complained = kernel_guard_on_complaint};
}

void kernel_guard_close(struct kernel *k)
{
	channel_free(k->sets);
	rules_clear(&k->rules);
	ruleset_clear(&k->look.found);
}
