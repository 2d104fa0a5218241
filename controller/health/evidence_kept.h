/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evidence as it is kept of each server: its figures, and of its text no more than there is. Most probes bring none. */
#ifndef ZG_HEALTH_EVIDENCE_KEPT_H
#define ZG_HEALTH_EVIDENCE_KEPT_H

#include <stddef.h>

#include "health/evidence.h"

/* All zero: nothing was seen. */
struct evidence_kept {
	_Alignas(
		struct probe_evidence) unsigned char figures[offsetof(struct probe_evidence, text)];
	char *text; /* owned; NULL = "" */
};

void evidence_keep(struct evidence_kept *k, const struct probe_evidence *ev);
void evidence_recall(const struct evidence_kept *k, struct probe_evidence *ret_ev);
void evidence_forget(struct evidence_kept *k); /* nothing was seen */

#endif
