/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every change of the configuration has in common, whichever route it comes by. */
#ifndef ZG_API_HANDLERS_WRITE_H
#define ZG_API_HANDLERS_WRITE_H

#include "api/request.h"
#include "model/change.h"

/* What is asked for beside the headers and the query of the request. */
struct write_wish {
	enum change_verb verb;
	enum change_target target;
	struct object_path path;   /* borrowed during the call, like all texts */
	uint64_t revision;         /* CHANGE_REVISION */
	const char *comment;       /* instead of ?comment=; NULL = that */
	unsigned confirm_within_s; /* the same; 0 = ?confirm_within_s= */
	bool dry_run;              /* also without ?dry_run= */
};

/* Proposes the body of the request and replies when it is decided, committed and in the kernel. */
void handlers_write_propose(struct request *r, const struct write_wish *wish);

#define HANDLERS_WRITE_CONFIRM_MAX 86400 /* seconds */

#endif
