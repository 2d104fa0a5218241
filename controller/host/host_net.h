/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices, routes and neighbours of this network namespace, asked of rtnetlink. Blocks, at most a second an answer: not on the
 * loop. Changes nothing, and sends no packet. */
#ifndef ZG_HOST_HOST_NET_H
#define ZG_HOST_HOST_NET_H

#include "plan/doctor.h"

/* Fills the links of `f`, without their sysctls. */
void host_net_read_links(struct doctor_facts *f);

/* Fills the routes of `f` to the first DOCTOR_ROUTES_MAX addresses of a sorted list, and those towards strangers. */
void host_net_read_routes(struct doctor_facts *f, const struct addr *list, size_t count);

/* Adds to the neighbours of `f` those of the sorted list. */
void host_net_read_neighbours(struct doctor_facts *f, const struct addr *list, size_t count);

#endif
