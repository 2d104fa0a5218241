// SPDX-License-Identifier: GPL-2.0-or-later
// Hazard pointers: enter announces and looks again, reap frees what nobody announces.
#include "dnsio/dnsd_current.h"

#include "base/mem.h"
#include "base/vec.h"

#include <stdatomic.h>

#define CACHE_LINE 64

struct dnsd_reader {
	_Alignas(CACHE_LINE) _Atomic(const struct view *) reads;
};

struct dnsd_current {
	_Atomic(const struct view *) view;
	struct vec replaced; /* struct view, of the writer */
	size_t reader_count;
	struct dnsd_reader *readers;
};

struct dnsd_current *dnsd_current_new(const struct view *view, size_t readers)
{
	struct dnsd_current *c = mem_new(struct dnsd_current);

	c->reader_count = readers;
	c->readers = aligned_alloc(CACHE_LINE, readers * sizeof(struct dnsd_reader));
	assert(c->readers);
	for (size_t i = 0; i < readers; i++)
		atomic_init(&c->readers[i].reads, NULL);
	atomic_init(&c->view, view_ref(view));
	return c;
}

void dnsd_current_free(struct dnsd_current *c)
{
	if (!c)
		return;
	(void)dnsd_current_reap(c);
	assert(!c->replaced.count);
	view_unref(atomic_load(&c->view));
	vec_clear(&c->replaced);
	free(c->readers);
	free(c);
}

const struct view *dnsd_current_enter(struct dnsd_current *c, size_t reader)
{
	_Atomic(const struct view *) *reads = &c->readers[reader].reads;
	const struct view *v;

	/* Only if it is still the current one after it was shown has the writer seen it there, or will see it. */
	do {
		v = atomic_load(&c->view);
		atomic_store(reads, v);
	} while (v != atomic_load(&c->view));
	return v;
}

void dnsd_current_leave(struct dnsd_current *c, size_t reader)
{
	atomic_store_explicit(&c->readers[reader].reads, NULL, memory_order_release);
}

void dnsd_current_replace(struct dnsd_current *c, const struct view *view)
{
	const struct view *old = atomic_exchange(&c->view, view_ref(view));

	vec_push(&c->replaced, (void *)(uintptr_t)old);
	(void)dnsd_current_reap(c);
}

static bool dnsd_current_is_read(const struct dnsd_current *c, const struct view *v)
{
	for (size_t i = 0; i < c->reader_count; i++)
		if (atomic_load(&c->readers[i].reads) == v)
			return true;
	return false;
}

size_t dnsd_current_reap(struct dnsd_current *c)
{
	for (size_t i = c->replaced.count; i-- > 0;) {
		struct view *v = c->replaced.items[i];

		if (dnsd_current_is_read(c, v))
			continue;
		vec_remove(&c->replaced, i);
		view_unref(v);
	}
	return c->replaced.count;
}
