/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Brings what is in the set of an access list to what it should be. Runs on the thread of sets.c, between whose other work it may
 * take seconds. */
#ifndef ZG_KERNEL_SET_FILL_H
#define ZG_KERNEL_SET_FILL_H

#include "plan/ruleset.h"

struct setlib;

struct set_fill {
	struct setlib *lib;
	struct ruleset_id id;            /* RULESET_LIST */
	const struct ruleset_list *from; /* what is in it; NULL: that is to be read */
	const struct ruleset_list *to;
	/* Called now and then, with nothing queued in the library: other commands may be run. True: give up (-ECANCELED). */
	bool (*rest)(void *ctx);
	void *ctx;
};

/* Few changes are made one by one, in an order in which every packet meets the old verdict or the new one and changes once: what is
 * new from long prefixes to short ones, then what is gone from short ones to long ones. Many are made in a temporary set that is
 * swapped in. A set that is not there is made. Returns 0 or a negative number as of setlib.h; then it is not known what is in it. */
int set_fill_run(const struct set_fill *f);

/* Whether in the set is what `to` says: 0, -ESTALE (it differs), or a negative number as of setlib.h. Short lists are always compared as
 * a whole. */
enum set_fill_extent { FILL_CHECK_LENGTH, FILL_CHECK_ALL };
int set_fill_check(const struct set_fill *f, enum set_fill_extent extent);

#endif
