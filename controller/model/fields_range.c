// SPDX-License-Identifier: GPL-2.0-or-later
// Ranges as members: two numbers, the lower one first.
#include "model/fields.h"

static bool decode_end(struct field_decoder *d, const struct field *f, const json_t *v,
		       uint32_t *ret_end)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v)) {
		fields_fault(d, ERR_TYPE, f->name,
			     "must be an array of two whole numbers like [8000, 8100]");
		return false;
	}
	if (n < (json_int_t)f->min || n > (json_int_t)f->max) {
		fields_fault(d, ERR_RANGE, f->name, "must be from %u to %u, not %lld", f->min,
			     f->max, (long long)n);
		return false;
	}
	*ret_end = (uint32_t)n;
	return true;
}

void fields_range_decode(struct field_decoder *d, const struct field *f, struct model_range *range,
			 const json_t *v)
{
	struct model_range given;

	*range = (struct model_range){0};
	if (!v)
		return;
	if (json_array_size(v) != 2) {
		fields_fault(d, ERR_TYPE, f->name,
			     "must be an array of two whole numbers like [8000, 8100]");
		return;
	}
	if (!decode_end(d, f, json_array_get(v, 0), &given.from) ||
	    !decode_end(d, f, json_array_get(v, 1), &given.to))
		return;
	if (given.from >= given.to) {
		fields_fault(d, ERR_RANGE, f->name, "must begin below its end: %u, %u", given.from,
			     given.to);
		return;
	}
	*range = given;
}

json_t *fields_range_encode(const struct model_range *range)
{
	return range->to ? json_pack("[i, i]", (int)range->from, (int)range->to) : NULL;
}
