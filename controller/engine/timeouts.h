/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The timeouts of IPVS: what they must be, and what they are. For the files of this directory only. */
#ifndef ZG_ENGINE_TIMEOUTS_H
#define ZG_ENGINE_TIMEOUTS_H

#include "model/row.h"
#include "model/snapshot.h"
#include "plan/ops.h"

struct engine;

struct engine_timeouts {
	struct plan_timeouts
		expected; /* in the kernel, once the operations under way have succeeded; 0 = not known */
	struct plan_timeouts old; /* before we set them; 0 = not set by us */
	uint64_t list;            /* the last one that sets them */
};

/* Plans what turns the kernel's timeouts (IPVS_CMD_SET_CONFIG, seconds) into those of the document in force. */
void timeouts_plan(struct engine *e);
/* The same for `s`, without doing it; nothing while the kernel is not known. */
void timeouts_preview(const struct engine *e, const struct snapshot *s, struct plan_ops *ops);
/* As read behind list `after`. */
void timeouts_note_table(struct engine *e, const struct plan_timeouts *actual, uint64_t after);
/* What would mend it. */
void timeouts_drift(const struct engine *e, const struct plan_timeouts *actual,
		    struct plan_ops *ops);
void timeouts_forget(struct engine *e); /* the kernel has gone */
void timeouts_load_row(struct engine *e, const struct store_row *row);

#endif
