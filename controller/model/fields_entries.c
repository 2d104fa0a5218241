// SPDX-License-Identifier: GPL-2.0-or-later
// Entries of access lists as members: the array, or of a list that is too long for a document its count and hash.
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "model/entries_text.h"
#include "model/field_slot.h"

static struct entries *load(const void *base, const struct field *f)
{
	struct entries *value;

	memcpy(&value, field_slot_read(base, f), sizeof(value));
	return value;
}

static void store(void *base, const struct field *f, struct entries *value)
{
	memcpy(field_slot(base, f), &value, sizeof(value));
}

// ---- decode -----------------------------------------------------------------------------------

/* The member's text; NULL with a fault if it is none, or (required) is not there. */
static const char *item_text(struct field_decoder *d, const json_t *item, const char *name,
			     const char *otherwise)
{
	const json_t *v = json_object_get(item, name);

	if (!v && !otherwise)
		fields_fault(d, ERR_MISSING, name, "\"%s\" is required", name);
	if (!v)
		return otherwise;
	if (!json_is_string(v) || strlen(json_string_value(v)) != json_string_length(v)) {
		fields_fault(d, ERR_TYPE, name, "must be a string without control characters");
		return NULL;
	}
	return json_string_value(v);
}

static void decode_cidr(struct field_decoder *d, const json_t *item, struct entry *x)
{
	const char *text = item_text(d, item, "cidr", NULL);
	size_t length;

	if (!text)
		return;
	length = err_pointer_push(d->pointer, "cidr");
	entries_parse_cidr(text, d->pointer, d->err, x);
	err_pointer_pop(d->pointer, length);
}

static void decode_action(struct field_decoder *d, const json_t *item, struct entry *x)
{
	const char *text = item_text(d, item, "action", NULL);
	char quote[FIELDS_QUOTE_MAX];

	if (!text)
		return;
	if (strcmp(text, "allow") != 0 && strcmp(text, "deny") != 0)
		fields_fault(d, ERR_RANGE, "action", "must be one of deny, allow, not \"%s\"",
			     fields_quote(text, quote));
	x->action = strcmp(text, "allow") == 0 ? ACCESS_ALLOW : ACCESS_DENY;
}

static void decode_comment(struct field_decoder *d, const json_t *item, struct entry *x)
{
	const char *text = item_text(d, item, "comment", "");

	if (!text)
		return;
	x->comment = text;
	if (strlen(text) > ENTRIES_COMMENT_MAX)
		fields_fault(d, ERR_LIMIT, "comment", "must have at most %d bytes, not %zu",
			     ENTRIES_COMMENT_MAX, strlen(text));
	else if (!text_is_clean(text))
		fields_fault(d, ERR_FORMAT, "comment", "must not hold control characters");
}

static void refuse_unknown(struct field_decoder *d, const json_t *item)
{
	static const struct field members[] = {
		{.name = "cidr"}, {.name = "action"}, {.name = "comment"}, {0}};
	size_t known = 0;

	for (const struct field *f = members; f->name; f++)
		known += json_object_get(item, f->name) != NULL;
	if (known < json_object_size(item))
		fields_report_unknown(d, members, item);
}

/* One entry at the place of `d`; false with faults. */
static bool decode_item(struct field_decoder *d, const json_t *item, struct entry *x)
{
	size_t before = d->err->total;

	if (!json_is_object(item)) {
		fields_fault(d, ERR_TYPE, NULL, "must be an object {cidr, action, comment}");
		return false;
	}
	decode_cidr(d, item, x);
	decode_action(d, item, x);
	decode_comment(d, item, x);
	refuse_unknown(d, item);
	return d->err->total == before;
}

static void fault_repeated(void *ctx, const struct entry *first, const struct entry *again)
{
	struct field_decoder *d = ctx;
	char cidr[ENTRIES_CIDR_MAX], place[24];
	size_t length;

	snprintf(place, sizeof(place), "%u", again->place);
	length = err_pointer_push(d->pointer, place);
	fields_fault(d, ERR_DUPLICATE, "cidr", "%s stands there twice, first as entry %u",
		     entries_format_cidr(again, cidr), first->place);
	err_pointer_pop(d->pointer, length);
}

void fields_entries_collect(struct field_decoder *d, const json_t *array,
			    struct entries_draft *draft)
{
	char place[24];

	for (size_t i = 0; i < json_array_size(array); i++) {
		struct entry x = {.place = (uint32_t)i, .comment = ""};
		size_t length;

		snprintf(place, sizeof(place), "%zu", i);
		length = err_pointer_push(d->pointer, place);
		if (decode_item(d, json_array_get(array, i), &x))
			entries_draft_add(draft, &x);
		err_pointer_pop(d->pointer, length);
	}
}

/* All items of the array at the place of `d`. */
static struct entries *decode_items(struct field_decoder *d, const json_t *v)
{
	struct entries_draft *draft = entries_draft_new();
	struct entries *e;

	fields_entries_collect(d, v, draft);
	entries_draft_sort(draft, fault_repeated, d);
	e = entries_draft_finish(draft);
	entries_draft_free(draft);
	return e;
}

static struct entries *decode_array(struct field_decoder *d, const struct field *f, const json_t *v)
{
	struct entries *e;
	size_t length;

	if (!json_is_array(v)) {
		fields_fault(d, ERR_TYPE, f->name,
			     "must be an array of objects {cidr, action, comment}");
		return entries_new();
	}
	if (json_array_size(v) > f->max) {
		fields_fault(d, ERR_LIMIT, f->name,
			     "has %zu entries; at most %u can stand here: send more as text to "
			     "/access-lists/NAME/entries",
			     json_array_size(v), f->max);
		return entries_new();
	}
	length = err_pointer_push(d->pointer, f->name);
	e = decode_items(d, v);
	err_pointer_pop(d->pointer, length);
	return e;
}

/* The entries that the hash stands for. */
static struct entries *find_known(struct field_decoder *d, const struct field *f, const json_t *v)
{
	char hash[ENTRIES_HASH_TEXT];

	if (!json_is_string(v)) {
		fields_fault(d, ERR_TYPE, f->name, "must be a string");
		return entries_new();
	}
	if (d->entries && strcmp(entries_format_hash(d->entries, hash), json_string_value(v)) == 0)
		return entries_ref(d->entries);
	fields_fault(
		d, ERR_REFERENCE, f->name,
		"stands for no entries that are here: %s%s; give \"entries\", or send them as text to "
		"/access-lists/NAME/entries",
		d->entries ? "those of the list have the hash " : "there is no such list",
		d->entries ? hash : "");
	return entries_new();
}

/* A list that is too long for a document stands in it by its hash, which is looked at where the entries are not given. */
void fields_entries_decode(struct field_decoder *d, const struct field *f, void *base,
			   const json_t *v)
{
	switch ((enum field_entries)f->number) {
	case ENTRIES_ALL:
		store(base, f, v ? decode_array(d, f, v) : NULL);
		break;
	case ENTRIES_COUNT:
		break;
	case ENTRIES_HASH:
		if (!load(base, f))
			store(base, f, v ? find_known(d, f, v) : entries_new());
		break;
	}
}

// ---- what is there ----------------------------------------------------------------------------

static json_t *encode_items(const struct entries *e)
{
	struct entries_cursor c;
	const struct entry *x;
	char cidr[ENTRIES_CIDR_MAX];
	json_t *array = json_array();

	entries_begin(e, &c);
	while ((x = entries_next(&c))) {
		json_t *item = json_object();

		json_object_set_new_nocheck(item, "cidr",
					    json_string_nocheck(entries_format_cidr(x, cidr)));
		json_object_set_new_nocheck(
			item, "action",
			json_string_nocheck(entries_action_name((enum access_action)x->action)));
		json_object_set_new_nocheck(item, "comment", json_string_nocheck(x->comment));
		json_array_append_new(array, item);
	}
	return array;
}

bool fields_entries_shown(const struct field *f, const void *base, size_t most)
{
	return (entries_count(load(base, f)) <= most) == (f->number == ENTRIES_ALL);
}

json_t *fields_entries_encode(const struct field *f, const void *base, size_t most)
{
	const struct entries *e = load(base, f);
	char hash[ENTRIES_HASH_TEXT];

	if (!fields_entries_shown(f, base, most))
		return NULL;
	switch ((enum field_entries)f->number) {
	case ENTRIES_ALL:
		return encode_items(e);
	case ENTRIES_COUNT:
		return json_integer((json_int_t)entries_count(e));
	case ENTRIES_HASH:
		return json_string_nocheck(entries_format_hash(e, hash));
	}
	return NULL;
}

bool fields_entries_equal(const struct field *f, const void *a, const void *b)
{
	return f->number != ENTRIES_ALL || entries_equal(load(a, f), load(b, f));
}

uint64_t fields_entries_hash(const struct field *f, const void *base, uint64_t seed)
{
	uint64_t hash = entries_hash(load(base, f));

	return f->number == ENTRIES_ALL ? hash_bytes(&hash, sizeof(hash), seed) : seed;
}

void fields_entries_copy(const struct field *f, void *base)
{
	if (f->number == ENTRIES_ALL)
		entries_ref(load(base, f));
}

void fields_entries_free(const struct field *f, void *base)
{
	if (f->number == ENTRIES_ALL)
		entries_unref(load(base, f));
}
