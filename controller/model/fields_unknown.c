// SPDX-License-Identifier: GPL-2.0-or-later
// Members that no row knows: refused, with the one that was probably meant.
#include <string.h>

#include "base/nearest.h"
#include "model/fields.h"

/* "query_name" for "name". */
static bool ends_with_word(const char *typed, const char *word)
{
	const size_t size = strlen(typed), part = strlen(word);

	return size > part + 1 && typed[size - part - 1] == '_' &&
	       strcmp(typed + size - part, word) == 0;
}

static const char *closest_member(const struct field *fields, const char *name)
{
	struct nearest n = {.typed = name};
	for (const struct field *f = fields; f->name; f++) {
		if (f->type != FIELD_READ_ONLY)
			nearest_look_at(&n, f->name);
	}
	for (const struct field *f = fields; f->name && !n.word; f++) {
		if (f->type != FIELD_READ_ONLY && ends_with_word(name, f->name))
			return f->name;
	}
	return n.word;
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
