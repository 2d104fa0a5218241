// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of a field table as lines of the reference: object, member, type, bounds, default, help.
#include "base/mem.h"
#include "model/fields.h"

static void write_bounds(struct buf_writer *w, const struct field *f)
{
	const char *between = "";
	switch (f->type) {
	case FIELD_NUMBER:
	case FIELD_RANGE:
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
	case FIELD_ENTRIES:
		buf_write_format(w, f->number == ENTRIES_HASH ? "%u-%u bytes" : "%u-%u", f->min,
				 f->max);
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
	case FIELD_ENTRIES:
		buf_write_text(w, f->number == ENTRIES_ALL ? "[]" : "not set");
		break;
	case FIELD_PREFIXES:
		buf_write_text(w, "[]");
		break;
	case FIELD_RANGE:
		buf_write_text(w, "not set");
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
	case FIELD_RANGE:
		return "range";
	case FIELD_PREFIXES:
		return "array of prefixes";
	case FIELD_ENTRIES:
		return f->number == ENTRIES_ALL     ? "array of entries"
		       : f->number == ENTRIES_COUNT ? "integer"
						    : "string";
	case FIELD_GROUP:
	case FIELD_SINGLE:
		return "object";
	case FIELD_CHILDREN:
		return "objects";
	case FIELD_READ_ONLY:
		return "read-only";
	case FIELD_GIVEN:
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
