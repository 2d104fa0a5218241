// SPDX-License-Identifier: GPL-2.0-or-later
// Attributes by libnl, with a policy for each level, so that a short one is refused and never read beyond.
#include "kernel/ipvs_parse.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/ip_vs.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <string.h>

/* libnl takes non-const structs that it only reads. */
static const struct nla_policy parse_service_policy[IPVS_SVC_ATTR_MAX + 1] = {
	[IPVS_SVC_ATTR_AF] = {.type = NLA_U16},
	[IPVS_SVC_ATTR_PROTOCOL] = {.type = NLA_U16},
	[IPVS_SVC_ATTR_ADDR] = {.type = NLA_UNSPEC, .minlen = 4, .maxlen = 16},
	[IPVS_SVC_ATTR_PORT] = {.type = NLA_U16},
	[IPVS_SVC_ATTR_FWMARK] = {.type = NLA_U32},
	[IPVS_SVC_ATTR_SCHED_NAME] = {.type = NLA_STRING, .maxlen = PLAN_SCHEDULER_MAX},
	[IPVS_SVC_ATTR_FLAGS] = {.type = NLA_UNSPEC, .minlen = sizeof(struct ip_vs_flags)},
	[IPVS_SVC_ATTR_TIMEOUT] = {.type = NLA_U32},
	[IPVS_SVC_ATTR_NETMASK] = {.type = NLA_U32},
	[IPVS_SVC_ATTR_PE_NAME] = {.type = NLA_STRING, .maxlen = PLAN_SCHEDULER_MAX},
	[IPVS_SVC_ATTR_STATS64] = {.type = NLA_NESTED},
};

static const struct nla_policy parse_dest_policy[IPVS_DEST_ATTR_MAX + 1] = {
	[IPVS_DEST_ATTR_ADDR] = {.type = NLA_UNSPEC, .minlen = 4, .maxlen = 16},
	[IPVS_DEST_ATTR_PORT] = {.type = NLA_U16},
	[IPVS_DEST_ATTR_FWD_METHOD] = {.type = NLA_U32},
	[IPVS_DEST_ATTR_WEIGHT] = {.type = NLA_U32},
	[IPVS_DEST_ATTR_U_THRESH] = {.type = NLA_U32},
	[IPVS_DEST_ATTR_L_THRESH] = {.type = NLA_U32},
	[IPVS_DEST_ATTR_ACTIVE_CONNS] = {.type = NLA_U32},
	[IPVS_DEST_ATTR_INACT_CONNS] = {.type = NLA_U32},
	[IPVS_DEST_ATTR_PERSIST_CONNS] = {.type = NLA_U32},
	[IPVS_DEST_ATTR_ADDR_FAMILY] = {.type = NLA_U16},
	[IPVS_DEST_ATTR_STATS64] = {.type = NLA_NESTED},
	[IPVS_DEST_ATTR_TUN_TYPE] = {.type = NLA_U8},
	[IPVS_DEST_ATTR_TUN_PORT] = {.type = NLA_U16},
	[IPVS_DEST_ATTR_TUN_FLAGS] = {.type = NLA_U16},
};

static const struct nla_policy parse_stats_policy[IPVS_STATS_ATTR_MAX + 1] = {
	[IPVS_STATS_ATTR_CONNS] = {.type = NLA_U64},
	[IPVS_STATS_ATTR_INPKTS] = {.type = NLA_U64},
	[IPVS_STATS_ATTR_OUTPKTS] = {.type = NLA_U64},
	[IPVS_STATS_ATTR_INBYTES] = {.type = NLA_U64},
	[IPVS_STATS_ATTR_OUTBYTES] = {.type = NLA_U64},
};

/* One level of attributes into an array of `max` + 1. */
static int parse_level(const void *head, size_t size, struct nlattr **attrs, int max,
		       const struct nla_policy *policy)
{
	union {
		const void *read_only;
		struct nlattr *attr;
	} first = {.read_only = head};

	return nla_parse(attrs, max, first.attr, (int)size, policy) < 0 ? -EBADMSG : 0;
}

static int parse_nest(const struct nlattr *nest, struct nlattr **attrs, int max,
		      const struct nla_policy *policy)
{
	return parse_level(nla_data(nest), (size_t)nla_len(nest), attrs, max, policy);
}

/* The nest `type` of a generic netlink message, or NULL. */
static struct nlattr *parse_message(const struct nlmsghdr *m, int type)
{
	struct nlattr *attrs[IPVS_CMD_ATTR_MAX + 1];
	const size_t head = NLMSG_HDRLEN + GENL_HDRLEN;

	if (m->nlmsg_len < head || parse_level((const uint8_t *)m + head, m->nlmsg_len - head,
					       attrs, IPVS_CMD_ATTR_MAX, NULL))
		return NULL;
	return attrs[type];
}

static uint32_t parse_u32(const struct nlattr *a)
{
	return a ? nla_get_u32(a) : 0;
}

static uint16_t parse_u16(const struct nlattr *a)
{
	return a ? nla_get_u16(a) : 0;
}

static uint64_t parse_u64(struct nlattr *a)
{
	return a ? nla_get_u64(a) : 0;
}

static void parse_text(const struct nlattr *a, char buf[PLAN_SCHEDULER_MAX])
{
	size_t size = a ? (size_t)nla_len(a) : 0;

	memset(buf, 0, PLAN_SCHEDULER_MAX);
	if (size)
		memcpy(buf, nla_data(a), size < PLAN_SCHEDULER_MAX ? size : PLAN_SCHEDULER_MAX - 1);
}

static int parse_address(const struct nlattr *a, uint16_t family, struct addr *ret_addr)
{
	size_t size = family == AF_INET ? 4 : 16;

	if ((family != AF_INET && family != AF_INET6) || !a || (size_t)nla_len(a) < size)
		return -EBADMSG;
	*ret_addr = (struct addr){.family = (uint8_t)family};
	memcpy(ret_addr->bytes, nla_data(a), size);
	return 0;
}

static int parse_stats(const struct nlattr *nest, struct plan_stats *ret_stats)
{
	struct nlattr *a[IPVS_STATS_ATTR_MAX + 1];

	*ret_stats = (struct plan_stats){0};
	if (!nest)
		return 0;
	if (parse_nest(nest, a, IPVS_STATS_ATTR_MAX, parse_stats_policy))
		return -EBADMSG;
	ret_stats->connections = parse_u64(a[IPVS_STATS_ATTR_CONNS]);
	ret_stats->packets_in = parse_u64(a[IPVS_STATS_ATTR_INPKTS]);
	ret_stats->packets_out = parse_u64(a[IPVS_STATS_ATTR_OUTPKTS]);
	ret_stats->bytes_in = parse_u64(a[IPVS_STATS_ATTR_INBYTES]);
	ret_stats->bytes_out = parse_u64(a[IPVS_STATS_ATTR_OUTBYTES]);
	return 0;
}

static int parse_key(struct nlattr **a, struct plan_key *ret_key)
{
	uint16_t family = parse_u16(a[IPVS_SVC_ATTR_AF]);

	*ret_key = (struct plan_key){.family = (uint8_t)family};
	ret_key->fwmark = parse_u32(a[IPVS_SVC_ATTR_FWMARK]);
	if (ret_key->fwmark)
		return family == AF_INET || family == AF_INET6 ? 0 : -EBADMSG;
	ret_key->protocol = (uint8_t)parse_u16(a[IPVS_SVC_ATTR_PROTOCOL]);
	ret_key->port = ntohs(parse_u16(a[IPVS_SVC_ATTR_PORT]));
	return parse_address(a[IPVS_SVC_ATTR_ADDR], family, &ret_key->address);
}

int ipvs_parse_service(const struct nlmsghdr *m, struct plan_service *ret_service)
{
	struct nlattr *a[IPVS_SVC_ATTR_MAX + 1];
	struct nlattr *nest = parse_message(m, IPVS_CMD_ATTR_SERVICE);
	struct plan_service s = {0};
	struct ip_vs_flags flags = {0};

	if (!nest || parse_nest(nest, a, IPVS_SVC_ATTR_MAX, parse_service_policy) ||
	    parse_key(a, &s.key) || parse_stats(a[IPVS_SVC_ATTR_STATS64], &s.stats))
		return -EBADMSG;
	parse_text(a[IPVS_SVC_ATTR_SCHED_NAME], s.scheduler);
	parse_text(a[IPVS_SVC_ATTR_PE_NAME], s.engine);
	if (a[IPVS_SVC_ATTR_FLAGS])
		memcpy(&flags, nla_data(a[IPVS_SVC_ATTR_FLAGS]), sizeof(flags));
	s.flags = flags.flags & PLAN_FLAGS_MASK;
	s.timeout = parse_u32(a[IPVS_SVC_ATTR_TIMEOUT]);
	s.netmask = parse_u32(a[IPVS_SVC_ATTR_NETMASK]);
	*ret_service = s;
	return 0;
}

int ipvs_parse_dest(const struct nlmsghdr *m, uint8_t family, struct plan_dest *ret_dest,
		    struct plan_dest_counts *ret_counts)
{
	struct nlattr *a[IPVS_DEST_ATTR_MAX + 1];
	struct nlattr *nest = parse_message(m, IPVS_CMD_ATTR_DEST);
	struct plan_dest d = {0};
	struct plan_dest_counts c = {0};

	if (!nest || parse_nest(nest, a, IPVS_DEST_ATTR_MAX, parse_dest_policy))
		return -EBADMSG;
	if (a[IPVS_DEST_ATTR_ADDR_FAMILY]) /* since Linux 3.18 */
		family = (uint8_t)nla_get_u16(a[IPVS_DEST_ATTR_ADDR_FAMILY]);
	if (parse_address(a[IPVS_DEST_ATTR_ADDR], family, &d.address) ||
	    parse_stats(a[IPVS_DEST_ATTR_STATS64], &c.stats))
		return -EBADMSG;
	d.port = ntohs(parse_u16(a[IPVS_DEST_ATTR_PORT]));
	d.forward = (uint8_t)(parse_u32(a[IPVS_DEST_ATTR_FWD_METHOD]) & IP_VS_CONN_F_FWD_MASK);
	d.weight = parse_u32(a[IPVS_DEST_ATTR_WEIGHT]);
	d.upper = parse_u32(a[IPVS_DEST_ATTR_U_THRESH]);
	d.lower = parse_u32(a[IPVS_DEST_ATTR_L_THRESH]);
	d.tunnel_type = a[IPVS_DEST_ATTR_TUN_TYPE] ? nla_get_u8(a[IPVS_DEST_ATTR_TUN_TYPE]) : 0;
	d.tunnel_port = ntohs(parse_u16(a[IPVS_DEST_ATTR_TUN_PORT]));
	d.tunnel_flags = parse_u16(a[IPVS_DEST_ATTR_TUN_FLAGS]);
	c.active = parse_u32(a[IPVS_DEST_ATTR_ACTIVE_CONNS]);
	c.inactive = parse_u32(a[IPVS_DEST_ATTR_INACT_CONNS]);
	c.persistent = parse_u32(a[IPVS_DEST_ATTR_PERSIST_CONNS]);
	*ret_dest = d;
	*ret_counts = c;
	return 0;
}

int ipvs_parse_family(const struct nlmsghdr *m, uint16_t *ret_family)
{
	struct nlattr *a[CTRL_ATTR_MAX + 1];
	const size_t head = NLMSG_HDRLEN + GENL_HDRLEN;

	if (m->nlmsg_len < head ||
	    parse_level((const uint8_t *)m + head, m->nlmsg_len - head, a, CTRL_ATTR_MAX, NULL) ||
	    !a[CTRL_ATTR_FAMILY_ID] || nla_len(a[CTRL_ATTR_FAMILY_ID]) < 2)
		return -EBADMSG;
	*ret_family = nla_get_u16(a[CTRL_ATTR_FAMILY_ID]);
	return 0;
}

int ipvs_parse_info(const struct nlmsghdr *m, uint32_t *ret_table_size)
{
	struct nlattr *a[IPVS_INFO_ATTR_MAX + 1];
	const size_t head = NLMSG_HDRLEN + GENL_HDRLEN;

	if (m->nlmsg_len < head ||
	    parse_level((const uint8_t *)m + head, m->nlmsg_len - head, a, IPVS_INFO_ATTR_MAX,
			NULL) ||
	    !a[IPVS_INFO_ATTR_CONN_TAB_SIZE] || nla_len(a[IPVS_INFO_ATTR_CONN_TAB_SIZE]) < 4)
		return -EBADMSG;
	*ret_table_size = nla_get_u32(a[IPVS_INFO_ATTR_CONN_TAB_SIZE]);
	return 0;
}

int ipvs_parse_config(const struct nlmsghdr *m, struct plan_timeouts *ret_timeouts)
{
	static const int types[] = {[PLAN_TIMEOUT_TCP] = IPVS_CMD_ATTR_TIMEOUT_TCP,
				    [PLAN_TIMEOUT_TCP_FIN] = IPVS_CMD_ATTR_TIMEOUT_TCP_FIN,
				    [PLAN_TIMEOUT_UDP] = IPVS_CMD_ATTR_TIMEOUT_UDP};

	for (size_t i = 0; i < PLAN_TIMEOUTS; i++) {
		const struct nlattr *a = parse_message(m, types[i]);

		if (!a || nla_len(a) < (int)sizeof(uint32_t))
			return -EBADMSG;
		ret_timeouts->s[i] = nla_get_u32(a);
	}
	return 0;
}
