/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of the words that there are was meant by one that there is not. */
#ifndef ZG_BASE_NEAREST_H
#define ZG_BASE_NEAREST_H

#include <stddef.h>

/* What is typed against one word after the other; begin with {.typed = …}. `word` is the best so far, borrowed; NULL: none is near.
 * Near is: its beginning, or two letters added, left out, changed or swapped with their neighbour at most, and fewer than half of them.
 * Words of 40 letters and more are near to nothing. */
struct nearest {
	const char *typed;
	const char *word;
	size_t distance; /* of `word` */
};
void nearest_look_at(struct nearest *n, const char *word); /* NULL-safe */

/* The same of a list, in which NULLs are passed over. */
const char *nearest_find(const char *typed, const char *const *words, size_t count);

#endif
