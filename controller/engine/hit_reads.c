// SPDX-License-Identifier: GPL-2.0-or-later
// Who asked for the counters of an access list, until the kernel has answered.
#include <stdlib.h>

#include "base/mem.h"
#include "engine/parts.h"
#include "engine/status.h"

struct hit_asker {
	uint64_t uid;
	engine_hits_fn *fn;
	void *ctx;
};

void engine_request_hits(struct engine *e, uint64_t uid, engine_hits_fn *fn, void *ctx)
{
	struct hit_asker *a = mem_new(struct hit_asker);
	bool asked = false;

	for (size_t i = 0; i < e->hit_askers.count; i++)
		asked |= ((struct hit_asker *)e->hit_askers.items[i])->uid == uid;
	*a = (struct hit_asker){.uid = uid, .fn = fn, .ctx = ctx};
	vec_push(&e->hit_askers, a);
	if (!asked)
		e->ports.kernel_request_hits(e->ports.ctx, uid);
}

void engine_cancel_hits(struct engine *e, void *ctx)
{
	for (size_t i = 0; i < e->hit_askers.count; i++) {
		struct hit_asker *a = e->hit_askers.items[i];

		if (a->ctx == ctx)
			a->fn = NULL;
	}
}

static const struct entries *hit_reads_find_list(const struct engine *e, uint64_t uid)
{
	for (size_t i = 0; i < e->snapshot->access_lists.count; i++) {
		const struct access_list *l = e->snapshot->access_lists.items[i];

		if (l->o.uid == uid)
			return l->entries;
	}
	return NULL;
}

void engine_note_hits(struct engine *e, uint64_t uid, struct hits *h)
{
	struct vec all = e->hit_askers;
	const struct entries *entries = hit_reads_find_list(e, uid);

	e->hit_askers = (struct vec){0};
	if (h && entries)
		hits_take_default(h, entries);
	for (size_t i = 0; i < all.count; i++) {
		struct hit_asker *a = all.items[i];

		if (a->uid != uid) {
			vec_push(&e->hit_askers, a);
			continue;
		}
		if (a->fn)
			a->fn(a->ctx, entries ? h : NULL);
		free(a);
	}
	vec_clear(&all);
	hits_free(h);
}

void hit_reads_free(struct engine *e)
{
	for (size_t i = 0; i < e->hit_askers.count; i++)
		free(e->hit_askers.items[i]);
	vec_clear(&e->hit_askers);
}
