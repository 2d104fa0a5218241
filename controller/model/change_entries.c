// SPDX-License-Identifier: GPL-2.0-or-later
// Changes of single entries of an access list: all of them or, with every fault, none.
#include "model/change_entries.h"

#include <stdio.h>
#include <string.h>

#include "model/entries_text.h"
#include "model/fields.h"

#define EDITS_MAX MODEL_ENTRIES_SHOWN_MAX /* of each array */

struct patch {
	struct field_decoder decoder;
	const struct entries *base;
	struct entries_draft *draft;
	size_t added;
};

/* The array of that name, or NULL if there is none that can be read. */
static const json_t *find_array(struct patch *p, const json_t *body, const char *name)
{
	const json_t *v = json_object_get(body, name);

	if (!v)
		return NULL;
	if (!json_is_array(v)) {
		fields_fault(&p->decoder, ERR_TYPE, name, "must be an array");
		return NULL;
	}
	if (json_array_size(v) <= EDITS_MAX)
		return v;
	fields_fault(&p->decoder, ERR_LIMIT, name,
		     "names %zu entries; at most %d can be changed at once", json_array_size(v),
		     EDITS_MAX);
	return NULL;
}

static void collect_removal(struct patch *p, size_t index, const json_t *v)
{
	struct entry x = {
		.place = (uint32_t)(p->added + index), .action = ENTRIES_REMOVE, .comment = ""};
	char pointer[ERR_POINTER_MAX], cidr[ENTRIES_CIDR_MAX];
	struct err *e = p->decoder.err;
	const char *text = json_string_value(v);

	snprintf(pointer, sizeof(pointer), "/remove/%zu", index);
	if (!text || strlen(text) != json_string_length(v))
		err_set(e, ERR_TYPE, pointer, "must be a string like \"198.51.100.0/24\"");
	else if (entries_parse_cidr(text, pointer, e, &x) < 0)
		return;
	else if (!entries_find(p->base, &x.net, x.length))
		err_set(e, ERR_REFERENCE, pointer, "the list has no entry %s",
			entries_format_cidr(&x, cidr));
	else
		entries_draft_add(p->draft, &x);
}

static void collect(struct patch *p, const json_t *body)
{
	static const struct field members[] = {{.name = "add"}, {.name = "remove"}, {0}};
	const json_t *add = find_array(p, body, "add"), *removed = find_array(p, body, "remove");
	size_t length = err_pointer_push(p->decoder.pointer, "add");

	fields_entries_collect(&p->decoder, add, p->draft);
	err_pointer_pop(p->decoder.pointer, length);
	p->added = json_array_size(add);
	for (size_t i = 0; i < json_array_size(removed); i++)
		collect_removal(p, i, json_array_get(removed, i));
	fields_report_unknown(&p->decoder, members, body);
}

static void fault_repeated(void *ctx, const struct entry *first, const struct entry *again)
{
	struct patch *p = ctx;
	char pointer[ERR_POINTER_MAX], cidr[ENTRIES_CIDR_MAX];
	const bool removed = again->place >= p->added;

	(void)first;
	if (removed)
		snprintf(pointer, sizeof(pointer), "/remove/%zu", again->place - p->added);
	else
		snprintf(pointer, sizeof(pointer), "/add/%u/cidr", again->place);
	err_set(p->decoder.err, ERR_DUPLICATE, pointer, "%s is named twice in this change",
		entries_format_cidr(again, cidr));
}

struct entries *change_entries_patch(const struct entries *base, const json_t *body, struct err *e)
{
	struct patch p = {.decoder = {.err = e}, .base = base};
	const struct entry *edits;
	struct entries *after;
	size_t count;

	if (!json_is_object(body)) {
		err_set(e, ERR_TYPE, "", "must be an object {add, remove}");
		return entries_ref(base);
	}
	p.draft = entries_draft_new();
	collect(&p, body);
	entries_draft_sort(p.draft, fault_repeated, &p);
	edits = entries_draft_items(p.draft, &count);
	after = entries_edit(base, edits, count);
	entries_draft_free(p.draft);
	if (entries_count(after) > ENTRIES_MAX)
		err_set(e, ERR_LIMIT, "/add",
			"the list would have %zu entries; at most %d are allowed",
			entries_count(after), ENTRIES_MAX);
	return after;
}
