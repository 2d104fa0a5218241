// SPDX-License-Identifier: GPL-2.0-or-later
// A slip of the fingers is told from another word by how many letters differ.
#include "base/nearest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NEAREST_WORD_MAX  40
#define NEAREST_TYPOS_MAX 2

static uint8_t nearest_least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* How many letters were added, left out, changed, or swapped with their neighbour. Of words that are short enough. */
static size_t nearest_measure(const char *a, size_t n, const char *b, size_t m)
{
	uint8_t rows[NEAREST_WORD_MAX][NEAREST_WORD_MAX];

	for (size_t i = 0; i <= n; i++) {
		for (size_t j = 0; j <= m; j++) {
			uint8_t *at = &rows[i][j];

			if (i == 0 || j == 0) {
				*at = (uint8_t)(i + j);
				continue;
			}
			*at = nearest_least((uint8_t)(rows[i - 1][j] + 1),
					    (uint8_t)(rows[i][j - 1] + 1));
			*at = nearest_least(*at,
					    (uint8_t)(rows[i - 1][j - 1] + (a[i - 1] != b[j - 1])));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				*at = nearest_least(*at, (uint8_t)(rows[i - 2][j - 2] + 1));
		}
	}
	return rows[n][m];
}

static size_t nearest_distance(const char *typed, const char *word)
{
	const size_t n = strlen(typed), m = strlen(word);

	if (n >= NEAREST_WORD_MAX || m >= NEAREST_WORD_MAX)
		return SIZE_MAX;
	/* Who left off the end typed no wrong letter. */
	if (n > 1 && strncmp(typed, word, n) == 0)
		return 1;
	if (n > m + NEAREST_TYPOS_MAX || m > n + NEAREST_TYPOS_MAX)
		return SIZE_MAX;
	return nearest_measure(typed, n, word, m);
}

void nearest_look_at(struct nearest *n, const char *word)
{
	size_t distance = word ? nearest_distance(n->typed, word) : SIZE_MAX;
	bool is_slip = distance <= NEAREST_TYPOS_MAX &&
		       (distance * 2 < strlen(word) || (distance == 1 && strlen(word) == 2));

	if (!is_slip || (n->word && distance >= n->distance))
		return;
	n->word = word;
	n->distance = distance;
}

const char *nearest_find(const char *typed, const char *const *words, size_t count)
{
	struct nearest n = {.typed = typed};

	for (size_t i = 0; i < count; i++)
		nearest_look_at(&n, words[i]);
	return n.word;
}
