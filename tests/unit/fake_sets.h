/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stands in for kernel/sets.c: a test sees what was asked for and answers by itself. Include it in one file of a program; the
 * archive's own is then not linked. */
#ifndef ZG_TESTS_FAKE_SETS_H
#define ZG_TESTS_FAKE_SETS_H

#include "base/mem.h"
#include "kernel/sets.h"

struct sets {
	struct sets_callbacks cb;
};

static struct {
	struct sets *sets;
	struct plan_op *ops; /* NULL: none run */
	size_t count;
	unsigned runs;
	unsigned looks;
	struct plan_ops fill; /* the last one that was asked for */
	unsigned shows;
	uint64_t counted; /* whose hits were asked for last */
	int error;        /* of every start */
} fake_sets;

struct sets *sets_new(struct ev_loop *loop, const struct sets_callbacks *cb)
{
	(void)loop;
	fake_sets.sets = mem_new(struct sets);
	fake_sets.sets->cb = *cb;
	return fake_sets.sets;
}

void sets_free(struct sets *s)
{
	free(s);
}

int sets_run(struct sets *s, struct plan_op *ops, size_t count)
{
	(void)s;
	assert(!fake_sets.ops);
	if (fake_sets.error)
		return fake_sets.error;
	fake_sets.runs++;
	fake_sets.ops = ops;
	fake_sets.count = count;
	return 0;
}

int sets_look(struct sets *s)
{
	(void)s;
	if (!fake_sets.error)
		fake_sets.looks++;
	return fake_sets.error;
}

int sets_fill(struct sets *s, struct plan_ops *ops)
{
	(void)s;
	if (fake_sets.error)
		return fake_sets.error;
	plan_ops_clear(&fake_sets.fill);
	fake_sets.fill = *ops;
	*ops = (struct plan_ops){0};
	return 0;
}

int sets_count(struct sets *s, uint64_t uid)
{
	(void)s;
	if (!fake_sets.error)
		fake_sets.counted = uid;
	return fake_sets.error;
}

int sets_show(struct sets *s)
{
	(void)s;
	fake_sets.shows += !fake_sets.error;
	return fake_sets.error;
}

/* The operations have their results. */
static inline void fake_sets_end(void)
{
	assert(fake_sets.ops);
	fake_sets.ops = NULL;
	fake_sets.sets->cb.ran(fake_sets.sets->cb.ctx);
}

static inline void fake_sets_answer(struct ruleset *found, int error)
{
	fake_sets.sets->cb.looked(fake_sets.sets->cb.ctx, found, error);
}

#endif
