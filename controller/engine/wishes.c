// SPDX-License-Identifier: GPL-2.0-or-later
// Wishes on their way: where each of them stands. What one means, and when it is in force, knows its kind (shifts.c,
// overrides.c).
#include "engine/wishes.h"

#include <assert.h>
#include <string.h>

#include "engine/internal.h"

static void append(struct wish **list, struct wish *w)
{
	while (*list)
		list = &(*list)->next;
	*list = w;
}

static struct wish *take_first(struct wish **list)
{
	struct wish *w = *list;

	*list = w->next;
	w->next = NULL;
	return w;
}

void wishes_add(struct wishes *l, struct wish *w)
{
	append(&l->queue, w);
}

struct wish *wishes_next(const struct wishes *l)
{
	return l->committing ? NULL : l->queue;
}

void wishes_take(struct wishes *l, const struct wish *w)
{
	assert(w == l->queue);
	take_first(&l->queue);
}

void wishes_commit(struct engine *e, struct wishes *l, struct wish *w, const struct store_row *row)
{
	assert(!l->committing);
	w->token = e->next_token++;
	l->committing = w;
	e->ports.commit(e->ports.ctx, NULL, row, 1, w->token);
}

struct wish *wishes_note_commit(struct wishes *l, uint64_t token)
{
	struct wish *w = l->committing;

	if (!w || w->token != token)
		return NULL;
	l->committing = NULL;
	append(&l->finishing, w);
	return w;
}

void wishes_finish(struct wishes *l, const struct wish *w)
{
	assert(w == l->finishing);
	take_first(&l->finishing);
}

bool wishes_idle(const struct wishes *l)
{
	return !l->queue && !l->committing && !l->finishing;
}

static void refuse(struct engine *e, struct wish **list, wishes_answer_fn *answer)
{
	while (*list) {
		struct wish *w = take_first(list);

		err_set(&w->faults, ERR_UNAVAILABLE, "", "the daemon stops");
		answer(e, w);
	}
}

void wishes_refuse(struct engine *e, struct wishes *l, wishes_answer_fn *answer)
{
	refuse(e, &l->queue, answer);
	refuse(e, &l->committing, answer);
	refuse(e, &l->finishing, answer);
}

const char *wishes_store_fault(int result, const struct err *err)
{
	return err && err_any(err) ? err->faults[0].detail : strerror(-result);
}
