// SPDX-License-Identifier: GPL-2.0-or-later
// Members that no row knows: refused, with the one that was probably meant.
#include <string.h>

#include "model/fields.h"

#define DISTANCE_MAX 2

// Levenshtein distance of two short words, or DISTANCE_MAX + 1 if it is greater.
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[FIELDS_QUOTE_MAX];
	size_t m = strlen(a);
	size_t n = strlen(b);
	if (m >= FIELDS_QUOTE_MAX || n >= FIELDS_QUOTE_MAX)
		return DISTANCE_MAX + 1;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; i <= m; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n] > DISTANCE_MAX ? DISTANCE_MAX + 1 : row[n];
}

static void look_at(const char *name, const char *candidate, size_t *best, const char **ret_closest)
{
	size_t distance = edit_distance(name, candidate);
	// Half the letters changed is another word, not a slip.
	if (distance < *best && distance * 2 < strlen(candidate)) {
		*best = distance;
		*ret_closest = candidate;
	}
}

static const char *closest_member(const struct field *fields, const char *name)
{
	const char *closest = NULL;
	size_t best = DISTANCE_MAX + 1;
	for (const struct field *f = fields; f->name; f++) {
		if (f->type != FIELD_READ_ONLY)
			look_at(name, f->name, &best, &closest);
	}
	return closest;
}

const char *fields_nearest(const char *name, const char *const *names, size_t count)
{
	const char *closest = NULL;
	size_t best = DISTANCE_MAX + 1;
	for (size_t i = 0; i < count; i++)
		look_at(name, names[i], &best, &closest);
	return closest;
}

static bool is_member(const struct field *fields, const char *name)
{
	for (const struct field *f = fields; f->name; f++) {
		if (strcmp(f->name, name) == 0)
			return true;
	}
	return false;
}

void fields_report_unknown(struct field_decoder *d, const struct field *fields, const json_t *body)
{
	// jansson's iterators take a mutable object, which they do not change.
	for (void *i = json_object_iter((json_t *)(uintptr_t)body); i;
	     i = json_object_iter_next((json_t *)(uintptr_t)body, i)) {
		char quote[FIELDS_QUOTE_MAX];
		const char *name = json_object_iter_key(i);
		if (is_member(fields, name))
			continue;
		const char *closest = closest_member(fields, name);
		const char *place = strlen(name) < FIELDS_QUOTE_MAX ? name : NULL;
		fields_fault(d, ERR_UNKNOWN, place, "unknown member \"%s\"%s%s%s",
			     fields_quote(name, quote), closest ? "; did you mean \"" : "",
			     closest ? closest : "", closest ? "\"?" : "");
	}
}
