// SPDX-License-Identifier: GPL-2.0-or-later
// Attributes by libnl, with a policy for each level, so that a short one is refused and never read beyond.
#include "kernel/ipset_parse.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/ipset/ip_set.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <string.h>

/* libnl takes non-const structs that it only reads. */
static struct nlattr *ipset_attr(const void *p)
{
	union {
		const void *read_only;
		struct nlattr *attr;
	} cast = {.read_only = p};

	return cast.attr;
}

static const struct nla_policy ipset_ip_policy[IPSET_ATTR_IPADDR_MAX + 1] = {
	[IPSET_ATTR_IPADDR_IPV4] = {.type = NLA_UNSPEC, .minlen = 4, .maxlen = 4},
	[IPSET_ATTR_IPADDR_IPV6] = {.type = NLA_UNSPEC, .minlen = 16, .maxlen = 16},
};

static const struct nla_policy ipset_entry_policy[IPSET_ATTR_ADT_MAX + 1] = {
	[IPSET_ATTR_IP] = {.type = NLA_NESTED},
	[IPSET_ATTR_PORT] = {.type = NLA_U16},
	[IPSET_ATTR_PROTO] = {.type = NLA_U8},
};

static int ipset_parse_address(struct nlattr *nest, enum ruleset_family f, struct addr *ret_addr)
{
	struct nlattr *attrs[IPSET_ATTR_IPADDR_MAX + 1];
	const struct nlattr *a;
	struct addr address = {.family = ruleset_address_family(f)};

	if (!nest || nla_parse_nested(attrs, IPSET_ATTR_IPADDR_MAX, nest, ipset_ip_policy) < 0)
		return -EBADMSG;
	a = attrs[f == RULESET_V4 ? IPSET_ATTR_IPADDR_IPV4 : IPSET_ATTR_IPADDR_IPV6];
	if (!a)
		return -EBADMSG;
	memcpy(address.bytes, nla_data(a), (size_t)nla_len(a));
	*ret_addr = address;
	return 0;
}

static int ipset_parse_entry(struct nlattr *nest, enum ruleset_family f, struct ruleset_entry *e)
{
	struct nlattr *attrs[IPSET_ATTR_ADT_MAX + 1];

	if (nla_parse_nested(attrs, IPSET_ATTR_ADT_MAX, nest, ipset_entry_policy) < 0 ||
	    ipset_parse_address(attrs[IPSET_ATTR_IP], f, &e->address))
		return -EBADMSG;
	if (e->set != RULESET_OPEN)
		return 0;
	if (!attrs[IPSET_ATTR_PORT] || !attrs[IPSET_ATTR_PROTO])
		return -EBADMSG;
	e->port = ntohs(nla_get_u16(attrs[IPSET_ATTR_PORT]));
	e->protocol = nla_get_u8(attrs[IPSET_ATTR_PROTO]);
	return 0;
}

int ipset_parse_list(const struct nlmsghdr *m, enum ruleset_family f, enum ruleset_set s,
		     struct ruleset *r)
{
	const size_t head = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct nfgenmsg));
	struct nlattr *attrs[IPSET_ATTR_CMD_MAX + 1];
	struct nlattr *nest;
	int left;

	if (m->nlmsg_len < head ||
	    nla_parse(attrs, IPSET_ATTR_CMD_MAX, ipset_attr((const uint8_t *)m + head),
		      (int)(m->nlmsg_len - head), NULL) < 0)
		return -EBADMSG;
	if (!attrs[IPSET_ATTR_ADT])
		return 0; /* the head of the set */
	nla_for_each_nested(nest, attrs[IPSET_ATTR_ADT], left)
	{
		struct ruleset_entry e = {.set = s};

		if (ipset_parse_entry(nest, f, &e))
			return -EBADMSG;
		*ruleset_push(r) = e;
	}
	return 0;
}
