// SPDX-License-Identifier: GPL-2.0-or-later
// Never cuts silently: the length of the whole is always known.
#include "model/escape.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c <= '~' && c != '\\';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Characters of `text` that stand for its next byte; 0 if it begins with nothing that stands for one.
static size_t take_byte(const char *text, uint8_t *ret_byte)
{
	if (is_plain((unsigned char)text[0])) {
		*ret_byte = (uint8_t)text[0];
		return 1;
	}
	if (text[0] != '\\')
		return 0;
	if (text[1] == '\\') {
		*ret_byte = '\\';
		return 2;
	}
	int high = hex_digit(text[1]);
	int low = high >= 0 ? hex_digit(text[2]) : -1;
	if (low < 0)
		return 0;
	*ret_byte = (uint8_t)(high << 4 | low);
	return 3;
}

const char *escape_find_fault(const char *text)
{
	uint8_t byte;
	while (*text) {
		size_t taken = take_byte(text, &byte);
		if (taken == 0)
			return text;
		text += taken;
	}
	return NULL;
}

size_t escape_decode_text(const char *text, uint8_t *bytes, size_t size)
{
	size_t length = 0;
	while (*text) {
		uint8_t byte = 0;
		size_t taken = take_byte(text, &byte);
		assert(taken > 0);
		if (length < size)
			bytes[length] = byte;
		length++;
		text += taken;
	}
	return length;
}

// Writes the text of one byte; returns its length.
static size_t put_byte(uint8_t byte, char buf[4])
{
	static const char digits[] = "0123456789abcdef";

	if (is_plain(byte)) {
		buf[0] = (char)byte;
		return 1;
	}
	buf[0] = '\\';
	if (byte == '\\') {
		buf[1] = '\\';
		return 2;
	}
	buf[1] = digits[byte >> 4];
	buf[2] = digits[byte & 15];
	return 3;
}

const char *escape_format_bytes(const uint8_t *bytes, size_t count, char buf[ESCAPE_QUOTE_MAX])
{
	char one[4];
	size_t length = 0;
	size_t rest = 0; // what it all takes, as far as that matters
	for (size_t i = 0; i < count && rest < ESCAPE_QUOTE_MAX; i++)
		rest += put_byte(bytes[i], one);
	size_t room = rest < ESCAPE_QUOTE_MAX ? 1 : sizeof("...");
	for (size_t i = 0; i < count; i++) {
		size_t size = put_byte(bytes[i], one);
		if (length + size + room > ESCAPE_QUOTE_MAX)
			break;
		memcpy(buf + length, one, size);
		length += size;
	}
	if (room == 1)
		buf[length] = '\0';
	else
		memcpy(buf + length, "...", sizeof("..."));
	return buf;
}
