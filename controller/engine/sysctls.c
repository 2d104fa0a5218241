// SPDX-License-Identifier: GPL-2.0-or-later
// Which sysctls of net.ipv4.vs the document needs. They hold for the whole namespace; old values are kept and put back.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/override_parts.h"

enum { EXPIRE_NODEST, EXPIRE_QUIESCENT, CONNTRACK };

static bool listener_needs(const struct snapshot *s, const struct load_balancer *lb,
			   const struct listener *l, size_t which)
{
	if (which == CONNTRACK)
		return lb->snat != SNAT_OFF;
	if (which == EXPIRE_NODEST)
		return desired_cuts_flows(s, l);
	return l->persistence_s > 0;
}

/* The first listener that needs the sysctl, or NULL. */
static const struct listener *find_need(const struct snapshot *s, size_t which,
					const struct load_balancer **ret_lb)
{
	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];

		for (size_t j = 0; lb->enabled && j < lb->listeners.count; j++) {
			if (!listener_needs(s, lb, lb->listeners.items[j], which))
				continue;
			*ret_lb = lb;
			return lb->listeners.items[j];
		}
	}
	return NULL;
}

/* The value that the sysctl has, if the document needs it to be another one; else 1. */
static int read_needed(const struct engine *e, const struct snapshot *s, size_t which)
{
	const struct load_balancer *lb;
	bool needed = find_need(s, which, &lb) ||
		      (which == EXPIRE_NODEST && overrides_remove_now(e));

	if (!e->settings.manage_sysctls || e->settings.kernel_off || !needed)
		return 1;
	return e->ports.kernel_read_sysctl(e->ports.ctx, e->sysctls[which].name);
}

static void submit(struct plan_ops *ops, const struct engine_sysctl *c, int value)
{
	struct plan_op *op = plan_ops_push(ops, PLAN_SET_SYSCTL);

	op->sysctl = c->name;
	op->value = value;
}

void sysctls_preview(const struct engine *e, const struct snapshot *s, struct plan_ops *ops)
{
	for (size_t i = 0; i < ENGINE_SYSCTLS; i++)
		if (read_needed(e, s, i) != 1)
			submit(ops, &e->sysctls[i], 1);
}

void sysctls_plan(struct engine *e)
{
	for (size_t i = 0; i < ENGINE_SYSCTLS && !e->flushing; i++) {
		struct engine_sysctl *c = &e->sysctls[i];
		int now = c->submitted ? 1 : read_needed(e, e->snapshot, i);

		if (now == 1)
			continue;
		if (c->old_value < 0 && now >= 0) {
			c->old_value = now;
			rows_put(e, "sysctl", c->name, mem_printf("%d", now));
		}
		submit(&e->ops, c, 1);
		c->submitted = true;
	}
}

void sysctls_note_op(struct engine *e, const struct plan_op *op)
{
	for (size_t i = 0; i < ENGINE_SYSCTLS; i++)
		if (strcmp(e->sysctls[i].name, op->sysctl) == 0)
			e->sysctls[i].submitted = false;
}

void sysctls_load_row(struct engine *e, const struct store_row *row)
{
	for (size_t i = 0; i < ENGINE_SYSCTLS; i++)
		if (strcmp(e->sysctls[i].name, row->key) == 0)
			e->sysctls[i].old_value = (int)strtol(row->value, NULL, 10);
}

void sysctls_restore(struct engine *e)
{
	for (size_t i = 0; i < ENGINE_SYSCTLS; i++) {
		struct engine_sysctl *c = &e->sysctls[i];

		if (c->old_value < 0)
			continue;
		submit(&e->ops, c, c->old_value);
		c->old_value = -1;
		rows_put(e, "sysctl", c->name, NULL);
	}
	engine_mark(e, MARK_KERNEL);
}

/* IPVS leaves the flows of UDP untracked otherwise, so that no packet could be told to be the first one. */
static void check_udp_limits(struct engine *e, const struct snapshot *s, struct err *err)
{
	char pointer[ERR_POINTER_MAX];

	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];

		for (size_t j = 0; lb->enabled && j < lb->listeners.count; j++) {
			const struct listener *l = lb->listeners.items[j];

			if (!l->rate_limit || l->protocol != PROTOCOL_UDP ||
			    e->ports.kernel_read_sysctl(e->ports.ctx, "conntrack") == 1)
				continue;
			snprintf(pointer, sizeof(pointer),
				 "/load_balancers/%s/listeners/%s/rate_limit", lb->o.name,
				 l->o.name);
			err_set(err, ERR_UNSUPPORTED, pointer,
				"with protocol udp it needs the sysctl net.ipv4.vs.conntrack = 1, for new flows "
				"are told by connection tracking, which costs every packet: sysctl -w "
				"net.ipv4.vs.conntrack=1");
		}
	}
}

void sysctls_check(struct engine *e, const struct snapshot *s, struct err *err)
{
	static const char *const reasons[] = {
		[EXPIRE_NODEST] =
			"flows of a removed server are cut (on_unhealthy terminate, UDP, or scheduler dh)",
		[EXPIRE_QUIESCENT] =
			"persistence would keep sending clients to a server with weight 0",
		[CONNTRACK] =
			"snat of its load balancer changes the source of connections that are tracked",
	};

	if (!e->settings.kernel_off)
		check_udp_limits(e, s, err);
	if (e->settings.manage_sysctls || e->settings.kernel_off)
		return;
	for (size_t i = 0; i < ENGINE_SYSCTLS; i++) {
		const struct load_balancer *lb;
		const struct listener *l = find_need(s, i, &lb);
		char pointer[ERR_POINTER_MAX];

		if (!l || e->ports.kernel_read_sysctl(e->ports.ctx, e->sysctls[i].name) == 1)
			continue;
		snprintf(pointer, sizeof(pointer), "/load_balancers/%s/listeners/%s", lb->o.name,
			 l->o.name);
		err_set(err, ERR_UNSUPPORTED, pointer,
			"needs the sysctl net.ipv4.vs.%s = 1, because %s; this node may not set it ([kernel] "
			"manage_sysctls = no): set it by hand, or allow it",
			e->sysctls[i].name, reasons[i]);
	}
}
