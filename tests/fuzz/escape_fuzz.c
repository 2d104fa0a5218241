// SPDX-License-Identifier: GPL-2.0-or-later
// The bytes as a text that is unescaped, and as bytes that are written as text and read back.
#include "model/escape.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHUNK 26 /* three characters each: never shortened */

static void check_text(const char *text)
{
	const char *fault = escape_find_fault(text);
	uint8_t bytes[ESCAPE_BYTES_MAX];
	if (fault) {
		assert(fault >= text && fault < text + strlen(text));
		return;
	}
	size_t length = escape_decode_text(text, NULL, 0);
	assert(length <= strlen(text) && strlen(text) <= 3 * length);
	assert(escape_decode_text(text, bytes, sizeof(bytes)) == length);
}

static void check_bytes(const uint8_t *data, size_t size)
{
	char text[ESCAPE_QUOTE_MAX];
	uint8_t back[CHUNK];
	for (size_t at = 0; at < size; at += CHUNK) {
		size_t count = size - at < CHUNK ? size - at : CHUNK;
		escape_format_bytes(data + at, count, text);
		assert(!escape_find_fault(text));
		assert(escape_decode_text(text, back, sizeof(back)) == count);
		assert(memcmp(back, data + at, count) == 0);
	}
	escape_format_bytes(data, size, text);
	assert(strlen(text) < ESCAPE_QUOTE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	assert(text);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	check_text(text);
	check_bytes(data, size);
	free(text);
	return 0;
}
