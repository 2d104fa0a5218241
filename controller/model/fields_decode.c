// SPDX-License-Identifier: GPL-2.0-or-later
// JSON to struct by the rows of a field table. Bodies are hostile: every value is judged by its row,
// every fault is collected, and a member with a fault keeps its default so that the rest can be read.
#include <assert.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "model/escape.h"
#include "model/field_slot.h"

void fields_fault(struct field_decoder *d, enum err_code code, const char *name, const char *fmt,
		  ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	size_t length = strlen(d->pointer);
	if (name)
		err_pointer_push(d->pointer, name);
	err_set(d->err, code, d->pointer, "%s", text);
	err_pointer_pop(d->pointer, length);
}

const char *fields_quote(const char *text, char buf[FIELDS_QUOTE_MAX])
{
	size_t length = strlen(text);
	if (length < FIELDS_QUOTE_MAX) {
		memcpy(buf, text, length + 1);
		return buf;
	}
	length = FIELDS_QUOTE_MAX - sizeof("...");
	while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	memcpy(buf, text, length);
	memcpy(buf + length, "...", sizeof("..."));
	return buf;
}

// ---- single values ----------------------------------------------------------------------------

// "tcp, http": the values that can be set now.
static const char *list_names(const struct field_name *names, char buf[256])
{
	size_t length = 0;
	buf[0] = '\0';
	for (; names->name; names++) {
		size_t size = strlen(names->name);
		if (names->later || length + size + 3 > 256)
			continue;
		if (length > 0) {
			memcpy(buf + length, ", ", 2);
			length += 2;
		}
		memcpy(buf + length, names->name, size + 1);
		length += size;
	}
	return buf;
}

static const struct field_name *find_name(const struct field_name *names, const char *text)
{
	for (; names->name; names++) {
		if (strcmp(names->name, text) == 0)
			return names;
	}
	return NULL;
}

// The value's bits or number; false with a fault if it has none.
static bool decode_name(struct field_decoder *d, const struct field *f, const json_t *v,
			uint32_t *ret)
{
	char names[256];
	char quote[FIELDS_QUOTE_MAX];
	if (!json_is_string(v)) {
		fields_fault(d, ERR_TYPE, f->name, "must be a string: one of %s",
			     list_names(f->names, names));
		return false;
	}
	const struct field_name *n = find_name(f->names, json_string_value(v));
	fields_quote(json_string_value(v), quote);
	list_names(f->names, names);
	if (!n) {
		fields_fault(d, ERR_RANGE, f->name, "must be one of %s, not \"%s\"", names, quote);
		return false;
	}
	if (n->later) {
		fields_fault(d, ERR_UNSUPPORTED, f->name,
			     "\"%s\" is not supported yet; supported now: %s", quote, names);
		return false;
	}
	*ret = n->value;
	return true;
}

static void decode_bool(struct field_decoder *d, const struct field *f, void *base, const json_t *v)
{
	field_slot_store_bool(base, f, f->number != 0);
	if (!v)
		return;
	if (!json_is_boolean(v)) {
		fields_fault(d, ERR_TYPE, f->name, "must be true or false");
		return;
	}
	field_slot_store_bool(base, f, json_is_true(v));
}

static void decode_number(struct field_decoder *d, const struct field *f, void *base,
			  const json_t *v)
{
	field_slot_store_number(base, f, f->derive ? f->derive(d->root) : f->number);
	if (!v)
		return;
	if (!json_is_integer(v)) {
		fields_fault(d, ERR_TYPE, f->name, "must be a whole number from %u to %u", f->min,
			     f->max);
		return;
	}
	json_int_t n = json_integer_value(v);
	if (n < (json_int_t)f->min || n > (json_int_t)f->max) {
		fields_fault(d, ERR_RANGE, f->name, "must be from %u to %u, not %lld", f->min,
			     f->max, (long long)n);
		return;
	}
	field_slot_store_number(base, f, (uint32_t)n);
}

static void decode_enum(struct field_decoder *d, const struct field *f, void *base, const json_t *v)
{
	uint32_t value = f->derive ? f->derive(d->root) : f->number;
	if (v)
		decode_name(d, f, v, &value);
	field_slot_store_number(base, f, value);
}

static void decode_flags(struct field_decoder *d, const struct field *f, void *base,
			 const json_t *v)
{
	field_slot_store_number(base, f, f->derive ? f->derive(d->root) : f->number);
	if (!v)
		return;
	if (!json_is_array(v)) {
		fields_fault(d, ERR_TYPE, f->name, "must be an array of names");
		return;
	}
	uint32_t bits = 0;
	for (size_t i = 0; i < json_array_size(v); i++) {
		uint32_t bit = 0;
		if (!decode_name(d, f, json_array_get(v, i), &bit))
			return;
		if ((bits & bit) != 0) {
			fields_fault(d, ERR_DUPLICATE, f->name, "names \"%s\" twice",
				     fields_enum_name(f->names, bit));
			return;
		}
		bits |= bit;
	}
	if (json_array_size(v) < f->min) {
		fields_fault(d, ERR_LIMIT, f->name, "must name at least %u", f->min);
		return;
	}
	field_slot_store_number(base, f, bits);
}

static bool escaped_is_good(struct field_decoder *d, const struct field *f, const char *text)
{
	char quote[FIELDS_QUOTE_MAX];
	const char *fault = escape_find_fault(text);
	if (fault) {
		fields_fault(
			d, ERR_FORMAT, f->name,
			"must be printable ASCII, \\XX (two hex digits) for any byte and \\\\ for a "
			"backslash; at character %zu stands \"%s\"",
			(size_t)(fault - text) + 1, fields_quote(fault, quote));
		return false;
	}
	size_t length = escape_decode_text(text, NULL, 0);
	if (length < f->min || length > f->max) {
		fields_fault(d, ERR_LIMIT, f->name,
			     "must have from %u to %u bytes after unescaping, not %zu", f->min,
			     f->max, length);
		return false;
	}
	return true;
}

// The text that `v` holds, or NULL with a fault.
static const char *decode_string(struct field_decoder *d, const struct field *f, const json_t *v)
{
	char quote[FIELDS_QUOTE_MAX];
	if (!json_is_string(v)) {
		fields_fault(d, ERR_TYPE, f->name, "must be a string");
		return NULL;
	}
	const char *text = json_string_value(v);
	size_t length = json_string_length(v);
	bool escaped = (f->flags & FIELD_ESCAPED) != 0;
	if (!escaped && (length < f->min || length > f->max)) {
		fields_fault(d, ERR_LIMIT, f->name, "must have from %u to %u bytes, not %zu",
			     f->min, f->max, length);
		return NULL;
	}
	if (strlen(text) != length || (!(f->flags & FIELD_ANY_TEXT) && !text_is_clean(text))) {
		fields_fault(d, ERR_FORMAT, f->name, "must not hold control characters");
		return NULL;
	}
	if (escaped && !escaped_is_good(d, f, text))
		return NULL;
	const char *reason = f->check ? f->check(text) : NULL;
	if (reason) {
		fields_fault(d, ERR_FORMAT, f->name, "\"%s\" %s", fields_quote(text, quote),
			     reason);
		return NULL;
	}
	return text;
}

static void decode_text(struct field_decoder *d, const struct field *f, void *base, const json_t *v)
{
	const char *text = v ? decode_string(d, f, v) : NULL;
	if (!text)
		text = f->text;
	char *copy = text ? mem_strdup(text) : NULL;
	field_slot_store_text(base, f, copy);
}

static const char *family_of_row(const struct field *f)
{
	if (f->flags & FIELD_V4)
		return "IPv4 address";
	return f->flags & FIELD_V6 ? "IPv6 address" : "IP address";
}

static bool family_allowed(const struct field *f, const struct addr *a)
{
	if (f->flags & FIELD_V4)
		return a->family == AF_INET;
	return !(f->flags & FIELD_V6) || a->family == AF_INET6;
}

/* What is wrong with a text that stands for no address, or not for one of the row; "" if that is seen at once. */
static const char *address_advice(const struct field *f, const char *text)
{
	struct addr a;
	if (addr_parse(text, &a) == 0 && !family_allowed(f, &a))
		return a.family == AF_INET ? ": it is an IPv4 address" : ": it is an IPv6 address";
	if (strchr(text, '/'))
		return ": leave the prefix length out";
	if (strchr(text, '%'))
		return ": leave the device out";
	if (strncasecmp(text, "::ffff:", 7) == 0 && strchr(text, '.'))
		return f->flags & FIELD_V6 ? ": it stands for an IPv4 address"
					   : ": write the IPv4 address without ::ffff:";
	if (strspn(text, "0123456789.") == strlen(text) && !(f->flags & FIELD_V6))
		return ": four numbers from 0 to 255, without leading zeros";
	return "";
}

static void decode_address(struct field_decoder *d, const struct field *f, void *base,
			   const json_t *v)
{
	char quote[FIELDS_QUOTE_MAX];
	struct addr a = {0};
	if (f->text) {
		int r = addr_parse(f->text, &a);
		assert(r == 0);
		memcpy(field_slot(base, f), &a, sizeof(a));
	}
	if (!v)
		return;
	if (!json_is_string(v)) {
		fields_fault(d, ERR_TYPE, f->name, "must be a string with an %s", family_of_row(f));
		return;
	}
	const char *text = json_string_value(v);
	if (strlen(text) != json_string_length(v) || addr_parse(text, &a) < 0 ||
	    !family_allowed(f, &a)) {
		fields_fault(d, ERR_FORMAT, f->name, "\"%s\" is not an %s%s",
			     fields_quote(text, quote), family_of_row(f), address_advice(f, text));
		return;
	}
	const char *reason = f->check ? f->check(&a) : NULL;
	if (reason) {
		fields_fault(d, ERR_RANGE, f->name, "%s %s", text, reason);
		return;
	}
	memcpy(field_slot(base, f), &a, sizeof(a));
}

static void decode_preset(struct field_decoder *d, const struct field *f, const json_t *v)
{
	if (v && decode_name(d, f, v, &d->preset))
		d->presets = f->presets;
}

static void decode_group(struct field_decoder *d, const struct field *f, void *base,
			 const json_t *v)
{
	if (v && !json_is_object(v))
		fields_fault(d, ERR_TYPE, f->name, "must be an object");
	size_t length = err_pointer_push(d->pointer, f->name);
	const json_t *patch = d->patch;
	const struct field_preset *presets = d->presets; // of the members beside a preset only
	d->presets = NULL;
	d->patch = json_object_get(patch, f->name);
	d->depth++;
	fields_decode(d, f->members, field_slot(base, f), v);
	d->depth--;
	d->presets = presets;
	d->patch = patch;
	err_pointer_pop(d->pointer, length);
}

// ---- rows -------------------------------------------------------------------------------------

static void decode_value(struct field_decoder *d, const struct field *f, void *base,
			 const json_t *v)
{
	switch (f->type) {
	case FIELD_BOOL:
		decode_bool(d, f, base, v);
		break;
	case FIELD_NUMBER:
		decode_number(d, f, base, v);
		break;
	case FIELD_ENUM:
		decode_enum(d, f, base, v);
		break;
	case FIELD_FLAGS:
		decode_flags(d, f, base, v);
		break;
	case FIELD_TEXT:
		decode_text(d, f, base, v);
		break;
	case FIELD_ADDRESS:
		decode_address(d, f, base, v);
		break;
	case FIELD_RANGE:
		fields_range_decode(d, f, field_slot(base, f), v);
		break;
	case FIELD_PREFIXES:
		fields_prefixes_decode(d, f, field_slot(base, f), v);
		break;
	case FIELD_ENTRIES:
		fields_entries_decode(d, f, base, v);
		break;
	case FIELD_GROUP:
		decode_group(d, f, base, v);
		break;
	case FIELD_GIVEN:
		field_slot_store_bool(base, f, v || (f->derive && f->derive(d->root) != 0));
		break;
	case FIELD_PRESET:
		decode_preset(d, f, v);
		break;
	case FIELD_CHILDREN:
	case FIELD_SINGLE:
	case FIELD_READ_ONLY:
		break;
	}
}

void fields_decode_default(struct field_decoder *d, const struct field *f, void *base)
{
	decode_value(d, f, base, NULL);
}

static const struct field_preset *find_preset(const struct field_decoder *d, const struct field *f)
{
	for (const struct field_preset *p = d->presets; p && p->member; p++) {
		if (p->preset == d->preset && strcmp(p->member, f->name) == 0 &&
		    (!p->when || p->when(d->root)))
			return p;
	}
	return NULL;
}

static void decode_member(struct field_decoder *d, const struct field *f, void *base,
			  const json_t *v)
{
	struct field changed;
	bool inherited = d->merging && !json_object_get(d->patch, f->name);
	const struct field_preset *preset = find_preset(d, f);
	if (preset) {
		changed = *f;
		changed.number = preset->number;
		changed.text = preset->text;
		f = &changed;
		v = inherited ? NULL : v;
	}
	if (v && f->when && !f->when(d->root)) {
		if (!inherited)
			fields_fault(d, ERR_INCOMPATIBLE, f->name, "\"%s\" can be set only %s",
				     f->name, f->when_text);
		v = NULL;
	}
	decode_value(d, f, base, v);
}

// A required member counts as missing only where its object is there and it applies.
static void check_required(struct field_decoder *d, const struct field *f)
{
	if (!(f->flags & FIELD_REQUIRED) || (f->when && !f->when(d->root)))
		return;
	char names[256];
	if (f->names)
		fields_fault(d, ERR_MISSING, f->name, "\"%s\" is required: one of %s", f->name,
			     list_names(f->names, names));
	else
		fields_fault(d, ERR_MISSING, f->name, "\"%s\" is required%s%s", f->name,
			     f->instead ? ", or instead of it " : "", f->instead ? f->instead : "");
}

/* Adds to `ret_found` if it is there. */
static void decode_row(struct field_decoder *d, const struct field *f, void *base,
		       const json_t *body, size_t *ret_found)
{
	bool present = json_is_object(body);
	const json_t *v = present ? json_object_get(body, f->name) : NULL;
	decode_member(d, f, base, v);
	if (present && !v)
		check_required(d, f);
	if (v && f->type != FIELD_GIVEN)
		(*ret_found)++;
}

/* Rows stand as people read them. A range decides whether there is one port, which stands before it. */
void fields_decode(struct field_decoder *d, const struct field *fields, void *base,
		   const json_t *body)
{
	size_t found = 0;
	for (unsigned turn = 0; turn < 2; turn++) {
		for (const struct field *f = fields; f->name; f++) {
			size_t before = d->err->total;
			if ((f->type == FIELD_RANGE) == (turn == 0))
				decode_row(d, f, base, body, &found);
			if (d->depth == 0 && d->err->total > before)
				d->root->faulty |= 1ULL << (f - fields);
		}
	}
	if (json_is_object(body) && found < json_object_size(body))
		fields_report_unknown(d, fields, body);
}
