/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A precondition that is not met (412): who changed the thing last, and when. */
#ifndef ZG_API_STALE_H
#define ZG_API_STALE_H

#include "api/request.h"

struct stale_change {
	uint64_t revision; /* of the document; 0: it has none */
	usec_t at_wall;
	const char *who;
	const char *via;     /* NULL: not known */
	const char *comment; /* NULL: there is none */
};

/* Replies with what is not met (the first fault of `unmet`), and with the change as `changed`: {revision, at, who, via, comment}. */
void stale_refuse(struct request *r, const struct err *unmet, const struct stale_change *by);

#endif
