/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands in the tables of iptables, everybody's, as its programs print it. Changes nothing: only tables that have rules are looked
 * at, since to look at another makes it, and none of nat before connections are tracked. */
#ifndef ZG_HOST_HOST_RULES_H
#define ZG_HOST_HOST_RULES_H

#include "plan/doctor.h"

#define HOST_RULES_MAX (16 * 1024 * 1024) /* bytes of one table that are read */

/* Fills the rules of `f`, whose modules and sysctls are known. Programs are those below ROOT ("" but for tests). Blocks while they run, at
 * most two seconds each, and where one takes longer no other is asked: not on the loop. */
void host_rules_read(const char *root, struct doctor_facts *f);

#endif
