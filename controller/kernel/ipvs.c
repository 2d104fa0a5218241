// SPDX-License-Identifier: GPL-2.0-or-later
// Writes messages; reads none. Every attribute that the daemon sets is named once here.
#include "kernel/ipvs.h"

#include <arpa/inet.h>
#include <linux/genetlink.h>
#include <linux/ip_vs.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static const uint8_t ipvs_commands[PLAN_OP_KIND_COUNT] = {
	[PLAN_SET_TIMEOUTS] = IPVS_CMD_SET_CONFIG,    [PLAN_ADD_SERVICE] = IPVS_CMD_NEW_SERVICE,
	[PLAN_EDIT_SERVICE] = IPVS_CMD_SET_SERVICE,   [PLAN_ADD_DEST] = IPVS_CMD_NEW_DEST,
	[PLAN_EDIT_DEST] = IPVS_CMD_SET_DEST,         [PLAN_DELETE_DEST] = IPVS_CMD_DEL_DEST,
	[PLAN_DELETE_SERVICE] = IPVS_CMD_DEL_SERVICE,
};

static void ipvs_begin(struct netmsg *m, uint16_t family, uint8_t command, uint16_t flags)
{
	const struct genlmsghdr head = {.cmd = command, .version = IPVS_GENL_VERSION};

	netmsg_begin(m, family, flags);
	netmsg_put_head(m, &head, sizeof(head));
}

static void ipvs_put_key(struct netmsg *m, const struct plan_key *k)
{
	netmsg_put_u16(m, IPVS_SVC_ATTR_AF, k->family);
	if (k->fwmark) {
		netmsg_put_u32(m, IPVS_SVC_ATTR_FWMARK, k->fwmark);
		return;
	}
	netmsg_put_u16(m, IPVS_SVC_ATTR_PROTOCOL, k->protocol);
	netmsg_put(m, IPVS_SVC_ATTR_ADDR, k->address.bytes, sizeof(k->address.bytes));
	netmsg_put_u16(m, IPVS_SVC_ATTR_PORT, htons(k->port));
}

static void ipvs_put_key_only(struct netmsg *m, const struct plan_key *k)
{
	size_t nest = netmsg_begin_nest(m, IPVS_CMD_ATTR_SERVICE);

	ipvs_put_key(m, k);
	netmsg_end_nest(m, nest);
}

/* The kernel refuses an IPv6 service without a prefix length, persistent or not. */
static uint32_t ipvs_netmask(const struct plan_service *s)
{
	if (s->flags & IP_VS_SVC_F_PERSISTENT)
		return s->netmask;
	return s->key.family == AF_INET6 ? 128 : UINT32_MAX;
}

static void ipvs_put_service(struct netmsg *m, const struct plan_service *s)
{
	const struct ip_vs_flags flags = {.flags = s->flags, .mask = PLAN_FLAGS_MASK};
	size_t nest = netmsg_begin_nest(m, IPVS_CMD_ATTR_SERVICE);

	ipvs_put_key(m, &s->key);
	netmsg_put_text(m, IPVS_SVC_ATTR_SCHED_NAME, s->scheduler);
	if (s->engine[0])
		netmsg_put_text(m, IPVS_SVC_ATTR_PE_NAME, s->engine);
	netmsg_put(m, IPVS_SVC_ATTR_FLAGS, &flags, sizeof(flags));
	netmsg_put_u32(m, IPVS_SVC_ATTR_TIMEOUT,
		       s->flags & IP_VS_SVC_F_PERSISTENT ? s->timeout : 0);
	netmsg_put_u32(m, IPVS_SVC_ATTR_NETMASK, ipvs_netmask(s));
	netmsg_end_nest(m, nest);
}

static void ipvs_put_dest(struct netmsg *m, const struct plan_dest *d, enum plan_op_kind kind)
{
	size_t nest = netmsg_begin_nest(m, IPVS_CMD_ATTR_DEST);

	netmsg_put(m, IPVS_DEST_ATTR_ADDR, d->address.bytes, sizeof(d->address.bytes));
	netmsg_put_u16(m, IPVS_DEST_ATTR_PORT, htons(d->port));
	netmsg_put_u16(m, IPVS_DEST_ATTR_ADDR_FAMILY, d->address.family);
	if (kind != PLAN_DELETE_DEST) {
		netmsg_put_u32(m, IPVS_DEST_ATTR_FWD_METHOD, d->forward);
		netmsg_put_u32(m, IPVS_DEST_ATTR_WEIGHT, d->weight);
		netmsg_put_u32(m, IPVS_DEST_ATTR_U_THRESH, d->upper);
		netmsg_put_u32(m, IPVS_DEST_ATTR_L_THRESH, d->lower);
	}
	if (kind != PLAN_DELETE_DEST && d->forward == IP_VS_CONN_F_TUNNEL) {
		netmsg_put_u8(m, IPVS_DEST_ATTR_TUN_TYPE, d->tunnel_type);
		netmsg_put_u16(m, IPVS_DEST_ATTR_TUN_PORT, htons(d->tunnel_port));
		netmsg_put_u16(m, IPVS_DEST_ATTR_TUN_FLAGS, d->tunnel_flags);
	}
	netmsg_end_nest(m, nest);
}

/* The kernel leaves alone what is 0 or not there. */
static void ipvs_put_timeouts(struct netmsg *m, const struct plan_timeouts *t)
{
	static const uint16_t attributes[] = {
		[PLAN_TIMEOUT_TCP] = IPVS_CMD_ATTR_TIMEOUT_TCP,
		[PLAN_TIMEOUT_TCP_FIN] = IPVS_CMD_ATTR_TIMEOUT_TCP_FIN,
		[PLAN_TIMEOUT_UDP] = IPVS_CMD_ATTR_TIMEOUT_UDP};

	for (size_t i = 0; i < PLAN_TIMEOUTS; i++)
		if (t->s[i])
			netmsg_put_u32(m, attributes[i], t->s[i]);
}

void ipvs_put_op(struct netmsg *m, uint16_t family, const struct plan_op *op)
{
	uint8_t command = ipvs_commands[op->kind];

	assert(command);
	ipvs_begin(m, family, command, 0);
	if (op->kind == PLAN_SET_TIMEOUTS)
		ipvs_put_timeouts(m, &op->timeouts);
	else if (op->kind == PLAN_ADD_SERVICE || op->kind == PLAN_EDIT_SERVICE)
		ipvs_put_service(m, &op->service);
	else
		ipvs_put_key_only(m, &op->service.key);
	if (op->kind == PLAN_ADD_DEST || op->kind == PLAN_EDIT_DEST || op->kind == PLAN_DELETE_DEST)
		ipvs_put_dest(m, &op->dest, op->kind);
	netmsg_end(m);
}

void ipvs_put_get_services(struct netmsg *m, uint16_t family)
{
	ipvs_begin(m, family, IPVS_CMD_GET_SERVICE, NLM_F_DUMP);
	netmsg_end(m);
}

void ipvs_put_get_dests(struct netmsg *m, uint16_t family, const struct plan_key *k)
{
	ipvs_begin(m, family, IPVS_CMD_GET_DEST, NLM_F_DUMP);
	ipvs_put_key_only(m, k);
	netmsg_end(m);
}

void ipvs_put_get_service(struct netmsg *m, uint16_t family, const struct plan_key *k)
{
	ipvs_begin(m, family, IPVS_CMD_GET_SERVICE, NLM_F_ACK);
	ipvs_put_key_only(m, k);
	netmsg_end(m);
}

void ipvs_put_get_config(struct netmsg *m, uint16_t family)
{
	ipvs_begin(m, family, IPVS_CMD_GET_CONFIG, NLM_F_ACK);
	netmsg_end(m);
}

void ipvs_put_get_info(struct netmsg *m, uint16_t family)
{
	ipvs_begin(m, family, IPVS_CMD_GET_INFO, NLM_F_ACK);
	netmsg_end(m);
}

void ipvs_put_get_family(struct netmsg *m)
{
	const struct genlmsghdr head = {.cmd = CTRL_CMD_GETFAMILY, .version = 1};

	netmsg_begin(m, GENL_ID_CTRL, NLM_F_ACK);
	netmsg_put_head(m, &head, sizeof(head));
	netmsg_put_text(m, CTRL_ATTR_FAMILY_NAME, IPVS_GENL_NAME);
	netmsg_end(m);
}

/* ---- modules -------------------------------------------------------------------------------- */

static bool ipvs_is_loaded(const struct ipvs_modules *loaded, const char *name)
{
	for (size_t i = 0; i < loaded->count; i++)
		if (!strcmp(loaded->names[i], name))
			return true;
	return false;
}

static void ipvs_note_name(struct ipvs_modules *loaded, const char name[PLAN_SCHEDULER_MAX])
{
	const size_t limit = sizeof(loaded->names) / sizeof(loaded->names[0]);

	if (name[0] && loaded->count < limit && !ipvs_is_loaded(loaded, name))
		memcpy(loaded->names[loaded->count++], name, PLAN_SCHEDULER_MAX);
}

/* A look into sysfs instead of a thread, for a kernel that has the module already. */
static bool ipvs_has_module(struct ipvs_modules *loaded, const char *prefix,
			    const char name[PLAN_SCHEDULER_MAX])
{
	char path[128];

	if (ipvs_is_loaded(loaded, name))
		return true;
	if (!loaded->folder)
		return false;
	snprintf(path, sizeof(path), "%s/%s%s", loaded->folder, prefix, name);
	if (access(path, F_OK) != 0)
		return false;
	ipvs_note_name(loaded, name);
	return true;
}

bool ipvs_may_load(struct ipvs_modules *loaded, const struct plan_op *op)
{
	if (op->kind != PLAN_ADD_SERVICE && op->kind != PLAN_EDIT_SERVICE)
		return false;
	return !ipvs_has_module(loaded, "ip_vs_", op->service.scheduler) ||
	       (op->service.engine[0] && !ipvs_has_module(loaded, "ip_vs_pe_", op->service.engine));
}

void ipvs_note_loaded(struct ipvs_modules *loaded, const struct plan_service *s)
{
	ipvs_note_name(loaded, s->scheduler);
	ipvs_note_name(loaded, s->engine);
}
