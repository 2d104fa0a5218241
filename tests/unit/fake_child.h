/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stands in for child/child.c: a test sees what was started and says how it ended. Include it in one file of a program; the
 * archive's own is then not linked. */
#ifndef ZG_TESTS_FAKE_CHILD_H
#define ZG_TESTS_FAKE_CHILD_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "child/child.h"

struct child {
	struct child_job job;
};

static struct {
	struct child *running; /* NULL = none */
	char command[256];     /* its arguments, with spaces between */
	char input[4096];
	unsigned starts;
	const char *
		missing; /* a program whose name begins so, or ends so after a "*", is not there; NULL = none */
	bool locked; /* it is there, and may not be executed */
} fake_child;

static inline bool fake_child_is_missing(const char *name)
{
	const char *pattern = fake_child.missing;
	size_t n = strlen(name);

	if (!pattern)
		return false;
	if (*pattern != '*')
		return strncmp(name, pattern, strlen(pattern)) == 0;
	pattern++;
	return n >= strlen(pattern) && strcmp(name + n - strlen(pattern), pattern) == 0;
}

int child_start(struct ev_loop *loop, const struct child_job *job, struct child **ret_child)
{
	size_t n = 0;

	(void)loop;
	assert(!fake_child.running);
	if (fake_child_is_missing(job->argv[0]))
		return fake_child.locked ? -EACCES : -ENOENT;
	fake_child.command[0] = '\0';
	for (size_t i = 0; job->argv[i]; i++)
		n += (size_t)snprintf(fake_child.command + n, sizeof(fake_child.command) - n,
				      "%s%s", i ? " " : "", job->argv[i]);
	snprintf(fake_child.input, sizeof(fake_child.input), "%s", job->input);
	fake_child.starts++;
	*ret_child = fake_child.running = mem_new(struct child);
	fake_child.running->job = *job;
	return 0;
}

void child_free(struct child *c)
{
	if (c && c == fake_child.running)
		fake_child.running = NULL;
	free(c);
}

/* It exits with this status (-1: it was killed at its deadline). */
static inline void fake_child_end(int status, const char *output)
{
	struct child *c = fake_child.running;
	const struct child_end end = {.status = status < 0 ? -1 : status << 8, .output = output};

	assert(c);
	fake_child.running = NULL;
	c->job.done(c->job.ctx, &end);
	free(c);
}

#endif
