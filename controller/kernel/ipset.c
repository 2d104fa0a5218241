// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses and ports of ipset are in network order, and their attributes say so; nests say that they are nests.
#include "kernel/ipset.h"

#include <arpa/inet.h>
#include <linux/netfilter/ipset/ip_set.h>
#include <linux/netfilter/ipset/ip_set_hash.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <string.h>

#include "base/mem.h"

/* Set types since Linux 3.x: 1 brought SCTP to hash:ip,port. */
#define REVISION_IP      0
#define REVISION_IP_PORT 1
#define ENTRIES_MAX      1048576

static const uint8_t ipset_commands[PLAN_OP_KIND_COUNT] = {
	[PLAN_ADD_SET] = IPSET_CMD_CREATE,
	[PLAN_ADD_ENTRY] = IPSET_CMD_ADD,
	[PLAN_DELETE_ENTRY] = IPSET_CMD_DEL,
	[PLAN_DELETE_SET] = IPSET_CMD_DESTROY,
};

static void ipset_begin(struct netmsg *m, uint8_t command, uint16_t flags, enum ruleset_family f)
{
	const struct nfgenmsg head = {.nfgen_family = ruleset_address_family(f),
				      .version = NFNETLINK_V0};

	netmsg_begin(m, (uint16_t)(NFNL_SUBSYS_IPSET << 8 | command), flags);
	netmsg_put_head(m, &head, sizeof(head));
	netmsg_put_u8(m, IPSET_ATTR_PROTOCOL, IPSET_PROTOCOL_MIN);
}

static void ipset_put_name(struct netmsg *m, enum ruleset_family f, enum ruleset_set s)
{
	char name[RULESET_NAME_MAX];

	netmsg_put_text(m, IPSET_ATTR_SETNAME, ruleset_set_name(f, s, name));
}

static void ipset_put_type(struct netmsg *m, enum ruleset_family f, enum ruleset_set s)
{
	bool ports = s == RULESET_OPEN;
	size_t nest;

	netmsg_put_text(m, IPSET_ATTR_TYPENAME, ports ? "hash:ip,port" : "hash:ip");
	netmsg_put_u8(m, IPSET_ATTR_REVISION, ports ? REVISION_IP_PORT : REVISION_IP);
	netmsg_put_u8(m, IPSET_ATTR_FAMILY, ruleset_address_family(f));
	nest = netmsg_begin_nest(m, IPSET_ATTR_DATA);
	netmsg_put_u32(m, IPSET_ATTR_MAXELEM | NLA_F_NET_BYTEORDER, htonl(ENTRIES_MAX));
	netmsg_end_nest(m, nest);
}

static void ipset_put_entry(struct netmsg *m, const struct ruleset_entry *e)
{
	bool v4 = e->address.family == AF_INET;
	size_t data = netmsg_begin_nest(m, IPSET_ATTR_DATA);
	size_t ip = netmsg_begin_nest(m, IPSET_ATTR_IP);

	netmsg_put(m, (v4 ? IPSET_ATTR_IPADDR_IPV4 : IPSET_ATTR_IPADDR_IPV6) | NLA_F_NET_BYTEORDER,
		   e->address.bytes, v4 ? 4 : 16);
	netmsg_end_nest(m, ip);
	if (e->set == RULESET_OPEN) {
		netmsg_put_u16(m, IPSET_ATTR_PORT | NLA_F_NET_BYTEORDER, htons(e->port));
		netmsg_put_u8(m, IPSET_ATTR_PROTO, e->protocol);
	}
	netmsg_end_nest(m, data);
}

void ipset_put_op(struct netmsg *m, const struct plan_op *op)
{
	uint8_t command = ipset_commands[op->kind];

	assert(command);
	/* Without NLM_F_EXCL: as "-exist". */
	ipset_begin(m, command, 0, op->family);
	ipset_put_name(m, op->family, op->entry.set);
	if (op->kind == PLAN_ADD_SET)
		ipset_put_type(m, op->family, op->entry.set);
	else if (op->kind != PLAN_DELETE_SET)
		ipset_put_entry(m, &op->entry);
	netmsg_end(m);
}

void ipset_put_list(struct netmsg *m, enum ruleset_family f, enum ruleset_set s)
{
	ipset_begin(m, IPSET_CMD_LIST, NLM_F_DUMP, f);
	ipset_put_name(m, f, s);
	netmsg_end(m);
}

const char *ipset_advise(int error)
{
	switch (-error) {
	case IPSET_ERR_FIND_TYPE:
		return "this kernel has no such type of sets: modprobe ip_set_hash_ip ip_set_hash_ipport";
	case IPSET_ERR_BUSY:
		return "a rule of somebody else looks into the set: remove that rule, the set goes at the next look";
	case IPSET_ERR_HASH_FULL:
		return "the set is full: a million entries are the most";
	case IPSET_ERR_MAX_SETS:
		return "the kernel has no room for more sets: modprobe ip_set max_sets=1024";
	case IPSET_ERR_PROTOCOL:
		return "the kernel's ipset does not take this: it is older than Linux 5.10, or another program's set "
		       "has the name";
	}
	return NULL;
}
