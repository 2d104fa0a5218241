// SPDX-License-Identifier: GPL-2.0-or-later
// Lists of prefixes as members: decoded with every fault, compared in order, owned by their object.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/fields.h"

/* The prefix that `v` holds; false with a fault. */
static bool decode_prefix(struct field_decoder *d, const struct field *f, const json_t *v,
			  struct model_prefix *ret)
{
	char quote[FIELDS_QUOTE_MAX];
	const char *text = json_string_value(v);

	if (!text) {
		fields_fault(d, ERR_TYPE, f->name,
			     "must be an array of strings like \"10.1.0.0/16\"");
		return false;
	}
	if (strlen(text) != json_string_length(v) ||
	    addr_parse_prefix(text, &ret->net, &ret->length) < 0) {
		fields_fault(
			d, ERR_FORMAT, f->name,
			"\"%s\" is not a prefix like \"10.1.0.0/16\", with no bits set beyond its length",
			fields_quote(text, quote));
		return false;
	}
	return true;
}

static int prefix_compare(const void *a, const void *b)
{
	const struct model_prefix *x = a;
	const struct model_prefix *y = b;
	int order = addr_compare(&x->net, &y->net);

	return order ? order : (int)x->length - (int)y->length;
}

static void check_repeated(struct field_decoder *d, const struct field *f,
			   const struct model_prefixes *list)
{
	struct model_prefix *sorted AUTO_FREE = mem_alloc_array(list->count + 1, sizeof(*sorted));
	char text[ADDR_TEXT_MAX];

	if (list->count == 0)
		return;
	memcpy(sorted, list->items, list->count * sizeof(*sorted));
	qsort(sorted, list->count, sizeof(*sorted), prefix_compare);
	for (size_t i = 1; i < list->count; i++) {
		if (prefix_compare(&sorted[i - 1], &sorted[i]) != 0)
			continue;
		fields_fault(d, ERR_DUPLICATE, f->name, "holds %s/%u twice",
			     addr_format(&sorted[i].net, text), sorted[i].length);
		return;
	}
}

void fields_prefixes_decode(struct field_decoder *d, const struct field *f,
			    struct model_prefixes *list, const json_t *v)
{
	size_t count = json_array_size(v);

	*list = (struct model_prefixes){0};
	if (!v)
		return;
	if (!json_is_array(v)) {
		fields_fault(d, ERR_TYPE, f->name,
			     "must be an array of strings like \"10.1.0.0/16\"");
		return;
	}
	if (count > f->max) {
		fields_fault(d, ERR_LIMIT, f->name, "has %zu prefixes; at most %u are allowed",
			     count, f->max);
		return;
	}
	list->items = mem_alloc_array(count + 1, sizeof(*list->items));
	for (size_t i = 0; i < count; i++)
		if (decode_prefix(d, f, json_array_get(v, i), &list->items[list->count]))
			list->count++;
	check_repeated(d, f, list);
}

json_t *fields_prefixes_encode(const struct model_prefixes *list)
{
	json_t *array = json_array();
	char text[ADDR_TEXT_MAX];

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(array,
				      json_sprintf("%s/%u", addr_format(&list->items[i].net, text),
						   list->items[i].length));
	return array;
}

bool fields_prefixes_equal(const struct model_prefixes *a, const struct model_prefixes *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (prefix_compare(&a->items[i], &b->items[i]) != 0)
			return false;
	return true;
}

uint64_t fields_prefixes_hash(const struct model_prefixes *list, uint64_t seed)
{
	for (size_t i = 0; i < list->count; i++)
		seed = hash_bytes(list->items[i].net.bytes, sizeof(list->items[i].net.bytes),
				  seed ^ list->items[i].length ^
					  (uint64_t)list->items[i].net.family << 8);
	return seed;
}

void fields_prefixes_copy(struct model_prefixes *list)
{
	if (list->items)
		list->items = mem_dup(list->items, (list->count + 1) * sizeof(*list->items));
}

void fields_prefixes_free(struct model_prefixes *list)
{
	free(list->items);
	*list = (struct model_prefixes){0};
}
