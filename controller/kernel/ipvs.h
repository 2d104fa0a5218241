/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The generic netlink messages of IPVS as the kernel wants them. `family` is the number that the kernel gave to "IPVS". */
#ifndef ZG_KERNEL_IPVS_H
#define ZG_KERNEL_IPVS_H

#include "kernel/netmsg.h"
#include "plan/ops.h"

/* A service or destination operation, or one on the timeouts, without an ACK asked. */
void ipvs_put_op(struct netmsg *m, uint16_t family, const struct plan_op *op);

/* Whether the kernel may have to load a module for it: those whose scheduler or engine is not in `loaded`, and not found there. */
struct ipvs_modules {
	const char *folder; /* of the modules that are loaded (/sys/module); NULL: not looked for */
	char names[32][PLAN_SCHEDULER_MAX];
	size_t count;
};
bool ipvs_may_load(struct ipvs_modules *loaded, const struct plan_op *op);
/* An operation succeeded, or a service was seen: its modules are there. */
void ipvs_note_loaded(struct ipvs_modules *loaded, const struct plan_service *s);

void ipvs_put_get_services(struct netmsg *m, uint16_t family);                        /* a dump */
void ipvs_put_get_dests(struct netmsg *m, uint16_t family, const struct plan_key *k); /* a dump */
void ipvs_put_get_service(struct netmsg *m, uint16_t family,
			  const struct plan_key *k);         /* with ACK */
void ipvs_put_get_config(struct netmsg *m, uint16_t family); /* timeouts; with ACK */
void ipvs_put_get_info(struct netmsg *m,
		       uint16_t family); /* with ACK; -EPERM without CAP_NET_ADMIN */

/* Asks for the number of the family "IPVS", with ACK. The kernel runs modprobe if there is none: send it aside. */
void ipvs_put_get_family(struct netmsg *m);

#endif
