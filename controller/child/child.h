/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One program with input and output, run beside the loop: nothing here waits for it. Only on libev's default loop, which is the
 * one that hears of children. */
#ifndef ZG_CHILD_CHILD_H
#define ZG_CHILD_CHILD_H

#include "base/time.h"

#include <stddef.h>

struct ev_loop;
struct child;

struct child_end {
	int status;         /* as of waitpid(); -1: it ran into the deadline and was killed */
	const char *output; /* what it said on both channels, cut at output_max; in UTF-8 */
};

struct child_job {
	const char *const *argv; /* looked for in PATH */
	const char *input;       /* copied */
	size_t input_size;
	size_t output_max; /* bytes; 0 = 4 KiB */
	usec_t timeout;
	void *ctx;
	/* Called once, and not from within start or free. The child is freed afterwards. */
	void (*done)(void *ctx, const struct child_end *end);
};

/* Returns 0 or a negative errno. */
int child_start(struct ev_loop *loop, const struct child_job *job, struct child **ret_child);
/* Kills it; `done` is not called. NULL-safe. */
void child_free(struct child *c);

#endif
