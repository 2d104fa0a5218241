/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what ipset answers. The messages' lengths were checked by the channel; all else is checked here. */
#ifndef ZG_KERNEL_IPSET_PARSE_H
#define ZG_KERNEL_IPSET_PARSE_H

#include "plan/ruleset.h"

struct nlmsghdr;

/* Appends the entries of one message of a dump of ipset_put_list(). Returns 0, or -EBADMSG (also for entries that cannot be ours). */
int ipset_parse_list(const struct nlmsghdr *m, enum ruleset_family f, enum ruleset_set s,
		     struct ruleset *r);

#endif
