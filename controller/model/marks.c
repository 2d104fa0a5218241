// SPDX-License-Identifier: GPL-2.0-or-later
// Marks by names as a sorted array, and the arithmetic of the marks that may be used. Which one a listener gets is decided in the
// engine.
#include "model/marks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FREE_BITS_MAX 12

struct mark *marks_copy_mark(const struct mark *m)
{
	struct mark *copy = mem_new(struct mark);

	copy->lb = mem_strdup(m->lb);
	copy->zone = mem_strdup(m->zone);
	copy->listener = mem_strdup(m->listener);
	copy->mark = m->mark;
	return copy;
}

void marks_free_mark(struct mark *m)
{
	if (!m)
		return;
	free(m->lb);
	free(m->zone);
	free(m->listener);
	free(m);
}

int marks_compare(const void *a, const void *b)
{
	const struct mark *x = a;
	const struct mark *y = b;
	int order = strcmp(x->lb, y->lb);

	if (!order)
		order = strcmp(x->zone, y->zone);
	return order ? order : strcmp(x->listener, y->listener);
}

struct marks *marks_new(struct vec *items)
{
	struct marks *m = mem_new(struct marks);

	m->refs = 1;
	m->items = *items;
	*items = (struct vec){0};
	vec_sort(&m->items, marks_compare);
	return m;
}

struct marks *marks_ref(struct marks *m)
{
	if (!m)
		return NULL;
	unsigned before = __atomic_fetch_add(&m->refs, 1, __ATOMIC_RELAXED);
	assert(before > 0);
	return m;
}

void marks_unref(struct marks *m)
{
	if (!m)
		return;
	unsigned before = __atomic_fetch_sub(&m->refs, 1, __ATOMIC_ACQ_REL);
	assert(before > 0);
	if (before > 1)
		return;
	for (size_t i = 0; i < m->items.count; i++)
		marks_free_mark(m->items.items[i]);
	vec_clear(&m->items);
	free(m);
}

/* The names of a key are only read. */
static char *borrow(const char *text)
{
	return (char *)(uintptr_t)text;
}

uint32_t marks_find(const struct marks *m, const char *lb, const char *zone, const char *listener)
{
	const struct mark key = {
		.lb = borrow(lb), .zone = borrow(zone), .listener = borrow(listener)};
	const struct mark *found = m ? vec_find(&m->items, &key, marks_compare, NULL) : NULL;

	return found ? found->mark : 0;
}

// ---- which there are --------------------------------------------------------------------------

static bool parse_number(const char **at, uint32_t *ret_number)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	unsigned long long number = strtoull(*at, &end, 0);

	if (number > UINT32_MAX)
		return false;
	*at = end;
	*ret_number = (uint32_t)number;
	return true;
}

static int free_bits(const struct mark_space *s)
{
	return __builtin_popcount(~s->mask);
}

bool marks_parse_space(const char *text, struct mark_space *ret_space)
{
	struct mark_space s;

	if (!parse_number(&text, &s.value) || *text++ != '/' || !parse_number(&text, &s.mask) ||
	    *text || (s.value & ~s.mask) || free_bits(&s) < 1 || free_bits(&s) > FREE_BITS_MAX)
		return false;
	*ret_space = s;
	return true;
}

uint32_t marks_count(const struct mark_space *s)
{
	return ((uint32_t)1 << free_bits(s)) - 1;
}

uint32_t marks_at(const struct mark_space *s, uint32_t index)
{
	uint32_t number = index + 1;
	uint32_t mark = s->value;

	assert(index < marks_count(s));
	for (uint32_t bit = 1; number; bit <<= 1) {
		if (s->mask & bit)
			continue;
		if (number & 1)
			mark |= bit;
		number >>= 1;
	}
	return mark;
}

bool marks_within(const struct mark_space *s, uint32_t mark)
{
	return (mark & s->mask) == s->value && mark != s->value;
}
