/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the value of a row of a field table lies in its struct, and the plain values there. Internal to model/. */
#ifndef ZG_MODEL_FIELD_SLOT_H
#define ZG_MODEL_FIELD_SLOT_H

#include <string.h>

#include "model/fields.h"

/* Of a struct that is written. */
static inline void *field_slot(void *base, const struct field *f)
{
	return (char *)base + f->offset;
}

/* Of one that is only read. */
static inline const void *field_slot_read(const void *base, const struct field *f)
{
	return (const char *)base + f->offset;
}

/* FIELD_NUMBER, FIELD_ENUM, FIELD_FLAGS. */
static inline uint32_t field_slot_load_number(const void *base, const struct field *f)
{
	uint32_t value;

	memcpy(&value, field_slot_read(base, f), sizeof(value));
	return value;
}

static inline void field_slot_store_number(void *base, const struct field *f, uint32_t value)
{
	memcpy(field_slot(base, f), &value, sizeof(value));
}

/* FIELD_BOOL, FIELD_GIVEN. */
static inline bool field_slot_load_bool(const void *base, const struct field *f)
{
	bool value;

	memcpy(&value, field_slot_read(base, f), sizeof(value));
	return value;
}

static inline void field_slot_store_bool(void *base, const struct field *f, bool value)
{
	memcpy(field_slot(base, f), &value, sizeof(value));
}

/* FIELD_TEXT: stays the struct's; NULL = not set. */
static inline char *field_slot_load_text(const void *base, const struct field *f)
{
	char *value;

	memcpy(&value, field_slot_read(base, f), sizeof(value));
	return value;
}

/* Owned by the struct from now on; what was there is not released. */
static inline void field_slot_store_text(void *base, const struct field *f, char *text)
{
	memcpy(field_slot(base, f), &text, sizeof(text));
}

#endif
