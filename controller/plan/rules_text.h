/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of iptables: what iptables-restore is to read for a family's chain, and what "iptables -S" says of it. */
#ifndef ZG_PLAN_RULES_TEXT_H
#define ZG_PLAN_RULES_TEXT_H

#include "plan/ruleset.h"

struct buf_writer;

#define RULES_TEXT_CHAIN "ZONEGATE"
#define RULES_TEXT_HOOK  "INPUT" /* before IPVS, which takes its packets behind this chain */
#define RULES_TEXT_MAX   4096

enum rules_jump { JUMP_ABSENT, JUMP_PRESENT };

/* One atomic restore, without flush, that makes or replaces the chain; with the jump to it where there is none. */
void rules_text_write_set(struct buf_writer *w, enum ruleset_family f, enum rules_jump jump);
/* … and that removes chain and jump. */
void rules_text_write_delete(struct buf_writer *w, enum rules_jump jump);
/* What iptables -S ZONEGATE prints of it. */
void rules_text_write_listing(struct buf_writer *w, enum ruleset_family f);

#endif
