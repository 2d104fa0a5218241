// SPDX-License-Identifier: GPL-2.0-or-later
// What the rows of a field table do with values that are there already: compare, copy, free, encode.
// Decoding is in fields_decode.c, the reference in fields_reference.c, the rows are in fields_table.c.
#include "model/fields.h"

#include <string.h>

#include "base/mem.h"
#include "model/field_slot.h"

const char *fields_enum_name(const struct field_name *names, uint32_t value)
{
	for (; names->name; names++) {
		if (names->value == value)
			return names->later ? NULL : names->name;
	}
	return NULL;
}

bool fields_faulty(const struct object *o, const char *member)
{
	if (o->faulty == 0)
		return false;
	const struct field *fields = fields_of_kind(o->kind);
	for (size_t i = 0; fields[i].name; i++) {
		if (strcmp(fields[i].name, member) == 0 && (o->faulty >> i & 1) != 0)
			return true;
	}
	return false;
}

static bool text_equal(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0;
}

static bool member_equal(const struct field *f, const void *a, const void *b)
{
	switch (f->type) {
	case FIELD_BOOL:
	case FIELD_GIVEN:
		return field_slot_load_bool(a, f) == field_slot_load_bool(b, f);
	case FIELD_NUMBER:
	case FIELD_ENUM:
	case FIELD_FLAGS:
		return field_slot_load_number(a, f) == field_slot_load_number(b, f);
	case FIELD_TEXT:
		return text_equal(field_slot_load_text(a, f), field_slot_load_text(b, f));
	case FIELD_ADDRESS:
		return addr_compare(field_slot_read(a, f), field_slot_read(b, f)) == 0;
	case FIELD_RANGE:
		return memcmp(field_slot_read(a, f), field_slot_read(b, f),
			      sizeof(struct model_range)) == 0;
	case FIELD_PREFIXES:
		return fields_prefixes_equal(field_slot_read(a, f), field_slot_read(b, f));
	case FIELD_ENTRIES:
		return fields_entries_equal(f, a, b);
	case FIELD_GROUP:
		return fields_equal(f->members, field_slot_read(a, f), field_slot_read(b, f));
	case FIELD_CHILDREN:
	case FIELD_SINGLE:
	case FIELD_READ_ONLY:
	case FIELD_PRESET:
		return true;
	}
	return true;
}

bool fields_equal(const struct field *fields, const void *a, const void *b)
{
	for (const struct field *f = fields; f->name; f++) {
		if (!member_equal(f, a, b))
			return false;
	}
	return true;
}

static uint64_t member_hash(const struct field *f, const void *base, uint64_t seed)
{
	const struct addr *a;
	const char *text;
	uint32_t number;
	switch (f->type) {
	case FIELD_BOOL:
	case FIELD_GIVEN:
		number = field_slot_load_bool(base, f);
		return hash_bytes(&number, sizeof(number), seed);
	case FIELD_NUMBER:
	case FIELD_ENUM:
	case FIELD_FLAGS:
		number = field_slot_load_number(base, f);
		return hash_bytes(&number, sizeof(number), seed);
	case FIELD_TEXT:
		text = field_slot_load_text(base, f);
		return text ? hash_text(text, seed) : hash_bytes("", 1, seed);
	case FIELD_ADDRESS:
		a = field_slot_read(base, f);
		return hash_bytes(a->bytes, sizeof(a->bytes), seed ^ a->family);
	case FIELD_RANGE:
		return hash_bytes(field_slot_read(base, f), sizeof(struct model_range), seed);
	case FIELD_PREFIXES:
		return fields_prefixes_hash(field_slot_read(base, f), seed);
	case FIELD_ENTRIES:
		return fields_entries_hash(f, base, seed);
	case FIELD_GROUP:
		return fields_hash(f->members, field_slot_read(base, f), seed);
	case FIELD_CHILDREN:
	case FIELD_SINGLE:
	case FIELD_READ_ONLY:
	case FIELD_PRESET:
		break;
	}
	return seed;
}

uint64_t fields_hash(const struct field *fields, const void *base, uint64_t seed)
{
	for (const struct field *f = fields; f->name; f++)
		seed = member_hash(f, base, seed);
	return seed;
}

void fields_copy(const struct field *fields, void *base)
{
	for (const struct field *f = fields; f->name; f++) {
		void *at = field_slot(base, f);
		if (f->type == FIELD_GROUP)
			fields_copy(f->members, at);
		if (f->type == FIELD_PREFIXES)
			fields_prefixes_copy(at);
		if (f->type == FIELD_ENTRIES)
			fields_entries_copy(f, base);
		if (f->type != FIELD_TEXT)
			continue;
		char *text = field_slot_load_text(base, f);
		if (text)
			text = mem_strdup(text);
		field_slot_store_text(base, f, text);
	}
}

void fields_free(const struct field *fields, void *base)
{
	for (const struct field *f = fields; f->name; f++) {
		if (f->type == FIELD_GROUP)
			fields_free(f->members, field_slot(base, f));
		if (f->type == FIELD_PREFIXES)
			fields_prefixes_free(field_slot(base, f));
		if (f->type == FIELD_ENTRIES)
			fields_entries_free(f, base);
		if (f->type == FIELD_TEXT)
			free(field_slot_load_text(base, f));
	}
}

static json_t *encode_flags(const struct field *f, uint32_t bits)
{
	json_t *list = json_array();
	for (const struct field_name *n = f->names; n->name; n++) {
		if ((bits & n->value) != 0)
			json_array_append_new(list, json_string_nocheck(n->name));
	}
	return list;
}

static json_t *encode_address(const struct addr *a)
{
	char text[ADDR_TEXT_MAX];
	return addr_is_set(a) ? json_string_nocheck(addr_format(a, text)) : NULL;
}

static json_t *encode_group(const struct field *f, const struct object *root, const void *base)
{
	if (f->shown && !f->shown(root))
		return NULL;
	json_t *json = json_object();
	fields_encode(f->members, root, field_slot_read(base, f), json);
	return json;
}

// NULL: the member is not set and is left out.
static json_t *encode_member(const struct field *f, const struct object *root, const void *base)
{
	switch (f->type) {
	case FIELD_BOOL:
		return json_boolean(field_slot_load_bool(base, f));
	case FIELD_NUMBER:
		return json_integer(field_slot_load_number(base, f));
	case FIELD_ENUM: {
		const char *name = fields_enum_name(f->names, field_slot_load_number(base, f));
		return name ? json_string_nocheck(name) : NULL;
	}
	case FIELD_FLAGS:
		return encode_flags(f, field_slot_load_number(base, f));
	case FIELD_TEXT: {
		const char *text = field_slot_load_text(base, f);
		return text ? json_string_nocheck(text) : NULL;
	}
	case FIELD_ADDRESS:
		return encode_address(field_slot_read(base, f));
	case FIELD_RANGE:
		return fields_range_encode(field_slot_read(base, f));
	case FIELD_PREFIXES:
		return fields_prefixes_encode(field_slot_read(base, f));
	case FIELD_ENTRIES:
		return fields_entries_encode(f, base, MODEL_ENTRIES_SHOWN_MAX);
	case FIELD_GROUP:
		return encode_group(f, root, base);
	case FIELD_GIVEN:
	case FIELD_CHILDREN:
	case FIELD_SINGLE:
	case FIELD_READ_ONLY:
	case FIELD_PRESET:
		break;
	}
	return NULL;
}

void fields_encode(const struct field *fields, const struct object *root, const void *base,
		   json_t *json)
{
	for (const struct field *f = fields; f->name; f++) {
		json_t *value = f->when && !f->when(root) ? NULL : encode_member(f, root, base);
		if (value)
			json_object_set_new_nocheck(json, f->name, value);
	}
}
