// SPDX-License-Identifier: GPL-2.0-or-later
// Escapes. The one place that knows what a terminal must not get.
#include "cli/cli_escape.h"

#include "base/mem.h"

#include <stdint.h>
#include <string.h>

#define ESCAPE_TEXT_MAX (256U * 1024 * 1024)

/* Bytes that a character beginning with this one has; 0: none begins so. */
static size_t cli_escape_length(uint8_t first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* The code point at the start, and its length. What is no UTF-8: one byte, as if it were C1. */
static uint32_t cli_escape_decode(const char *text, size_t size, size_t *ret_length)
{
	const uint8_t *bytes = (const uint8_t *)text;
	size_t length = cli_escape_length(bytes[0]);
	uint32_t code = length > 1 ? bytes[0] & (0x7fU >> length) : bytes[0];

	for (size_t i = 1; i < length; i++) {
		if (i >= size || (bytes[i] & 0xc0) != 0x80) {
			*ret_length = 0;
			return bytes[0];
		}
		code = code << 6 | (bytes[i] & 0x3f);
	}
	*ret_length = length;
	return code;
}

static bool cli_escape_is_hidden(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) ||
	       (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

bool cli_escape_needed(const char *text, size_t size, size_t *ret_length)
{
	uint32_t code = cli_escape_decode(text, size, ret_length);
	bool broken = *ret_length == 0;

	if (broken)
		*ret_length = 1;
	return broken || cli_escape_is_hidden(code);
}

void cli_escape_write(struct buf_writer *w, const char *text, size_t size,
		      enum cli_escape_kept kept)
{
	size_t plain = 0; /* up to here it was written */
	size_t length, ignored;

	for (size_t i = 0; i < size; i += length) {
		if (!cli_escape_needed(text + i, size - i, &length) ||
		    (kept == ESCAPE_KEEP_LINES && (text[i] == '\n' || text[i] == '\t')))
			continue;
		buf_write(w, text + plain, i - plain);
		buf_write_format(w, "\\u%04x", cli_escape_decode(text + i, size - i, &ignored));
		plain = i + length;
	}
	buf_write(w, text + plain, size - plain);
}

char *cli_escape_copy(const char *text, size_t size, enum cli_escape_kept kept)
{
	AUTO_BUF struct buf_writer w;

	buf_writer_init(&w, ESCAPE_TEXT_MAX);
	cli_escape_write(&w, text, size, kept);
	return mem_strdup(buf_text(&w));
}

const char *cli_escape_string(json_t *value)
{
	const char *text = json_string_value(value);
	size_t length, i = 0, size = json_string_length(value);
	AUTO_FREE char *escaped = NULL;

	while (i < size && !cli_escape_needed(text + i, size - i, &length))
		i += length;
	if (i >= size)
		return text;
	escaped = cli_escape_copy(text, size, ESCAPE_ALL);
	json_string_set(value, escaped);
	return json_string_value(value);
}

char *cli_escape_dump(const json_t *json, size_t flags)
{
	AUTO_FREE char *text = json_dumps(json, flags);

	return text ? cli_escape_copy(text, strlen(text), ESCAPE_KEEP_LINES) : mem_strdup("");
}
