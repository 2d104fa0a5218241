// SPDX-License-Identifier: GPL-2.0-or-later
// Stored rows without a tree of JSON between. Written: the compact text of what fields_encode() gives. Read: such a text, in
// the order in which it is written; each value is judged by its row, and nothing is repaired or reported: what is not exactly
// such a text is left to fields_decode(), which accepts all that is accepted here, with the same outcome.
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "model/field_slot.h"

#define TEXT_MAX MODEL_TEXT_MAX

// ---- read -------------------------------------------------------------------------------------

struct stored_reader {
	struct field_decoder decoder; /* for defaults */
	const char *at;
};

static bool take(struct stored_reader *r, char c)
{
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

/* The word and nothing more: what follows is looked at by the caller. */
static bool take_word(struct stored_reader *r, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(r->at, word, length) != 0)
		return false;
	r->at += length;
	return true;
}

/* `"name":`, after the comma if it is not the first member. False leaves the place as it is. */
static bool take_name(struct stored_reader *r, const char *name, bool first)
{
	const char *before = r->at;
	size_t length = strlen(name);

	if ((first || take(r, ',')) && take(r, '"') && strncmp(r->at, name, length) == 0 &&
	    r->at[length] == '"' && r->at[length + 1] == ':') {
		r->at += length + 2;
		return true;
	}
	r->at = before;
	return false;
}

/* A string of printable ASCII without escapes. */
static bool read_text(struct stored_reader *r, char buf[TEXT_MAX + 1], size_t *ret_length)
{
	size_t length = 0;

	if (!take(r, '"'))
		return false;
	for (; *r->at != '"'; r->at++) {
		if (*r->at < ' ' || *r->at > '~' || *r->at == '\\' || length == TEXT_MAX)
			return false; /* the end of the row too */
		buf[length++] = *r->at;
	}
	r->at++;
	buf[length] = '\0';
	*ret_length = length;
	return true;
}

static bool read_digits(struct stored_reader *r, const struct field *f, uint32_t *ret_value)
{
	const char *begin = r->at;
	uint64_t value = 0;

	while (*r->at >= '0' && *r->at <= '9' && r->at - begin < 10)
		value = value * 10 + (uint64_t)(*r->at++ - '0');
	if (r->at == begin || (*begin == '0' && r->at - begin > 1) || value < f->min ||
	    value > f->max)
		return false;
	*ret_value = (uint32_t)value;
	return true;
}

static bool read_number(struct stored_reader *r, const struct field *f, void *base)
{
	uint32_t value;

	if (!read_digits(r, f, &value))
		return false;
	field_slot_store_number(base, f, value);
	return true;
}

static bool read_bool(struct stored_reader *r, const struct field *f, void *base)
{
	bool value = take_word(r, "true");

	if (!value && !take_word(r, "false"))
		return false;
	field_slot_store_bool(base, f, value);
	return true;
}

static bool read_enum(struct stored_reader *r, const struct field *f, void *base)
{
	char text[TEXT_MAX + 1];
	size_t length;

	if (!read_text(r, text, &length))
		return false;
	for (const struct field_name *n = f->names; n->name; n++) {
		if (strcmp(n->name, text) != 0)
			continue;
		field_slot_store_number(base, f, n->value);
		return !n->later;
	}
	return false;
}

/* Escaped texts are rare: they are judged by what they stand for, elsewhere. */
static bool store_text(struct stored_reader *r, const struct field *f, void *base)
{
	char text[TEXT_MAX + 1];
	size_t length;

	if ((f->flags & FIELD_ESCAPED) || !read_text(r, text, &length) || length < f->min ||
	    length > f->max || (f->check && f->check(text)))
		return false;
	field_slot_store_text(base, f, mem_strdup(text));
	return true;
}

static bool family_allowed(const struct field *f, const struct addr *a)
{
	if (f->flags & FIELD_V4)
		return a->family == AF_INET;
	return !(f->flags & FIELD_V6) || a->family == AF_INET6;
}

static bool read_address(struct stored_reader *r, const struct field *f, void *base)
{
	char text[TEXT_MAX + 1];
	struct addr a = {0};
	size_t length;

	if (!read_text(r, text, &length) || addr_parse(text, &a) < 0 || !family_allowed(f, &a) ||
	    (f->check && f->check(&a)))
		return false;
	memcpy(field_slot(base, f), &a, sizeof(a));
	return true;
}

static bool read_range(struct stored_reader *r, const struct field *f, void *base)
{
	struct model_range range = {0};

	if (!take(r, '[') || !read_digits(r, f, &range.from) || !take(r, ',') ||
	    !read_digits(r, f, &range.to) || !take(r, ']') || range.from >= range.to)
		return false;
	memcpy(field_slot(base, f), &range, sizeof(range));
	return true;
}

static bool read_members(struct stored_reader *r, const struct field *fields, void *base);

static bool read_value(struct stored_reader *r, const struct field *f, void *base)
{
	switch (f->type) {
	case FIELD_BOOL:
		return read_bool(r, f, base);
	case FIELD_NUMBER:
		return read_number(r, f, base);
	case FIELD_ENUM:
		return read_enum(r, f, base);
	case FIELD_TEXT:
		return store_text(r, f, base);
	case FIELD_ADDRESS:
		return read_address(r, f, base);
	case FIELD_RANGE:
		return read_range(r, f, base);
	case FIELD_PREFIXES: /* zeroed: none */
		return f->min == 0 && take_word(r, "[]");
	case FIELD_ENTRIES: /* the array of a list without any */
		fields_decode_default(&r->decoder, f, base);
		return f->number == ENTRIES_ALL && take_word(r, "[]");
	case FIELD_GROUP:
		return read_members(r, f->members, field_slot(base, f));
	case FIELD_FLAGS:
	case FIELD_GIVEN:
	case FIELD_CHILDREN:
	case FIELD_SINGLE:
	case FIELD_READ_ONLY:
	case FIELD_PRESET:
		break;
	}
	return false;
}

/* Those which no row has by themselves: given or not is told by the member of the same name before them. */
static void note_given(struct stored_reader *r, const struct field *f, void *base,
		       const char *last_name)
{
	bool given = (last_name && strcmp(last_name, f->name) == 0) ||
		     (f->derive && f->derive(r->decoder.root) != 0);

	field_slot_store_bool(base, f, given);
}

static bool read_members(struct stored_reader *r, const struct field *fields, void *base)
{
	const struct field *missing = NULL;
	const char *last_name = NULL;

	if (!take(r, '{'))
		return false;
	for (const struct field *f = fields; f->name; f++) {
		bool applies = !f->when || f->when(r->decoder.root);

		if (f->type == FIELD_GIVEN) {
			note_given(r, f, base, last_name);
		} else if (take_name(r, f->name, !last_name)) {
			if (!applies || !read_value(r, f, base))
				return false;
			last_name = f->name;
		} else {
			if (applies && (f->flags & FIELD_REQUIRED)) {
				if (!f->when || missing)
					return false;
				missing = f;
			}
			fields_decode_default(&r->decoder, f, base);
		}
	}
	/* A later row may say that it is not required. */
	if (missing && missing->when(r->decoder.root))
		return false;
	return take(r, '}');
}

bool fields_read_stored(const struct field *fields, struct object *root, const char *text)
{
	struct err none AUTO_ERR = {0};
	struct stored_reader r = {.decoder = {.root = root, .err = &none}, .at = text};

	return read_members(&r, fields, root) && *r.at == '\0' && !err_any(&none);
}

// ---- write ------------------------------------------------------------------------------------

/* What is rare, as jansson writes it. */
static void write_json(struct buf_writer *w, json_t *json)
{
	AUTO_FREE char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);

	assert(text); /* our own members: only memory can be missing */
	buf_write_text(w, text);
	json_decref(json);
}

static void write_string(struct buf_writer *w, const char *text)
{
	for (const char *p = text; *p; p++) {
		if (*p >= ' ' && *p <= '~' && *p != '"' && *p != '\\')
			continue;
		write_json(w, json_string_nocheck(text));
		return;
	}
	buf_write_u8(w, '"');
	buf_write_text(w, text);
	buf_write_u8(w, '"');
}

static void write_number(struct buf_writer *w, uint32_t value)
{
	char text[12];
	char *p = text + sizeof(text);

	*--p = '\0';
	do
		*--p = (char)('0' + value % 10);
	while (value /= 10);
	buf_write_text(w, p);
}

static void write_flags(struct buf_writer *w, const struct field *f, uint32_t bits)
{
	const char *between = "";

	buf_write_u8(w, '[');
	for (const struct field_name *n = f->names; n->name; n++) {
		if (!(bits & n->value))
			continue;
		buf_write_text(w, between);
		write_string(w, n->name);
		between = ",";
	}
	buf_write_u8(w, ']');
}

static bool is_written(const struct field *f, const struct object *root, const void *base)
{
	if (f->when && !f->when(root))
		return false;
	switch (f->type) {
	case FIELD_BOOL:
	case FIELD_NUMBER:
	case FIELD_FLAGS:
	case FIELD_PREFIXES:
		return true;
	case FIELD_RANGE:
		return ((const struct model_range *)field_slot_read(base, f))->to != 0;
	case FIELD_ENTRIES:
		return fields_entries_shown(f, base, MODEL_ENTRIES_ROW_MAX);
	case FIELD_ENUM:
		return fields_enum_name(f->names, field_slot_load_number(base, f)) != NULL;
	case FIELD_TEXT:
		return field_slot_load_text(base, f) != NULL;
	case FIELD_ADDRESS:
		return addr_is_set(field_slot_read(base, f));
	case FIELD_GROUP:
		return !f->shown || f->shown(root);
	case FIELD_GIVEN:
	case FIELD_CHILDREN:
	case FIELD_SINGLE:
	case FIELD_READ_ONLY:
	case FIELD_PRESET:
		break;
	}
	return false;
}

static void write_value(struct buf_writer *w, const struct field *f, const struct object *root,
			const void *base)
{
	char text[ADDR_TEXT_MAX];

	switch (f->type) {
	case FIELD_BOOL:
		buf_write_text(w, field_slot_load_bool(base, f) ? "true" : "false");
		break;
	case FIELD_NUMBER:
		write_number(w, field_slot_load_number(base, f));
		break;
	case FIELD_ENUM:
		write_string(w, fields_enum_name(f->names, field_slot_load_number(base, f)));
		break;
	case FIELD_FLAGS:
		write_flags(w, f, field_slot_load_number(base, f));
		break;
	case FIELD_TEXT:
		write_string(w, field_slot_load_text(base, f));
		break;
	case FIELD_ADDRESS:
		write_string(w, addr_format(field_slot_read(base, f), text));
		break;
	case FIELD_RANGE:
		write_json(w, fields_range_encode(field_slot_read(base, f)));
		break;
	case FIELD_PREFIXES:
		write_json(w, fields_prefixes_encode(field_slot_read(base, f)));
		break;
	case FIELD_ENTRIES:
		write_json(w, fields_entries_encode(f, base, MODEL_ENTRIES_ROW_MAX));
		break;
	case FIELD_GROUP:
		fields_write_stored(f->members, root, field_slot_read(base, f), w);
		break;
	case FIELD_GIVEN:
	case FIELD_CHILDREN:
	case FIELD_SINGLE:
	case FIELD_READ_ONLY:
	case FIELD_PRESET:
		break;
	}
}

void fields_write_stored(const struct field *fields, const struct object *root, const void *base,
			 struct buf_writer *w)
{
	const char *before = "{\"";

	for (const struct field *f = fields; f->name; f++) {
		if (!is_written(f, root, base))
			continue;
		buf_write_text(w, before);
		buf_write_text(w, f->name);
		buf_write_text(w, "\":");
		write_value(w, f, root, base);
		before = ",\"";
	}
	buf_write_text(w, before[0] == '{' ? "{}" : "}");
}
