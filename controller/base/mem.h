/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory: small internal allocations abort on exhaustion; sizes that come from outside are bounded by the caller first. */
#ifndef ZG_BASE_MEM_H
#define ZG_BASE_MEM_H

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

/* Zeroed memory; aborts when there is none. Freed with free(). */
void *mem_alloc(size_t size);
void *mem_alloc_array(size_t count, size_t size);
/* realloc() that aborts; the new part is not zeroed. */
void *mem_realloc_array(void *old, size_t count, size_t size);
char *mem_strdup(const char *text);
void *mem_dup(const void *data, size_t size);
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define mem_new(type) ((type *)mem_alloc(sizeof(type)))

/* For a start that is about to allocate about `bytes` in small pieces: the heap grows once, and the kernel provides all of its
 * pages in one call instead of one fault each. Nothing of it is given back until mem_reserve_end(), which returns what was not
 * needed. Bounded; never fails (it is an expectation, not a need). Before there are threads. */
void mem_reserve(size_t bytes);
void mem_reserve_end(void);

/* After many small pieces were freed: joins them now, on this thread. Else the next one to free something large does so, whoever it
 * is: 25 ms after a document of 10,000 servers. */
void mem_settle(void);

/* Gives free memory back to the system: of all threads, but the end of a thread's own heap only on that thread. Takes
 * milliseconds. */
void mem_trim(void);

/* An arena: everything in it is released at once. Not for threads. */
struct arena;
struct arena *arena_new(size_t first_chunk);     /* 0 = a default */
void arena_free(struct arena *a);                /* NULL-safe */
void *arena_alloc(struct arena *a, size_t size); /* zeroed, aligned for any type */
char *arena_strdup(struct arena *a, const char *text);
size_t arena_size(const struct arena *a); /* bytes taken from the heap */

static inline void mem_free_cleanup(void *p)
{
	free(*(void **)p);
}
static inline void arena_free_cleanup(struct arena **a)
{
	arena_free(*a);
}
#define AUTO_FREE  __attribute__((cleanup(mem_free_cleanup)))
#define AUTO_ARENA __attribute__((cleanup(arena_free_cleanup)))

#endif
