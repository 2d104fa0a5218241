/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The netlink messages of ipset, spoken over the same channel as those of IPVS: pipelined, acknowledged, never blocking the loop
 * (libipset is synchronous). */
#ifndef ZG_KERNEL_IPSET_H
#define ZG_KERNEL_IPSET_H

#include "kernel/netmsg.h"
#include "plan/ops.h"

/* An operation on a set or an entry, without an ACK asked. What is there already, or gone already, is no error; a set of the name but
 * of another kind is -EEXIST. */
void ipset_put_op(struct netmsg *m, const struct plan_op *op);

/* A dump of one set; -ENOENT when there is none. */
void ipset_put_list(struct netmsg *m, enum ruleset_family f, enum ruleset_set s);

/* A sentence with the mend for an error of ipset's own (they begin at 4096); NULL: it is another one. */
const char *ipset_advise(int error);

#endif
