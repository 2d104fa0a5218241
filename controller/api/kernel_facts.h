/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of the host's kernel bears on balancing: modules and sysctls, as /proc shows them to this network namespace. */
#ifndef ZONEGATE_API_KERNEL_FACTS_H
#define ZONEGATE_API_KERNEL_FACTS_H

#include <jansson.h>

#define KERNEL_FACTS_SYSCTLS "/proc/sys"

/* Names of the loaded modules of IPVS and of connection tracking, in the order of FILE (/proc/modules when NULL); empty when
 * there are none, or when they are built into the kernel. The caller owns the array. */
json_t *kernel_facts_modules(const char *file);

/* [{"name": "net.ipv4.ip_forward", "value": 1}, …] below FOLDER (KERNEL_FACTS_SYSCTLS when NULL); what is not there is left out. The
 * caller owns the array. */
json_t *kernel_facts_sysctls(const char *folder);

#endif
