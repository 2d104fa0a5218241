// SPDX-License-Identifier: GPL-2.0-or-later
// Allocation that aborts on exhaustion, and arenas as a list of chunks.
#include "base/mem.h"

#include <malloc.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENA_FIRST_CHUNK 4096
#define ARENA_MAX_CHUNK   (1024 * 1024)
#define SETTLE_SIZE       4096 /* no small size any more */

#define RESERVE_MAX (32 * 1024 * 1024) /* glibc's bound of M_MMAP_THRESHOLD */
#define HEAP_BIG_BLOCK \
	(128 * 1024) /* glibc's defaults: a block of this size is mapped by itself, */
#define HEAP_TRIM_ABOVE   (128 * 1024) /* and so much may lie idle at the end of the heap */
#define HEAP_TRIM_AT_REST 4096
#define HEAP_LARGE \
	(96 *      \
	 1024) /* more than glibc's FASTBIN_CONSOLIDATION_THRESHOLD, less than a block of its own */

struct arena_chunk {
	struct arena_chunk *next;
	size_t capacity;
	size_t used;
	alignas(max_align_t) unsigned char data[];
};

struct arena {
	struct arena_chunk *chunks; /* the newest first */
	size_t next_capacity;
	size_t size;
};

static void *mem_check(void *p)
{
	if (!p) {
		fputs("out of memory\n", stderr);
		abort();
	}
	return p;
}

void *mem_alloc(size_t size)
{
	return mem_check(calloc(1, size ? size : 1));
}

void *mem_alloc_array(size_t count, size_t size)
{
	if (!count || !size)
		return mem_alloc(1);
	return mem_check(calloc(count, size)); /* calloc() refuses a product that overflows */
}

void *mem_realloc_array(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		mem_check(NULL);
	return mem_check(realloc(old, bytes ? bytes : 1));
}

char *mem_strdup(const char *text)
{
	return mem_check(strdup(text));
}

void *mem_dup(const void *data, size_t size)
{
	void *copy = mem_check(malloc(size ? size : 1));

	if (size)
		memcpy(copy, data, size);
	return copy;
}

char *mem_printf(const char *fmt, ...)
{
	va_list args;
	char *text = NULL;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	return mem_check(n < 0 ? NULL : text);
}

void mem_reserve(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = bytes < RESERVE_MAX ? bytes : RESERVE_MAX;
	char *block;
	size_t to_page;

	mallopt(M_MMAP_THRESHOLD, RESERVE_MAX);
	mallopt(M_TRIM_THRESHOLD, 2 * RESERVE_MAX);
	block = mem_check(malloc(size + page));
	to_page = (page - (uintptr_t)block % page) % page;
	/* Linux before 5.14 knows no MADV_POPULATE_WRITE: then the pages come one by one. */
	(void)madvise(block + to_page, size / page * page, MADV_POPULATE_WRITE);
	free(block); /* the end of the heap, where the next allocations come from */
}

void mem_reserve_end(void)
{
	mallopt(M_MMAP_THRESHOLD, HEAP_BIG_BLOCK);
	mallopt(M_TRIM_THRESHOLD, HEAP_TRIM_ABOVE);
	malloc_trim(0);
}

void mem_trim(void)
{
	void *volatile large;

	/* malloc_trim() leaves the end of a thread's heap as it is; that is given back when something large is freed in it. */
	mallopt(M_TRIM_THRESHOLD, HEAP_TRIM_AT_REST);
	mallopt(M_TOP_PAD, HEAP_TRIM_AT_REST);
	large = malloc(HEAP_LARGE);
	free(large);
	malloc_trim(0);
	mallopt(M_TRIM_THRESHOLD, HEAP_TRIM_ABOVE);
	mallopt(M_TOP_PAD, HEAP_TRIM_ABOVE);
}

void mem_settle(void)
{
	/* glibc joins what was freed when it is asked for more than its small sizes. */
	void *volatile large = malloc(SETTLE_SIZE);

	free(large);
}

struct arena *arena_new(size_t first_chunk)
{
	struct arena *a = mem_new(struct arena);

	a->next_capacity = first_chunk ? first_chunk : ARENA_FIRST_CHUNK;
	a->size = sizeof(*a);
	return a;
}

void arena_free(struct arena *a)
{
	struct arena_chunk *c;
	struct arena_chunk *next;

	if (!a)
		return;
	for (c = a->chunks; c; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

static struct arena_chunk *arena_add_chunk(struct arena *a, size_t capacity)
{
	size_t bytes;
	struct arena_chunk *c;

	if (__builtin_add_overflow(sizeof(*c), capacity, &bytes))
		mem_check(NULL);
	c = mem_alloc(bytes);
	c->capacity = capacity;
	c->next = a->chunks;
	a->chunks = c;
	a->size += bytes;
	return c;
}

/* A chunk with room for `size`. A big request gets a chunk of its own behind the current one, whose rest stays in use. */
static struct arena_chunk *arena_chunk_for(struct arena *a, size_t size)
{
	struct arena_chunk *c = a->chunks;

	if (c && c->capacity - c->used >= size)
		return c;
	if (c && size > a->next_capacity / 2) {
		struct arena_chunk *own = arena_add_chunk(a, size);

		a->chunks = c;
		own->next = c->next;
		c->next = own;
		return own;
	}
	c = arena_add_chunk(a, size > a->next_capacity ? size : a->next_capacity);
	if (a->next_capacity < ARENA_MAX_CHUNK)
		a->next_capacity *= 2;
	return c;
}

void *arena_alloc(struct arena *a, size_t size)
{
	const size_t align = alignof(max_align_t);
	struct arena_chunk *c;
	void *p;

	if (size > SIZE_MAX - align)
		mem_check(NULL);
	size = size ? (size + align - 1) & ~(align - 1) : align;
	c = arena_chunk_for(a, size);
	p = c->data + c->used;
	c->used += size;
	return p;
}

char *arena_strdup(struct arena *a, const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(arena_alloc(a, size), text, size);
}

size_t arena_size(const struct arena *a)
{
	return a->size;
}
