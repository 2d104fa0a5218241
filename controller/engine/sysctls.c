// SPDX-License-Identifier: GPL-2.0-or-later
// Which sysctls the document needs of this node. They hold for the whole namespace; old values are kept and put back. Where they may not
// be set, what needs those of net.ipv4.vs is refused; forwarding is the doctor's to tell.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/override_parts.h"
#include "engine/row_json.h"

enum sysctl { EXPIRE_NODEST, EXPIRE_QUIESCENT, CONNTRACK, FORWARD4, FORWARD6 };

/* Below net.ipv4.vs, or in full. */
static const char *const names[] = {
	[EXPIRE_NODEST] = "expire_nodest_conn",
	[EXPIRE_QUIESCENT] = "expire_quiescent_template",
	[CONNTRACK] = "conntrack",
	[FORWARD4] = "net.ipv4.ip_forward",
	[FORWARD6] = "net.ipv6.conf.all.forwarding",
};
_Static_assert(sizeof(names) / sizeof(names[0]) == ENGINE_SYSCTLS, "a name each");

/* A router takes router advertisements where this is 2, and where it is 1 only hosts do. */
#define ACCEPT_RA        "net.ipv6.conf.*.accept_ra"
#define ACCEPT_RA_ALWAYS 2

void sysctls_init(struct engine *e)
{
	for (size_t i = 0; i < ENGINE_SYSCTLS; i++)
		e->sysctls[i] = (struct engine_sysctl){.name = names[i], .old_value = -1};
}

/* ---- what needs them ---- */

/* This node programs a VIP of it, of the family (0: any). */
static bool lb_is_here(const struct engine *e, const struct load_balancer *lb, uint8_t family)
{
	for (size_t i = 0; lb->enabled && i < lb->zones.count; i++) {
		const struct lb_zone *z = lb->zones.items[i];
		bool has = (family != AF_INET6 && addr_is_set(&z->vip4)) ||
			   (family != AF_INET && addr_is_set(&z->vip6));

		if (has && services_has_zone(e, z->o.name))
			return true;
	}
	return false;
}

static bool group_has_nat(const struct server_group *g, uint8_t family)
{
	for (size_t i = 0; g && i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];

		if (s->address.family == family && desired_forward(g, s) == FORWARD_NAT)
			return true;
	}
	return false;
}

/* Servers of the family answer through this host. */
static bool forwards(const struct snapshot *s, const struct listener *l, uint8_t family)
{
	const struct server_group *g = snapshot_find_group(s, l->server_group);

	return group_has_nat(g, family) ||
	       (g && g->when_none_healthy == NONE_HEALTHY_BACKUP && g->backup_group &&
		group_has_nat(snapshot_find_group(s, g->backup_group), family));
}

static bool listener_needs(const struct snapshot *s, const struct load_balancer *lb,
			   const struct listener *l, enum sysctl which)
{
	switch (which) {
	case EXPIRE_NODEST:
		return desired_cuts_flows(s, l);
	case EXPIRE_QUIESCENT:
		return l->persistence_s > 0;
	case CONNTRACK:
		return lb->snat != SNAT_OFF || l->max_connections ||
		       (l->rate_limit && l->protocol == PROTOCOL_UDP);
	case FORWARD4:
		return forwards(s, l, AF_INET);
	case FORWARD6:
		return forwards(s, l, AF_INET6);
	}
	return false;
}

/* The first listener of this node that needs the sysctl, or NULL. */
static const struct listener *find_need(const struct engine *e, const struct snapshot *s,
					enum sysctl which, const struct load_balancer **ret_lb)
{
	const uint8_t family = which == FORWARD4 ? AF_INET : which == FORWARD6 ? AF_INET6 : 0;

	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];
		const bool here = lb_is_here(e, lb, family);

		for (size_t j = 0; here && j < lb->listeners.count; j++) {
			if (!listener_needs(s, lb, lb->listeners.items[j], which))
				continue;
			*ret_lb = lb;
			return lb->listeners.items[j];
		}
	}
	return NULL;
}

/* ---- the plan ---- */

/* The value that the sysctl has, if it is needed to be another one; else 1. */
static int read_needed(const struct engine *e, enum sysctl which, bool needed)
{
	needed = needed || (which == EXPIRE_NODEST && overrides_remove_now(e));
	if (!e->settings.manage_sysctls || e->settings.kernel_off || !needed)
		return 1;
	return e->ports.kernel_read_sysctl(e->ports.ctx, e->sysctls[which].name);
}

static void push(struct plan_ops *ops, const char *name, int value)
{
	struct plan_op *op = plan_ops_push(ops, PLAN_SET_SYSCTL);

	op->sysctl = name;
	op->value = value;
}

/* Before it forwards IPv6, or the routers that it knows by their advertisements are forgotten. */
static void submit(struct plan_ops *ops, const struct engine_sysctl *c, int value)
{
	if (c->name == names[FORWARD6] && value)
		push(ops, ACCEPT_RA, ACCEPT_RA_ALWAYS);
	push(ops, c->name, value);
}

void sysctls_sync(struct engine *e)
{
	const struct load_balancer *lb;

	for (enum sysctl i = 0; i < ENGINE_SYSCTLS; i++)
		e->sysctls[i].needed = find_need(e, e->snapshot, i, &lb) != NULL;
}

void sysctls_preview(const struct engine *e, const struct snapshot *s, struct plan_ops *ops)
{
	const struct load_balancer *lb;

	for (enum sysctl i = 0; i < ENGINE_SYSCTLS; i++)
		if (read_needed(e, i, find_need(e, s, i, &lb)) != 1)
			submit(ops, &e->sysctls[i], 1);
}

/* Those of IPVS are gone with it, and the others are not. */
static bool is_there(const struct engine *e, const struct engine_sysctl *c)
{
	return e->kernel_available || !e->availability_known || strchr(c->name, '.');
}

/* Until the kernel has taken them they are not forgotten. */
static void restore(struct engine *e)
{
	for (size_t i = 0; i < ENGINE_SYSCTLS; i++) {
		struct engine_sysctl *c = &e->sysctls[i];

		if (c->old_value < 0 || c->submitted || !is_there(e, c))
			continue;
		submit(&e->ops, c, c->old_value);
		c->submitted = true;
	}
}

void sysctls_forget(struct engine *e)
{
	for (size_t i = 0; i < ENGINE_SYSCTLS; i++)
		e->sysctls[i].submitted = false;
}

bool sysctls_are_restored(const struct engine *e)
{
	for (size_t i = 0; i < ENGINE_SYSCTLS; i++)
		if (e->sysctls[i].old_value >= 0 && is_there(e, &e->sysctls[i]))
			return false;
	return true;
}

void sysctls_restore(struct engine *e)
{
	sysctls_forget(e); /* whatever is on its way: this goes behind it */
	restore(e);
	engine_mark(e, MARK_KERNEL);
}

void sysctls_plan(struct engine *e)
{
	if (e->flushing)
		restore(e);
	for (enum sysctl i = 0; i < ENGINE_SYSCTLS && !e->flushing; i++) {
		struct engine_sysctl *c = &e->sysctls[i];
		int now = c->submitted ? 1 : read_needed(e, i, c->needed);

		if (now == 1) {
			c->fault = c->submitted ? c->fault : 0;
			continue;
		}
		if (c->old_value < 0 && now >= 0) {
			c->old_value = now;
			rows_put(e, "sysctl", c->name, mem_printf("%d %s", now, row_json_boot(e)));
		}
		submit(&e->ops, c, 1);
		c->submitted = true;
	}
}

void sysctls_note_op(struct engine *e, const struct plan_op *op)
{
	for (size_t i = 0; i < ENGINE_SYSCTLS; i++) {
		struct engine_sysctl *c = &e->sysctls[i];

		if (strcmp(c->name, op->sysctl) != 0)
			continue;
		c->submitted = false;
		c->fault = op->result ? c->fault : 0;
		if (!e->flushing || op->result || op->value != c->old_value)
			continue;
		c->old_value = -1; /* it is put back */
		rows_put(e, "sysctl", c->name, NULL);
	}
}

bool sysctls_note_failure(struct engine *e, const struct plan_op *op)
{
	struct engine_sysctl *c = &e->sysctls[FORWARD6]; /* accept_ra, which goes before it */
	bool news;

	for (size_t i = 0; i < ENGINE_SYSCTLS; i++)
		if (strcmp(e->sysctls[i].name, op->sysctl) == 0)
			c = &e->sysctls[i];
	news = c->fault != op->result;
	c->fault = op->result;
	return news;
}

/* "VALUE BOOT": in another boot somebody else has set what is 1. A row of before says no boot. */
void sysctls_load_row(struct engine *e, const struct store_row *row)
{
	char *boot;
	const int value = (int)strtol(row->value, &boot, 10);

	boot += strspn(boot, " ");
	for (size_t i = 0; i < ENGINE_SYSCTLS; i++)
		if (strcmp(e->sysctls[i].name, row->key) == 0 &&
		    (!*boot || strcmp(boot, row_json_boot(e)) == 0))
			e->sysctls[i].old_value = value;
}

/* ---- what is refused ---- */

/* Why a listener needs the sysctl, and the member that says so ("" = the listener). */
struct need {
	const char *member;
	const char *reason;
};

static struct need describe_need(const struct load_balancer *lb, const struct listener *l,
				 enum sysctl which)
{
	if (which == EXPIRE_NODEST)
		return (struct need){
			"",
			"flows of a removed server are cut (on_unhealthy terminate, UDP, or scheduler dh)"};
	if (which == EXPIRE_QUIESCENT)
		return (struct need){
			"", "persistence would keep sending clients to a server with weight 0"};
	if (lb->snat != SNAT_OFF)
		return (struct need){
			"",
			"snat of its load balancer changes the source of connections that are tracked"};
	if (l->max_connections)
		return (struct need){"/max_connections",
				     "open connections are counted by connection tracking"};
	return (struct need){"/rate_limit",
			     "with protocol udp new flows are told by connection tracking"};
}

void sysctls_check(struct engine *e, const struct snapshot *s, struct err *err)
{
	if (e->settings.manage_sysctls || e->settings.kernel_off)
		return;
	for (enum sysctl i = EXPIRE_NODEST; i <= CONNTRACK; i++) {
		const struct load_balancer *lb;
		const struct listener *l = find_need(e, s, i, &lb);
		char pointer[ERR_POINTER_MAX];
		struct need need;

		if (!l || e->ports.kernel_read_sysctl(e->ports.ctx, names[i]) == 1)
			continue;
		need = describe_need(lb, l, i);
		snprintf(pointer, sizeof(pointer), "/load_balancers/%s/listeners/%s%s", lb->o.name,
			 l->o.name, need.member);
		err_set(err, ERR_UNSUPPORTED, pointer,
			"needs the sysctl net.ipv4.vs.%s = 1, because %s; this node may not set it ([kernel] "
			"manage_sysctls = no): sysctl -w net.ipv4.vs.%s=1, or allow it",
			names[i], need.reason, names[i]);
	}
}
