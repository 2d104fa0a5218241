// SPDX-License-Identifier: GPL-2.0-or-later
// One dump over a socket of its own. libnl-route, which has a cache of rules, is left out: it alone took a tenth of an exec.
#include "kernel/fib_rules.h"

#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/socket.h>

struct fib_rules_work {
	struct mark_space *uses;
	size_t size;
	size_t count;
};

/* Others make the same rules for both families: one is enough, and leaves room. */
static void fib_rules_note(struct fib_rules_work *w, uint32_t value, uint32_t mask)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->uses[i].value == value && w->uses[i].mask == mask)
			return;
	if (w->count < w->size)
		w->uses[w->count++] = (struct mark_space){.value = value, .mask = mask};
}

static int fib_rules_take(struct nl_msg *message, void *ctx)
{
	struct nlattr *found[FRA_MAX + 1];
	struct fib_rules_work *w = ctx;
	uint32_t mark = 0;
	uint32_t mask = 0;

	if (nlmsg_parse(nlmsg_hdr(message), sizeof(struct fib_rule_hdr), found, FRA_MAX, NULL) < 0)
		return NL_SKIP;
	if (found[FRA_FWMARK] && nla_len(found[FRA_FWMARK]) >= (int)sizeof(mark))
		mark = nla_get_u32(found[FRA_FWMARK]);
	if (found[FRA_FWMASK] && nla_len(found[FRA_FWMASK]) >= (int)sizeof(mask))
		mask = nla_get_u32(found[FRA_FWMASK]);
	if (mark || mask)
		fib_rules_note(w, mark, mask ? mask : UINT32_MAX);
	return NL_OK;
}

size_t fib_rules_read(struct mark_space *ret_uses, size_t size)
{
	struct fib_rules_work w = {.uses = ret_uses, .size = size};
	struct fib_rule_hdr all = {.family = AF_UNSPEC};
	struct nl_sock *socket = nl_socket_alloc();

	if (socket && nl_connect(socket, NETLINK_ROUTE) == 0 &&
	    nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, fib_rules_take, &w) == 0 &&
	    nl_send_simple(socket, RTM_GETRULE, NLM_F_DUMP, &all, sizeof(all)) >= 0)
		(void)nl_recvmsgs_default(socket);
	nl_socket_free(socket);
	return w.count;
}
