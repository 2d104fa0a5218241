/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads record sets back from a server by UDP: a few questions at a time, each asked three times at most. */
#ifndef ZG_DNSIO_NSUPDATE_READ_H
#define ZG_DNSIO_NSUPDATE_READ_H

#include "dnsio/nsupdate_records.h"

struct ev_loop;
struct nsupdate_read;

struct nsupdate_read_callbacks {
	void *ctx;
	/* Called once, and not from within start or free: with NULL when all are known, else with what went wrong. Free it then. */
	void (*done)(void *ctx, const char *error);
};

/* Reads all records of `r` that are not known; they may not change meanwhile. Returns 0 or a negative errno. */
int nsupdate_read_start(struct ev_loop *loop, const struct nsupdate_target *t,
			struct nsupdate_records *r, const struct nsupdate_read_callbacks *cb,
			struct nsupdate_read **ret_read);
void nsupdate_read_free(struct nsupdate_read *r); /* NULL-safe; may be called in `done` */

#endif
