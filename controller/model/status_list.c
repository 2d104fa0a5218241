// SPDX-License-Identifier: GPL-2.0-or-later
// Lists of HTTP status codes: "200-299,301".
#include "model/validate.h"

// One "200" or "200-299" at *text, which moves behind it.
static bool read_range(const char **text, unsigned *ret_from, unsigned *ret_to)
{
	unsigned bounds[2];
	const char *p = *text;
	size_t count = 0;
	do {
		if (count > 0)
			p++;
		unsigned value = 0;
		for (size_t i = 0; i < 3; i++, p++) {
			if (*p < '0' || *p > '9')
				return false;
			value = value * 10 + (unsigned)(*p - '0');
		}
		bounds[count++] = value;
	} while (*p == '-' && count < 2);
	*text = p;
	*ret_from = bounds[0];
	*ret_to = bounds[count - 1];
	return *ret_from >= 100 && *ret_from <= *ret_to && *ret_to <= 599;
}

bool validate_status_list(const char *text)
{
	unsigned from;
	unsigned to;
	for (; read_range(&text, &from, &to); text++) {
		if (*text == '\0')
			return true;
		if (*text != ',')
			return false;
	}
	return false;
}

bool validate_status_in_list(const char *text, unsigned status)
{
	unsigned from;
	unsigned to;
	for (; read_range(&text, &from, &to); text++) {
		if (status >= from && status <= to)
			return true;
		if (*text != ',')
			return false;
	}
	return false;
}
