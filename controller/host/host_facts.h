/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the facts of the host that the doctor judges. Blocks for as long as many small files take: not on the loop. */
#ifndef ZG_HOST_HOST_FACTS_H
#define ZG_HOST_HOST_FACTS_H

#include "plan/doctor.h"

/* Files are below ROOT ("" but for tests); devices, routes and neighbours are those of this network namespace, as `n` asks for them.
 * doctor_facts_clear() releases the result. */
void host_facts_read(const char *root, const struct doctor_node *n, struct doctor_facts *ret_facts);

#endif
