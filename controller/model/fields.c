// SPDX-License-Identifier: GPL-2.0-or-later
// What the rows of a field table do with values that are there already: compare, copy, free, encode
// and print the reference. Decoding is in fields_decode.c, the rows are in fields_table.c.
#include "model/fields.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

static const void *slot(const void *base, const struct field *f)
{
	return (const char *)base + f->offset;
}

static uint32_t load_number(const void *base, const struct field *f)
{
	uint32_t value;
	memcpy(&value, slot(base, f), sizeof(value));
	return value;
}

static bool load_bool(const void *base, const struct field *f)
{
	bool value;
	memcpy(&value, slot(base, f), sizeof(value));
	return value;
}

static char *load_text(const void *base, const struct field *f)
{
	char *value;
	memcpy(&value, slot(base, f), sizeof(value));
	return value;
}

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
		return load_bool(a, f) == load_bool(b, f);
	case FIELD_NUMBER:
	case FIELD_ENUM:
	case FIELD_FLAGS:
		return load_number(a, f) == load_number(b, f);
	case FIELD_TEXT:
		return text_equal(load_text(a, f), load_text(b, f));
	case FIELD_ADDRESS:
		return addr_compare(slot(a, f), slot(b, f)) == 0;
	case FIELD_PREFIXES:
		return fields_prefixes_equal(slot(a, f), slot(b, f));
	case FIELD_GROUP:
		return fields_equal(f->members, slot(a, f), slot(b, f));
	case FIELD_CHILDREN:
	case FIELD_SINGLE:
	case FIELD_READ_ONLY:
	case FIELD_PRESET:
	case FIELD_LATER:
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
		number = load_bool(base, f);
		return hash_bytes(&number, sizeof(number), seed);
	case FIELD_NUMBER:
	case FIELD_ENUM:
	case FIELD_FLAGS:
		number = load_number(base, f);
		return hash_bytes(&number, sizeof(number), seed);
	case FIELD_TEXT:
		text = load_text(base, f);
		return text ? hash_text(text, seed) : hash_bytes("", 1, seed);
	case FIELD_ADDRESS:
		a = slot(base, f);
		return hash_bytes(a->bytes, sizeof(a->bytes), seed ^ a->family);
	case FIELD_PREFIXES:
		return fields_prefixes_hash(slot(base, f), seed);
	case FIELD_GROUP:
		return fields_hash(f->members, slot(base, f), seed);
	case FIELD_CHILDREN:
	case FIELD_SINGLE:
	case FIELD_READ_ONLY:
	case FIELD_PRESET:
	case FIELD_LATER:
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
		char *at = (char *)base + f->offset;
		if (f->type == FIELD_GROUP)
			fields_copy(f->members, at);
		if (f->type == FIELD_PREFIXES)
			fields_prefixes_copy((struct model_prefixes *)(void *)at);
		if (f->type != FIELD_TEXT)
			continue;
		char *text = load_text(base, f);
		if (text)
			text = mem_strdup(text);
		memcpy(at, &text, sizeof(text));
	}
}

void fields_free(const struct field *fields, void *base)
{
	for (const struct field *f = fields; f->name; f++) {
		if (f->type == FIELD_GROUP)
			fields_free(f->members, (char *)base + f->offset);
		if (f->type == FIELD_PREFIXES)
			fields_prefixes_free(
				(struct model_prefixes *)(void *)((char *)base + f->offset));
		if (f->type == FIELD_TEXT)
			free(load_text(base, f));
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
	fields_encode(f->members, root, slot(base, f), json);
	return json;
}

// NULL: the member is not set and is left out.
static json_t *encode_member(const struct field *f, const struct object *root, const void *base)
{
	switch (f->type) {
	case FIELD_BOOL:
		return json_boolean(load_bool(base, f));
	case FIELD_NUMBER:
		return json_integer(load_number(base, f));
	case FIELD_ENUM: {
		const char *name = fields_enum_name(f->names, load_number(base, f));
		return name ? json_string_nocheck(name) : NULL;
	}
	case FIELD_FLAGS:
		return encode_flags(f, load_number(base, f));
	case FIELD_TEXT: {
		const char *text = load_text(base, f);
		return text ? json_string_nocheck(text) : NULL;
	}
	case FIELD_ADDRESS:
		return encode_address(slot(base, f));
	case FIELD_PREFIXES:
		return fields_prefixes_encode(slot(base, f));
	case FIELD_GROUP:
		return encode_group(f, root, base);
	case FIELD_GIVEN:
	case FIELD_CHILDREN:
	case FIELD_SINGLE:
	case FIELD_READ_ONLY:
	case FIELD_PRESET:
	case FIELD_LATER:
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

// ---- reference --------------------------------------------------------------------------------

static void write_bounds(struct buf_writer *w, const struct field *f)
{
	const char *between = "";
	switch (f->type) {
	case FIELD_NUMBER:
		buf_write_format(w, "%u-%u", f->min, f->max);
		break;
	case FIELD_TEXT:
		buf_write_format(w, "%u-%u %s", f->min, f->max,
				 f->flags & FIELD_ESCAPED ? "unescaped bytes" : "bytes");
		break;
	case FIELD_CHILDREN:
	case FIELD_PREFIXES:
		buf_write_format(w, "%u-%u", f->min, f->max);
		break;
	case FIELD_ENUM:
	case FIELD_FLAGS:
	case FIELD_PRESET:
		for (const struct field_name *n = f->names; n->name; n++) {
			if (n->later)
				continue;
			buf_write_format(w, "%s%s", between, n->name);
			between = " | ";
		}
		break;
	case FIELD_BOOL:
		buf_write_text(w, "true | false");
		break;
	case FIELD_ADDRESS:
		buf_write_text(w, f->flags & FIELD_V4   ? "IPv4"
				  : f->flags & FIELD_V6 ? "IPv6"
							: "IPv4 | IPv6");
		break;
	case FIELD_SINGLE:
	case FIELD_GROUP:
	case FIELD_GIVEN:
	case FIELD_READ_ONLY:
	case FIELD_LATER:
		break;
	}
}

static void write_flags(struct buf_writer *w, const struct field *f)
{
	const char *between = "[";
	for (const struct field_name *n = f->names; n->name; n++) {
		if ((f->number & n->value) == 0)
			continue;
		buf_write_format(w, "%s\"%s\"", between, n->name);
		between = ", ";
	}
	buf_write_text(w, f->number != 0 ? "]" : "[]");
}

static void write_default(struct buf_writer *w, const struct field *f)
{
	const char *name;
	if (f->flags & FIELD_REQUIRED) {
		buf_write_text(w, "required");
		return;
	}
	if (f->derive_text) {
		buf_write_text(w, f->derive_text);
		return;
	}
	switch (f->type) {
	case FIELD_BOOL:
		buf_write_text(w, f->number ? "true" : "false");
		break;
	case FIELD_NUMBER:
		buf_write_format(w, "%u", f->number);
		break;
	case FIELD_ENUM:
		name = fields_enum_name(f->names, f->number);
		buf_write_text(w, name ? name : "not set");
		break;
	case FIELD_PRESET:
		buf_write_text(w, "not set");
		break;
	case FIELD_FLAGS:
		write_flags(w, f);
		break;
	case FIELD_PREFIXES:
		buf_write_text(w, "[]");
		break;
	case FIELD_TEXT:
	case FIELD_ADDRESS:
		buf_write_format(w, f->text ? "\"%s\"" : "not set", f->text);
		break;
	case FIELD_GROUP:
	case FIELD_GIVEN:
	case FIELD_CHILDREN:
	case FIELD_SINGLE:
	case FIELD_READ_ONLY:
	case FIELD_LATER:
		break;
	}
}

static const char *type_name(const struct field *f)
{
	switch (f->type) {
	case FIELD_BOOL:
		return "boolean";
	case FIELD_NUMBER:
		return "integer";
	case FIELD_ENUM:
	case FIELD_TEXT:
	case FIELD_PRESET:
		return "string";
	case FIELD_FLAGS:
		return "array of strings";
	case FIELD_ADDRESS:
		return "address";
	case FIELD_PREFIXES:
		return "array of prefixes";
	case FIELD_GROUP:
	case FIELD_SINGLE:
		return "object";
	case FIELD_CHILDREN:
		return "objects";
	case FIELD_READ_ONLY:
		return "read-only";
	case FIELD_GIVEN:
	case FIELD_LATER:
		break;
	}
	return NULL;
}

static void write_row(struct buf_writer *w, const char *object, const char *prefix,
		      const struct field *f)
{
	const char *type = type_name(f);
	if (!type)
		return;
	buf_write_format(w, "%s\t%s%s\t%s\t", object, prefix, f->name, type);
	write_bounds(w, f);
	buf_write_text(w, "\t");
	write_default(w, f);
	buf_write_format(w, "\t%s%s%s\n", f->help, f->when_text ? "; only " : "",
			 f->when_text ? f->when_text : "");
	if (f->type != FIELD_GROUP)
		return;
	AUTO_FREE char *inner = mem_printf("%s%s.", prefix, f->name);
	for (const struct field *m = f->members; m->name; m++)
		write_row(w, object, inner, m);
}

void fields_write_reference(struct buf_writer *w, const char *object, const struct field *fields)
{
	for (const struct field *f = fields; f->name; f++)
		write_row(w, object, "", f);
}
