// SPDX-License-Identifier: GPL-2.0-or-later
// Control characters: those of C1 are one byte more in UTF-8 and do the same to a terminal. Texts that were cut, and put together.
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool text_is_clean(const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f))
			return false;
	}
	return true;
}

/* Bytes of the character that begins so; of what is no beginning one. */
static size_t text_character_size(unsigned char first)
{
	if (first >= 0xf0)
		return 4;
	if (first >= 0xe0)
		return 3;
	return first >= 0xc0 ? 2 : 1;
}

char *text_trim(char *text)
{
	size_t size = strlen(text);
	size_t start = size;

	while (start > 0 && size - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
		start--;
	if (start > 0 && text_character_size((unsigned char)text[start - 1]) > size - start + 1)
		text[start - 1] = '\0';
	return text;
}

char *text_shorten(const char *text, char *buf, size_t size)
{
	static const char mark[] = "…";
	size_t length = strlen(text);

	if (length < size) {
		memcpy(buf, text, length + 1);
		return buf;
	}
	length = size - sizeof(mark);
	memcpy(buf, text, length);
	buf[length] = '\0';
	strcat(text_trim(buf), mark);
	return buf;
}

/* Bytes of the character there, or 0: it is none, too long for what it says, half of a pair, or beyond the last one (RFC 3629). */
static size_t text_character(const unsigned char *c)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t size = text_character_size(*c);
	uint32_t code = size > 1 ? *c & (0x7fU >> size) : *c;

	if (size == 1)
		return code < 0x80;
	for (size_t i = 1; i < size; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (c[i] & 0x3fU);
	}
	return *c < 0xf8 && code >= least[size] && code <= 0x10ffff &&
			       (code < 0xd800 || code > 0xdfff)
		       ? size
		       : 0;
}

char *text_make_utf8(char *text)
{
	for (char *c = text; *c;) {
		size_t size = text_character((const unsigned char *)c);

		if (!size)
			*c = '?';
		c += size ? size : 1;
	}
	return text;
}

char *text_append(char *p, const char *text)
{
	size_t size = strlen(text);

	memcpy(p, text, size);
	return p + size;
}

char *text_append_number(char *p, unsigned n)
{
	char digits[TEXT_NUMBER_MAX];
	char *d = digits + sizeof(digits);

	do
		*--d = (char)('0' + n % 10);
	while (n /= 10);
	memcpy(p, d, (size_t)(digits + sizeof(digits) - d));
	return p + (digits + sizeof(digits) - d);
}

const char *text_left(uint64_t all, uint64_t open, char buf[TEXT_LEFT_MAX])
{
	uint64_t rest = all > open ? all - open : 0;

	if (rest == 0)
		snprintf(buf, TEXT_LEFT_MAX, "%" PRIu64 " open connection%s left", open,
			 TEXT_S(open));
	else
		snprintf(buf, TEXT_LEFT_MAX,
			 "%" PRIu64 " open connection%s left, and %" PRIu64
			 " closing, UDP or remembered one%s",
			 open, TEXT_S(open), rest, TEXT_S(rest));
	return buf;
}
