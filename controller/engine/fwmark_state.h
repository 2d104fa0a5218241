/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The firewall marks that the engine has allotted. For the files of this directory only. */
#ifndef ZG_ENGINE_FWMARK_STATE_H
#define ZG_ENGINE_FWMARK_STATE_H

#include "model/marks.h"

#define ENGINE_MARK_USES_MAX 64

struct engine_fwmark {
	struct mark *m;
	bool wanted;
	bool named;   /* found by its names: the next listener of these gets it */
	bool leaving; /* not wanted any more: given back once list `leave_after` is done */
	uint64_t leave_after;
};

struct engine_fwmarks {
	struct vec items;     /* struct engine_fwmark, sorted by number */
	struct table by_name; /* the same, those that are named */
	uint32_t *foreign;    /* of services of others, sorted */
	size_t foreign_count;
	struct mark_space uses[ENGINE_MARK_USES_MAX]; /* what others look for in marks */
	size_t use_count;
};

#endif
