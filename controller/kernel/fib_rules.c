// SPDX-License-Identifier: GPL-2.0-or-later
// One dump over a socket of its own, by libnl.
#include "kernel/fib_rules.h"

#include <netlink/cache.h>
#include <netlink/netlink.h>
#include <netlink/route/rule.h>
#include <netlink/socket.h>
#include <sys/socket.h>

struct fib_rules_work {
	struct mark_space *uses;
	size_t size;
	size_t count;
};

static void fib_rules_take(struct nl_object *object, void *ctx)
{
	struct rtnl_rule *rule = (struct rtnl_rule *)object;
	struct fib_rules_work *w = ctx;
	uint32_t mask = rtnl_rule_get_mask(rule);
	uint32_t mark = rtnl_rule_get_mark(rule);

	if ((mark || mask) && w->count < w->size)
		w->uses[w->count++] = (struct mark_space){.value = mark,
							  .mask = mask ? mask : UINT32_MAX};
}

size_t fib_rules_read(struct mark_space *ret_uses, size_t size)
{
	struct fib_rules_work w = {.uses = ret_uses, .size = size};
	struct nl_sock *socket = nl_socket_alloc();
	struct nl_cache *rules = NULL;

	if (socket && nl_connect(socket, NETLINK_ROUTE) == 0 &&
	    rtnl_rule_alloc_cache(socket, AF_UNSPEC, &rules) == 0)
		nl_cache_foreach(rules, fib_rules_take, &w);
	nl_cache_free(rules);
	nl_socket_free(socket);
	return w.count;
}
